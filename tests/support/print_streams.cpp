// SPDX-License-Identifier: GPL-2.0-only
// Prints what must be the same whatever compiled it: hashes of random sequences and of what the
// model shows of them, and what properties say of them and of a mutant's. See same_bytes_test.sh.
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "props/model_backend.h"
#include "props/property.h"
#include "props/random.h"
#include "props/random_sequence.h"

namespace vlag::props {

// The exact reference takes as long to compile as all the rest, and draws on nothing that differs
// between compilers.
std::span<const Property> reference_properties() { return {}; }

}  // namespace vlag::props

namespace {

using namespace vlag;

// FNV-1a, over the bytes of records without padding.
class Hash {
 public:
  template <class Record>
  void add(const Record& record) {
    for (const std::byte byte : std::as_bytes(std::span(&record, 1))) {
      value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }
  void add(const spec::Observation& now) {
    add(*now.head);
    add(*now.queue);
    for (const spec::EntityState& entity : now.entities) add(entity);
  }
  unsigned long long value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

void print_streams(const Policy& policy, std::uint64_t seed, int sequences) {
  props::ModelBackend model(policy);
  spec::Trace trace;
  for (int i = 0; i < sequences; ++i) {
    const spec::Sequence sequence = props::random_sequence(
        props::derive_seed(seed, static_cast<std::uint64_t>(i)), props::Scope{}, model, trace);
    Hash operations;
    Hash observations;
    for (const spec::Operation& operation : sequence) operations.add(operation);
    for (std::size_t k = 0; k < trace.size(); ++k) observations.add(trace[k]);
    std::printf("seed %llu sequence %d: %zu operations %016llx observations %016llx\n",
                static_cast<unsigned long long>(seed), i, sequence.size(), operations.value(),
                observations.value());
    for (const props::Property& property : props::properties()) {
      const props::Property* const only[] = {&property};
      for (const auto& violation : props::judge(sequence, trace, model.info(), only).violations) {
        std::printf("  %s after operation %zu (%s): %s\n", std::string(property.name).c_str(),
                    violation.index, spec::to_text(sequence[violation.index]).c_str(),
                    violation.what.c_str());
      }
    }
  }
}

}  // namespace

int main() {
  for (const std::uint64_t seed : {1U, 2U, 3U}) print_streams(eevdf_6_12(), seed, 60);
  Policy mutant = eevdf_6_12();
  mutant.rules.average = AverageRounding::truncate;
  mutant.rules.tie = TieOrder::lifo;
  print_streams(mutant, 4, 60);
  return 0;
}

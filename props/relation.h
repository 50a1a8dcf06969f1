// SPDX-License-Identifier: GPL-2.0-only
// A relation between two sequences: what is decided after one must be what is decided after the
// other. Where a property asks of one run whether it is right, a relation needs no idea of what is
// right: rename the tasks, and the same ones must run.
//
// A relation is a way to change a sequence. It sees the stream of the original, so it is as
// independent of the backend as a property is; the judge then runs both on any backend, the model,
// a mutant or a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "props/backend.h"
#include "spec/sequence.h"

namespace vlag::props {

/// In which terms the right stream must be the left one.
struct Likeness {
  std::vector<int> names;        // right id of a left id; empty: the same
  std::uint64_t clock = 0;       // right less left, ns
  std::uint64_t vruntime = 0;    // right less left
  bool measured = false;         // take both from the first pair that is compared
  unsigned scale = 0;            // right times are 2^scale as long; then only decisions and
                                 // vruntimes are compared
  bool decisions = false;        // compare only who runs, and whether that is to change
  bool timeline = true;          // also how it is balanced, what it caches, and zero_vruntime
  int without = VLAG_NO_ENTITY;  // a task on the right that is not looked at
  std::int64_t slack = 0;        // how much a vruntime may differ; not 0: only the current one's
                                 // is compared
};

/// Observations to compare, by their place left and right.
struct Pair {
  std::size_t left;
  std::size_t right;
};

/// What a relation makes of a sequence.
struct Related {
  std::string change;                  // in words: "a second tick 3 ms into operation 7"
  std::optional<spec::Sequence> left;  // if that is not the original
  spec::Sequence right;
  std::vector<Pair> compared;  // rising
  Likeness likeness;
};

/// A sequence with its stream on some backend.
struct Original {
  const spec::Sequence& sequence;
  const spec::Trace& trace;
  const BackendInfo& info;
  std::vector<Features> features;  // in force at each operation
};

struct Relation {
  std::string_view name;    // a sentence in snake_case
  std::string_view claim;   // the same in words
  std::string_view mutant;  // "rule=value": a policy that it kills (a test shows it)
  /// The `choice`-th way to change a sequence, from 0; nullopt if there is none. Ways are tried for
  /// rising numbers up to ways().
  std::optional<Related> (*relate)(const Original& original, std::size_t choice);
  /// How many numbers there are.
  std::size_t (*ways)(const spec::Sequence& sequence);
  /// The known divergence that breaks it under the kernel's own rules.
  std::string_view divergence = {};
};

std::span<const Relation> relations();
const Relation* find_relation(std::string_view name);

/// Runs a sequence and its `choice`-th relative on a backend. Returns what differs, in words; empty
/// if nothing does, or there is no such relative, or the backend did not complete.
class RelationJudge {
 public:
  RelationJudge(Backend& backend, const Relation& relation)
      : backend_(backend), relation_(relation) {}

  std::string judge(const spec::Sequence& sequence, std::size_t choice);
  /// The first way that fails, in all ways there are.
  std::string judge_all(const spec::Sequence& sequence);
  /// Operations that were run.
  std::uint64_t operations() const { return operations_; }
  /// Pairs of observations that were compared.
  std::uint64_t compared() const { return compared_; }

 private:
  bool run_original(const spec::Sequence& sequence);
  std::string judge_way(const Original& original, std::size_t choice);
  std::optional<Original> original(const spec::Sequence& sequence);

  Backend& backend_;
  const Relation& relation_;
  spec::Trace original_;
  spec::Trace left_;
  spec::Trace right_;
  std::uint64_t operations_ = 0;
  std::uint64_t compared_ = 0;
};

/// How a sequence breaks a property or relation of that name on a backend; empty if it does not, or
/// if the backend did not complete. Requires: there is one.
std::string violation_on(Backend& backend, std::string_view rule, const spec::Sequence& sequence);

}  // namespace vlag::props

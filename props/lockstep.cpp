// SPDX-License-Identifier: GPL-2.0-only
#include "props/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>

#include "props/random.h"
#include "props/shrink.h"

namespace vlag::props {
namespace {

constexpr std::uint64_t sequences_per_batch = 8;  // sent to the kernel in one go
constexpr std::uint64_t batches_per_round = 64;   // between two looks at what was found
constexpr int fault_shrink_budget = 400;          // each try costs a restart of the kernel
constexpr int shrink_budget = 20'000;
constexpr int most_hangs = 24;  // each costs the whole timeout

// Some sequences, what the model showed for each, and all operations in a row.
struct Batch {
  struct Part {
    std::uint64_t index = 0;  // of the sequence in the campaign
    spec::Sequence sequence;
    spec::Trace trace;
    bool sound = true;  // the model's pick always found someone
  };
  std::vector<Part> parts;
  spec::Sequence operations;
};

// Something that went wrong, before shrinking.
struct Incident {
  std::uint64_t index = 0;
  std::string rule;
  spec::Sequence sequence;
  std::string what;  // as first seen
};

struct BatchResult {
  std::uint64_t operations = 0;
  std::uint64_t steps = 0;
  std::vector<Incident> incidents;
  std::string inconclusive;
};

// One sequence at a time where the kernel's own trace of each is judged.
std::uint64_t batch_size(const LockstepPlan& plan) {
  return plan.compares ? sequences_per_batch : 1;
}

class Worker {
 public:
  Worker(const Policy& policy, const LockstepPlan& plan, std::uint64_t sequences)
      : model_(policy), plan_(plan), sequences_(sequences) {}

  std::string start(const BackendMaker& make_backend) {
    auto made = make_backend();
    if (!made) return made.error().message();
    backend_ = std::move(*made);
    return {};
  }

  Backend& backend() { return *backend_; }

  // Runs batches first, first + stride ... below `end`: while the kernel works on one, the next is
  // generated.
  void run(std::uint64_t first, std::uint64_t end, std::uint64_t stride,
           std::vector<BatchResult>& results, std::uint64_t round_start) {
    if (first >= end) return;
    Batch current;
    Batch next;
    generate(first, current);
    for (std::uint64_t batch = first; batch < end; batch += stride) {
      backend_->begin(current.operations);
      if (batch + stride < end) generate(batch + stride, next);
      const Outcome outcome = backend_->end(kernel_trace_);
      results[batch - round_start] = judge_batch(current, outcome);
      std::swap(current, next);
    }
  }

 private:
  void generate(std::uint64_t batch, Batch& out) {
    const std::uint64_t size = batch_size(plan_);
    out.parts.resize(size);
    out.operations.clear();
    std::size_t used = 0;
    for (std::uint64_t i = batch * size; i < std::min(sequences_, (batch + 1) * size); ++i) {
      Batch::Part& part = out.parts[used++];
      Scope scope = plan_.scope;
      scope.features = plan_.combinations[i % plan_.combinations.size()];
      part.index = i;
      part.sequence = random_sequence(derive_seed(plan_.seed, i), scope, model_, part.trace);
      out.operations.insert(out.operations.end(), part.sequence.begin(), part.sequence.end());
    }
    out.parts.resize(used);
  }

  BatchResult judge_batch(const Batch& batch, const Outcome& outcome) {
    BatchResult result;
    if (!outcome.completed()) {
      explain(batch, outcome, result);
      return result;
    }
    std::size_t offset = 0;
    for (const Batch::Part& part : batch.parts) {
      judge_part(part, offset, result);
      offset += part.sequence.size();
    }
    return result;
  }

  void judge_part(const Batch::Part& part, std::size_t offset, BatchResult& result) {
    result.operations += part.trace.size();
    if (!plan_.compares) {
      judge_properties(part, kernel_trace_, result);
      return;
    }
    for (std::size_t i = 0; i < part.trace.size(); ++i) {
      if (spec::same_observation(part.trace[i], kernel_trace_[offset + i])) continue;
      result.incidents.push_back(
          {part.index, "divergence", part.sequence, first_difference(part, offset, i)});
      return;
    }
    judge_properties(part, part.trace, result);
  }

  void judge_properties(const Batch::Part& part, const spec::Trace& trace, BatchResult& result) {
    if (plan_.asked.empty()) return;
    const Verdict verdict = judge(part.sequence, trace, backend_->info(), plan_.asked);
    result.steps += verdict.steps;
    for (const Violation& violation : verdict.violations) {
      result.incidents.push_back(
          {part.index, std::string(violation.property->name), part.sequence, violation.what});
    }
  }

  std::string first_difference(const Batch::Part& part, std::size_t offset,
                               std::size_t index) const {
    Comparison comparison;
    comparison.kind = Comparison::Kind::differs;
    comparison.index = index;
    comparison.difference =
        *spec::first_difference(part.trace[index], kernel_trace_[offset + index]);
    return describe(comparison, part.sequence);
  }

  // The kernel did not survive the batch: which sequence was it?
  void explain(const Batch& batch, const Outcome& outcome, BatchResult& result) {
    const std::size_t seen = kernel_trace_.size();
    for (const Batch::Part& part : batch.parts) {
      const Outcome again = backend_->run(part.sequence, kernel_trace_);
      if (again.completed()) continue;
      if (again.is_finding()) {
        result.incidents.push_back({part.index, "kernel-fault", part.sequence, again.text});
      } else {
        result.inconclusive = again.text;
      }
      return;
    }
    if (outcome.is_finding()) {
      // It was seen, even if it does not come again: it belongs to where the observations end.
      const Batch::Part& part = part_at(batch, seen);
      result.incidents.push_back({part.index, "kernel-fault", part.sequence, outcome.text});
    }
    result.inconclusive =
        fmt::format("a batch was lost, but each of its sequences alone runs: {}", outcome.text);
  }

  static const Batch::Part& part_at(const Batch& batch, std::size_t operation) {
    for (const Batch::Part& part : batch.parts) {
      if (operation < part.sequence.size()) return part;
      operation -= part.sequence.size();
    }
    return batch.parts.back();
  }

  ModelBackend model_;
  const LockstepPlan& plan_;
  std::uint64_t sequences_;
  std::unique_ptr<Backend> backend_;
  spec::Trace kernel_trace_;
};

// Shrinks an incident and says what it is.
class Shrinker {
 public:
  Shrinker(const Policy& policy, Backend& backend)
      : policy_(policy), model_(policy), backend_(backend) {}

  Finding finding(const Incident& incident) {
    Finding finding;
    finding.rule = incident.rule;
    const Property* property = find_property(incident.rule);
    // What the last sequence that failed shows; the machine may be gone before the end.
    finding.summary = incident.what;
    const auto fails = [&](const spec::Sequence& sequence) {
      std::string what = failure(sequence, incident.rule, property);
      if (what.empty()) return false;
      finding.summary = std::move(what);
      return true;
    };
    const int budget = incident.rule == "kernel-fault" ? fault_shrink_budget : shrink_budget;
    finding.sequence = minimized(incident.sequence, policy_, fails, budget);
    if (property != nullptr) finding.divergence = explanation(*property, policy_);
    return finding;
  }

 private:
  // What is wrong with the sequence in the sense of `rule`; empty if nothing.
  std::string failure(const spec::Sequence& sequence, const std::string& rule,
                      const Property* property) {
    if (hangs_ >= most_hangs) return {};
    const Outcome right = backend_.run(sequence, kernel_trace_);
    if (right.kind == Outcome::Kind::hung) ++hangs_;
    if (property != nullptr) {
      const Property* const only[] = {property};
      const auto found = judge(sequence, kernel_trace_, backend_.info(), only).violations;
      return found.empty() ? "" : found.front().what;
    }
    const Outcome left = model_.run(sequence, model_trace_);
    const Comparison comparison = compare(sequence, model_trace_, left, kernel_trace_, right);
    const bool wanted = rule == "kernel-fault" ? comparison.kind == Comparison::Kind::faulted
                                               : comparison.kind == Comparison::Kind::differs;
    return wanted ? describe(comparison, sequence) : "";
  }

  const Policy& policy_;
  ModelBackend model_;
  Backend& backend_;
  int hangs_ = 0;
  spec::Trace model_trace_;
  spec::Trace kernel_trace_;
};

// The first of each rule.
void keep_firsts(std::vector<Incident>& kept, std::vector<Incident>& found) {
  for (Incident& incident : found) {
    const bool seen = std::any_of(kept.begin(), kept.end(), [&](const Incident& other) {
      return other.rule == incident.rule;
    });
    if (!seen) kept.push_back(std::move(incident));
  }
}

// A comparison ends with what is found first; a judgement goes on with the other properties.
bool ends(const LockstepPlan& plan, const std::vector<Incident>& incidents) {
  return plan.compares ? !incidents.empty() : incidents.size() >= plan.asked.size();
}

}  // namespace

Comparison compare(std::span<const spec::Operation> sequence, const spec::Trace& left,
                   const Outcome& left_outcome, const spec::Trace& right,
                   const Outcome& right_outcome) {
  Comparison result;
  const std::size_t both = std::min(left.size(), right.size());
  for (result.index = 0; result.index < both; ++result.index) {
    auto difference = spec::first_difference(left[result.index], right[result.index]);
    if (!difference) continue;
    result.kind = Comparison::Kind::differs;
    result.difference = *difference;
    return result;
  }
  for (const Outcome* outcome : {&left_outcome, &right_outcome}) {
    if (outcome->completed()) continue;
    result.kind = outcome->is_finding() ? Comparison::Kind::faulted : Comparison::Kind::lost;
    result.text = outcome->text;
    return result;
  }
  if (both != sequence.size()) {
    result.kind = Comparison::Kind::lost;
    result.text = fmt::format("only {} of {} operations were observed", both, sequence.size());
  }
  return result;
}

std::string describe(const Comparison& comparison, std::span<const spec::Operation> sequence) {
  const auto where = [&] {
    return comparison.index < sequence.size()
               ? fmt::format("operation {} ({})", comparison.index,
                             spec::to_text(sequence[comparison.index]))
               : fmt::format("operation {}", comparison.index);
  };
  switch (comparison.kind) {
    case Comparison::Kind::equal:
      return fmt::format("{} operations agree", sequence.size());
    case Comparison::Kind::differs: {
      const spec::Difference& d = comparison.difference;
      const std::string whose =
          d.entity == VLAG_NO_ENTITY ? "" : fmt::format(" of task {}", d.entity);
      return fmt::format("after {}: {}{} is {} on the left and {} on the right", where(), d.field,
                         whose, d.left, d.right);
    }
    case Comparison::Kind::faulted:
    case Comparison::Kind::lost:
      return comparison.text;
  }
  return {};
}

LockstepReport lockstep(const Policy& policy, const BackendMaker& make_backend,
                        const LockstepPlan& plan, const Meter& meter) {
  LockstepReport report;
  for (const Property* property : plan.asked) report.tallies.push_back({property, 0, true, {}});
  const std::uint64_t combinations = plan.combinations.size();
  const auto length = static_cast<std::uint64_t>(plan.scope.operations);
  const std::uint64_t rows = (plan.operations_per_combination + length - 1) / length;
  const std::uint64_t sequences = combinations * rows;
  const std::uint64_t batches = (sequences + batch_size(plan) - 1) / batch_size(plan);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(1U, plan.jobs); ++i) {
    workers.push_back(std::make_unique<Worker>(policy, plan, sequences));
    report.inconclusive = workers.back()->start(make_backend);
    if (!report.inconclusive.empty()) return report;
  }
  std::vector<Incident> incidents;
  std::uint64_t done = 0;
  while (done < batches && report.inconclusive.empty() && !ends(plan, incidents)) {
    const std::uint64_t end = std::min(batches, done + batches_per_round);
    std::vector<BatchResult> results(end - done);
    in_parallel(static_cast<unsigned>(workers.size()), [&](unsigned worker) {
      workers[worker]->run(done + worker, end, workers.size(), results, done);
    });
    for (BatchResult& result : results) {
      report.operations += result.operations;
      for (PropertyTally& tally : report.tallies) tally.operations += result.steps;
      if (!result.inconclusive.empty()) report.inconclusive = result.inconclusive;
      keep_firsts(incidents, result.incidents);
    }
    done = end;
    meter(done, batches);
  }
  if (done == batches && report.inconclusive.empty()) report.combinations = combinations;
  Shrinker shrinker(policy, workers.front()->backend());
  for (const Incident& incident : incidents) {
    for (PropertyTally& tally : report.tallies) {
      if (tally.property->name == incident.rule) tally.held = false;
    }
    if (report.findings.size() >= plan.most_findings) continue;
    report.findings.push_back(shrinker.finding(incident));
  }
  return report;
}

}  // namespace vlag::props

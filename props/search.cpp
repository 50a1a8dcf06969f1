// SPDX-License-Identifier: GPL-2.0-only
#include "props/search.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "props/random.h"
#include "props/shrink.h"
#include "spec/divergences.h"

namespace vlag::props {
namespace {

// Sequences that one worker takes at a time; between rounds, failed properties are dropped.
constexpr std::uint64_t sequences_per_round = 64;

struct Failure {
  std::uint64_t index;
  const Property* property;
  spec::Sequence sequence;
};

struct Round {
  std::vector<Failure> failures;
  std::uint64_t operations = 0;
  std::uint64_t steps = 0;
  std::vector<Reach> reached;  // as asked
};

Round run_round(const Policy& policy, std::span<const Property* const> asked,
                const Campaign& campaign, std::uint64_t first) {
  Round round;
  round.reached.resize(asked.size());
  ModelBackend model(policy);
  spec::Trace trace;
  for (std::uint64_t i = first; i < first + sequences_per_round; ++i) {
    const spec::Sequence sequence =
        random_sequence(derive_seed(campaign.seed, i), campaign.scope, model, trace);
    const Verdict verdict = judge(sequence, trace, model.info(), asked);
    round.operations += sequence.size();
    round.steps += verdict.steps;
    for (std::size_t k = 0; k < asked.size(); ++k) round.reached[k].note(verdict.reached[k]);
    for (const Violation& violation : verdict.violations) {
      round.failures.push_back({i, violation.property, sequence});
    }
  }
  return round;
}

Finding shrunk(const Failure& failure, const Policy& policy) {
  const Property* const only[] = {failure.property};
  ModelBackend model(policy);
  spec::Trace trace;
  const auto judged = [&](const spec::Sequence& sequence) {
    model.run(sequence, trace);
    return judge(sequence, trace, model.info(), only).violations;
  };
  const auto fails = [&](const spec::Sequence& sequence) { return !judged(sequence).empty(); };
  Finding finding;
  finding.rule = failure.property->name;
  finding.sequence = minimized(failure.sequence, policy, fails);
  finding.summary = judged(finding.sequence).front().what;
  finding.divergence = explanation(*failure.property, policy);
  return finding;
}

void note_reached(CheckReport& report, const Property& property, const Reach& reached) {
  for (PropertyTally& tally : report.tallies) {
    if (tally.property == &property) tally.reached.note(reached);
  }
}

}  // namespace

std::vector<const Property*> all_properties() {
  std::vector<const Property*> all;
  for (const Property& property : properties()) all.push_back(&property);
  return all;
}

std::vector<const Property*> unconditional_properties() {
  std::vector<const Property*> some = all_properties();
  std::erase_if(some, [](const Property* property) { return !property->divergence.empty(); });
  return some;
}

std::string explanation(const Property& property, const Policy& policy) {
  return explanation(property.divergence, policy);
}

std::string explanation(std::string_view id, const Policy& policy) {
  const spec::Divergence* divergence = spec::find_divergence(id);
  if (divergence == nullptr) return {};
  Policy as_linux = policy;
  VLAG_CHECK(set_rule(as_linux.rules, divergence->rule, divergence->as_linux));
  return as_linux.rules == policy.rules ? std::string(divergence->id) : std::string();
}

void in_parallel(unsigned jobs, const std::function<void(unsigned worker)>& work) {
  std::exception_ptr failure;
  std::mutex mutex;
  const auto guarded = [&](unsigned worker) {
    try {
      work(worker);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned worker = 1; worker < jobs; ++worker) threads.emplace_back(guarded, worker);
  guarded(0);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

CheckReport check(const Policy& policy, std::span<const Property* const> asked,
                  const Campaign& campaign, const Meter& meter) {
  CheckReport report;
  for (const Property* property : asked) report.tallies.push_back({property, 0, true, {}});
  std::vector<const Property*> left(asked.begin(), asked.end());
  std::uint64_t next = 0;
  while (report.operations < campaign.operations && !left.empty()) {
    // A fixed number of rounds in flight, so that the jobs do not decide where the campaign ends.
    constexpr unsigned in_flight = 8;
    std::vector<Round> rounds(in_flight);
    const unsigned jobs = std::clamp(campaign.jobs, 1U, in_flight);
    in_parallel(jobs, [&](unsigned worker) {
      for (unsigned i = worker; i < in_flight; i += jobs) {
        rounds[i] = run_round(policy, left, campaign, next + i * sequences_per_round);
      }
    });
    next += in_flight * sequences_per_round;
    const std::vector<const Property*> judged = left;
    for (const Round& round : rounds) {
      for (std::size_t k = 0; k < judged.size(); ++k) {
        note_reached(report, *judged[k], round.reached[k]);
      }
      report.operations += round.operations;
      for (PropertyTally& tally : report.tallies) tally.operations += tally.held ? round.steps : 0;
      for (const Failure& failure : round.failures) {
        if (std::erase(left, failure.property) == 0) continue;  // Its first was found already.
        report.findings.push_back(shrunk(failure, policy));
        for (PropertyTally& tally : report.tallies) {
          if (tally.property == failure.property) tally.held = false;
        }
      }
    }
    meter(std::min(report.operations, campaign.operations), campaign.operations);
  }
  return report;
}

}  // namespace vlag::props

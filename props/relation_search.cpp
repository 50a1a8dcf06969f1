// SPDX-License-Identifier: GPL-2.0-only
#include "props/relation_search.h"

#include <algorithm>

#include "props/random.h"
#include "props/shrink.h"

namespace vlag::props {
namespace {

// Sequences that one worker takes at a time for each relation; between rounds, failed relations are
// dropped.
constexpr std::uint64_t sequences_per_round = 32;

struct Failure {
  std::uint64_t index;
  spec::Sequence sequence;
};

// One relation's part of a round.
struct Part {
  std::optional<Failure> failure;  // the first
  std::uint64_t originals = 0;     // operations
  std::uint64_t operations = 0;
  std::uint64_t compared = 0;
};

Part run_part(const Policy& policy, const Relation& relation, const Campaign& campaign,
              std::uint64_t first) {
  Part part;
  ModelBackend model(policy);
  spec::Trace trace;
  RelationJudge judge(model, relation);
  for (std::uint64_t i = first; i < first + sequences_per_round && !part.failure; ++i) {
    const std::uint64_t seed = derive_seed(campaign.seed, i);
    const spec::Sequence sequence = random_sequence(seed, campaign.scope, model, trace);
    part.originals += sequence.size();
    const std::size_t ways = relation.ways(sequence);
    // Most ways of most sequences are none: a tick can be split only where there is one.
    constexpr int tries = 8;
    for (int k = 0; k < tries && !part.failure; ++k) {
      const std::size_t way = Random(derive_seed(seed, static_cast<std::uint64_t>(k))).below(ways);
      if (!judge.judge(sequence, way).empty()) part.failure = Failure{i, sequence};
      if (ways == 1) break;
    }
  }
  part.operations = judge.operations();
  part.compared = judge.compared();
  return part;
}

Finding shrunk(const Failure& failure, const Relation& relation, const Policy& policy) {
  ModelBackend model(policy);
  RelationJudge judge(model, relation);
  const auto fails = [&](const spec::Sequence& sequence) {
    return !judge.judge_all(sequence).empty();
  };
  Finding finding;
  finding.rule = relation.name;
  finding.sequence = minimized(failure.sequence, policy, fails);
  finding.summary = judge.judge_all(finding.sequence);
  finding.divergence = explanation(relation, policy);
  return finding;
}

}  // namespace

std::vector<const Relation*> all_relations() {
  std::vector<const Relation*> all;
  for (const Relation& relation : relations()) all.push_back(&relation);
  return all;
}

std::string explanation(const Relation& relation, const Policy& policy) {
  return explanation(relation.divergence, policy);
}

RelationReport check_relations(const Policy& policy, std::span<const Relation* const> asked,
                               const Campaign& campaign, const Meter& meter) {
  RelationReport report;
  for (const Relation* relation : asked) report.tallies.push_back({relation, 0, true});
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < asked.size(); ++i) left.push_back(i);
  std::uint64_t next = 0;
  std::uint64_t originals = 0;
  while (originals < campaign.operations && !left.empty()) {
    std::vector<Part> parts(left.size());
    const unsigned jobs =
        std::clamp<unsigned>(campaign.jobs, 1, static_cast<unsigned>(left.size()));
    in_parallel(jobs, [&](unsigned worker) {
      for (std::size_t i = worker; i < left.size(); i += jobs) {
        parts[i] = run_part(policy, *asked[left[i]], campaign, next + i * sequences_per_round);
      }
    });
    next += left.size() * sequences_per_round;
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      RelationTally& tally = report.tallies[left[i]];
      tally.compared += parts[i].compared;
      originals += parts[i].originals;
      report.operations += parts[i].operations;
      if (!parts[i].failure) {
        still.push_back(left[i]);
        continue;
      }
      tally.held = false;
      report.findings.push_back(shrunk(*parts[i].failure, *tally.relation, policy));
    }
    left = std::move(still);
    meter(std::min(originals, campaign.operations), campaign.operations);
  }
  return report;
}

}  // namespace vlag::props

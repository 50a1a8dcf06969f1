// SPDX-License-Identifier: GPL-2.0-only
// Campaigns of relations on the model: random sequences, each with one of its relatives; what fails
// is shrunk over all relatives. The result does not depend on the number of jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "props/relation.h"
#include "props/search.h"

namespace vlag::props {

struct RelationTally {
  const Relation* relation = nullptr;
  std::uint64_t compared = 0;  // pairs of observations
  bool held = true;
};

struct RelationReport {
  std::vector<RelationTally> tallies;
  std::vector<Finding> findings;
  std::uint64_t operations = 0;  // run, originals and relatives
};

/// Sequences are drawn until the originals have campaign.operations in all; each is asked one of
/// the relations that are left, in turn.
RelationReport check_relations(const Policy& policy, std::span<const Relation* const> asked,
                               const Campaign& campaign, const Meter& meter);

std::vector<const Relation*> all_relations();

/// As for properties (props/search.h).
std::string explanation(const Relation& relation, const Policy& policy);

}  // namespace vlag::props

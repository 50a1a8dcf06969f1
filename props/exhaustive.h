// SPDX-License-Identifier: GPL-2.0-only
// Small scope, all of it: every legal sequence over a small alphabet of operations, shortest first,
// for a few tasks. Where the random search may miss, this does not, up to the depth that it
// reaches.
//
// States that are equal but for where time and virtual time start, how the timeline is balanced and
// where zero_vruntime is, are one state: what follows is tried from the first. That this is right
// is checked as well: two histories that reach one state must decide the same from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "props/search.h"

namespace vlag::props {

/// The operations that are tried, for that many tasks.
spec::Sequence alphabet(int tasks);

struct Depth {
  int tasks = 0;
  int complete = 0;          // every legal sequence of up to so many operations after the reset
  std::uint64_t states = 0;  // different ones
  std::uint64_t operations = 0;
  std::uint64_t twins = 0;  // pairs of histories that were continued alike
};

struct ExhaustiveReport {
  std::vector<Depth> depths;
  std::vector<Finding> findings;  // of each property the first, so one of the shortest
  std::string history;            // two histories of one state that decide differently; empty: none
};

/// Runs at most `operations` operations, shared evenly by 2 and 3 tasks.
ExhaustiveReport exhaustive(const Policy& policy, std::span<const Property* const> asked,
                            std::uint64_t operations, const Meter& meter);

}  // namespace vlag::props

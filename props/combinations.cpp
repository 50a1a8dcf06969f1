// SPDX-License-Identifier: GPL-2.0-only
#include "props/combinations.h"

#include <bit>
#include <set>
#include <utility>

#include "core/check.h"
#include "props/random_sequence.h"

namespace vlag::props {
namespace {

// A choice of features (mask) and of their values.
using Meeting = std::pair<unsigned, unsigned>;

std::set<Meeting> all_meetings(int strength) {
  std::set<Meeting> meetings;
  for (unsigned mask = 0; mask < feature_combinations; ++mask) {
    if (std::popcount(mask) != strength) continue;
    for (unsigned values = mask;; values = (values - 1) & mask) {
      meetings.insert({mask, values});
      if (values == 0) break;
    }
  }
  return meetings;
}

unsigned count_new(const std::set<Meeting>& open, unsigned number) {
  unsigned count = 0;
  for (const auto& [mask, values] : open) count += (number & mask) == values ? 1 : 0;
  return count;
}

}  // namespace

std::vector<Features> all_combinations(Features base) {
  std::vector<Features> all;
  for (unsigned i = 0; i < feature_combinations; ++i) all.push_back(feature_combination(base, i));
  return all;
}

std::vector<Features> covering_combinations(Features base, int strength) {
  VLAG_CHECK(strength >= 1 && strength <= 3);
  std::set<Meeting> open = all_meetings(strength);
  std::vector<Features> chosen;
  while (!open.empty()) {
    unsigned best = 0;
    unsigned most = 0;
    for (unsigned number = 0; number < feature_combinations; ++number) {
      const unsigned count = count_new(open, number);
      if (count > most) {
        best = number;
        most = count;
      }
    }
    std::erase_if(open, [&](const Meeting& m) { return (best & m.first) == m.second; });
    chosen.push_back(feature_combination(base, best));
  }
  return chosen;
}

}  // namespace vlag::props

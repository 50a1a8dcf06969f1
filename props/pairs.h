// SPDX-License-Identifier: GPL-2.0-only
// What the properties about waiting have in common: who waits, who is placed anew, who is charged.
//
// A bound on how far others run while one waits holds from one placement to the next; it is stated
// for the driver that a real system is: a tick at least every TICK_NSEC, and a request to
// reschedule that is acted on at once. What a sequence does beyond that is the driver's part, and
// is credited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/weight.h"
#include "props/property.h"

namespace vlag::props {

/// Weights as V counts them make service in units of 1/1024 ns: dt * 1024 = w dv.
inline constexpr spec::Exact service_unit = 1024;

/// Queued, awake, and not running.
bool waits(const spec::Observation& now, const spec::EntityState* entity);

/// Whether a wait of `after`, or its part in the waits of others, starts anew at this step: it
/// joined, or was moved by other than running or yielding (nice, slice, policy, requeue).
bool is_placed(const Step& step, const spec::EntityState& after);

/// Waited before this step, and was not placed anew by it.
bool was_waiting(const Step& step, const spec::EntityState& after);

/// The same, and waits still.
bool goes_on_waiting(const Step& step, const spec::EntityState& after);

/// Whether another than the task that the operation names left at this step, which moves V.
bool another_left(const Step& step);

/// Whether `entity` was switched in as the buddy, whatever its deadline.
bool is_buddy_pick(const Step& step, const spec::EntityState& entity);

/// What the running task was charged with at a step, if it was and is still there.
struct Charge {
  const spec::EntityState* before = nullptr;
  const spec::EntityState* after = nullptr;
  std::uint64_t service = 0;  // ns
  bool pending = false;       // A reschedule had been requested already: the driver let it run on.

  explicit operator bool() const { return after != nullptr; }
  /// More time than passes between two ticks, or when it should not have run.
  bool late(const Step& step) const { return pending || service > step.tick_nsec; }
  /// By how much w dv may be less than the service: each charge rounds v down by less than one
  /// unit, and the table of inverse weights is exact to 10^-8.
  spec::Exact rounding() const;
};
Charge charge_of(const Step& step);

/// `real` ns of service in the virtual time of an entity.
std::int64_t virtual_time(std::uint64_t real, const spec::EntityState& entity);

/// R: the longest request that `entity` can have until it is placed anew, in virtual time. What it
/// has may be longer than its slice: a relative deadline is kept over a change of weight or slice.
std::int64_t longest_request(const spec::EntityState& entity, std::uint64_t base_slice);

/// Something for each ordered pair of tasks.
template <class T>
class PairTable {
 public:
  T& at(int row, int column) {
    return cells_[static_cast<std::size_t>(row) * side_ + static_cast<std::size_t>(column)];
  }

  void make_room(const spec::Observation& now) {
    const std::size_t needed =
        now.entities.empty() ? 0 : static_cast<std::size_t>(now.entities.back().id) + 1;
    if (needed <= side_) return;
    std::vector<T> wider(needed * needed);
    for (std::size_t row = 0; row < side_; ++row) {
      std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(row * side_), side_,
                  wider.begin() + static_cast<std::ptrdiff_t>(row * needed));
    }
    cells_ = std::move(wider);
    side_ = needed;
  }

 private:
  std::size_t side_ = 0;
  std::vector<T> cells_;
};

}  // namespace vlag::props

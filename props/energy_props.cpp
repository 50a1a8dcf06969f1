// SPDX-License-Identifier: GPL-2.0-only
#include "props/energy_props.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "spec/reference.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Integer;
using spec::Observation;
using spec::Rational;

Integer weight_of(const EntityState& entity) {
  return static_cast<std::int64_t>(spec::down_of(entity));
}

Integer key_of(const Observation& now, const EntityState& entity) {
  return spec::distance(entity.vruntime, now.queue->zero_vruntime);
}

/// Sums over some who are queued.
class Crowd {
 public:
  void add(const Integer& weight, const Integer& key) {
    weight_ += weight;
    moment_ += weight * key;
    square_ += weight * key * key;
  }
  const Integer& weight() const { return weight_; }
  Rational mean() const { return Rational(moment_, weight_); }
  /// sum w (v - V)^2 = sum w v^2 - (sum w v)^2 / W
  Rational energy() const {
    if (weight_ == 0) return 0;
    return Rational(square_ * weight_ - moment_ * moment_, weight_);
  }

 private:
  Integer weight_ = 0;
  Integer moment_ = 0;
  Integer square_ = 0;
};

Crowd others_of(const Observation& now, const EntityState& one) {
  Crowd crowd;
  for (const EntityState& entity : now.entities) {
    if (entity.id == one.id || !has(entity, VLAG_ON_RQ)) continue;
    crowd.add(weight_of(entity), key_of(now, entity));
  }
  return crowd;
}

// E of the one who is queued, and of what it does to the others.
Rational energy_with(Crowd crowd, const Observation& now, const EntityState& one) {
  const Rational alone = crowd.energy();
  crowd.add(weight_of(one), key_of(now, one));
  return crowd.energy() - alone;
}

Rational saved_energy(const EntityState& one) {
  return weight_of(one) * Integer(one.vlag) * Integer(one.vlag);
}

struct Leave {
  Rational change;  // Of E.
  Integer load;     // Of the others.
  std::uint64_t weight;
  std::int64_t vlag;
};

// Exactly one; in a step in which several leave, who found whom there is not seen.
const EntityState* only_one_that(const Step& step, bool queued_after) {
  const EntityState* only = nullptr;
  for (const EntityState& after : step.after.entities) {
    const EntityState* before = step.before->find(after.id);
    const bool was = before != nullptr && has(*before, VLAG_ON_RQ);
    if (has(after, VLAG_ON_RQ) != queued_after || was == queued_after) continue;
    if (before == nullptr || only != nullptr) return nullptr;
    only = &after;
  }
  return only;
}

// floor(V) makes a saved lag wrong by less than 1, and where it is placed by less than 2. As w k^2
// changes by w (2 |k| + d) d, this is more than enough on both sides.
Rational rounding(const Leave& leave, const Rational& placed, const Integer& weight) {
  const Rational lag = leave.vlag;
  const Rational magnitude = abs(placed) + abs(lag) + 4;
  return 4 * weight * magnitude * (1 + Rational(weight, leave.load));
}

class RoundTrips {
 public:
  std::string check(const Step& step) {
    if (step.before == nullptr) return {};
    forget(step);
    if (const EntityState* one = only_one_that(step, false)) note(step.after, *one);
    if (const EntityState* one = only_one_that(step, true)) return judge(step.after, *one);
    return {};
  }

 private:
  // Who is gone, who is not the same any more, and who joined in a way that is not seen.
  void forget(const Step& step) {
    std::erase_if(left_, [&](const auto& entry) {
      const EntityState* before = step.before->find(entry.first);
      const EntityState* after = step.after.find(entry.first);
      if (before == nullptr || after == nullptr || has(*before, VLAG_ON_RQ)) return true;
      return before->weight != entry.second.weight || before->vlag != entry.second.vlag ||
             after->weight != entry.second.weight;
    });
  }

  void note(const Observation& now, const EntityState& one) {
    const Crowd others = others_of(now, one);
    if (others.weight() == 0) return;  // Alone it had no lag.
    const Rational change = saved_energy(one) - energy_with(others, now, one);
    left_.insert_or_assign(one.id, Leave{change, others.weight(), one.weight, one.vlag});
  }

  std::string judge(const Observation& now, const EntityState& one) {
    const auto at = left_.find(one.id);
    if (at == left_.end()) return {};
    const Leave leave = at->second;
    left_.erase(at);
    const Crowd others = others_of(now, one);
    if (others.weight() == 0) return {};
    const Integer weight = weight_of(one);
    const Rational saved = weight * Integer(leave.vlag) * Integer(leave.vlag);
    const Rational gained = leave.change + energy_with(others, now, one) - saved;
    const Rational placed = others.mean() - key_of(now, one);
    if (gained <= rounding(leave, placed, weight)) return {};
    return fmt::format(
        "task {} left others of weight {} with a lag of {} ns and joined others of weight {}: the "
        "energy grew by {}",
        one.id, leave.load.str(), leave.vlag, others.weight().str(),
        Integer(numerator(gained) / denominator(gained)).str());
  }

  std::map<int, Leave> left_;
};

}  // namespace

Check start_round_trips(const BackendInfo&) {
  return [trips = std::make_shared<RoundTrips>()](const Step& step) { return trips->check(step); };
}

}  // namespace vlag::props

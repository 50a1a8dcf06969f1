// SPDX-License-Identifier: GPL-2.0-only
#include "props/relation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;

// An observation that can be changed.
struct Copy {
  spec::Head head;
  spec::QueueState queue;
  std::vector<EntityState> entities;

  explicit Copy(const Observation& seen)
      : head(*seen.head),
        queue(*seen.queue),
        entities(seen.entities.begin(), seen.entities.end()) {}

  // As a record, which is how observations are compared.
  Observation in(spec::Trace& trace) const {
    const auto slot = trace.append(static_cast<std::uint32_t>(entities.size()));
    *slot.head = head;
    *slot.queue = queue;
    std::copy(entities.begin(), entities.end(), slot.entities);
    return trace.back();
  }
};

void forget_timeline(Copy& copy) {
  copy.queue.root = copy.queue.leftmost = VLAG_NO_ENTITY;
  copy.queue.zero_vruntime = 0;
  copy.queue.sum_w_vruntime = 0;
  for (EntityState& entity : copy.entities) {
    entity.left = entity.right = VLAG_NO_ENTITY;
    entity.flags &= ~static_cast<std::uint32_t>(VLAG_RED);
    entity.min_vruntime = entity.min_slice = 0;
  }
}

void forget_task(Copy& copy, int id) {
  std::erase_if(copy.entities, [id](const EntityState& entity) { return entity.id == id; });
  copy.head.entities = static_cast<std::uint32_t>(copy.entities.size());
}

void rename(Copy& copy, const std::vector<int>& names) {
  const auto left_name = [&](std::int32_t& id) {
    const auto at = std::find(names.begin(), names.end(), id);
    if (at != names.end()) id = static_cast<std::int32_t>(at - names.begin());
  };
  for (std::int32_t* id : {&copy.head.current, &copy.queue.curr, &copy.queue.next, &copy.queue.root,
                           &copy.queue.leftmost}) {
    left_name(*id);
  }
  for (EntityState& entity : copy.entities) {
    left_name(entity.id);
    left_name(entity.left);
    left_name(entity.right);
  }
  std::sort(copy.entities.begin(), copy.entities.end(),
            [](const EntityState& a, const EntityState& b) { return a.id < b.id; });
}

// While an entity is queued its vlag is what it was last picked or placed with: the deadline then,
// or the lag. Nothing reads it but the protection of the current one.
void forget_idle_lags(Copy& copy) {
  for (EntityState& entity : copy.entities) {
    if (has(entity, VLAG_ON_RQ) && copy.queue.curr != entity.id) entity.vlag = 0;
  }
}

void shift_clock(Copy& copy, std::uint64_t by) {
  copy.head.clock -= by;
  if (copy.head.hrtick != 0) copy.head.hrtick -= by;
  for (EntityState& entity : copy.entities) {
    if (entity.sum_exec_runtime != 0 || entity.exec_start != 0) entity.exec_start -= by;
  }
}

void shift_vruntime(Copy& copy, std::uint64_t by) {
  copy.queue.zero_vruntime -= by;
  copy.queue.average -= by;
  for (EntityState& entity : copy.entities) {
    entity.vruntime -= by;
    if (!has(entity, VLAG_REL_DEADLINE)) entity.deadline -= by;
    if (has(entity, VLAG_IN_TIMELINE)) entity.min_vruntime -= by;
    // While it runs it holds the deadline that it was picked with.
    if (copy.queue.curr == entity.id && has(entity, VLAG_ON_RQ)) {
      entity.vlag = static_cast<std::int64_t>(static_cast<std::uint64_t>(entity.vlag) - by);
    }
  }
}

std::string unlike(const Observation& left, const Observation& right, const Likeness& likeness) {
  Copy one(left);
  Copy other(right);
  if (likeness.without != VLAG_NO_ENTITY) forget_task(other, likeness.without);
  if (!likeness.names.empty()) rename(other, likeness.names);
  if (likeness.vruntime != 0) {
    forget_idle_lags(one);
    forget_idle_lags(other);
  }
  shift_clock(other, likeness.clock);
  shift_vruntime(other, likeness.vruntime);
  if (!likeness.timeline) {
    forget_timeline(one);
    forget_timeline(other);
  }
  spec::Trace left_record;
  spec::Trace right_record;
  const auto difference = spec::first_difference(one.in(left_record), other.in(right_record));
  if (!difference) return {};
  const std::string whose =
      difference->entity == VLAG_NO_ENTITY ? "" : fmt::format(" of task {}", difference->entity);
  return fmt::format("{}{} is {}, and was {}", difference->field, whose, difference->right,
                     difference->left);
}

std::string unlike_decisions(const Observation& left, const Observation& right) {
  if (left.head->current != right.head->current) {
    return fmt::format("task {} runs, and task {} did", right.head->current, left.head->current);
  }
  if (left.head->need_resched == right.head->need_resched) return {};
  return right.head->need_resched != 0 ? "a reschedule is requested, and was not"
                                       : "no reschedule is requested, and one was";
}

// Who runs, whether that is to change, and where everyone is relative to the current one.
std::string unlike_scaled(const Observation& left, const Observation& right, unsigned scale) {
  if (std::string what = unlike_decisions(left, right); !what.empty()) return what;
  for (const EntityState& one : left.entities) {
    const EntityState* other = right.find(one.id);
    if (other == nullptr) return fmt::format("there is no task {}", one.id);
    const auto& first = left.entities.front();
    const std::int64_t apart = spec::distance(one.vruntime, first.vruntime);
    const std::int64_t right_apart =
        spec::distance(other->vruntime, right.entities.front().vruntime);
    if (right_apart == apart * (std::int64_t{1} << scale)) continue;
    return fmt::format("task {} is {} from task {}, and was {} in the old unit", one.id,
                       right_apart, first.id, apart);
  }
  return {};
}

std::string unlike_charge(const Observation& left, const Observation& right, std::int64_t slack) {
  const EntityState* one = left.find(left.queue->curr);
  const EntityState* other = right.find(right.queue->curr);
  if (one == nullptr || other == nullptr || one->id != other->id) return {};
  const std::int64_t apart = spec::distance(other->vruntime, one->vruntime);
  if (-slack <= apart && apart <= 0) return {};
  return fmt::format("the vruntime of task {} is {}, and was {}", one->id, other->vruntime,
                     one->vruntime);
}

bool has_lost_deadline(const Observation& now) {
  return std::any_of(now.entities.begin(), now.entities.end(), [](const EntityState& entity) {
    return has(entity, VLAG_ON_RQ) && has(entity, VLAG_REL_DEADLINE);
  });
}

// Where a stream cannot be held to anything: beyond the bounds, or virtual times are arbitrary.
bool is_beyond(const Observation& now) {
  return !spec::within_bounds(now) || has_lost_deadline(now);
}

}  // namespace

const Relation* find_relation(std::string_view name) {
  for (const Relation& relation : relations()) {
    if (relation.name == name) return &relation;
  }
  return nullptr;
}

std::string violation_on(Backend& backend, std::string_view rule, const spec::Sequence& sequence) {
  if (const Relation* relation = find_relation(rule)) {
    return RelationJudge(backend, *relation).judge_all(sequence);
  }
  const Property* const only[] = {find_property(rule)};
  VLAG_CHECK(only[0] != nullptr);
  spec::Trace trace;
  if (!backend.run(sequence, trace).completed()) return {};
  const auto violations = judge(sequence, trace, backend.info(), only).violations;
  return violations.empty() ? std::string() : violations.front().what;
}

bool RelationJudge::run_original(const spec::Sequence& sequence) {
  operations_ += sequence.size();
  return backend_.run(sequence, original_).completed();
}

std::optional<Original> RelationJudge::original(const spec::Sequence& sequence) {
  if (!run_original(sequence)) return {};
  Original original{sequence, original_, backend_.info(), {}};
  Features features(backend_.info().features);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (original_[i].head->result != 0) return {};
    if (sequence[i].code == VLAG_FEATURES) features.assign(sequence[i].extra, sequence[i].arg);
    original.features.push_back(features);
  }
  return original;
}

std::string RelationJudge::judge(const spec::Sequence& sequence, std::size_t choice) {
  const auto base = original(sequence);
  return base ? judge_way(*base, choice) : std::string();
}

std::string RelationJudge::judge_all(const spec::Sequence& sequence) {
  const auto base = original(sequence);
  if (!base) return {};
  for (std::size_t choice = 0; choice < relation_.ways(sequence); ++choice) {
    if (std::string what = judge_way(*base, choice); !what.empty()) return what;
  }
  return {};
}

std::string RelationJudge::judge_way(const Original& original, std::size_t choice) {
  auto related = relation_.relate(original, choice);
  if (!related) return {};
  if (related->left) {
    operations_ += related->left->size();
    if (!backend_.run(*related->left, left_).completed()) return {};
  }
  operations_ += related->right.size();
  const bool completed = backend_.run(related->right, right_).completed();
  const spec::Trace& left = related->left ? left_ : original.trace;
  Likeness& likeness = related->likeness;
  for (const Pair& pair : related->compared) {
    if (pair.left >= left.size()) break;
    if (pair.right >= right_.size()) {
      return completed ? "" : fmt::format("{}: no one can be picked", related->change);
    }
    const Observation one = left[pair.left];
    const Observation other = right_[pair.right];
    if (is_beyond(one) || is_beyond(other)) break;
    if (likeness.measured) {
      likeness.clock = other.head->clock - one.head->clock;
      likeness.vruntime = other.queue->zero_vruntime - one.queue->zero_vruntime;
      likeness.measured = false;
    }
    ++compared_;
    std::string what;
    if (likeness.decisions) {
      what = unlike_decisions(one, other);
    } else if (likeness.slack != 0) {
      what = unlike_charge(one, other, likeness.slack);
    } else if (likeness.scale != 0) {
      what = unlike_scaled(one, other, likeness.scale);
    } else {
      what = unlike(one, other, likeness);
    }
    if (what.empty()) continue;
    const spec::Sequence& shown = related->left ? *related->left : original.sequence;
    return fmt::format("{}: after operation {} ({}) {}", related->change, pair.left,
                       spec::to_text(shown[pair.left]), what);
  }
  return {};
}

}  // namespace vlag::props

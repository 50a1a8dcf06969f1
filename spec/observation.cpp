// SPDX-License-Identifier: GPL-2.0-only
#include "spec/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace vlag::spec {
namespace {

// The records lie back to back in one buffer, as on the wire, so they must not need padding.
static_assert(sizeof(Head) % 8 == 0 && sizeof(QueueState) % 8 == 0 && sizeof(EntityState) % 8 == 0);

constexpr std::size_t record_bytes(std::uint32_t entities) {
  return sizeof(Head) + sizeof(QueueState) + entities * sizeof(EntityState);
}

template <class Field>
bool compare(const char* name, int entity, Field left, Field right,
             std::optional<Difference>& found) {
  if (left == right || found) return found.has_value();
  found = Difference{name, entity, fmt::format("{}", left), fmt::format("{}", right)};
  return true;
}

std::optional<Difference> compare_entities(const EntityState& left, const EntityState& right) {
  std::optional<Difference> found;
#define VLAG_COMPARE(type, name) compare("entity." #name, left.id, left.name, right.name, found);
  VLAG_ENTITY_FIELDS(VLAG_COMPARE)
#undef VLAG_COMPARE
  return found;
}

std::optional<Difference> compare_queues(const QueueState& left, const QueueState& right) {
  std::optional<Difference> found;
#define VLAG_COMPARE(type, name) \
  compare("queue." #name, VLAG_NO_ENTITY, left.name, right.name, found);
  VLAG_QUEUE_FIELDS(VLAG_COMPARE)
#undef VLAG_COMPARE
  return found;
}

std::optional<Difference> compare_heads(const Head& left, const Head& right) {
  std::optional<Difference> found;
#define VLAG_COMPARE(type, name) compare(#name, VLAG_NO_ENTITY, left.name, right.name, found);
  VLAG_HEAD_FIELDS(VLAG_COMPARE)
#undef VLAG_COMPARE
  return found;
}

}  // namespace

const EntityState* Observation::find(int id) const {
  const auto at = std::lower_bound(entities.begin(), entities.end(), id,
                                   [](const EntityState& e, int wanted) { return e.id < wanted; });
  return at != entities.end() && at->id == id ? &*at : nullptr;
}

void Trace::clear() {
  bytes_.clear();
  starts_.clear();
}

Observation Trace::operator[](std::size_t index) const {
  const std::byte* at = bytes_.data() + starts_[index];
  const auto* head = reinterpret_cast<const Head*>(at);
  const auto* queue = reinterpret_cast<const QueueState*>(at + sizeof(Head));
  const auto* entities =
      reinterpret_cast<const EntityState*>(at + sizeof(Head) + sizeof(QueueState));
  return {head, queue, {entities, head->entities}};
}

Trace::Slot Trace::append(std::uint32_t entities) {
  const std::size_t start = bytes_.size();
  bytes_.resize(start + record_bytes(entities));
  starts_.push_back(start);
  std::byte* at = bytes_.data() + start;
  auto* head = reinterpret_cast<Head*>(at);
  head->entities = entities;
  return {head, reinterpret_cast<QueueState*>(at + sizeof(Head)),
          reinterpret_cast<EntityState*>(at + sizeof(Head) + sizeof(QueueState))};
}

Result<Done> Trace::append_records(std::span<const std::byte> records) {
  std::size_t at = 0;
  std::vector<std::size_t> starts;
  while (at < records.size()) {
    Head head;
    if (records.size() - at < sizeof head) {
      return Error{fmt::format("an observation is cut short at byte {}", at), {}};
    }
    std::memcpy(&head, records.data() + at, sizeof head);
    if (head.entities > VLAG_MAX_TASKS) {
      return Error{fmt::format("an observation at byte {} claims {} entities; at most {} can be",
                               at, head.entities, VLAG_MAX_TASKS),
                   {}};
    }
    if (records.size() - at < record_bytes(head.entities)) {
      return Error{fmt::format("an observation is cut short at byte {}", at), {}};
    }
    starts.push_back(bytes_.size() + at);
    at += record_bytes(head.entities);
  }
  bytes_.insert(bytes_.end(), records.begin(), records.end());
  starts_.insert(starts_.end(), starts.begin(), starts.end());
  return Done{};
}

bool same_observation(const Observation& left, const Observation& right) {
  return left.entities.size() == right.entities.size() &&
         std::memcmp(left.head, right.head,
                     record_bytes(static_cast<std::uint32_t>(left.entities.size()))) == 0;
}

std::optional<Difference> first_difference(const Observation& left, const Observation& right) {
  if (same_observation(left, right)) return std::nullopt;
  if (auto found = compare_heads(*left.head, *right.head)) return found;
  if (auto found = compare_queues(*left.queue, *right.queue)) return found;
  for (std::size_t i = 0; i < left.entities.size(); ++i) {
    if (auto found = compare_entities(left.entities[i], right.entities[i])) return found;
  }
  return Difference{"record", VLAG_NO_ENTITY, "other bytes", "other bytes"};
}

std::string describe(const Observation& observation) {
  std::string text;
#define VLAG_PRINT(type, name) text += fmt::format(" " #name "={}", record.name);
  {
    const Head& record = *observation.head;
    text += "head:";
    VLAG_HEAD_FIELDS(VLAG_PRINT)
  }
  {
    const QueueState& record = *observation.queue;
    text += "\nqueue:";
    VLAG_QUEUE_FIELDS(VLAG_PRINT)
  }
  for (const EntityState& record : observation.entities) {
    text += "\nentity:";
    VLAG_ENTITY_FIELDS(VLAG_PRINT)
  }
#undef VLAG_PRINT
  return text;
}

}  // namespace vlag::spec

// SPDX-License-Identifier: GPL-2.0-only
#include "spec/observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/observations.h"

namespace vlag::spec {
namespace {

using tests::one_observation;
using tests::queued;

/// A change of one field of an observation of two entities.
struct Change {
  std::string field;
  int entity;
  void (*make)(const Trace::Slot& slot);
};

std::vector<Change> all_changes() {
  std::vector<Change> changes;
#define VLAG_CHANGE(type, name) \
  changes.push_back({#name, VLAG_NO_ENTITY, [](const Trace::Slot& slot) { slot.head->name += 1; }});
  VLAG_HEAD_FIELDS(VLAG_CHANGE)
#undef VLAG_CHANGE
  // The number of entities is a size, and has a test of its own.
  std::erase_if(changes, [](const Change& change) { return change.field == "entities"; });
#define VLAG_CHANGE(type, name) \
  changes.push_back(            \
      {"queue." #name, VLAG_NO_ENTITY, [](const Trace::Slot& slot) { slot.queue->name += 1; }});
  VLAG_QUEUE_FIELDS(VLAG_CHANGE)
#undef VLAG_CHANGE
#define VLAG_CHANGE(type, name) \
  changes.push_back(            \
      {"entity." #name, 8, [](const Trace::Slot& slot) { slot.entities[1].name += 1; }});
  VLAG_ENTITY_FIELDS(VLAG_CHANGE)
#undef VLAG_CHANGE
  return changes;
}

/// Entities 7 and 8, and something in every field.
Trace two_entities(void (*change)(const Trace::Slot& slot) = nullptr) {
  Trace trace;
  const auto slot = trace.append(2);
  std::memset(slot.queue, 0x11, sizeof *slot.queue);
  std::memset(slot.entities, 0x22, 2 * sizeof *slot.entities);
  slot.entities[0].id = 7;
  slot.entities[1].id = 8;
  if (change != nullptr) change(slot);
  return trace;
}

std::vector<std::byte> bytes_of(const Trace& trace, std::size_t index) {
  const Observation observation = trace[index];
  const auto* start = reinterpret_cast<const std::byte*>(observation.head);
  const auto size =
      sizeof(Head) + sizeof(QueueState) + observation.entities.size() * sizeof(EntityState);
  return {start, start + size};
}

// --- Comparing.

TEST(FirstDifference, IsNoneBetweenEquals) {
  const Trace left = two_entities();
  const Trace right = two_entities();
  EXPECT_TRUE(same_observation(left.back(), right.back()));
  EXPECT_FALSE(first_difference(left.back(), right.back()).has_value());
}

TEST(FirstDifference, FindsEachFieldThatChanged) {
  const Trace original = two_entities();
  for (const Change& change : all_changes()) {
    const Trace changed = two_entities(change.make);
    EXPECT_FALSE(same_observation(original.back(), changed.back())) << change.field;
    const auto difference = first_difference(original.back(), changed.back());
    ASSERT_TRUE(difference.has_value()) << change.field;
    EXPECT_EQ(difference->field, change.field);
    EXPECT_EQ(difference->entity, change.entity) << change.field;
    EXPECT_NE(difference->left, difference->right) << change.field;
  }
}

TEST(FirstDifference, EveryByteBelongsToAField) {
  const Trace original = two_entities();
  const std::vector<std::byte> bytes = bytes_of(original, 0);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    // A change of the number of entities would be another record.
    if (at >= offsetof(Head, entities) && at < sizeof(Head)) continue;
    std::vector<std::byte> changed = bytes;
    changed[at] ^= std::byte{1};
    Trace trace;
    ASSERT_TRUE(trace.append_records(changed).ok());
    const auto difference = first_difference(original.back(), trace.back());
    ASSERT_TRUE(difference.has_value()) << "byte " << at;
    EXPECT_NE(difference->field, "record") << "byte " << at;
  }
}

TEST(FirstDifference, ShowsBothValues) {
  const Trace left = one_observation(3, {});
  const Trace right = one_observation(VLAG_NO_ENTITY, {});
  const auto difference = first_difference(left.back(), right.back());
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->field, "current");
  EXPECT_EQ(difference->left, "3");
  EXPECT_EQ(difference->right, "-1");
}

TEST(FirstDifference, IsTheFirstInTheOrderOfTheFields) {
  const Trace left = two_entities();
  const Trace right = two_entities([](const Trace::Slot& slot) {
    slot.entities[0].vruntime += 1;
    slot.queue->nr_running += 1;
    slot.queue->average += 1;
  });
  EXPECT_EQ(first_difference(left.back(), right.back())->field, "queue.average");
}

TEST(FirstDifference, TheNumberOfEntitiesCounts) {
  const Trace left = one_observation(0, {{0, queued}});
  const Trace right = one_observation(0, {{0, queued}, {1, queued}});
  const auto difference = first_difference(left.back(), right.back());
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->field, "entities");
  EXPECT_EQ(difference->left, "1");
  EXPECT_EQ(difference->right, "2");
}

// --- Reading.

TEST(Observation, FindsTheLiveTasks) {
  const Trace trace = one_observation(0, {{0, queued}, {3, queued}, {255, queued}});
  for (const int id : {0, 3, 255}) {
    ASSERT_NE(trace.back().find(id), nullptr) << id;
    EXPECT_EQ(trace.back().find(id)->id, id);
  }
  for (const int id : {-1, 1, 4, 256}) EXPECT_EQ(trace.back().find(id), nullptr) << id;
}

TEST(Trace, KeepsObservationsOfDifferentSizesApart) {
  Trace trace;
  EXPECT_TRUE(trace.empty());
  for (std::uint32_t entities = 0; entities < 5; ++entities) {
    trace.append(entities).head->clock = 100 + entities;
  }
  ASSERT_EQ(trace.size(), 5U);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(trace[i].head->clock, 100 + i);
    EXPECT_EQ(trace[i].entities.size(), i);
  }
  trace.clear();
  EXPECT_TRUE(trace.empty());
}

TEST(Trace, ASlotIsZero) {
  Trace trace;
  trace.append(1).entities->vruntime = 7;
  trace.clear();
  const auto slot = trace.append(1);
  EXPECT_EQ(slot.head->entities, 1U);
  EXPECT_EQ(slot.head->clock, 0U);
  EXPECT_EQ(slot.entities->vruntime, 0U);
}

// --- Records, as they come over the wire.

TEST(AppendRecords, TakesAnyNumberOfWholeOnes) {
  Trace trace;
  EXPECT_TRUE(trace.append_records({}).ok());
  EXPECT_TRUE(trace.empty());

  std::vector<std::byte> records = bytes_of(two_entities(), 0);
  const std::vector<std::byte> empty = bytes_of(one_observation(VLAG_NO_ENTITY, {}), 0);
  records.insert(records.end(), empty.begin(), empty.end());
  ASSERT_TRUE(trace.append_records(records).ok());
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_TRUE(same_observation(trace[0], two_entities().back()));
  EXPECT_EQ(trace[1].entities.size(), 0U);
}

TEST(AppendRecords, RejectsOneThatIsCutShortAnywhere) {
  const std::vector<std::byte> whole = bytes_of(two_entities(), 0);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    Trace trace;
    const auto result = trace.append_records(std::span(whole).first(size));
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_EQ(result.error().message(), "an observation is cut short at byte 0") << size;
    EXPECT_TRUE(trace.empty()) << size;
  }
}

TEST(AppendRecords, SaysWhereAndKeepsNothingOfAFaultyBlock) {
  const std::vector<std::byte> whole = bytes_of(two_entities(), 0);
  std::vector<std::byte> records = whole;
  records.insert(records.end(), whole.begin(), whole.end() - 1);
  Trace trace = two_entities();
  const auto result = trace.append_records(records);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            "an observation is cut short at byte " + std::to_string(whole.size()));
  EXPECT_EQ(trace.size(), 1U);
}

TEST(AppendRecords, RejectsMoreEntitiesThanTasks) {
  Head head{};
  head.entities = VLAG_MAX_TASKS + 1;
  Trace trace;
  const auto result = trace.append_records(std::as_bytes(std::span(&head, 1)));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            "an observation at byte 0 claims 257 entities; at most 256 can be");
}

TEST(Describe, NamesEveryFieldOnOneLineARecord) {
  const std::string text = describe(two_entities().back());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  for (const Change& change : all_changes()) {
    const std::string name = change.field.substr(change.field.find('.') + 1);
    EXPECT_NE(text.find(" " + name + "="), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace vlag::spec

// SPDX-License-Identifier: GPL-2.0-only
// What a backend must show after each operation, and how two of them are compared.
//
// An observation is the records of spec/wire.h: one head, one queue, and one entity for
// each live task by rising id. Model and kernel fill the same records, so equality is
// equality of bytes, and the first difference is found by walking the same field lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/result.h"
#include "spec/wire.h"

namespace vlag::spec {

using Operation = vlag_operation;
using Head = vlag_head;
using QueueState = vlag_queue;
using EntityState = vlag_entity;

/// A view into a Trace; valid until the trace grows.
struct Observation {
  const Head* head = nullptr;
  const QueueState* queue = nullptr;
  std::span<const EntityState> entities;

  /// The live task with that id, or nullptr.
  const EntityState* find(int id) const;
};

/// The observations of one sequence, one after each operation.
class Trace {
 public:
  struct Slot {
    Head* head;
    QueueState* queue;
    EntityState* entities;
  };

  std::size_t size() const { return starts_.size(); }
  bool empty() const { return starts_.empty(); }
  void clear();

  /// Requires: index < size().
  Observation operator[](std::size_t index) const;
  Observation back() const { return (*this)[size() - 1]; }

  /// Room for one more observation, all zero but for head.entities.
  Slot append(std::uint32_t entities);

  /// Appends as many whole observations as `records` holds.
  /// Errors: a record that is cut short or claims more than VLAG_MAX_TASKS entities.
  Result<Done> append_records(std::span<const std::byte> records);

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> starts_;
};

/// The first field in which two observations differ, in the order of the field lists.
struct Difference {
  std::string field;  // "need_resched", "queue.load", "entity.vlag"
  int entity = VLAG_NO_ENTITY;
  std::string left;
  std::string right;
};

/// Compares every field: nothing is skipped. Ensures: nullopt only if all bytes are equal.
std::optional<Difference> first_difference(const Observation& left, const Observation& right);

bool same_observation(const Observation& left, const Observation& right);

/// All fields, one record a line; for reports.
std::string describe(const Observation& observation);

inline bool has(const EntityState& entity, std::uint32_t flag) {
  return (entity.flags & flag) != 0;
}

}  // namespace vlag::spec

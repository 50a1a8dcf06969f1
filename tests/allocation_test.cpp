// SPDX-License-Identifier: GPL-2.0-only
// No decision allocates: every path of a Cpu runs without a call of operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "core/cpu.h"

namespace {
long allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace vlag {
namespace {

void run_every_path(Cpu& cpu) {
  constexpr int tasks = 8;
  for (int id = 0; id < tasks; ++id) cpu.fork(id, id, SchedPolicy::normal, 0);
  for (int round = 0; round < 50; ++round) {
    cpu.schedule();
    cpu.tick(1'000'000);
    cpu.yield();
    const int sleeper = cpu.current()->se.id;
    cpu.block(false);
    if (cpu.current() != nullptr) cpu.advance(300'000);
    cpu.wake(sleeper);
    const int other = (round + 1) % tasks;
    cpu.set_nice(other, round % 20);
    cpu.set_slice(other, 200'000);
    cpu.set_policy(other, SchedPolicy::batch);
    if (cpu.current() != &cpu.task(other) && cpu.task(other).state == TaskState::queued) {
      cpu.dequeue(other);
      cpu.enqueue(other);
    }
  }
}

TEST(Allocation, NoDecisionAllocates) {
  Cpu cpu(eevdf_6_12(), 8);
  const long before = allocations;
  run_every_path(cpu);
  EXPECT_EQ(allocations, before);
}

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  ::operator delete(::operator new(sizeof(int)));
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: GPL-2.0-only
// Runs one operation of the workload so many times: count_main OPERATION TASKS TIMES.
// Under callgrind the difference between two TIMES is what the operations cost.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/bench/workload.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s OPERATION TASKS TIMES\n", argv[0]);
    return 2;
  }
  const std::string_view operation = argv[1];
  vlag::bench::Workload work(std::atoi(argv[2]));
  const int times = std::atoi(argv[3]);
  int picked = 0;  // Printed, so that no pick is optimised away.
  for (int i = 0; i < times; ++i) {
    if (operation == "tick_and_pick") {
      picked += work.tick_and_pick() != nullptr ? 1 : 0;
    } else if (operation == "tick_and_switch") {
      work.tick_and_switch();
    } else if (operation == "block_and_wake") {
      work.block_and_wake();
    } else if (operation == "dequeue_and_enqueue") {
      work.dequeue_and_enqueue();
    } else {
      std::fprintf(stderr, "%s: no such operation\n", argv[1]);
      return 2;
    }
  }
  std::printf("%d\n", picked);
  return 0;
}

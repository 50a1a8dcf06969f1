// SPDX-License-Identifier: GPL-2.0-only
// What a decision costs. Wall-clock times depend on the machine; instructions.sh counts
// instructions instead.
#include <benchmark/benchmark.h>

#include "tests/bench/workload.h"

namespace vlag {
namespace {

void tick_and_pick(benchmark::State& state) {
  bench::Workload work(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(work.tick_and_pick());
}

void tick_and_switch(benchmark::State& state) {
  bench::Workload work(static_cast<int>(state.range(0)));
  for (auto _ : state) work.tick_and_switch();
}

void wake_and_preempt(benchmark::State& state) {
  bench::Workload work(static_cast<int>(state.range(0)));
  for (auto _ : state) work.block_and_wake();
}

void dequeue_and_enqueue(benchmark::State& state) {
  bench::Workload work(static_cast<int>(state.range(0)));
  for (auto _ : state) work.dequeue_and_enqueue();
}

BENCHMARK(tick_and_pick)->Arg(8)->Arg(100)->Arg(1'000)->Arg(100'000);
BENCHMARK(tick_and_switch)->Arg(8)->Arg(100)->Arg(1'000)->Arg(100'000);
BENCHMARK(wake_and_preempt)->Arg(8)->Arg(100)->Arg(1'000)->Arg(100'000);
BENCHMARK(dequeue_and_enqueue)->Arg(8)->Arg(100)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace vlag

BENCHMARK_MAIN();

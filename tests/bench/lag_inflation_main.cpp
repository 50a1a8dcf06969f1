// SPDX-License-Identifier: GPL-2.0-only
// What each value of lag_inflation costs, on workloads of hogs and sleepers: the table of
// spec/lag_inflation.md. Build target vlag_lag_inflation; no arguments; the same numbers
// everywhere.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string_view>
#include <vector>

#include "core/cpu.h"
#include "props/random.h"

namespace {

using vlag::Cpu;
using vlag::Entity;
using vlag::Nanos;
using vlag::Policy;
using vlag::Task;
using vlag::TaskState;
using vlag::props::Random;

constexpr Nanos us = 1'000;
constexpr Nanos ms = 1'000'000;
constexpr Nanos long_enough = 20'000 * ms;

struct Worker {
  int count;
  int nice;
  Nanos runs;    // On average, then it sleeps; 0: for ever
  Nanos sleeps;  // On average
};

struct Workload {
  std::string_view name;
  std::vector<Worker> workers;
};

std::vector<Workload> workloads() {
  return {
      {"a desktop: 2 hogs, 3 interactive", {{2, 0, 0, 0}, {3, 0, 1 * ms, 20 * ms}}},
      {"heavy sleepers among light hogs", {{3, 10, 0, 0}, {3, -5, 2 * ms, 10 * ms}}},
      {"light sleepers among heavy hogs", {{2, -5, 0, 0}, {4, 5, 1 * ms, 10 * ms}}},
      {"a server: 1 hog, 20 short requests", {{1, 0, 0, 0}, {20, 0, 200 * us, 10 * ms}}},
      {"overload: 8 sleepers want twice the CPU", {{8, 0, 5 * ms, 15 * ms}}},
      {"mixed nice levels",
       {{1, 0, 0, 0}, {2, -6, 500 * us, 2 * ms}, {2, 3, 500 * us, 3 * ms}, {2, 0, ms, 5 * ms}}},
      {"audio: nice -10, 5 hogs", {{5, 0, 0, 0}, {2, -10, 300 * us, 5 * ms}}},
  };
}

struct Result {
  double kept = 0;  // Of the owed service that sleepers brought
  double brought = 0;
  std::vector<Nanos> waits;  // From a wakeup until it runs
  Nanos longest = 0;         // Of any wait of a hog
  double owed = 0;           // The most that anyone queued was owed, in ns of service
};

class Simulation {
 public:
  Simulation(const Policy& policy, const Workload& workload)
      : tick_(policy.tunables.tick_nsec()), cpu_(policy, population(workload)) {
    for (const Worker& worker : workload.workers) {
      for (int i = 0; i < worker.count; ++i) add(worker);
    }
  }

  Result run() {
    while (cpu_.clock() < long_enough) {
      advance(std::min({next_tick_, next_wakeup(), end_of_run()}));
      if (cpu_.clock() == next_tick_) tick();
      wake_all();
      if (cpu_.clock() == end_of_run()) sleep();
      act();
    }
    std::sort(result_.waits.begin(), result_.waits.end());
    return result_;
  }

 private:
  static constexpr Nanos never = std::numeric_limits<Nanos>::max();

  struct Job {
    Worker worker;
    Nanos left = 0;  // Of this run
    Nanos wakeup = never;
    Nanos waits_since = never;
    bool woke = false;
  };

  static int population(const Workload& workload) {
    int count = 0;
    for (const Worker& worker : workload.workers) count += worker.count;
    return count;
  }

  void add(const Worker& worker) {
    const int id = static_cast<int>(jobs_.size());
    cpu_.fork(id, worker.nice, vlag::SchedPolicy::normal, 0);
    jobs_.push_back({worker, around(worker.runs), never, cpu_.clock(), false});
    act();
  }

  // +- 50 %
  Nanos around(Nanos mean) { return mean == 0 ? never : mean / 2 + random_.below(mean + 1); }
  Job& job_of(int id) { return jobs_[static_cast<std::size_t>(id)]; }
  int running() const { return cpu_.current() != nullptr ? cpu_.current()->se.id : -1; }

  Nanos next_wakeup() const {
    Nanos next = never;
    for (const Job& job : jobs_) next = std::min(next, job.wakeup);
    return next;
  }

  Nanos end_of_run() const {
    if (running() < 0) return never;
    const Nanos left = jobs_[static_cast<std::size_t>(running())].left;
    return left == never ? never : cpu_.clock() + left;
  }

  void advance(Nanos until) {
    const Nanos delta = until - cpu_.clock();
    if (running() >= 0 && job_of(running()).left != never) job_of(running()).left -= delta;
    cpu_.advance(delta);
  }

  void tick() {
    next_tick_ += tick_;
    cpu_.tick(0);
    for (std::size_t id = 0; id < jobs_.size(); ++id) {
      const Entity& se = cpu_.task(static_cast<int>(id)).se;
      if (se.on_rq) result_.owed = std::max(result_.owed, service(se, lag_of(se)));
    }
    act();
  }

  double lag_of(const Entity& se) const {
    return static_cast<double>((cpu_.queue().average() - se.vruntime).value);
  }
  static double service(const Entity& se, double lag) {
    return lag * static_cast<double>(se.weight.down().value) / 1024;
  }

  void wake_all() {
    for (std::size_t id = 0; id < jobs_.size(); ++id) {
      if (jobs_[id].wakeup > cpu_.clock()) continue;
      wake(static_cast<int>(id));
    }
  }

  void wake(int id) {
    Job& job = job_of(id);
    const Entity& se = cpu_.task(id).se;
    const bool slept = cpu_.task(id).state == TaskState::sleeping;
    const double saved = service(se, static_cast<double>(se.vlag.value));
    const bool joined_others = cpu_.queue().nr_running() > 0;
    job.wakeup = never;
    job.left = around(job.worker.runs);
    job.waits_since = cpu_.clock();
    job.woke = true;
    cpu_.wake(id);
    if (slept && joined_others && saved > 0) {
      result_.brought += saved;
      result_.kept += service(se, lag_of(se));
    }
    act();
  }

  void sleep() {
    Job& job = job_of(running());
    job.wakeup = cpu_.clock() + around(job.worker.sleeps);
    job.left = never;
    job.waits_since = never;
    cpu_.block(false);
    switched();
  }

  // A reschedule takes effect at once.
  void act() {
    if (!cpu_.need_resched()) return;
    const int before = running();
    cpu_.schedule();
    if (before >= 0 && before != running()) job_of(before).waits_since = cpu_.clock();
    switched();
  }

  void switched() {
    if (running() < 0) return;
    Job& job = job_of(running());
    if (job.waits_since == never) return;
    const Nanos waited = cpu_.clock() - job.waits_since;
    if (job.woke) result_.waits.push_back(waited);
    if (job.worker.runs == 0) result_.longest = std::max(result_.longest, waited);
    job.waits_since = never;
    job.woke = false;
  }

  Nanos tick_;
  Nanos next_tick_ = tick_;
  Cpu cpu_;
  Random random_{1};
  std::vector<Job> jobs_;
  Result result_;
};

double in_us(Nanos ns) { return static_cast<double>(ns) / 1e3; }

void print(std::string_view name, std::string_view value, const Result& result) {
  const std::size_t count = result.waits.size();
  double sum = 0;
  for (const Nanos wait : result.waits) sum += in_us(wait);
  const Nanos p99 = count > 0 ? result.waits[count * 99 / 100] : 0;
  std::printf("| %.*s | %.*s | %.1f %% | %.0f | %.0f | %.0f | %.1f | %.1f |\n",
              static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
              value.data(), result.brought > 0 ? 100 * result.kept / result.brought : 100.0,
              count > 0 ? sum / static_cast<double>(count) : 0.0, in_us(p99),
              in_us(count > 0 ? result.waits.back() : 0), in_us(result.longest) / 1e3,
              result.owed / 1e6);
}

}  // namespace

int main() {
  std::printf(
      "| workload | lag_inflation | lag kept | wakeup wait, mean us | p99 us | max us | a hog "
      "waits, max ms | owed, max ms |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  constexpr std::array<std::string_view, 4> values = {"linux", "none", "capped", "geometric"};
  for (const Workload& workload : workloads()) {
    for (const std::string_view value : values) {
      Policy policy = vlag::eevdf_6_12();
      vlag::set_rule(policy.rules, "lag_inflation", value);
      policy.tunables.base_slice = 3 * ms;  // Of eight CPUs
      print(workload.name, value, Simulation(policy, workload).run());
    }
  }
  return 0;
}

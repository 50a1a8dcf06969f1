// SPDX-License-Identifier: GPL-2.0-only
// The five worked schedules of the custom-slice thread (Zijlstra, 2024): quantum 8, total weight 4.
//
// The thread says of the steady state: the full period is W * max(r/w), the mean period of a task
// is W * r/w, and its share of a full period is w/W.
#include <gtest/gtest.h>

#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/runqueue.h"

namespace vlag {
namespace {

using boost::multiprecision::cpp_rational;

constexpr std::int64_t unit = 12'000'000;  // ns; divisible by all that the examples divide by
constexpr std::int64_t quantum = 8;        // units

struct Client {
  char name;
  int weight;
  int request;  // units
};

/// A queue with clients at vruntimes 0, 1, 2 ..., driven by a tick every quantum.
class Example {
 public:
  explicit Example(const std::vector<Client>& clients) : queue_(rules_, cpu_) {
    cpu_.features = eevdf_6_12().features;
    queue_.set_zero_vruntime(VTime(0));
    int vruntime = 0;
    for (const Client& client : clients) join(client, vruntime++);
    switch_to_next();
  }

  /// V in units, exactly.
  cpp_rational average() const {
    cpp_rational weighted = 0;
    cpp_rational weight = 0;
    for (const auto& entity : entities_) {
      weighted += cpp_rational(entity->weight.down().value) * entity->vruntime.value;
      weight += entity->weight.down().value;
    }
    return weighted / weight / unit;
  }

  /// The name of each client that has the CPU, quantum by quantum.
  std::string run(int quanta) {
    std::string schedule;
    for (int i = 0; i < quanta; ++i) {
      schedule += names_[queue_.curr()];
      cpu_.clock += quantum * unit;
      queue_.update_curr();
      if (cpu_.need_resched) switch_to_next();
    }
    return schedule;
  }

 private:
  // Placement puts an entity of weight w at V - l (W + w)/W, so to have it at v it comes with
  // l = (V - v) W / (W + w).
  void join(const Client& client, int vruntime) {
    entities_.push_back(std::make_unique<Entity>());
    Entity& entity = *entities_.back();
    const auto load = static_cast<std::uint64_t>(client.weight) << 20;
    entity.weight =
        make_weight(load, static_cast<std::uint32_t>((std::uint64_t{1} << 22) /
                                                     static_cast<unsigned>(client.weight)));
    entity.custom_slice = true;
    entity.slice = client.request * unit;
    const std::int64_t weight = queue_.sums().sum_weight.value;
    const std::int64_t behind = static_cast<std::int64_t>(queue_.average().value) - vruntime * unit;
    entity.vlag = weight == 0 ? 0 : behind * weight / (weight + entity.weight.down().value);
    queue_.enqueue_entity(entity, EnqueueFlags{});
    EXPECT_EQ(entity.vruntime.value, static_cast<std::uint64_t>(vruntime * unit));
    names_[&entity] = client.name;
  }

  void switch_to_next() {
    cpu_.need_resched = false;
    Entity* next = queue_.pick_next_entity();
    if (next == queue_.curr()) return;
    if (queue_.curr() != nullptr) queue_.put_prev_entity(*queue_.curr());
    queue_.set_next_entity(*next);
  }

  Rules rules_;
  CpuState cpu_;
  Runqueue queue_;
  std::vector<std::unique_ptr<Entity>> entities_;
  std::map<const Entity*, char> names_;
};

int occurrences(const std::string& schedule, char name) {
  return static_cast<int>(std::count(schedule.begin(), schedule.end(), name));
}

// W * max(r/w), in quanta.
int full_period(const std::vector<Client>& clients) {
  int longest = 0;
  for (const Client& client : clients)
    longest = std::max(longest, 4 * client.request / client.weight);
  return longest / static_cast<int>(quantum);
}

void expect_steady_state(const std::vector<Client>& clients, const std::string& schedule) {
  const int period = full_period(clients);
  ASSERT_EQ(schedule.size(), static_cast<std::size_t>(period));
  constexpr int periods = 6;
  const std::string longer = Example(clients).run(periods * period);
  for (int i = 0; i < periods; ++i) {
    EXPECT_EQ(longer.substr(static_cast<std::size_t>(i * period), schedule.size()), schedule);
  }
  for (const Client& client : clients) {
    // The share w/W of a full period, and so one request of r every W * r/w on the mean.
    EXPECT_EQ(4 * occurrences(schedule, client.name), client.weight * period) << client.name;
    const int requests =
        occurrences(schedule, client.name) * static_cast<int>(quantum) / client.request;
    const int mean_period = 4 * client.request / client.weight / static_cast<int>(quantum);
    EXPECT_EQ(requests * mean_period, period) << client.name;
  }
}

// V after so many quanta, as the thread prints it.
using Averages = std::vector<std::pair<int, cpp_rational>>;

void expect_averages(const std::vector<Client>& clients, const Averages& averages) {
  Example example(clients);
  int time = 0;
  for (const auto& [quanta, average] : averages) {
    example.run(quanta - time);
    time = quanta;
    EXPECT_EQ(example.average(), average) << "t=" << quanta;
  }
}

cpp_rational quarter(int quarters) { return cpp_rational(quarters, 4); }

TEST(WorkedSchedules, FourIdenticalTasksInFifoOrder) {
  const std::vector<Client> clients = {{'A', 1, 8}, {'B', 1, 8}, {'C', 1, 8}, {'D', 1, 8}};
  expect_steady_state(clients, "ABCD");
  // V = (0 + 1 + 2 + 3)/4 = 1.5, and each quantum adds 8/4 = 2.
  expect_averages(clients, {{0, quarter(6)}, {1, quarter(14)}, {2, quarter(22)}, {3, quarter(30)}});
}

TEST(WorkedSchedules, OneHeavyTask) {
  const std::vector<Client> clients = {{'A', 1, 16}, {'B', 1, 16}, {'C', 2, 16}};
  expect_steady_state(clients, "AACCBBCC");
  // V = (0 + 1 + 2*2)/4 = 1.25, and each quantum adds 8/4 = 2: a task of weight 2 gains 4 in
  // vruntime, twice. The thread prints 8.25 and 12.25 at t = 4 and 6, which its own rule does not
  // give: 1.25 + 4*2 = 9.25, and 1.25 + 6*2 = 13.25. The schedule is as printed.
  expect_averages(clients, {{0, quarter(5)}, {2, quarter(21)}, {4, quarter(37)}, {6, quarter(53)}});
}

TEST(WorkedSchedules, OneShortTask) {
  const std::vector<Client> clients = {{'A', 1, 16}, {'B', 1, 8}, {'C', 1, 16}, {'D', 1, 16}};
  expect_steady_state(clients, "BAACCBDD");
  expect_averages(
      clients,
      {{0, quarter(6)}, {1, quarter(14)}, {3, quarter(30)}, {5, quarter(46)}, {6, quarter(54)}});
}

TEST(WorkedSchedules, OneHeavyAndOneShortTask) {
  const std::vector<Client> clients = {{'A', 1, 16}, {'B', 1, 8}, {'C', 2, 16}};
  expect_steady_state(clients, "BCCAABCC");
  expect_averages(
      clients,
      {{0, quarter(5)}, {1, quarter(13)}, {3, quarter(29)}, {5, quarter(45)}, {6, quarter(53)}});
}

TEST(WorkedSchedules, OneHeavyAndOneShortTaskPermuted) {
  const std::vector<Client> clients = {{'A', 1, 16}, {'B', 2, 16}, {'C', 1, 8}};
  expect_steady_state(clients, "BBCAABBC");
  expect_averages(
      clients,
      {{0, quarter(4)}, {2, quarter(20)}, {3, quarter(28)}, {5, quarter(44)}, {7, quarter(60)}});
}

}  // namespace
}  // namespace vlag

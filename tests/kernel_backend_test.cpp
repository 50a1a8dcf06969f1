// SPDX-License-Identifier: GPL-2.0-only
// The kernel backend, and the wire against the real kernel of 6.12.117.
#include "props/kernel_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "core/policy.h"
#include "props/kernel_build.h"
#include "spec/observation.h"

namespace vlag::props {
namespace {

using spec::Operation;
using spec::Trace;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t ms = 1'000'000;
using Sequence = std::vector<Operation>;

Operation op(vlag_code code, int id = 0, std::uint64_t arg = 0, int value = 0, int flags = 0) {
  return {static_cast<std::uint8_t>(code),
          static_cast<std::uint8_t>(flags),
          static_cast<std::uint16_t>(id),
          value,
          arg,
          0};
}

Operation features(std::uint64_t touched, std::uint64_t values) {
  Operation operation = op(VLAG_FEATURES, 0, values);
  operation.extra = touched;
  return operation;
}

Operation feature(Feature feature, bool on) {
  Features set;
  set.set(feature, true);
  return features(set.bits(), on ? set.bits() : 0);
}

// Mostly legal, by chance: what is not is refused.
Sequence random_operations(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 random(seed);
  Sequence sequence{op(VLAG_RESET, 0, random() % 1'000'000)};
  while (sequence.size() < length) {
    const int id = static_cast<int>(random() % 8);
    switch (const auto code = static_cast<vlag_code>(1 + random() % (VLAG_CODES - 1))) {
      case VLAG_FORK:
      case VLAG_NICE:
        sequence.push_back(op(code, id, 0, static_cast<int>(random() % 40) - 20));
        break;
      case VLAG_FEATURES:
        sequence.push_back(features(random() % (1 << feature_count), random()));
        break;
      case VLAG_TUNABLE:
        sequence.push_back(op(code, VLAG_BASE_SLICE, 100'000 + random() % (3 * ms)));
        break;
      case VLAG_TICK:
      case VLAG_ADVANCE:
      case VLAG_SLICE:
        sequence.push_back(op(code, id, random() % (4 * ms)));
        break;
      default:
        sequence.push_back(op(code, id));
    }
  }
  return sequence;
}

bool same(const Trace& left, const Trace& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!spec::same_observation(left[i], right[i])) return false;
  }
  return true;
}

class KernelBackendTest : public testing::TestWithParam<bool> {
 protected:
  static const spec::Result<Kernel>& kernel(bool groups) {
    static const spec::Result<Kernel> flat = ensure_kernel({});
    static const spec::Result<Kernel> grouped = ensure_kernel({.groups = true});
    return groups ? grouped : flat;
  }

  void SetUp() override {
    const auto& built = kernel(GetParam());
    ASSERT_TRUE(built) << built.error().message();
    auto started = KernelBackend::start(*built);
    ASSERT_TRUE(started) << started.error().message();
    backend_ = std::move(*started);
  }

  // The observations of a sequence that must complete.
  Trace run(const Sequence& sequence) {
    Trace trace;
    const Outcome outcome = backend_->run(sequence, trace);
    EXPECT_TRUE(outcome.completed()) << outcome.text;
    EXPECT_EQ(trace.size(), sequence.size());
    return trace;
  }

  std::unique_ptr<KernelBackend> backend_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, KernelBackendTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "groups" : "flat"; });

TEST_P(KernelBackendTest, SaysWhatItIs) {
  const BackendInfo& info = backend_->info();
  EXPECT_EQ(info.name, GetParam() ? "kernel:6.12-250-groups" : "kernel:6.12-250");
  EXPECT_EQ(info.release, "linux-source-6.12 6.12.117-1~deb12u1");
  EXPECT_EQ(info.hz, 250U);
  EXPECT_EQ(info.tick_nsec, 4 * ms);
  EXPECT_EQ(info.base_slice, 700'000U);
  EXPECT_EQ(info.groups, GetParam());
  // UTIL_EST, SIS_UTIL, ...: every default is in the table of names.
  EXPECT_EQ(info.features, eevdf_6_12().features.bits());
}

TEST_P(KernelBackendTest, TheRunningTaskPaysForItsTime) {
  const Trace trace = run({op(VLAG_RESET, 0, 5 * ms), op(VLAG_FORK, 0), op(VLAG_FORK, 1),
                           op(VLAG_SCHEDULE), op(VLAG_TICK, 0, 1 * ms)});

  // Nice 0: 1 ms of time is 1 ms of virtual time. The request of 0.7 ms is used up.
  const auto before = trace[3];
  const auto after = trace[4];
  ASSERT_EQ(before.head->current, 0);
  EXPECT_EQ(after.head->clock, 6 * ms);
  EXPECT_EQ(after.head->need_resched, 1U);
  EXPECT_EQ(after.find(0)->vruntime - before.find(0)->vruntime, 1 * ms);
  EXPECT_EQ(after.find(0)->sum_exec_runtime, 1 * ms);
  EXPECT_EQ(after.find(0)->deadline, after.find(0)->vruntime + 700'000);
  EXPECT_EQ(after.find(1)->vruntime, before.find(1)->vruntime);
  // Both weigh the same: V moves by half of it.
  EXPECT_EQ(after.queue->average - before.queue->average, ms / 2);
}

TEST_P(KernelBackendTest, ShowsTheTimeline) {
  const Trace trace = run({op(VLAG_RESET), op(VLAG_FORK, 0), op(VLAG_FORK, 1), op(VLAG_FORK, 2),
                           op(VLAG_FORK, 3), op(VLAG_SCHEDULE)});
  // Equal deadlines: first in, leftmost. The running task is not in the tree.
  const auto last = trace.back();
  EXPECT_EQ(last.head->current, 0);
  EXPECT_EQ(last.queue->curr, 0);
  EXPECT_EQ(last.queue->leftmost, 1);
  EXPECT_EQ(last.queue->root, 2);
  EXPECT_EQ(last.find(2)->left, 1);
  EXPECT_EQ(last.find(2)->right, 3);
  EXPECT_FALSE(spec::has(*last.find(2), VLAG_RED));
  EXPECT_TRUE(spec::has(*last.find(1), VLAG_IN_TIMELINE));
  EXPECT_EQ(last.find(1)->left, VLAG_NO_ENTITY);
  EXPECT_FALSE(spec::has(*last.find(0), VLAG_IN_TIMELINE));
  EXPECT_EQ(last.find(0)->min_vruntime, 0U);
}

TEST_P(KernelBackendTest, RefusesWhatCannotHappen) {
  Sequence sequence{op(VLAG_RESET), op(VLAG_FORK, 1), op(VLAG_FORK, 2), op(VLAG_SCHEDULE),
                    op(VLAG_TICK, 0, 300'000)};
  const std::size_t legal = sequence.size();
  const Sequence illegal{op(VLAG_FORK, 1),
                         op(VLAG_FORK, VLAG_MAX_TASKS),
                         op(VLAG_FORK, 3, 0, 20),
                         op(VLAG_FORK, 3, 0, 0, 1),
                         op(VLAG_WAKE, 3),
                         op(VLAG_DEQUEUE, 1),
                         op(VLAG_ENQUEUE, 2),
                         op(VLAG_TICK, 0, ~0ULL),
                         op(VLAG_NICE, 2, 0, -21),
                         op(VLAG_SLICE, 2, ~0ULL),
                         op(VLAG_POLICY, 2, 0, 0, 2),
                         op(VLAG_YIELD_TO, 1),
                         op(VLAG_HRTICK),
                         op(VLAG_TUNABLE, VLAG_BASE_SLICE, 1),
                         features(std::uint64_t{1} << 40, 0),
                         op(VLAG_CODES)};
  sequence.insert(sequence.end(), illegal.begin(), illegal.end());
  const Trace trace = run(sequence);

  for (std::size_t i = 0; i < sequence.size(); ++i) {
    EXPECT_EQ(trace[i].head->result, i < legal ? 0 : -EINVAL) << "operation " << i;
    if (i < legal) continue;
    const auto difference = spec::first_difference(trace[legal - 1], trace[i]);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->field, "result") << "operation " << i;
  }
}

TEST_P(KernelBackendTest, FeaturesGoByVlagsNumbers) {
  const Trace trace =
      run({op(VLAG_RESET), feature(Feature::PLACE_DEADLINE_INITIAL, false), op(VLAG_FORK, 0),
           feature(Feature::PLACE_DEADLINE_INITIAL, true), op(VLAG_FORK, 1)});
  // With it a new task starts with half a request.
  EXPECT_EQ(trace.back().find(0)->deadline - trace.back().find(0)->vruntime, 700'000U);
  EXPECT_EQ(trace.back().find(1)->deadline - trace.back().find(1)->vruntime, 350'000U);
}

TEST_P(KernelBackendTest, TheHighResolutionTickEndsTheSlice) {
  const Trace trace =
      run({op(VLAG_RESET, 0, ms), feature(Feature::HRTICK, true), op(VLAG_FORK, 0),
           op(VLAG_FORK, 1), op(VLAG_SCHEDULE), op(VLAG_HRTICK), op(VLAG_SCHEDULE)});
  EXPECT_EQ(trace[3].head->hrtick, 0U);
  EXPECT_EQ(trace[4].head->hrtick, ms + 700'000);
  EXPECT_EQ(trace[5].head->clock, ms + 700'000);
  EXPECT_EQ(trace[5].head->hrtick, 0U);
  EXPECT_EQ(trace[5].head->need_resched, 1U);
  EXPECT_EQ(trace[6].head->current, 1);
  EXPECT_EQ(trace[6].head->hrtick, ms + 2 * 700'000);
}

TEST_P(KernelBackendTest, AnIdCanBeForkedAgainAfterExit) {
  const Trace trace = run({op(VLAG_RESET), op(VLAG_FORK, 7, 0, -5), op(VLAG_SCHEDULE),
                           op(VLAG_TICK, 0, ms), op(VLAG_EXIT), op(VLAG_FORK, 7)});
  EXPECT_EQ(trace[4].head->entities, 0U);
  EXPECT_EQ(trace[4].head->current, VLAG_NO_ENTITY);
  EXPECT_EQ(trace[5].find(7)->nice, 0);
  EXPECT_EQ(trace[5].find(7)->sum_exec_runtime, 0U);
}

TEST_P(KernelBackendTest, IsDeterministic) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Sequence sequence = random_operations(seed, 2000);
    const Trace first = run(sequence);
    run(random_operations(seed + 100, 500));  // What came before must not matter
    EXPECT_TRUE(same(first, run(sequence))) << "seed " << seed;
  }
}

TEST_P(KernelBackendTest, LongSequencesAreSplit) {
  Sequence sequence{op(VLAG_RESET), op(VLAG_FORK, 0), op(VLAG_FORK, 1), op(VLAG_SCHEDULE)};
  while (sequence.size() < 5 * VLAG_MAX_REQUEST + 3) {
    sequence.push_back(op(VLAG_TICK, 0, 1000));
    sequence.push_back(op(VLAG_SCHEDULE));
  }
  const Trace trace = run(sequence);
  const auto ticks = (sequence.size() - 4) / 2;
  const auto last = trace.back();
  EXPECT_EQ(last.head->clock, 1000 * ticks);
  EXPECT_EQ(last.find(0)->sum_exec_runtime + last.find(1)->sum_exec_runtime, 1000 * ticks);
}

TEST_P(KernelBackendTest, AllTasksCanLive) {
  Sequence sequence{op(VLAG_RESET)};
  for (int id = VLAG_MAX_TASKS - 1; id >= 0; --id) sequence.push_back(op(VLAG_FORK, id));
  const Trace trace = run(sequence);
  ASSERT_EQ(trace.back().entities.size(), std::size_t{VLAG_MAX_TASKS});
  EXPECT_EQ(trace.back().entities.front().id, 0);
  EXPECT_EQ(trace.back().queue->nr_running, unsigned{VLAG_MAX_TASKS});
}

TEST_P(KernelBackendTest, BeginDoesNotWait) {
  const Sequence sequence = random_operations(1, VLAG_MAX_REQUEST);
  Trace trace;
  backend_->begin(sequence);
  std::this_thread::sleep_for(milliseconds(50));  // The kernel works, or waits for a reader
  EXPECT_TRUE(backend_->end(trace).completed());
  EXPECT_TRUE(same(trace, run(sequence)));
}

TEST_P(KernelBackendTest, AKilledKernelIsLostAndReplaced) {
  const Sequence sequence = random_operations(1, 1000);
  const Trace expected = run(sequence);

  Trace trace;
  ASSERT_EQ(kill(backend_->pid(), SIGSTOP), 0);
  backend_->begin(sequence);
  ASSERT_EQ(kill(backend_->pid(), SIGKILL), 0);
  const Outcome outcome = backend_->end(trace);
  EXPECT_EQ(outcome.kind, Outcome::Kind::lost);
  EXPECT_THAT(outcome.text, HasSubstr("signal 9"));

  EXPECT_TRUE(same(expected, run(sequence)));
  ASSERT_EQ(kill(backend_->pid(), SIGKILL), 0);  // Between two sequences nothing is lost
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(same(expected, run(sequence)));
}

TEST_P(KernelBackendTest, ASilentKernelHangsAndIsReplaced) {
  auto started = KernelBackend::start(*kernel(GetParam()), {.timeout = milliseconds(300)});
  ASSERT_TRUE(started);
  backend_ = std::move(*started);
  Trace trace;
  ASSERT_EQ(kill(backend_->pid(), SIGSTOP), 0);
  EXPECT_EQ(backend_->run(Sequence{op(VLAG_RESET)}, trace).kind, Outcome::Kind::hung);
  run({op(VLAG_RESET)});
}

TEST(KernelBackend, SomethingElseThanAKernelIsAnError) {
  Kernel kernel;
  kernel.path = "/bin/true";
  const auto started = KernelBackend::start(kernel);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("/bin/true: the kernel did not say hello"));

  kernel.path = "/nonexistent";
  EXPECT_FALSE(KernelBackend::start(kernel));
}

// A stand-in that says hello wrongly, answers wrongly, or complains and dies.
class FakeKernel {
 public:
  explicit FakeKernel(const std::string& script) {
    std::string name = testing::TempDir() + "vlag-fake-XXXXXX";
    directory_ = mkdtemp(name.data());
    kernel_.name = "fake";
    kernel_.path = directory_ / "linux";
    std::ofstream(kernel_.path) << "#!/bin/bash\n"
                                   "IFS='=,' read -r _ in out <<<\"$2\"\n"
                                << script << '\n';
    chmod(kernel_.path.c_str(), 0755);
    std::ofstream(directory_ / "hello", std::ios::binary)
        .write(reinterpret_cast<const char*>(&hello_), sizeof hello_);
  }
  ~FakeKernel() { std::filesystem::remove_all(directory_); }

  const Kernel& kernel() const { return kernel_; }

 private:
  vlag_hello hello_{.magic = VLAG_MAGIC,
                    .protocol = VLAG_PROTOCOL,
                    .hz = 250,
                    .tick_nsec = 4'000'000,
                    .base_slice = 700'000,
                    .features = 0,
                    .groups = 0,
                    .max_tasks = VLAG_MAX_TASKS,
                    .operation_bytes = sizeof(vlag_operation),
                    .head_bytes = sizeof(vlag_head),
                    .queue_bytes = sizeof(vlag_queue),
                    .entity_bytes = sizeof(vlag_entity),
                    .release = "fake",
                    .max_request = VLAG_MAX_REQUEST,
                    .names_bytes = 0};
  std::filesystem::path directory_;
  Kernel kernel_;
};

constexpr const char* say_hello = "cat \"${0%/*}/hello\" >&$out\n";

TEST(KernelBackend, AComplaintIsAFault) {
  const FakeKernel fake(std::string(say_hello) +
                        "head -c 16 <&$in >/dev/null\n"
                        "printf 'Linux version\\nWARNING: at fair.c:1\\ncall trace\\n' >&2\n"
                        "exit 1");
  auto backend = KernelBackend::start(fake.kernel());
  ASSERT_TRUE(backend) << backend.error().message();
  Trace trace;
  const Outcome outcome = (*backend)->run(Sequence{op(VLAG_RESET)}, trace);
  EXPECT_EQ(outcome.kind, Outcome::Kind::faulted);
  EXPECT_EQ(outcome.text, "WARNING: at fair.c:1\ncall trace");
}

TEST(KernelBackend, ACorruptReplyIsLost) {
  const FakeKernel fake(std::string(say_hello) +
                        "head -c 16 <&$in >/dev/null\n"
                        "printf 'this is not a reply' >&$out\n"
                        "sleep 10");
  auto backend = KernelBackend::start(fake.kernel());
  ASSERT_TRUE(backend) << backend.error().message();
  Trace trace;
  const Outcome outcome = (*backend)->run(Sequence{op(VLAG_RESET)}, trace);
  EXPECT_EQ(outcome.kind, Outcome::Kind::lost);
  EXPECT_THAT(outcome.text, StartsWith("a corrupt reply"));
}

// sched_yield() of a task of nice 5 warns.
constexpr const char* warning_patch = R"(--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -9100,6 +9100,7 @@
 	struct cfs_rq *cfs_rq = task_cfs_rq(curr);
 	struct sched_entity *se = &curr->se;
 
+	WARN_ON_ONCE(task_nice(curr) == 5);
 	/*
 	 * Are we the only task in the tree?
 	 */
)";

TEST(KernelBackend, AWarningOfAPatchedKernelIsAFaultWithWhatCameBefore) {
  const std::string patch = testing::TempDir() + "vlag-warning.patch";
  std::ofstream(patch) << warning_patch;
  const auto kernel = ensure_kernel({.patches = {patch}});
  ASSERT_TRUE(kernel) << kernel.error().message();
  EXPECT_EQ(kernel->name, "6.12-250-patched");
  auto backend = KernelBackend::start(*kernel);
  ASSERT_TRUE(backend) << backend.error().message();

  Sequence sequence{op(VLAG_RESET), op(VLAG_FORK, 0), op(VLAG_SCHEDULE), op(VLAG_YIELD)};
  Trace trace;
  EXPECT_TRUE((*backend)->run(sequence, trace).completed());
  sequence.insert(sequence.end() - 1, op(VLAG_NICE, 0, 0, 5));
  const Outcome outcome = (*backend)->run(sequence, trace);
  EXPECT_EQ(outcome.kind, Outcome::Kind::faulted);
  EXPECT_THAT(outcome.text, StartsWith("WARNING: "));
  EXPECT_THAT(outcome.text, HasSubstr("yield_task_fair"));
  EXPECT_EQ(trace.size(), sequence.size() - 1);  // All but the one that warned
}

TEST(KernelBuild, FindsWhatItBuilt) {
  const auto built = ensure_kernel({});
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(built->name, "6.12-250");
  const auto kernels = list_kernels();
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& kernel) {
    return kernel.name == built->name && kernel.key == built->key;
  }));
  const auto found = find_kernel("6.12-250-" + built->key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, built->path);
}

TEST(KernelBuild, SaysWhatItCannotBuild) {
  EXPECT_THAT(ensure_kernel({.version = "5.4"}).error().message(),
              HasSubstr("there is no model of Linux 5.4"));
  EXPECT_THAT(ensure_kernel({.source_dir = "/nonexistent"}).error().message(),
              HasSubstr("not a kernel source tree"));
  EXPECT_THAT(ensure_kernel({.patches = {"/nonexistent"}}).error().message(),
              HasSubstr("/nonexistent: cannot be read"));
  EXPECT_THAT(find_kernel("no-such").error().message(), HasSubstr("there is no kernel no-such"));
  EXPECT_FALSE(remove_kernel("no-such"));
}

}  // namespace
}  // namespace vlag::props

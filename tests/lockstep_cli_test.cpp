// SPDX-License-Identifier: GPL-2.0-only
// The command line with real kernels: lockstep, replay, gate, and kernel build of what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "props/kernel_build.h"
#include "spec/sequence.h"
#include "tests/support/process.h"

namespace vlag {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Process;
using tests::run_shell;
using tests::TemporaryDirectory;

class LockstepCliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const unsigned hz : {250U, 1000U}) {
      const auto kernel = props::ensure_kernel({.version = "6.12", .hz = hz});
      ASSERT_TRUE(kernel.ok()) << kernel.error().message();
    }
  }

  Process vlag(const std::string& arguments) const {
    return run_shell(VLAG_BINARY " " + arguments);
  }

  json parsed(const std::string& arguments, int exit_code) {
    SCOPED_TRACE(arguments);
    const Process process = vlag(arguments + " --format json");
    EXPECT_EQ(process.exit_code, exit_code) << process.err;
    const json document = json::parse(process.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << process.out;
    return document;
  }

  std::string file(const std::string& name, std::string_view content) const {
    return scratch_.file(name, content);
  }

  TemporaryDirectory scratch_;
};

// Enough to see all; the combinations are run in full whatever the number.
constexpr const char* short_lockstep = "lockstep --combinations 2 --steps 5000";

TEST_F(LockstepCliTest, LockstepHolds) {
  const Process text = vlag(short_lockstep);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("seed 1; again: vlag lockstep --kernel 6.12-250 --seed 1 "
                                   "--steps 5000 --combinations 2\n"));
  const json document = parsed(std::string(short_lockstep) + " --kernel 6.12-1000 --properties", 0);
  EXPECT_EQ(document.at("schema"), "vlag.lockstep/1");
  EXPECT_EQ(document.at("verdict"), "pass");
  EXPECT_EQ(document.at("kernel"), "6.12-1000");
  EXPECT_EQ(document.at("hz"), 1000);
  EXPECT_EQ(document.at("groups"), false);
  EXPECT_GE(document.at("operations"), 5000);
  EXPECT_GT(document.at("combinations"), 1);
  EXPECT_THAT(document.at("divergences"), IsEmpty());
  EXPECT_THAT(document.at("findings"), IsEmpty());
}

TEST_F(LockstepCliTest, TheSameSeedPrintsTheSameBytes) {
  for (const char* more : {"", " --format json", " --set hz=1000 --seed 2"}) {
    const std::string arguments = std::string(short_lockstep) + more;
    EXPECT_EQ(vlag(arguments + " --jobs 1").out, vlag(arguments + " --jobs 4").out) << arguments;
  }
}

TEST_F(LockstepCliTest, AWrongHzIsFoundShrunkAndReplayed) {
  const json document =
      parsed("lockstep --set hz=1000 --kernel 6.12-250 --steps 20000 --seed 2", 1);
  EXPECT_EQ(document.at("verdict"), "violation");
  ASSERT_EQ(document.at("divergences").size(), 1U);
  EXPECT_EQ(document.at("divergences").at(0).at("id"), "divergence");
  EXPECT_EQ(document.at("divergences").at(0).at("explained"), false);
  const json& finding = document.at("findings").at(0);
  const auto sequence = spec::parse_text(finding.at("sequence").get<std::string>(), "finding");
  ASSERT_TRUE(sequence.ok());
  EXPECT_LE(sequence->operations.size(), 8U) << finding.at("sequence");

  const auto reproduce = finding.at("reproduce").get<std::string>();
  ASSERT_THAT(reproduce, AllOf(StartsWith("vlag replay "), HasSubstr(" --set hz=1000")));
  const Process again = vlag(reproduce.substr(5));
  EXPECT_EQ(again.exit_code, 1) << again.err;
  EXPECT_THAT(again.out, HasSubstr("<-- differs"));
}

TEST_F(LockstepCliTest, ReplayMarksTheFirstDifference) {
  // After 4 ms task 1 has lag 2 ms, within 2 * 0.7 ms + TICK of HZ 250, but not of HZ 1000.
  const std::string replay = "replay " +
                             file("clamp.seq", "fork 0\nfork 1\nschedule\ntick 4ms\ndequeue 1\n") +
                             " --on model:eevdf-6.12 --on kernel:6.12-250";
  EXPECT_EQ(vlag(replay).exit_code, 0);

  const Process text = vlag(replay + " --set hz=1000");
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_THAT(text.out, HasSubstr("<-- differs\nmodel:eevdf-6.12:\n"));
  EXPECT_THAT(text.out, HasSubstr("violation: kernel:6.12-250: after operation 5 (dequeue 1): "));
  const json document = parsed(replay + " --set hz=1000", 1);
  EXPECT_EQ(document.at("schema"), "vlag.replay/1");
  EXPECT_EQ(document.at("other"), "kernel:6.12-250");
  EXPECT_EQ(document.at("index"), 5);
  EXPECT_EQ(document.at("field"), "entity.vlag");
}

TEST_F(LockstepCliTest, ReplayJudgesPropertiesOnTheKernelToo) {
  const std::string toggle = "replay " +
                             file("toggle.seq",
                                  "fork 0\ndequeue 0\n"
                                  "features NO_PLACE_REL_DEADLINE\nenqueue 0\n") +
                             " --on kernel:6.12-1000";
  const json document = parsed(toggle, 0);
  const json& finding = document.at("findings").at(0);
  EXPECT_EQ(finding.at("rule"), "queued_deadline_is_absolute");
  EXPECT_EQ(finding.at("on"), "kernel:6.12-1000");
  EXPECT_EQ(finding.at("explained"), true);
  EXPECT_EQ(finding.at("divergence"), "rel-deadline-toggle");
}

TEST_F(LockstepCliTest, IllegalOnBothSidesIsBadInput) {
  const Process process = vlag("replay " + file("bad.seq", "fork 0\nblock\n") +
                               " --on model:eevdf-6.12 --on kernel:6.12-250");
  EXPECT_EQ(process.exit_code, 2);
  EXPECT_THAT(process.out, IsEmpty());
  EXPECT_THAT(process.err, HasSubstr("bad.seq:2:1: 'block' is not legal here"));
}

TEST_F(LockstepCliTest, GatePasses) {
  const json document = parsed("gate --steps 1 --seed 5", 0);
  EXPECT_EQ(document.at("schema"), "vlag.gate/1");
  EXPECT_EQ(document.at("verdict"), "pass");
  EXPECT_EQ(document.at("seed"), 5);
  for (const json& row : document.at("properties")) {
    EXPECT_TRUE(row.at("name").is_string());
    EXPECT_TRUE(row.at("verdict") == "pass" || row.at("verdict") == "explained") << row;
    EXPECT_GT(row.at("operations"), 0);
  }
  ASSERT_EQ(document.at("lockstep").size(), 2U);
  const json& kernel = document.at("lockstep").at(1);
  EXPECT_EQ(kernel.at("kernel"), "6.12-1000");
  EXPECT_EQ(kernel.at("hz"), 1000);
  EXPECT_EQ(kernel.at("groups"), false);
  EXPECT_EQ(kernel.at("combinations"), 1024);
  EXPECT_GT(kernel.at("operations"), 1024);
  for (const json& divergence : kernel.at("divergences")) {
    EXPECT_EQ(divergence.at("explained"), true) << divergence;
    EXPECT_TRUE(divergence.at("id").is_string());
    EXPECT_TRUE(divergence.at("sequence").is_string());
  }
  EXPECT_TRUE(document.at("proofs").is_array());
  for (const json& finding : document.at("findings")) {
    for (const char* key : {"rule", "summary", "sequence", "reproduce"}) {
      EXPECT_TRUE(finding.at(key).is_string()) << finding;
    }
    EXPECT_EQ(finding.at("explained"), true) << finding;
  }
}

TEST_F(LockstepCliTest, GateFailsAndIsInconclusive) {
  const Process mutant = vlag("gate --steps 1 --kernel 6.12-250 --set tie=lifo");
  EXPECT_EQ(mutant.exit_code, 1) << mutant.err;
  EXPECT_THAT(mutant.out, StartsWith("seed 1; again: vlag gate --seed 1 --steps 1 "
                                     "--kernel 6.12-250 --set tie=lifo\n"));
  EXPECT_THAT(mutant.out, HasSubstr("ties_are_fifo"));
  EXPECT_EQ(parsed("gate --steps 1 --kernel 9.9-250", 3).at("verdict"), "inconclusive");
}

TEST_F(LockstepCliTest, KernelsThatAreThere) {
  const json built = parsed("kernel build 6.12 --hz 250 --no-groups", 0);
  const json& kernel = built.at("kernels").at(0);
  EXPECT_EQ(kernel.at("name"), "6.12-250");
  const json list = parsed("kernel list", 0);
  EXPECT_EQ(list.at("schema"), "vlag.kernel/1");
  EXPECT_GE(list.at("kernels").size(), 2U);
  // Any name of the list will do.
  const std::string full =
      kernel.at("name").get<std::string>() + "-" + kernel.at("key").get<std::string>();
  EXPECT_EQ(vlag(std::string(short_lockstep) + " --kernel " + full).exit_code, 0);
}

TEST_F(LockstepCliTest, AKernelWithGroupsByItsFullName) {
  const auto kernel = props::ensure_kernel({.groups = true});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  const Process process = vlag(std::string(short_lockstep) + " --format json --kernel " +
                               kernel->name + "-" + kernel->key);
  const json document = json::parse(process.out);
  EXPECT_EQ(process.exit_code, 0) << process.out;
  EXPECT_EQ(document.at("groups"), true);
}

TEST_F(LockstepCliTest, ACacheThatCannotBeWrittenIsInconclusive) {
  const Process process = run_shell("env XDG_CACHE_HOME=/proc/x " VLAG_BINARY " lockstep");
  EXPECT_EQ(process.exit_code, 3);
  EXPECT_THAT(process.out, IsEmpty());
  EXPECT_THAT(process.err, AllOf(StartsWith("inconclusive: "), HasSubstr("/proc/x/vlag")));
}

TEST_F(LockstepCliTest, AHomeIsNotNeeded) {
  const std::string cache = props::cache_directory().parent_path().string();
  const Process process =
      run_shell("env -u HOME XDG_CACHE_HOME=" + cache + " " VLAG_BINARY " " + short_lockstep);
  EXPECT_EQ(process.exit_code, 0) << process.err;
}

}  // namespace
}  // namespace vlag

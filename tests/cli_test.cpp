// SPDX-License-Identifier: GPL-2.0-only
// The command line without a kernel: exit codes, what bad input is answered, JSON, reproducing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "props/cli/common.h"
#include "spec/sequence.h"
#include "tests/support/process.h"

namespace vlag::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using tests::lines_in;
using tests::Process;
using tests::run_shell;
using tests::TemporaryDirectory;

class CliTest : public testing::Test {
 protected:
  // In a cache of its own, so that a test writes nowhere else.
  Process vlag(const std::string& arguments, const std::string& environment = "") const {
    return run_shell("env XDG_CACHE_HOME=" + cache() + " " + environment + " " VLAG_BINARY " " +
                     arguments);
  }
  std::string cache() const { return (scratch_.path() / "cache").string(); }
  std::string file(const std::string& name, std::string_view content) const {
    return scratch_.file(name, content);
  }

  // One line that says what was wrong, and nothing else happened.
  void expect_bad(const std::string& arguments, const testing::Matcher<std::string>& message) {
    SCOPED_TRACE(arguments);
    const Process process = vlag(arguments);
    EXPECT_EQ(process.exit_code, exit_bad_input);
    EXPECT_THAT(process.out, IsEmpty());
    EXPECT_THAT(process.err, AllOf(StartsWith("vlag: "), message));
    EXPECT_EQ(lines_in(process.err), 1U) << process.err;
    EXPECT_FALSE(std::filesystem::exists(cache()));
  }

  json parsed(const std::string& arguments, int exit_code) {
    SCOPED_TRACE(arguments);
    const Process process = vlag(arguments + " --format json");
    EXPECT_EQ(process.exit_code, exit_code) << process.err;
    EXPECT_THAT(process.err, IsEmpty());
    const json document = json::parse(process.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << process.out;
    return document;
  }

  TemporaryDirectory scratch_;
};

std::string binary_sequence() {
  const std::vector<spec::Operation> operations = {spec::op::reset(), spec::op::fork(0),
                                                   spec::op::schedule()};
  const auto bytes = spec::to_binary(operations);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What follows "again: " in the last finding that was printed.
std::string again_of(const std::string& text) {
  const std::size_t at = text.rfind("  again: vlag ");
  if (at == std::string::npos) return {};
  const std::size_t start = at + std::string_view("  again: vlag ").size();
  return text.substr(start, text.find('\n', start) - start);
}

TEST_F(CliTest, MistakesInAFileHaveAPlaceAndAReason) {
  const struct {
    const char* content;
    const char* message;
  } cases[] = {
      {"fork 0\nfrok 1\n", ":2:1: 'frok' is not an operation; the nearest is fork"},
      {"fork 0\nblock\n", ":2:1: 'block' is not legal here: no task is running"},
      {"fork 0\n  fork 0\n", ":2:1: 'fork 0' is not legal here: the task exists already"},
      {"fork 256\n", ":1:6: task ids are from 0 to 255, not 256"},
      {"fork 0 nice 20\n", "nice is from -20 to 19, not 20"},
      {"features NO_PLACE_LUG\n",
       ":1:10: 'NO_PLACE_LUG' is not a feature; the nearest is PLACE_LAG"},
      {"fork\n", ":1:5: the line ends where a task id is expected"},
      {"tick 1h\n", ":1:6: '1h' is not a time"},
      {"repeat 3\ntick 1ms\n", ":1:1: this repeat has no end"},
  };
  for (const auto& one : cases) {
    const std::string path = file("bad.seq", one.content);
    for (const char* command : {"run ", "replay "}) {
      expect_bad(command + path, HasSubstr(path + (one.message[0] == ':' ? one.message : ":1:")));
      expect_bad(command + path, HasSubstr(one.message));
    }
  }
}

TEST_F(CliTest, FilesThatAreNoSequences) {
  const std::string good = binary_sequence();
  expect_bad("run " + file("header.seq", good.substr(0, 12)), HasSubstr("cut short in its header"));
  expect_bad("run " + file("short.seq", good.substr(0, good.size() - 1)),
             HasSubstr("3 operations take 72 bytes, but 71 follow the header"));
  expect_bad("run " + file("long.seq", good + "x"), HasSubstr("but 73 follow the header"));
  std::string corrupt = good;
  corrupt[16 + 24] = '\x7f';  // the code of the second record
  expect_bad("run " + file("corrupt.seq", corrupt), HasSubstr("corrupt.seq: record 1: "));
  expect_bad("run " + file("huge_line.seq", std::string(5 << 20, 'a')),
             HasSubstr("huge_line.seq:1:1: a line has at most 4096 characters"));
  expect_bad("run " + file("nul.seq", std::string_view("fork\0 0\n", 8)),
             HasSubstr("nul.seq:1:1: 'fork\\x00' is not an operation"));
  expect_bad("run " + scratch_.path().string(), HasSubstr("cannot be read: Is a directory"));
  expect_bad("run no_such.seq", HasSubstr("no_such.seq: cannot be read: No such file"));
}

TEST_F(CliTest, FilesThatAreSequences) {
  EXPECT_EQ(vlag("run " + file("empty.seq", "")).exit_code, exit_held);
  EXPECT_EQ(vlag("run " + file("comments.seq", "# one\n\n  # two")).exit_code, exit_held);
  EXPECT_EQ(vlag("run " + file("binary.seq", binary_sequence())).exit_code, exit_held);
  const Process crlf = vlag("run " + file("crlf.seq", "fork 0\r\nschedule\r\ntick 4ms\r\n"));
  EXPECT_EQ(crlf.exit_code, exit_held);
  EXPECT_THAT(crlf.out, HasSubstr("schedule: 0:4ms\n"));
}

TEST_F(CliTest, OptionsThatNameNothing) {
  const std::string sequence = file("good.seq", "fork 0\n");
  for (const std::string& command : {std::string("check"), "run " + sequence, "replay " + sequence,
                                     std::string("lockstep"), std::string("gate")}) {
    expect_bad(command + " --features 'NO_HRTICK PLACE_LUG'",
               HasSubstr("'PLACE_LUG' is not a feature; the nearest is PLACE_LAG"));
    expect_bad(command + " --set tie=best",
               HasSubstr("'best' is not a value of rule tie; it can be fifo, lifo"));
    expect_bad(command + " --set tiee=fifo",
               HasSubstr("'tiee' is not a rule or tunable; the nearest is tie"));
    expect_bad(command + " --set hz=2000", HasSubstr("hz is a whole number from 24 to 1000"));
    expect_bad(command + " --set tie", HasSubstr("NAME=VALUE is expected"));
    expect_bad(command + " --format xml", HasSubstr("--format: xml not in {text,json}"));
  }
  expect_bad("check --policy eevdf-6.21", HasSubstr("the nearest is eevdf-6.12"));
  expect_bad("check --policy eevdf-6.12 --policy \"$(printf 'two\\nlines')\"",
             HasSubstr("is not a policy"));
  expect_bad("check --property ties_are_filo", HasSubstr("the nearest is ties_are_fifo"));
}

TEST_F(CliTest, NumbersThatAreNone) {
  const char* const seed = "is not a whole number from 0 to 18446744073709551615";
  for (const char* number : {"x", "-1", "1.5", "0x10", "010", "18446744073709551616"}) {
    expect_bad(std::string("check --seed ") + number,
               HasSubstr("--seed: '" + std::string(number) + "' " + seed));
  }
  expect_bad("check --jobs 0", HasSubstr("--jobs: Value 0 not in range 1 to 256"));
  expect_bad("check --steps -1", HasSubstr("--steps: Value -1 not in range"));
  expect_bad("check --length 0", HasSubstr("--length: Value 0 not in range 1 to 10000"));
  expect_bad("check --tasks 257", HasSubstr("--tasks: Value 257 not in range 1 to 256"));
  expect_bad("run x.seq --runs -1", HasSubstr("--runs: Value -1 not in range"));
  expect_bad("replay x.seq --rows -1", HasSubstr("--rows: Value -1 not in range"));
}

TEST_F(CliTest, WordsThatNoOneExpected) {
  expect_bad("", HasSubstr("see vlag --help"));
  expect_bad("chek", HasSubstr("'chek' is not a command; the nearest is vlag check"));
  expect_bad("kernel lst", HasSubstr("'lst' is not a command; the nearest is vlag kernel list"));
  expect_bad("check --sed 3", HasSubstr("'--sed' is not an option of vlag check; the nearest is"));
  expect_bad("check more", HasSubstr("'more' is not expected: see vlag check --help"));
  expect_bad("run", HasSubstr("file is required: see vlag run --help"));
  expect_bad("check --seed", HasSubstr("--seed"));
}

TEST_F(CliTest, BackendsThatAreNone) {
  const std::string replay = "replay " + file("one.seq", "fork 0\n");
  expect_bad(replay + " --on real:x",
             HasSubstr("'real:x' is not a backend: model:POLICY or kernel:NAME is expected"));
  expect_bad(replay + " --on foo", HasSubstr("'foo' is not a backend"));
  expect_bad(replay + " --on model:cfs", HasSubstr("'cfs' is not a policy"));
  expect_bad(replay + " --on kernel:6.12-250 --set tie=lifo", HasSubstr("--on names none"));
  // Before a kernel is looked for, built or started.
  expect_bad(replay + " --on kernel:9.9-250 --on foo", HasSubstr("'foo' is not a backend"));
  for (const char* name : {"foo", "6.12", "6.12-0", "6.12-250-group", "foo-250", "../6.12-250"}) {
    expect_bad(std::string("lockstep --kernel ") + name,
               HasSubstr("is not a kernel: VERSION-HZ or VERSION-HZ-groups is expected"));
    expect_bad(std::string("gate --kernel ") + name, HasSubstr("is not a kernel"));
    expect_bad(replay + " --on kernel:" + name, HasSubstr("is not a kernel"));
  }
}

TEST_F(CliTest, AKernelThatCannotBeHadIsInconclusive) {
  const std::string replay = "replay " + file("one.seq", "fork 0\n") + " --on kernel:9.9-250";
  for (const std::string& command :
       {std::string("lockstep --kernel 9.9-250"), replay, std::string("kernel build 9.9")}) {
    SCOPED_TRACE(command);
    const Process text = vlag(command);
    EXPECT_EQ(text.exit_code, exit_inconclusive);
    EXPECT_THAT(text.out, IsEmpty());
    EXPECT_THAT(text.err, AllOf(StartsWith("inconclusive: "), HasSubstr("linux-source-9.9")));
    EXPECT_EQ(lines_in(text.err), 1U) << text.err;
    const Process with_json = vlag(command + " --format json");
    EXPECT_EQ(with_json.exit_code, exit_inconclusive);
    EXPECT_EQ(json::parse(with_json.out).at("verdict"), "inconclusive");
  }
}

TEST_F(CliTest, KernelListAndRemove) {
  const Process empty = vlag("kernel list");
  EXPECT_EQ(empty.exit_code, exit_held);
  EXPECT_EQ(empty.out, "no kernels yet; vlag kernel build 6.12 makes one\n");
  const json list = parsed("kernel list", exit_held);
  EXPECT_EQ(list.at("schema"), "vlag.kernel/1");
  EXPECT_THAT(list.at("kernels"), IsEmpty());
  expect_bad("kernel remove NOPE", HasSubstr("there is no kernel NOPE in " + cache()));
  expect_bad("kernel build six", HasSubstr("'six' is not a kernel version"));
  expect_bad("kernel build --hz 77", HasSubstr("--hz: 77 not in {100,250,300,1000}"));
  expect_bad("kernel build --patch no_such.patch", HasSubstr("no_such.patch"));
  const Process homeless = run_shell("env -u HOME -u XDG_CACHE_HOME " VLAG_BINARY " kernel list");
  EXPECT_EQ(homeless.exit_code, exit_held);
  EXPECT_THAT(homeless.err, IsEmpty());
}

TEST_F(CliTest, RunAsJson) {
  const json run = parsed("run " + file("a.seq", "fork 0\nschedule\ntick 4ms\n"), exit_held);
  EXPECT_EQ(run.at("schema"), "vlag.run/1");
  EXPECT_EQ(run.at("verdict"), "pass");
  EXPECT_EQ(run.at("policy"), "eevdf-6.12");
  EXPECT_EQ(run.at("operations"), 4);
  EXPECT_EQ(run.at("runs").at(0), (json{{"task", 0}, {"start", 0}, {"end", 4'000'000}}));
  EXPECT_EQ(run.at("tasks").at(0).at("service"), 4'000'000);
}

TEST_F(CliTest, CheckHolds) {
  const Process check = vlag("check --steps 2000");
  EXPECT_EQ(check.exit_code, exit_held) << check.err;
  EXPECT_THAT(check.out, StartsWith("seed 1; again: vlag check --seed 1 --steps 2000\n"));
  const json document = parsed("check --steps 2000 --seed 7", exit_held);
  EXPECT_EQ(document.at("schema"), "vlag.check/1");
  EXPECT_EQ(document.at("verdict"), "pass");
  EXPECT_EQ(document.at("seed"), 7);
  EXPECT_EQ(document.at("policy"), "eevdf-6.12");
  EXPECT_FALSE(document.contains("policies"));
  std::set<std::string> names;
  for (const json& row : document.at("properties")) {
    names.insert(row.at("name").get<std::string>());
    EXPECT_THAT(row.at("verdict").get<std::string>(), testing::AnyOf("pass", "explained"));
    EXPECT_GT(row.at("operations"), 0);
  }
  EXPECT_EQ(names.size(), props::properties().size());
  for (const json& finding : document.at("findings")) EXPECT_TRUE(finding.at("explained"));
}

TEST_F(CliTest, CheckListsProperties) {
  const json list = parsed("check --list", exit_held);
  EXPECT_EQ(list.at("schema"), "vlag.properties/1");
  EXPECT_EQ(list.at("properties").size(), props::properties().size());
}

TEST_F(CliTest, CheckOfSeveralPolicies) {
  const std::string two = "check --steps 2000 --policy eevdf-6.12 --policy eevdf-6.12";
  const Process text = vlag(two);
  EXPECT_THAT(text.out, HasSubstr("--policy eevdf-6.12 --policy eevdf-6.12\n"));
  EXPECT_EQ(text.out.find("\npolicy eevdf-6.12\nproperty"), text.out.find("\npolicy eevdf-6.12\n"));
  const json document = parsed(two, exit_held);
  ASSERT_EQ(document.at("policies").size(), 2U);
  EXPECT_EQ(document.at("policies").at(0), document.at("policies").at(1));
  EXPECT_EQ(document.at("policies").at(0).at("verdict"), "pass");
}

TEST_F(CliTest, CheckFindsAMutantAndItsCommandShowsItAgain) {
  const Process check = vlag("check --set tie=lifo --property ties_are_fifo");
  EXPECT_EQ(check.exit_code, exit_violation) << check.err;
  EXPECT_THAT(check.out, HasSubstr("\n  should be: among equal deadlines, who came first"));
  EXPECT_THAT(check.out, HasSubstr("\nviolation: "));

  const std::string again = again_of(check.out);
  ASSERT_THAT(again,
              AllOf(StartsWith("replay "), HasSubstr(" --on model:eevdf-6.12 --set tie=lifo")));
  const Process replay = vlag(again);
  EXPECT_EQ(replay.exit_code, exit_violation) << replay.err;
  EXPECT_THAT(replay.out, HasSubstr("<-- ties_are_fifo"));
  EXPECT_THAT(replay.out, HasSubstr("ties_are_fifo on model:eevdf-6.12 after operation "));

  const json finding =
      parsed("check --set tie=lifo --property ties_are_fifo", exit_violation).at("findings").at(0);
  EXPECT_EQ(finding.at("rule"), "ties_are_fifo");
  EXPECT_EQ(finding.at("explained"), false);
  EXPECT_EQ(finding.at("reproduce"), "vlag " + again);
  const auto sequence = spec::parse_text(finding.at("sequence").get<std::string>(), "finding");
  ASSERT_TRUE(sequence.ok());
  EXPECT_LE(sequence->operations.size(), 8U);
}

TEST_F(CliTest, ReplayJudgesProperties) {
  const std::string ties = "replay " + file("ties.seq", "fork 1\nfork 2\n");
  const json held = parsed(ties, exit_held);
  EXPECT_EQ(held.at("schema"), "vlag.replay/1");
  EXPECT_EQ(held.at("verdict"), "pass");
  EXPECT_THAT(held.at("findings"), IsEmpty());

  const json broken = parsed(ties + " --set tie=lifo", exit_violation);
  const json& first = broken.at("findings").at(0);
  EXPECT_EQ(first.at("rule"), "ties_are_fifo");
  EXPECT_EQ(first.at("on"), "model:eevdf-6.12");
  EXPECT_EQ(first.at("index"), 2);
  EXPECT_EQ(first.at("operation"), "fork 2");
  EXPECT_EQ(first.at("explained"), false);
}

TEST_F(CliTest, ReplayExplainsKnownDivergences) {
  const std::string toggle = "replay " + file("toggle.seq",
                                              "fork 0\ndequeue 0\n"
                                              "features NO_PLACE_REL_DEADLINE\nenqueue 0\n");
  const Process as_linux = vlag(toggle);
  EXPECT_EQ(as_linux.exit_code, exit_held);
  EXPECT_THAT(as_linux.out, HasSubstr("queued_deadline_is_absolute on model:eevdf-6.12 after "));
  EXPECT_THAT(as_linux.out, HasSubstr("explained: known divergence rel-deadline-toggle\n"));
  const Process intended = vlag(toggle + " --set rel_deadline=flag_cleared");
  EXPECT_THAT(intended.out, Not(HasSubstr("queued_deadline_is_absolute")));
  EXPECT_THAT(intended.out, Not(HasSubstr("explained")));
}

TEST_F(CliTest, FindingsThatCannotBeKept) {
  for (const char* cache : {"/proc/x", "/dev/null"}) {
    const Process check =
        run_shell("env XDG_CACHE_HOME=" + std::string(cache) +
                  " " VLAG_BINARY " check --set tie=lifo --property ties_are_fifo");
    EXPECT_EQ(check.exit_code, exit_violation);
    EXPECT_THAT(check.out, HasSubstr("again: vlag replay FILE --on model:eevdf-6.12"));
    EXPECT_THAT(check.out, HasSubstr("where FILE holds the operations above; " +
                                     std::string(cache) + "/vlag/findings/ties_are_fifo-"));
  }
}

TEST_F(CliTest, SavedFindingsAreWhole) {
  vlag("check --steps 2000 --set tie=lifo");
  const std::filesystem::path findings = cache() + "/vlag/findings";
  ASSERT_TRUE(std::filesystem::exists(findings));
  for (const auto& entry : std::filesystem::directory_iterator(findings)) {
    EXPECT_EQ(entry.path().extension(), ".seq");
    const auto read = spec::read_sequence(entry.path().string());
    EXPECT_TRUE(read.ok()) << read.error().message();
  }
}

TEST_F(CliTest, TheSameSeedPrintsTheSameBytes) {
  for (const std::string arguments :
       {"check --steps 20000 --seed 3", "check --steps 20000 --set tie=lifo --format json",
        "starve --seed 2"}) {
    const Process one = vlag(arguments + " --jobs 1");
    const Process four = vlag(arguments + " --jobs 4");
    EXPECT_EQ(one.out, four.out);
    EXPECT_THAT(one.out, Not(IsEmpty()));
  }
}

TEST_F(CliTest, StarvationIsFoundAndCanBeSeenAgain) {
  const json found = parsed("starve --default-slices --seed 2", exit_violation);
  EXPECT_EQ(found["schema"], "vlag.starve/1");
  EXPECT_EQ(found["verdict"], "violation");
  const json& row = found["rows"][0]["found"];
  EXPECT_EQ(row["default_slices"], true);
  EXPECT_EQ(row["tasks"].size(), 4U);
  const Process again = vlag("run " + row["sequence"].get<std::string>());
  EXPECT_EQ(again.exit_code, exit_held) << again.err;
  EXPECT_THAT(again.out, MatchesRegex("(.|\n)*task 0 waited longest: .*, and still waits\n"));
}

TEST_F(CliTest, NoStarvationFoundIsNoProof) {
  const std::string arguments = "starve --budget 500000 --set lag_inflation=none";
  const Process text = vlag(arguments);
  EXPECT_EQ(text.exit_code, exit_held);
  EXPECT_THAT(text.out, HasSubstr("none found in "));
  EXPECT_THAT(text.out, HasSubstr("this is not a proof"));
  EXPECT_EQ(parsed(arguments, exit_held)["rows"][0]["found"], nullptr);
}

TEST_F(CliTest, StarveRefusesWhatMakesNoSense) {
  expect_bad("starve --tasks 2", HasSubstr("--tasks"));
  expect_bad("starve --also fork", HasSubstr("--also"));
  expect_bad("starve --hz 7", HasSubstr("hz"));
  expect_bad("starve --confirm 6.12", HasSubstr("6.12"));
}

TEST_F(CliTest, ResultsThatDoNotArriveAreNoResults) {
  const Process full = vlag("check --list --format json >/dev/full");
  EXPECT_EQ(full.exit_code, exit_inconclusive);
  EXPECT_EQ(vlag("kernel list >/dev/full").exit_code, exit_inconclusive);  // a short one, too
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
}

TEST(Colour, OnlyPassIsGreen) {
  EXPECT_EQ(coloured("pass"), "\033[32mpass\033[0m");
  EXPECT_EQ(coloured("violation"), "\033[31mviolation\033[0m");
  EXPECT_EQ(coloured("inconclusive"), "\033[31minconclusive\033[0m");
}

TEST_F(CliTest, InconclusiveIsRedOnATerminal) {
  const Process terminal =
      run_shell("script -qec '" VLAG_BINARY " lockstep --kernel 9.9-250' /dev/null");
  EXPECT_EQ(terminal.exit_code, exit_inconclusive);
  EXPECT_THAT(terminal.out, StartsWith("\033[31minconclusive\033[0m: "));
}

TEST(Shell, WordsAreQuotedIfNeedBe) {
  EXPECT_EQ(shell_quoted("model:eevdf-6.12"), "model:eevdf-6.12");
  EXPECT_EQ(shell_quoted("A NO_B"), "'A NO_B'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace vlag::cli

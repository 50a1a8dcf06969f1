// SPDX-License-Identifier: GPL-2.0-only
#include "spec/sequence.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

// Where argument-dependent lookup finds it.
static std::ostream& operator<<(std::ostream& out, const vlag_operation& operation) {
  return out << vlag::spec::to_text(operation);
}

namespace vlag::spec {
namespace {

constexpr std::uint64_t all_features = (std::uint64_t{1} << feature_count) - 1;

/// Every kind of operation, at the ends of its ranges.
Sequence one_of_each() {
  return {
      op::reset_at(1'000, 0 - std::uint64_t{1'048'576}),
      op::features(0b111, 0b101),
      op::features(all_features, 0),
      op::features(all_features, all_features),
      op::base_slice(base_slice_min),
      op::base_slice(base_slice_max),
      op::fork(0),
      op::fork(255, -20, 3'000'000, VLAG_BATCH),
      op::fork(1, 19, 100'000, VLAG_IDLE),
      op::fork(2, 0, 100'000'000),
      op::wake(0),
      op::block(),
      op::block(true),
      op::exit(),
      op::dequeue(255),
      op::enqueue(255),
      op::tick(0),
      op::tick(longest_wait),
      op::advance(4'000'000),
      op::schedule(),
      op::nice(0, -20),
      op::nice(0, 19),
      op::slice(0, 0),
      op::slice(0, 0x7fff'ffff'ffff'ffff),
      op::policy(0, VLAG_NORMAL),
      op::policy(0, VLAG_BATCH),
      op::policy(0, VLAG_IDLE),
      op::yield(),
      op::yield_to(3),
      op::hrtick(),
  };
}

Sequence parsed(std::string_view text) {
  const auto result = parse_text(text, "t");
  if (!result.ok()) {
    ADD_FAILURE() << text << "\n" << result.error().message();
    return {};
  }
  return result->operations;
}

/// The one operation that follows the reset.
Operation single(std::string_view text) {
  const Sequence operations = parsed(text);
  if (operations.size() == 2) return operations[1];
  ADD_FAILURE() << text << " is " << operations.size() << " operations";
  return {};
}

std::string message(std::string_view text) {
  const auto result = parse_text(text, "t");
  return result.ok() ? "accepted" : result.error().message();
}

// --- Text.

TEST(SequenceText, RoundTripsEveryOperation) {
  const Sequence sequence = one_of_each();
  EXPECT_EQ(parsed(to_text(sequence)), sequence);
}

TEST(SequenceText, EveryOperationIsInRange) {
  std::vector<bool> seen(VLAG_CODES);
  for (const Operation& operation : one_of_each()) {
    EXPECT_EQ(out_of_range(operation), "") << to_text(operation);
    seen[operation.code] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(VLAG_CODES, true));
}

TEST(SequenceText, ReadsAsItIsSpoken) {
  EXPECT_EQ(to_text(op::reset()), "reset");
  EXPECT_EQ(to_text(op::reset_at(5, 0 - std::uint64_t{7})), "reset clock 5ns vruntime -7");
  EXPECT_EQ(to_text(op::features(0b11, 0b01)), "features PLACE_LAG NO_PLACE_DEADLINE_INITIAL");
  EXPECT_EQ(to_text(op::base_slice(3'000'000)), "tunable base_slice 3ms");
  EXPECT_EQ(to_text(op::fork(3)), "fork 3");
  EXPECT_EQ(to_text(op::fork(3, -5, 100'000, VLAG_IDLE)), "fork 3 nice -5 slice 100us policy idle");
  EXPECT_EQ(to_text(op::block(true)), "block special");
  EXPECT_EQ(to_text(op::tick(4'000'000)), "tick 4ms");
  EXPECT_EQ(to_text(op::nice(3, -5)), "nice 3 -5");
  EXPECT_EQ(to_text(op::slice(3, 0)), "slice 3 0");
  EXPECT_EQ(to_text(op::policy(3, VLAG_BATCH)), "policy 3 batch");
  EXPECT_EQ(to_text(op::yield_to(3)), "yield_to 3");
}

TEST(SequenceText, TimesHaveTheLargestUnitThatIsWhole) {
  EXPECT_EQ(to_text(op::tick(0)), "tick 0");
  EXPECT_EQ(to_text(op::tick(999)), "tick 999ns");
  EXPECT_EQ(to_text(op::tick(1'000)), "tick 1us");
  EXPECT_EQ(to_text(op::tick(1'500'000)), "tick 1500us");
  EXPECT_EQ(to_text(op::tick(2'000'000'000)), "tick 2s");
}

TEST(SequenceText, TakesEveryUnit) {
  EXPECT_EQ(single("tick 7"), op::tick(7));
  EXPECT_EQ(single("tick 7ns"), op::tick(7));
  EXPECT_EQ(single("tick 7us"), op::tick(7'000));
  EXPECT_EQ(single("tick 7ms"), op::tick(7'000'000));
  EXPECT_EQ(single("tick 7s"), op::tick(7'000'000'000));
}

TEST(SequenceText, SkipsCommentsAndBlanks) {
  EXPECT_EQ(single("\n# a comment\n\t  tick 7#and another\r\n\n"), op::tick(7));
  EXPECT_EQ(single("tick 7"), single("  tick\t7  \r\n"));
}

TEST(SequenceText, ForkTakesItsOptionsInAnyOrder) {
  EXPECT_EQ(single("fork 1 policy idle slice 1ms nice 3"), op::fork(1, 3, 1'000'000, VLAG_IDLE));
}

TEST(SequenceText, ResetIsImplied) {
  EXPECT_EQ(parsed(""), Sequence{op::reset()});
  EXPECT_EQ(parsed("fork 1"), (Sequence{op::reset(), op::fork(1)}));
  EXPECT_EQ(parsed("reset clock 7\nfork 1"), (Sequence{op::reset(7), op::fork(1)}));
  EXPECT_EQ(parsed("reset vruntime -1"), Sequence{op::reset_at(0, 0 - std::uint64_t{1})});
}

TEST(SequenceText, TheLastWordOnAFeatureCounts) {
  EXPECT_EQ(single("features PLACE_LAG NO_PLACE_LAG"), op::features(1, 0));
  EXPECT_EQ(single("features NO_PLACE_LAG PLACE_LAG"), op::features(1, 1));
}

TEST(SequenceText, RepeatsTheLinesBetween) {
  EXPECT_EQ(parsed("repeat 2\ntick 1\nschedule\nend\nyield"),
            (Sequence{op::reset(), op::tick(1), op::schedule(), op::tick(1), op::schedule(),
                      op::yield()}));
  EXPECT_EQ(parsed("repeat 1\ntick 1\nend"), (Sequence{op::reset(), op::tick(1)}));
  EXPECT_EQ(parsed("repeat 7\nend"), Sequence{op::reset()});
}

TEST(SequenceText, KnowsTheLineOfEachOperation) {
  const auto source = parse_text("# one\nrepeat 2\ntick 1\nend\nyield", "t");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->lines, (std::vector<int>{0, 3, 3, 5}));
  EXPECT_EQ(source->place(2).file, "t");
  EXPECT_EQ(source->place(2).line, 3);
  EXPECT_EQ(source->place(0).line, 0);
  EXPECT_EQ(source->place(99).line, 0);
}

// --- Bad text.

struct BadText {
  const char* text;
  const char* message;
};

TEST(BadSequenceText, SaysWhereAndWhatWasExpected) {
  const std::vector<BadText> cases = {
      // Words.
      {"tikc 1ms", "t:1:1: 'tikc' is not an operation; the nearest is tick"},
      {"fork 1\n  SCHEDULE", "t:2:3: 'SCHEDULE' is not an operation; the nearest is schedule"},
      {"features PLACE_LAGG", "t:1:10: 'PLACE_LAGG' is not a feature; the nearest is PLACE_LAG"},
      {"features PLACE_LAG NO_NO_HRTICK",
       "t:1:20: 'NO_NO_HRTICK' is not a feature; the nearest is HRTICK"},
      {"tunable base_slices 1ms", "t:1:9: 'base_slices' is not a tunable: base_slice"},
      {"policy 1 fifo", "t:1:10: 'fifo' is not a policy: normal, batch or idle"},
      {"fork 1 prio 3", "t:1:8: 'prio' is not expected here: nice N, slice T or policy P"},
      // Numbers.
      {"wake x", "t:1:6: 'x' is not a task id, a whole number"},
      {"wake 1x", "t:1:6: '1x' is not a task id, a whole number"},
      {"wake 256", "t:1:6: task ids are from 0 to 255, not 256"},
      {"wake -1", "t:1:6: task ids are from 0 to 255, not -1"},
      {"wake 99999999999999999999",
       "t:1:6: '99999999999999999999' is not a task id, a whole number"},
      {"nice 1 20", "t:1:8: nice is from -20 to 19, not 20"},
      {"nice 1 -21", "t:1:8: nice is from -20 to 19, not -21"},
      {"nice 1 +5", "t:1:8: '+5' is not a nice value, a whole number"},
      {"fork 1 nice 2.5", "t:1:13: '2.5' is not a nice value, a whole number"},
      {"reset vruntime 1ms", "t:1:16: '1ms' is not a vruntime, a whole number"},
      // Times.
      {"tick ms", "t:1:6: 'ms' is not a time: a whole number and ns, us, ms or s"},
      {"tick -1ms", "t:1:6: '-1ms' is not a time: a whole number and ns, us, ms or s"},
      {"tick 1.5ms", "t:1:6: '1.5ms' is not a time: a whole number and ns, us, ms or s"},
      {"tick 1h", "t:1:6: '1h' is not a time: a whole number and ns, us, ms or s"},
      {"advance 18446744073709551616",
       "t:1:9: '18446744073709551616' does not fit in 64 bits of ns"},
      {"advance 18446744073709552s", "t:1:9: '18446744073709552s' does not fit in 64 bits of ns"},
      {"slice 1 9223372036854775808", "t:1:9: a slice is below 2^63 ns"},
      {"fork 1 slice 99999", "t:1:14: a forked task's slice is 0 or from 100us to 100ms"},
      {"fork 1 slice 100000001", "t:1:14: a forked task's slice is 0 or from 100us to 100ms"},
      {"tunable base_slice 99999", "t:1:20: base_slice is from 100us to 1s"},
      {"tunable base_slice 1000000001", "t:1:20: base_slice is from 100us to 1s"},
      // Too little and too much.
      {"wake", "t:1:5: the line ends where a task id is expected"},
      {"tick", "t:1:5: the line ends where a time is expected"},
      {"tick # 1ms", "t:1:11: the line ends where a time is expected"},
      {"nice 1", "t:1:7: the line ends where a nice value is expected"},
      {"policy 1", "t:1:9: the line ends where normal, batch or idle is expected"},
      {"features", "t:1:9: the line ends where a feature is expected"},
      {"tunable", "t:1:8: the line ends where the name of a tunable is expected"},
      {"tunable base_slice", "t:1:19: the line ends where a time is expected"},
      {"reset clock", "t:1:12: the line ends where a time is expected"},
      {"wake 1 2", "t:1:8: '2' is not expected at the end of 'wake'"},
      {"block specially", "t:1:7: 'specially' is not expected at the end of 'block'"},
      {"exit 1", "t:1:6: '1' is not expected at the end of 'exit'"},
      {"reset vruntime 1 clock 2", "t:1:18: 'clock' is not expected at the end of 'reset'"},
      // Structure.
      {"fork 1\nreset", "t:2:1: reset can only be the first operation"},
      {"repeat 2\nreset\nend", "t:2:1: reset can only be the first operation"},
      {"repeat", "t:1:7: the line ends where how often to repeat is expected"},
      {"repeat x", "t:1:8: 'x' is not how often to repeat, a whole number"},
      {"repeat 0\nend", "t:1:8: repeat takes a number from 1 to 1048576, not 0"},
      {"repeat 1048577\nend", "t:1:8: repeat takes a number from 1 to 1048576, not 1048577"},
      {"repeat 2 times\nend", "t:1:8: a repeat line ends after its number"},
      {"repeat 2\ntick 1\nrepeat 2\nend\nend", "t:3:1: repeats cannot be nested"},
      {"tick 1\nrepeat 2\ntick 1", "t:2:1: this repeat has no end"},
      {"end", "t:1:1: this end has no repeat"},
      {"repeat 2\nend 2", "t:2:1: an end line holds nothing else"},
      {"repeat 1048576\ntick 1\nend",
       "t:2:1: a sequence has at most 1048576 operations, repeats included"},
  };
  for (const BadText& bad : cases) EXPECT_EQ(message(bad.text), bad.message) << bad.text;
}

TEST(BadSequenceText, WaitsAreLimited) {
  const std::string most = std::to_string(longest_wait);
  const std::string more = std::to_string(longest_wait + 1);
  for (const std::string name : {"tick ", "advance "}) {
    EXPECT_EQ(message(name + most), "accepted");
    EXPECT_NE(message(name + more).find("at most " + most + " ns can pass"), std::string::npos);
  }
}

TEST(BadSequenceText, IsShownWithoutControlCharactersAndShort) {
  EXPECT_EQ(message("\x1b[2J"), "t:1:1: '\\x1b[2J' is not an operation; the nearest is fork");
  EXPECT_EQ(message(std::string_view("ti\0k", 4)),
            "t:1:1: 'ti\\x00k' is not an operation; the nearest is tick");
  EXPECT_EQ(message(std::string(41, 'x')),
            "t:1:1: '" + std::string(40, 'x') + "...' is not an operation; the nearest is exit");
}

TEST(BadSequenceText, LinesAreLimited) {
  EXPECT_EQ(message("tick 1" + std::string(4090, ' ')), "accepted");
  EXPECT_EQ(message("tick 1" + std::string(4091, ' ')),
            "t:1:1: a line has at most 4096 characters");
}

// --- Binary.

using Bytes = std::vector<std::byte>;

std::string message(const Bytes& bytes) {
  const auto result = parse_binary(bytes, "b");
  return result.ok() ? "accepted" : result.error().message();
}

constexpr std::size_t count_at = 8;
constexpr std::size_t records_at = 16;

/// The binary form of one_of_each() with one operation changed.
template <class Change>
std::string message_with(std::size_t index, Change change) {
  Sequence sequence = one_of_each();
  change(sequence[index]);
  return message(to_binary(sequence));
}

TEST(SequenceBinary, RoundTripsEveryOperation) {
  const Sequence sequence = one_of_each();
  const Bytes bytes = to_binary(sequence);
  EXPECT_EQ(bytes.size(), records_at + sequence.size() * sizeof(Operation));
  const auto source = parse_binary(bytes, "b");
  ASSERT_TRUE(source.ok()) << source.error().message();
  EXPECT_EQ(source->operations, sequence);
  EXPECT_EQ(source->lines, std::vector<int>(sequence.size(), 0));
}

TEST(BadSequenceBinary, IsRejectedIfCutShortAnywhere) {
  const Bytes whole = to_binary(one_of_each());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string why = message(Bytes(whole.begin(), whole.begin() + static_cast<int>(size)));
    if (size < records_at) {
      EXPECT_EQ(why, "b: a binary sequence is cut short in its header") << size;
    } else {
      EXPECT_EQ(why, "b: 30 operations take 720 bytes, but " + std::to_string(size - records_at) +
                         " follow the header");
    }
  }
}

TEST(BadSequenceBinary, TrailingBytesAreRejected) {
  Bytes bytes = to_binary({{op::reset()}});
  bytes.push_back(std::byte{0});
  EXPECT_EQ(message(bytes), "b: 1 operations take 24 bytes, but 25 follow the header");
}

TEST(BadSequenceBinary, TheMarkIsNeeded) {
  for (std::size_t at = 0; at < count_at; ++at) {
    Bytes bytes = to_binary({{op::reset()}});
    bytes[at] ^= std::byte{0x20};
    EXPECT_EQ(message(bytes), "b: a binary sequence starts with VLAGSEQ1") << at;
  }
}

TEST(BadSequenceBinary, TheCountIsLimited) {
  const auto with_count = [](std::uint64_t count) {
    Bytes bytes = to_binary({{op::reset()}});
    std::memcpy(bytes.data() + count_at, &count, sizeof count);
    return message(bytes);
  };
  EXPECT_EQ(with_count(0), "b: a sequence has 1 to 1048576 operations, this one claims 0");
  EXPECT_EQ(with_count(1'048'577),
            "b: a sequence has 1 to 1048576 operations, this one claims 1048577");
  // Times 24 this would wrap around to 24.
  EXPECT_EQ(with_count((std::uint64_t{1} << 61) + 1),
            "b: a sequence has 1 to 1048576 operations, this one claims 2305843009213693953");
}

TEST(BadSequenceBinary, ResetIsFirstAndOnlyFirst) {
  EXPECT_EQ(message(to_binary({{op::schedule()}})),
            "b: record 0: reset is the first operation and only that");
  EXPECT_EQ(message(to_binary({{op::reset(), op::reset()}})),
            "b: record 1: reset is the first operation and only that");
}

TEST(BadSequenceBinary, EveryRangeIsChecked) {
  const auto with = [](Operation operation, auto change) {
    change(operation);
    return message(to_binary({{op::reset(), operation}}));
  };
  EXPECT_EQ(with(op::yield(), [](Operation& o) { o.code = VLAG_CODES; }),
            "b: record 1: there is no such operation");
  EXPECT_EQ(with(op::features(0, 0), [](Operation&) {}),
            "b: record 1: features names at least one");
  EXPECT_EQ(with(op::wake(0), [](Operation& o) { o.id = 256; }),
            "b: record 1: task ids are from 0 to 255");
  EXPECT_EQ(with(op::nice(0, 0), [](Operation& o) { o.value = 20; }),
            "b: record 1: nice is from -20 to 19");
  EXPECT_EQ(with(op::fork(0), [](Operation& o) { o.value = -21; }),
            "b: record 1: nice is from -20 to 19");
  EXPECT_EQ(with(op::fork(0), [](Operation& o) { o.flags = 1; }),
            "b: record 1: the policy is normal, batch or idle");
  EXPECT_EQ(with(op::policy(0, VLAG_IDLE), [](Operation& o) { o.flags = 2; }),
            "b: record 1: the policy is normal, batch or idle");
  EXPECT_EQ(with(op::fork(0), [](Operation& o) { o.arg = 99'999; }),
            "b: record 1: a forked task's slice is 0 or from 100us to 100ms");
  EXPECT_EQ(with(op::slice(0, 0), [](Operation& o) { o.arg = std::uint64_t{1} << 63; }),
            "b: record 1: a slice is below 2^63 ns");
  EXPECT_EQ(with(op::block(), [](Operation& o) { o.flags = 2; }),
            "b: record 1: block has no such flag");
  EXPECT_EQ(with(op::features(1, 1), [](Operation& o) { o.extra = all_features + 1; }),
            "b: record 1: there is no such feature bit");
  EXPECT_EQ(with(op::base_slice(1'000'000), [](Operation& o) { o.id = 1; }),
            "b: record 1: there is no such tunable");
  EXPECT_EQ(with(op::base_slice(1'000'000), [](Operation& o) { o.arg = 99'999; }),
            "b: record 1: base_slice is from 100us to 1s");
  EXPECT_EQ(message_with(0, [](Operation& o) { o.value = 2; }),
            "b: record 0: the reset flag is 0 or 1");
}

TEST(BadSequenceBinary, FieldsThatAreNotUsedAre0) {
  const Sequence sequence = one_of_each();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::string text = to_text(sequence[i]);
    const auto expect_seen = [&](auto change) {
      Sequence changed = sequence;
      change(changed[i]);
      // Rejected, or else it is another operation, with another text.
      EXPECT_TRUE(message(to_binary(changed)) != "accepted" || to_text(changed[i]) != text) << text;
    };
    expect_seen([](Operation& o) { o.flags ^= 1; });
    expect_seen([](Operation& o) { o.id ^= 1; });
    expect_seen([](Operation& o) { o.value ^= 1; });
    expect_seen([](Operation& o) { o.arg ^= 1; });
    expect_seen([](Operation& o) { o.extra ^= 1; });
  }
}

// --- Files.

class SequenceFile : public testing::Test {
 protected:
  ~SequenceFile() override { std::remove(path_.c_str()); }

  Result<Source> read(std::string_view content) {
    std::ofstream(path_, std::ios::binary) << content;
    return read_sequence(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "vlag_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".vlag";
};

TEST_F(SequenceFile, MayBeText) {
  const auto source = read("tick 1");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->operations, (Sequence{op::reset(), op::tick(1)}));
  EXPECT_EQ(source->name, path());
}

TEST_F(SequenceFile, MayBeBinary) {
  const Bytes bytes = to_binary(one_of_each());
  const auto source = read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->operations, one_of_each());
}

TEST_F(SequenceFile, MayBeEmpty) {
  const auto source = read("");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->operations, Sequence{op::reset()});
}

TEST_F(SequenceFile, ErrorsNameTheFile) {
  EXPECT_EQ(read("end").error().message(), path() + ":1:1: this end has no repeat");
  EXPECT_EQ(read("VLAGSEQ1").error().message(),
            path() + ": a binary sequence is cut short in its header");
}

TEST_F(SequenceFile, MustExistAndBeAFile) {
  const auto missing = read_sequence(path());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message(), path() + ": cannot be read: No such file or directory");
  const auto folder = read_sequence(testing::TempDir());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message().find("cannot be read: Is a directory"), std::string::npos);
}

TEST(CompactText, SaysABlockOnce) {
  Sequence sequence = {op::reset(), op::fork(0)};
  for (int i = 0; i < 4; ++i) {
    sequence.push_back(op::tick(1'000'000));
    sequence.push_back(op::schedule());
  }
  sequence.push_back(op::block());
  const std::string text = to_compact_text(sequence);
  EXPECT_EQ(text, "reset\nfork 0\nrepeat 4\n  tick 1ms\n  schedule\nend\nblock\n");
  EXPECT_EQ(parse_text(text, "text")->operations, sequence);
}

TEST(CompactText, LeavesAloneWhatIsShorterAsItIs) {
  EXPECT_EQ(to_compact_text(one_of_each()), to_text(one_of_each()));
  const Sequence twice = {op::reset(), op::fork(0), op::tick(5), op::tick(5)};
  EXPECT_EQ(to_compact_text(twice), to_text(twice));
}

}  // namespace
}  // namespace vlag::spec

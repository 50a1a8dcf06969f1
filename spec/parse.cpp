// SPDX-License-Identifier: GPL-2.0-only
// Sequences as files: the text form and the binary form.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "spec/nearest.h"
#include "spec/sequence.h"

namespace vlag::spec {
namespace {

constexpr std::string_view binary_mark = "VLAGSEQ1";
constexpr std::size_t longest_line = 4096;

struct Token {
  std::string_view text;
  int column;
};

std::vector<Token> split(std::string_view line) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  constexpr std::string_view blanks = " \t\r";
  while ((at = line.find_first_not_of(blanks, at)) != std::string_view::npos) {
    if (line[at] == '#') break;
    const std::size_t end = std::min(line.find_first_of(" \t\r#", at), line.size());
    tokens.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = end;
  }
  return tokens;
}

// What is shown of the input: short, and with nothing that could confuse a terminal.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return fmt::format("'{}{}'", shown, text.size() > longest ? "..." : "");
}

// Reads the tokens of one line; the first failure is kept.
class LineReader {
 public:
  LineReader(std::vector<Token> tokens, std::string_view file, int line, int end_column)
      : tokens_(std::move(tokens)), file_(file), line_(line), end_column_(end_column) {}

  bool at_end() const { return next_ == tokens_.size(); }
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

  void fail(std::string what) {
    const int column = next_ > 0 ? tokens_[next_ - 1].column : end_column_;
    fail_at(std::move(what), column);
  }

  std::string_view word(const char* expected) {
    if (at_end()) {
      fail_at(fmt::format("the line ends where {} is expected", expected), end_column_);
      return {};
    }
    return tokens_[next_++].text;
  }

  bool take(std::string_view keyword) {
    if (at_end() || tokens_[next_].text != keyword) return false;
    ++next_;
    return true;
  }

  std::int64_t integer(const char* expected) {
    const std::string_view text = word(expected);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!failed() && (code != std::errc{} || end != text.data() + text.size())) {
      fail(fmt::format("{} is not {}, a whole number", quoted(text), expected));
    }
    return value;
  }

  int id() {
    const std::int64_t value = integer("a task id");
    if (!failed() && (value < 0 || value >= VLAG_MAX_TASKS)) {
      fail(fmt::format("task ids are from 0 to {}, not {}", VLAG_MAX_TASKS - 1, value));
    }
    return failed() ? 0 : static_cast<int>(value);
  }

  int nice() {
    const std::int64_t value = integer("a nice value");
    if (!failed() && (value < -20 || value > 19)) {
      fail(fmt::format("nice is from -20 to 19, not {}", value));
    }
    return failed() ? 0 : static_cast<int>(value);
  }

  std::uint64_t time() {
    const std::string_view text = word("a time");
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    const std::optional<std::uint64_t> scale = unit_scale(unit);
    if (failed()) return 0;
    if (code == std::errc::invalid_argument || !scale) {
      fail(fmt::format("{} is not a time: a whole number and ns, us, ms or s", quoted(text)));
      return 0;
    }
    if (code != std::errc{} || value > std::numeric_limits<std::uint64_t>::max() / *scale) {
      fail(fmt::format("{} does not fit in 64 bits of ns", quoted(text)));
      return 0;
    }
    return value * *scale;
  }

  vlag_policy policy() {
    const std::string_view text = word("normal, batch or idle");
    if (text == "normal") return VLAG_NORMAL;
    if (text == "batch") return VLAG_BATCH;
    if (text == "idle") return VLAG_IDLE;
    if (!failed()) fail(fmt::format("{} is not a policy: normal, batch or idle", quoted(text)));
    return VLAG_NORMAL;
  }

 private:
  void fail_at(std::string what, int column) {
    if (!error_) error_ = Error{std::move(what), {std::string(file_), line_, column}};
  }

  static std::optional<std::uint64_t> unit_scale(std::string_view unit) {
    if (unit.empty() || unit == "ns") return 1;
    if (unit == "us") return 1'000;
    if (unit == "ms") return 1'000'000;
    if (unit == "s") return 1'000'000'000;
    return std::nullopt;
  }

  std::vector<Token> tokens_;
  std::string_view file_;
  int line_;
  int end_column_;
  std::size_t next_ = 0;
  std::optional<Error> error_;
};

Operation read_reset(LineReader& in) {
  Operation operation = op::reset();
  if (in.take("clock")) operation = op::reset(in.time());
  if (in.take("vruntime")) {
    const auto start = static_cast<std::uint64_t>(in.integer("a vruntime"));
    operation = op::reset_at(operation.arg, start);
  }
  return operation;
}

std::string_view nearest_feature(std::string_view word) {
  if (word.starts_with("NO_")) word.remove_prefix(3);
  std::array<std::string_view, feature_count> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = feature_name(static_cast<Feature>(i));
  return nearest(word, names);
}

Operation read_features(LineReader& in) {
  std::uint64_t mask = 0;
  std::uint64_t values = 0;
  do {
    const std::string_view word = in.word("a feature");
    if (in.failed()) break;
    const std::optional<FeatureToggle> toggle = parse_feature(word);
    if (!toggle) {
      in.fail(fmt::format("{} is not a feature; the nearest is {}", quoted(word),
                          nearest_feature(word)));
      break;
    }
    const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(toggle->feature);
    mask |= bit;
    values = toggle->on ? values | bit : values & ~bit;
  } while (!in.at_end());
  return op::features(mask, values);
}

Operation read_fork(LineReader& in) {
  const int id = in.id();
  int nice = 0;
  std::uint64_t slice = 0;
  vlag_policy policy = VLAG_NORMAL;
  while (!in.at_end() && !in.failed()) {
    if (in.take("nice")) {
      nice = in.nice();
    } else if (in.take("slice")) {
      slice = in.time();
    } else if (in.take("policy")) {
      policy = in.policy();
    } else {
      const std::string_view word = in.word("nice, slice or policy");
      in.fail(fmt::format("{} is not expected here: nice N, slice T or policy P", quoted(word)));
    }
  }
  return op::fork(id, nice, slice, policy);
}

Operation read_tunable(LineReader& in) {
  const std::string_view name = in.word("the name of a tunable");
  if (!in.failed() && name != "base_slice") {
    in.fail(fmt::format("{} is not a tunable: base_slice", quoted(name)));
  }
  return op::base_slice(in.time());
}

Operation read_nice(LineReader& in) {
  const int id = in.id();
  return op::nice(id, in.nice());
}

Operation read_slice(LineReader& in) {
  const int id = in.id();
  return op::slice(id, in.time());
}

Operation read_policy(LineReader& in) {
  const int id = in.id();
  return op::policy(id, in.policy());
}

struct Form {
  std::string_view name;
  Operation (*read)(LineReader&);
};

constexpr std::array<Form, VLAG_CODES> forms = {{
    {"reset", read_reset},
    {"features", read_features},
    {"tunable", read_tunable},
    {"fork", read_fork},
    {"wake", [](LineReader& in) { return op::wake(in.id()); }},
    {"block", [](LineReader& in) { return op::block(in.take("special")); }},
    {"exit", [](LineReader&) { return op::exit(); }},
    {"dequeue", [](LineReader& in) { return op::dequeue(in.id()); }},
    {"enqueue", [](LineReader& in) { return op::enqueue(in.id()); }},
    {"tick", [](LineReader& in) { return op::tick(in.time()); }},
    {"advance", [](LineReader& in) { return op::advance(in.time()); }},
    {"schedule", [](LineReader&) { return op::schedule(); }},
    {"nice", read_nice},
    {"slice", read_slice},
    {"policy", read_policy},
    {"yield", [](LineReader&) { return op::yield(); }},
    {"yield_to", [](LineReader& in) { return op::yield_to(in.id()); }},
    {"hrtick", [](LineReader&) { return op::hrtick(); }},
}};

Operation read_operation(LineReader& in) {
  const std::string_view name = in.word("an operation");
  for (const Form& form : forms) {
    if (form.name != name) continue;
    const Operation operation = form.read(in);
    if (!in.failed() && !in.at_end()) {
      in.fail(fmt::format("{} is not expected at the end of '{}'", quoted(in.word("")), name));
    }
    if (std::string reason = out_of_range(operation); !in.failed() && !reason.empty()) {
      in.fail(reason);
    }
    return operation;
  }
  std::array<std::string_view, forms.size() + 2> names;
  for (std::size_t i = 0; i < forms.size(); ++i) names[i] = forms[i].name;
  names[forms.size()] = "repeat";
  names[forms.size() + 1] = "end";
  in.fail(
      fmt::format("{} is not an operation; the nearest is {}", quoted(name), nearest(name, names)));
  return {};
}

class TextParser {
 public:
  TextParser(std::string_view text, std::string name) : text_(text) {
    source_.name = std::move(name);
  }

  Result<Source> parse() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (auto error = read_line(line)) return *error;
    }
    if (repeat_line_ != 0) return error_at(repeat_line_, "this repeat has no end");
    if (source_.operations.empty() || source_.operations.front().code != VLAG_RESET) {
      source_.operations.insert(source_.operations.begin(), op::reset());
      source_.lines.insert(source_.lines.begin(), 0);
    }
    return std::move(source_);
  }

 private:
  Error error_at(int line, std::string what) const {
    return Error{std::move(what), {source_.name, line, 1}};
  }

  std::optional<Error> read_line(std::string_view line) {
    if (line.size() > longest_line) {
      return error_at(line_, fmt::format("a line has at most {} characters", longest_line));
    }
    LineReader in(split(line), source_.name, line_, static_cast<int>(line.size()) + 1);
    if (in.at_end()) return std::nullopt;
    if (in.take("repeat")) return begin_repeat(in);
    if (in.take("end")) return end_repeat(in);
    const Operation operation = read_operation(in);
    if (in.failed()) return in.error();
    const bool first = source_.operations.empty() && repeat_line_ == 0;
    if (operation.code == VLAG_RESET && !first) {
      return error_at(line_, "reset can only be the first operation");
    }
    return append(operation, line_);
  }

  std::optional<Error> append(const Operation& operation, int line) {
    // The reset counts, also where it is implied.
    const bool explicit_reset = source_.operations.empty()
                                    ? operation.code == VLAG_RESET
                                    : source_.operations.front().code == VLAG_RESET;
    if (source_.operations.size() + (explicit_reset ? 0 : 1) >= VLAG_MAX_OPERATIONS) {
      return error_at(line, fmt::format("a sequence has at most {} operations, repeats included",
                                        VLAG_MAX_OPERATIONS));
    }
    source_.operations.push_back(operation);
    source_.lines.push_back(line);
    return std::nullopt;
  }

  std::optional<Error> begin_repeat(LineReader& in) {
    const std::int64_t count = in.integer("how often to repeat");
    if (!in.failed() && !in.at_end()) in.fail("a repeat line ends after its number");
    if (!in.failed() && (count < 1 || count > VLAG_MAX_OPERATIONS)) {
      in.fail(
          fmt::format("repeat takes a number from 1 to {}, not {}", VLAG_MAX_OPERATIONS, count));
    }
    if (in.failed()) return in.error();
    if (repeat_line_ != 0) return error_at(line_, "repeats cannot be nested");
    repeat_line_ = line_;
    repeat_count_ = count;
    repeat_start_ = source_.operations.size();
    return std::nullopt;
  }

  std::optional<Error> end_repeat(LineReader& in) {
    if (!in.at_end()) in.fail("an end line holds nothing else");
    if (in.failed()) return in.error();
    if (repeat_line_ == 0) return error_at(line_, "this end has no repeat");
    const std::size_t end = source_.operations.size();
    for (std::int64_t i = 1; i < repeat_count_; ++i) {
      for (std::size_t at = repeat_start_; at < end; ++at) {
        const Operation operation = source_.operations[at];
        if (auto error = append(operation, source_.lines[at])) return error;
      }
    }
    repeat_line_ = 0;
    return std::nullopt;
  }

  std::string_view text_;
  Source source_;
  int line_ = 0;
  int repeat_line_ = 0;
  std::int64_t repeat_count_ = 0;
  std::size_t repeat_start_ = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Place Source::place(std::size_t index) const {
  const int line = index < lines.size() ? lines[index] : 0;
  return Place{name, line, line > 0 ? 1 : 0};
}

Result<Source> parse_text(std::string_view text, std::string name) {
  return TextParser(text, std::move(name)).parse();
}

std::vector<std::byte> to_binary(std::span<const Operation> sequence) {
  const std::uint64_t count = sequence.size();
  std::vector<std::byte> bytes(binary_mark.size() + sizeof count + sequence.size_bytes());
  std::byte* at = bytes.data();
  std::memcpy(at, binary_mark.data(), binary_mark.size());
  std::memcpy(at + binary_mark.size(), &count, sizeof count);
  std::memcpy(at + binary_mark.size() + sizeof count, sequence.data(), sequence.size_bytes());
  return bytes;
}

Result<Source> parse_binary(std::span<const std::byte> bytes, std::string name) {
  const auto fail = [&](std::string what) { return Error{std::move(what), {name, 0, 0}}; };
  std::uint64_t count = 0;
  const std::size_t header = binary_mark.size() + sizeof count;
  if (bytes.size() < header) return fail("a binary sequence is cut short in its header");
  if (std::memcmp(bytes.data(), binary_mark.data(), binary_mark.size()) != 0) {
    return fail("a binary sequence starts with VLAGSEQ1");
  }
  std::memcpy(&count, bytes.data() + binary_mark.size(), sizeof count);
  if (count == 0 || count > VLAG_MAX_OPERATIONS) {
    return fail(fmt::format("a sequence has 1 to {} operations, this one claims {}",
                            VLAG_MAX_OPERATIONS, count));
  }
  if (bytes.size() - header != count * sizeof(Operation)) {
    return fail(fmt::format("{} operations take {} bytes, but {} follow the header", count,
                            count * sizeof(Operation), bytes.size() - header));
  }
  Source source;
  source.name = name;
  source.operations.resize(count);
  source.lines.assign(count, 0);
  std::memcpy(source.operations.data(), bytes.data() + header, count * sizeof(Operation));
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = source.operations[i];
    if (std::string reason = out_of_range(operation); !reason.empty()) {
      return fail(fmt::format("record {}: {}", i, reason));
    }
    if ((operation.code == VLAG_RESET) != (i == 0)) {
      return fail(fmt::format("record {}: reset is the first operation and only that", i));
    }
  }
  return source;
}

Result<Source> read_sequence(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  const auto fail = [&](std::string what) { return Error{std::move(what), {path, 0, 0}}; };
  if (!file) return fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string content;
  std::array<char, 65536> block{};
  std::size_t got = 0;
  while ((got = std::fread(block.data(), 1, block.size(), file.get())) > 0) {
    if (content.size() + got > largest_file) {
      return fail(fmt::format("a sequence file has at most {} bytes", largest_file));
    }
    content.append(block.data(), got);
  }
  if (std::ferror(file.get()) != 0)
    return fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (content.starts_with(binary_mark)) {
    return parse_binary(std::as_bytes(std::span<const char>(content)), path);
  }
  return parse_text(content, path);
}

}  // namespace vlag::spec

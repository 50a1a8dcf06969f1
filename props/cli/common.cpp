// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

namespace vlag::cli {
namespace {

constexpr const char* red = "\033[31m";
constexpr const char* green = "\033[32m";
constexpr const char* plain = "\033[0m";

// One line that a terminal can print: what a user typed may hold anything.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += ' ';
    } else {
      line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// CLI11 would take -1 for 2^64 - 1, and 010 for 8.
std::string why_no_seed(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool octal = text.size() > 1 && text.front() == '0';
  if (code == std::errc{} && end == text.data() + text.size() && !octal) return {};
  return fmt::format("'{}' is not a whole number from 0 to {}", text,
                     std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

unsigned CommonOptions::worker_count() const {
  return jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

void add_format_option(CLI::App& app, CommonOptions& options) {
  app.add_option("--format", options.format, "How to print results")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void add_search_options(CLI::App& app, CommonOptions& options) {
  add_format_option(app, options);
  app.add_option("--seed", options.seed, "Where the random sequences start")
      ->check(why_no_seed)
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "How many at a time (default: one for each CPU)")
      ->check(CLI::Range(1, 256));
}

void add_size_options(CLI::App& app, std::uint64_t& steps, int& length, int& tasks) {
  app.add_option("--steps", steps, "How many operations, at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--length", length, "Operations in a sequence")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--tasks", tasks, "Tasks in a sequence, at most")
      ->check(CLI::Range(1, VLAG_MAX_TASKS))
      ->capture_default_str();
}

void add_policy_options(CLI::App& app, spec::PolicyText& policy) {
  app.add_option("--policy", policy.preset, "The policy of the model")->capture_default_str();
  add_policy_changes(app, policy);
}

void add_policy_changes(CLI::App& app, spec::PolicyText& policy) {
  app.add_option("--features", policy.features, "Features to change: \"A NO_B\"");
  app.add_option("--set", policy.sets,
                 "A rule or tunable to change, NAME=VALUE: hz=1000, base_slice=3000000, tie=lifo")
      ->allow_extra_args(false);
}

std::string shell_quoted(const std::string& text) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string policy_arguments(const spec::PolicyText& policy) {
  const spec::PolicyText standard;
  std::string text;
  if (policy.preset != standard.preset) text += " --policy " + shell_quoted(policy.preset);
  return text + policy_change_arguments(policy);
}

std::string policy_change_arguments(const spec::PolicyText& policy) {
  std::string text;
  if (!policy.features.empty()) text += " --features " + shell_quoted(policy.features);
  for (const std::string& set : policy.sets) text += " --set " + shell_quoted(set);
  return text;
}

int bad_input(const std::string& message) {
  fmt::print(stderr, "vlag: {}\n", one_line(message));
  return exit_bad_input;
}

int inconclusive(const std::string& message) {
  const std::string_view word = "inconclusive";
  fmt::print(stderr, "{}: {}\n", isatty(STDERR_FILENO) != 0 ? coloured(word) : std::string(word),
             one_line(message));
  return exit_inconclusive;
}

int inconclusive(const CommonOptions& options, std::string_view schema,
                 const std::string& message) {
  if (options.json()) {
    print_json({{"schema", schema}, {"verdict", "inconclusive"}, {"inconclusive", message}});
  }
  return inconclusive(message);
}

void print_json(const Json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string coloured(std::string_view verdict) {
  return fmt::format("{}{}{}", verdict == "pass" ? green : red, verdict, plain);
}

std::string coloured_verdict(std::string_view verdict) {
  return isatty(STDOUT_FILENO) != 0 ? coloured(verdict) : std::string(verdict);
}

int exit_code_of(std::string_view verdict) {
  if (verdict == "pass") return exit_held;
  return verdict == "violation" ? exit_violation : exit_inconclusive;
}

props::Meter progress_meter(std::string label) {
  if (isatty(STDERR_FILENO) == 0) return [](std::uint64_t, std::uint64_t) {};
  return [label = std::move(label)](std::uint64_t done, std::uint64_t total) {
    const std::uint64_t percent = total != 0 ? done * 100 / total : 100;
    fmt::print(stderr, "\r{} {:3}%{}", label, percent, done >= total ? "\n" : "");
    std::fflush(stderr);
  };
}

props::Progress build_progress() {
  return [](std::string_view line) {
    fmt::print(stderr, "{}\n", line);
    std::fflush(stderr);
  };
}

std::string time_text(std::uint64_t ns) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 3> units = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [scale, unit] : units) {
    if (ns < scale) continue;
    std::string digits = fmt::format("{}.{:0{}}", ns / scale, ns % scale,
                                     scale == 1'000       ? 3
                                     : scale == 1'000'000 ? 6
                                                          : 9);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + unit;
  }
  return fmt::format("{}ns", ns);
}

}  // namespace vlag::cli

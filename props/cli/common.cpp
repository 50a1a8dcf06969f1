// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

namespace vlag::cli {
namespace {

constexpr const char* red = "\033[31m";
constexpr const char* green = "\033[32m";
constexpr const char* plain = "\033[0m";

std::string shell_quoted(const std::string& text) {
  return text.find_first_of(" ='\"") == std::string::npos ? text : "'" + text + "'";
}

// A name for the sequence that depends on nothing but its operations.
std::uint64_t fingerprint(const spec::Sequence& sequence) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::byte byte : std::as_bytes(std::span(sequence))) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
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
  app.add_option("--seed", options.seed, "Where the random sequences start")->capture_default_str();
  app.add_option("--jobs", options.jobs, "How many at a time (default: one for each CPU)")
      ->check(CLI::Range(1, 256));
}

void add_policy_options(CLI::App& app, spec::PolicyText& policy) {
  app.add_option("--policy", policy.preset, "The policy of the model")->capture_default_str();
  app.add_option("--features", policy.features, "Features to change: \"A NO_B\"");
  app.add_option("--set", policy.sets,
                 "A rule or tunable to change, NAME=VALUE: hz=1000, base_slice=3000000, tie=lifo")
      ->allow_extra_args(false);
}

std::string policy_arguments(const spec::PolicyText& policy) {
  const spec::PolicyText standard;
  std::string text;
  if (policy.preset != standard.preset) text += " --policy " + shell_quoted(policy.preset);
  if (!policy.features.empty()) text += " --features " + shell_quoted(policy.features);
  for (const std::string& set : policy.sets) text += " --set " + set;
  return text;
}

int bad_input(const std::string& message) {
  fmt::print(stderr, "vlag: {}\n", message);
  return exit_bad_input;
}

int inconclusive(const std::string& message) {
  const bool colour = isatty(STDERR_FILENO) != 0;
  fmt::print(stderr, "{}inconclusive{}: {}\n", colour ? red : "", colour ? plain : "", message);
  return exit_inconclusive;
}

void print_json(const Json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string coloured_verdict(std::string_view verdict) {
  if (isatty(STDOUT_FILENO) == 0) return std::string(verdict);
  return fmt::format("{}{}{}", verdict == "pass" ? green : red, verdict, plain);
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

spec::Result<std::string> save_finding(const props::Finding& finding) {
  const std::filesystem::path directory = props::cache_directory() / "findings";
  const std::filesystem::path path =
      directory / fmt::format("{}-{:016x}.seq", finding.rule, fingerprint(finding.sequence));
  const std::filesystem::path temporary = path.string() + fmt::format(".{}", getpid());
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    return spec::Error{fmt::format("cannot be written: {}", std::strerror(errno)), {path, 0, 0}};
  }
  fmt::print(file, "# {}: {}\n{}", finding.rule, finding.summary, spec::to_text(finding.sequence));
  const bool written = std::fclose(file) == 0;
  if (written) std::filesystem::rename(temporary, path, code);
  if (!written || code) return spec::Error{"cannot be written", {path, 0, 0}};
  return path.string();
}

namespace {

std::string reproduce_line(const props::Finding& finding, const std::string& replay_on) {
  const auto saved = save_finding(finding);
  return saved ? fmt::format("vlag replay {} {}", shell_quoted(*saved), replay_on)
               : fmt::format("(not saved: {})", saved.error().message());
}

}  // namespace

void print_finding(const props::Finding& finding, const std::string& replay_on) {
  const props::Property* property = props::find_property(finding.rule);
  fmt::print("\n{}: {}\n", finding.rule, finding.summary);
  if (property != nullptr) fmt::print("  should be: {}\n", property->claim);
  if (!finding.divergence.empty()) {
    fmt::print("  explained: known divergence {}\n", finding.divergence);
  }
  fmt::print("  after {} operations:\n", finding.sequence.size());
  for (const spec::Operation& operation : finding.sequence) {
    fmt::print("    {}\n", spec::to_text(operation));
  }
  fmt::print("  again: {}\n", reproduce_line(finding, replay_on));
}

Json finding_json(const props::Finding& finding, const std::string& replay_on) {
  Json json = {{"rule", finding.rule},
               {"summary", finding.summary},
               {"sequence", spec::to_text(finding.sequence)},
               {"reproduce", reproduce_line(finding, replay_on)}};
  if (!finding.divergence.empty()) json["divergence"] = finding.divergence;
  return json;
}

spec::Result<props::KernelSpec> parse_kernel_name(const std::string& name) {
  const spec::Error wrong{
      fmt::format("'{}' is not a kernel: VERSION-HZ or VERSION-HZ-groups is expected, as 6.12-250",
                  name),
      {}};
  props::KernelSpec spec;
  std::string rest = name;
  constexpr std::string_view groups = "-groups";
  if (rest.ends_with(groups)) {
    spec.groups = true;
    rest.resize(rest.size() - groups.size());
  }
  const std::size_t dash = rest.rfind('-');
  if (dash == std::string::npos || dash == 0) return wrong;
  spec.version = rest.substr(0, dash);
  const std::string_view hz = std::string_view(rest).substr(dash + 1);
  const auto [end, code] = std::from_chars(hz.data(), hz.data() + hz.size(), spec.hz);
  if (code != std::errc{} || end != hz.data() + hz.size() || spec.hz < 24 || spec.hz > 1000) {
    return wrong;
  }
  return spec;
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

// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/findings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include "props/relation.h"

namespace vlag::cli {
namespace {

namespace fs = std::filesystem;

// A name for the sequence that depends on nothing but its operations.
std::uint64_t fingerprint(const spec::Sequence& sequence) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::byte byte : std::as_bytes(std::span(sequence))) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

// A kernel says much when it dies, in several lines; a sequence file has limits for its own.
std::string comment(const std::string& text) {
  constexpr std::size_t longest = 1000;
  std::string lines = "# ";
  for (const char c : text.substr(0, longest)) lines += c == '\n' ? "\n# " : std::string(1, c);
  return lines + '\n';
}

spec::Error not_written(const fs::path& path, const std::string& why) {
  return {fmt::format("cannot be written: {}", why), {path.string(), 0, 0}};
}

bool write_file(const fs::path& path, const std::string& content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  return std::fclose(file) == 0 && written;
}

// The command that shows the finding again, and what to know about it.
struct Again {
  std::string command;
  std::string not_saved;  // Why the file must be written by hand; else empty
};

Again again(const props::Finding& finding, const std::string& replay_on) {
  const auto saved = save_finding(finding);
  // Relations are judged only if they are asked for.
  const bool related = props::find_relation(finding.rule) != nullptr;
  const std::string asked = related ? " --property " + finding.rule : "";
  return {
      fmt::format("vlag replay {} {}{}", saved ? shell_quoted(*saved) : "FILE", replay_on, asked),
      saved ? std::string() : saved.error().message()};
}

}  // namespace

bool is_violation(const props::Finding& finding) { return finding.divergence.empty(); }

spec::Result<std::string> save_finding(const props::Finding& finding) {
  return save_text(finding.rule, finding.summary, finding.sequence,
                   spec::to_text(finding.sequence));
}

spec::Result<std::string> save_text(std::string_view rule, std::string_view summary,
                                    const spec::Sequence& sequence, std::string_view text) {
  const fs::path directory = props::cache_directory() / "findings";
  const fs::path path = directory / fmt::format("{}-{:016x}.seq", rule, fingerprint(sequence));
  const fs::path temporary = path.string() + fmt::format(".{}", getpid());
  std::error_code code;
  fs::create_directories(directory, code);
  if (code) return not_written(path, code.message());
  const std::string content = comment(fmt::format("{}: {}", rule, summary)).append(text);
  if (!write_file(temporary, content)) {
    const std::string why = std::strerror(errno);
    fs::remove(temporary, code);
    return not_written(path, why);
  }
  fs::rename(temporary, path, code);
  if (code) return not_written(path, code.message());
  return path.string();
}

void print_finding(const props::Finding& finding, const std::string& replay_on) {
  const props::Property* property = props::find_property(finding.rule);
  const props::Relation* relation = props::find_relation(finding.rule);
  fmt::print("\n{}: {}\n", finding.rule, finding.summary);
  if (property != nullptr) fmt::print("  should be: {}\n", property->claim);
  if (relation != nullptr) fmt::print("  should be: {}\n", relation->claim);
  if (!is_violation(finding)) {
    fmt::print("  explained: known divergence {}\n", finding.divergence);
  }
  fmt::print("  after {} operations:\n", finding.sequence.size());
  for (const spec::Operation& operation : finding.sequence) {
    fmt::print("    {}\n", spec::to_text(operation));
  }
  const auto [command, not_saved] = again(finding, replay_on);
  fmt::print("  again: {}\n", command);
  if (!not_saved.empty()) {
    fmt::print("    where FILE holds the operations above; {}\n", not_saved);
  }
}

Json finding_json(const props::Finding& finding, const std::string& replay_on) {
  const auto [command, not_saved] = again(finding, replay_on);
  Json json = {{"rule", finding.rule},
               {"summary", finding.summary},
               {"explained", !is_violation(finding)},
               {"sequence", spec::to_text(finding.sequence)},
               {"reproduce", command}};
  if (!is_violation(finding)) json["divergence"] = finding.divergence;
  if (!not_saved.empty()) json["not_saved"] = not_saved;
  return json;
}

Json divergence_json(const props::Finding& finding) {
  return {{"id", is_violation(finding) ? finding.rule : finding.divergence},
          {"explained", !is_violation(finding)},
          {"sequence", spec::to_text(finding.sequence)}};
}

}  // namespace vlag::cli

// SPDX-License-Identifier: GPL-2.0-only
// The command line. Exit codes: 0 all held; 1 a violation or divergence; 2 bad usage or input;
// 3 inconclusive.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "props/cli/common.h"
#include "spec/nearest.h"

namespace {

// The command that the words before the error chose.
const CLI::App& chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : chosen(*commands.back());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "vlag" : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& names) {
  return std::string(
      vlag::spec::nearest(word, std::vector<std::string_view>(names.begin(), names.end())));
}

// A word that no one expected, and what may have been meant.
std::string unexpected(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return fmt::format("'{}' is not an option of {}; the nearest is {}", word, full_name(command),
                       nearest_of(word, names));
  }
  for (const CLI::App* one : command.get_subcommands(nullptr)) names.push_back(one->get_name());
  if (names.empty()) {
    return fmt::format("'{}' is not expected: see {} --help", word, full_name(command));
  }
  return fmt::format("'{}' is not a command; the nearest is {} {}", word, full_name(command),
                     nearest_of(word, names));
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool about_words =
      code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError;
  if (!about_words) return error.what();
  const auto words = command.remaining();
  if (!words.empty()) return unexpected(command, words.front());
  return fmt::format("{}: see {} --help", error.what(), full_name(command));
}

// Results that did not all arrive are no results.
int after_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return vlag::cli::inconclusive(
      fmt::format("the results could not be written: {}", std::strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"vlag: the decision rules of Linux's fair scheduler, checked"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "vlag 0.1");
  int exit_code = 0;
  vlag::cli::add_run(app, exit_code);
  vlag::cli::add_check(app, exit_code);
  vlag::cli::add_prove(app, exit_code);
  vlag::cli::add_bounds(app, exit_code);
  vlag::cli::add_bugs(app, exit_code);
  vlag::cli::add_lockstep(app, exit_code);
  vlag::cli::add_replay(app, exit_code);
  vlag::cli::add_starve(app, exit_code);
  vlag::cli::add_gate(app, exit_code);
  vlag::cli::add_kernel(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return vlag::cli::bad_input(usage_error(app, error));
  } catch (const std::exception& error) {
    return vlag::cli::inconclusive(error.what());
  }
  return after_output(exit_code);
}

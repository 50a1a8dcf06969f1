// SPDX-License-Identifier: GPL-2.0-only
// The command line. Exit codes: 0 all held; 1 a violation or divergence; 2 bad usage or input;
// 3 inconclusive.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "props/cli/common.h"

namespace {

// CLI11's message may have several lines; a user gets one.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
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
  vlag::cli::add_lockstep(app, exit_code);
  vlag::cli::add_replay(app, exit_code);
  vlag::cli::add_gate(app, exit_code);
  vlag::cli::add_kernel(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return vlag::cli::bad_input(one_line(error.what()));
  } catch (const std::exception& error) {
    return vlag::cli::inconclusive(one_line(error.what()));
  }
  return exit_code;
}

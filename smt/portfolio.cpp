// SPDX-License-Identifier: GPL-2.0-only
#include "smt/portfolio.h"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "smt/process.h"

namespace vlag::smt {
namespace {

// "(- (/ 7.0 4.0))" as "-7/4", "#b1...1" as "-1".
std::string readable(const std::string& value) {
  if (value.starts_with("(- ")) return "-" + readable(value.substr(3, value.size() - 4));
  if (value.starts_with("(/ ")) {
    const std::size_t blank = value.rfind(' ');
    return readable(value.substr(3, blank - 3)) + "/" +
           readable(value.substr(blank + 1, value.size() - blank - 2));
  }
  if (value.starts_with("#b")) {
    return std::to_string(static_cast<std::int64_t>(std::stoull(value.substr(2), nullptr, 2)));
  }
  if (value.starts_with("#x")) {
    return std::to_string(static_cast<std::int64_t>(std::stoull(value.substr(2), nullptr, 16)));
  }
  return value.ends_with(".0") ? value.substr(0, value.size() - 2) : value;
}

// What solvers introduce, and what defines quotients, is not for readers.
bool of_the_goal(const std::string& name) {
  for (const char* made : {"quotient_", "remainder_", "scaled_"}) {
    if (name.starts_with(made)) return false;
  }
  return name.find('!') == std::string::npos;
}

std::string listed(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string run_z3(const std::string& text) {
  z3::context context;
  z3::solver solver(context);
  solver.from_string(text.c_str());
  const z3::check_result result = solver.check();
  if (result == z3::unsat) return "unsat\n";
  if (result == z3::unknown) return "unknown\n";
  const z3::model model = solver.get_model();
  std::vector<std::string> values;
  for (unsigned i = 0; i < model.num_consts(); ++i) {
    const z3::func_decl symbol = model.get_const_decl(i);
    const std::string name = symbol.name().str();
    if (!of_the_goal(name)) continue;
    values.push_back(
        fmt::format("{} = {}", name, readable(model.get_const_interp(symbol).to_string())));
  }
  return "sat\n" + listed(values);
}

// From lines "(define-fun NAME () SORT VALUE)".
std::string cvc5_model(const std::string& output) {
  constexpr std::string_view define = "(define-fun ";
  std::vector<std::string> values;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find(" () ");
    if (!line.starts_with(define) || end == std::string::npos || line.back() != ')') continue;
    const std::string name = line.substr(define.size(), end - define.size());
    const std::size_t sort = end + 4;
    // A sort is a word, or in parentheses without others inside.
    const std::size_t blank = line.find(' ', line[sort] == '(' ? line.find(')', sort) : sort);
    if (blank == std::string::npos || !of_the_goal(name)) continue;
    values.push_back(
        fmt::format("{} = {}", name, readable(line.substr(blank + 1, line.size() - blank - 2))));
  }
  return listed(values);
}

Status status_of(const std::string& output) {
  if (output.starts_with("unsat")) return Status::unsat;
  if (output.starts_with("sat")) return Status::sat;
  return Status::unknown;
}

}  // namespace

std::string_view name_of(Status status) {
  static constexpr std::array<std::string_view, 3> names = {"unknown", "sat", "unsat"};
  return names[static_cast<std::size_t>(status)];
}

Answer ask(const std::string& text, Solvers solvers, Limits limits) {
  struct Running {
    Child child;
    Status* status;
    bool done = false;
  };
  Answer answer;
  std::vector<Running> running;
  running.reserve(2);
  if (solvers.z3) running.push_back({Child([&] { return run_z3(text); }), &answer.z3});
  if (solvers.cvc5) {
    const std::array<std::string, 3> arguments = {"--lang=smt2", "--produce-models", "-"};
    running.push_back({Child("cvc5", arguments, text + "(get-model)\n"), &answer.cvc5});
  }
  double end = now() + limits.seconds;
  for (;;) {
    std::vector<Child*> children;
    for (Running& one : running) {
      if (!one.child.ended()) children.push_back(&one.child);
    }
    if (children.empty() || !read_any(children, end - now())) break;
    for (Running& one : running) {
      if (one.done || !one.child.ended()) continue;
      one.done = true;
      // A solver that crashed has not answered, whatever it wrote before.
      const Status status = status_of(one.child.output());
      const bool well = one.child.wait().empty() || one.status == &answer.cvc5;
      if (!well || status == Status::unknown) continue;
      *one.status = status;
      // Of two models Z3's, whoever was first: the same question has the same answer.
      const bool is_z3 = one.status == &answer.z3;
      if (status == Status::sat && (is_z3 || answer.z3 != Status::sat)) {
        const std::string& output = one.child.output();
        answer.model = is_z3 ? output.substr(output.find('\n') + 1) : cvc5_model(output);
      }
      end = std::min(end, now() + limits.confirm);
    }
    if (now() >= end) break;
  }
  return answer;
}

std::string missing_package(Solvers solvers) {
  // Z3 is a library that we are linked to.
  return solvers.cvc5 && !on_path("cvc5") ? "cvc5" : "";
}

std::string solver_versions(Solvers solvers) {
  constexpr double patience = 10;  // Seconds.
  std::string versions;
  if (solvers.z3) versions += fmt::format("{}\n", Z3_get_full_version());
  if (solvers.cvc5) {
    const std::array<std::string, 1> arguments = {"--version"};
    Child child("cvc5", arguments, "");
    std::array<Child*, 1> one = {&child};
    const double end = now() + patience;
    while (!child.ended() && read_any(one, end - now())) {
    }
    if (!child.ended() || !child.wait().empty() || child.output().empty()) return "";
    versions += child.output();
  }
  return versions;
}

}  // namespace vlag::smt

// SPDX-License-Identifier: GPL-2.0-only
#include "smt/portfolio.h"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "smt/process.h"

namespace vlag::smt {
namespace {

std::string value_text(const z3::expr& value) {
  if (value.is_bv()) {
    const std::string bits = z3::bv2int(value, true).simplify().to_string();
    return bits;
  }
  return value.to_string();
}

// "(- 3)" as "-3", "3.0" as "3".
std::string readable(std::string value) {
  if (value.starts_with("(- ") && value.find(' ', 3) == std::string::npos) {
    value = "-" + value.substr(3, value.size() - 4);
  }
  if (value.ends_with(".0")) value.resize(value.size() - 2);
  return value;
}

// What solvers introduce, and what defines quotients, is not for readers.
bool of_the_goal(const std::string& name) {
  for (const char* made : {"quotient_", "remainder_", "scaled_"}) {
    if (name.starts_with(made)) return false;
  }
  return name.find('!') == std::string::npos;
}

std::string model_text(const z3::model& model) {
  std::vector<std::string> values;
  for (unsigned i = 0; i < model.num_consts(); ++i) {
    const z3::func_decl symbol = model.get_const_decl(i);
    const std::string name = symbol.name().str();
    if (!of_the_goal(name)) continue;
    values.push_back(
        fmt::format("{} = {}", name, readable(value_text(model.get_const_interp(symbol)))));
  }
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
  return "sat\n" + model_text(solver.get_model());
}

Status status_of(const std::string& output) {
  if (output.starts_with("unsat")) return Status::unsat;
  if (output.starts_with("sat")) return Status::sat;
  return Status::unknown;
}

// One line of what follows "sat".
std::string model_of(const std::string& output) {
  std::string rest = output.substr(std::min(output.find('\n') + 1, output.size()));
  while (!rest.empty() && rest.back() == '\n') rest.pop_back();
  std::replace(rest.begin(), rest.end(), '\n', ' ');
  return rest;
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
  for (bool decided = false;;) {
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
      if (!decided && status == Status::sat) answer.model = model_of(one.child.output());
      decided = true;
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

}  // namespace vlag::smt

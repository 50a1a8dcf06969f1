// SPDX-License-Identifier: GPL-2.0-only
#include "smt/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "smt/process.h"

namespace vlag::smt {
namespace {

using Json = nlohmann::json;

struct Running {
  std::size_t index;
  double start;
  Child child;
};

void finish(Running& one, const Options& options, Report& report) {
  report.seconds = now() - one.start;
  if (!one.child.ended()) {
    report.trouble = fmt::format("no answer in {} s", options.seconds);
    return;
  }
  const std::string failure = one.child.wait();
  if (!failure.empty() || !from_text(one.child.output(), report)) {
    report.trouble = fmt::format("the prover failed: {}", failure);
  }
}

// What is read may be anything: a number of another kind or range is refused.
std::int64_t integer_in(const Json& json, const char* key, std::int64_t least, std::int64_t most) {
  const Json& value = json.at(key);
  if (!value.is_number_integer()) throw std::out_of_range(key);
  const auto number = value.get<std::int64_t>();
  const bool wrapped = value.is_number_unsigned() && number < 0;
  if (wrapped || number < least || number > most) throw std::out_of_range(key);
  return number;
}

Verdict verdict_in(const Json& json, const char* key) {
  return static_cast<Verdict>(integer_in(json, key, 0, 2));
}

}  // namespace

std::string to_text(const Report& report) {
  return Json{{"verdict", report.verdict},
              {"z3", report.z3},
              {"cvc5", report.cvc5},
              {"assumptions", report.assumptions},
              {"canary", report.canary},
              {"disagreement", report.disagreement},
              {"model", report.model},
              {"counterexample", report.counterexample},
              {"refuting_model", report.refuting_model},
              {"refuted_weight", report.refuted_weight},
              {"canary_shown", report.canary_shown},
              {"trouble", report.trouble},
              {"warning", report.warning},
              {"queries", report.queries},
              {"cached", report.cached}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool from_text(const std::string& text, Report& report) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return false;
  try {
    Report read = report;
    const auto weights = static_cast<std::int64_t>(all_weights().size());
    read.verdict = verdict_in(json, "verdict");
    read.z3 = verdict_in(json, "z3");
    read.cvc5 = verdict_in(json, "cvc5");
    read.assumptions = static_cast<Status>(integer_in(json, "assumptions", 0, 2));
    read.canary = verdict_in(json, "canary");
    json.at("disagreement").get_to(read.disagreement);
    json.at("model").get_to(read.model);
    json.at("counterexample").get_to(read.counterexample);
    json.at("refuting_model").get_to(read.refuting_model);
    read.refuted_weight = integer_in(json, "refuted_weight", -1, weights - 1);
    json.at("canary_shown").get_to(read.canary_shown);
    json.at("trouble").get_to(read.trouble);
    json.at("warning").get_to(read.warning);
    read.queries = static_cast<int>(integer_in(json, "queries", 0, INT_MAX));
    json.at("cached").get_to(read.cached);
    report = read;
    return true;
  } catch (const Json::exception&) {
    return false;
  } catch (const std::out_of_range&) {
    return false;
  }
}

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> names = {"unknown", "proved", "refuted"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string_view verdict_of(const Report& report) {
  const bool falsehood = report.goal->kind == Kind::falsehood;
  const Verdict wrong = falsehood ? Verdict::proved : Verdict::refuted;
  if (report.disagreement || report.assumptions == Status::unsat ||
      report.canary == Verdict::proved) {
    return "violation";
  }
  if (report.goal->kind == Kind::open) return "pass";
  if (report.verdict == wrong) return "violation";
  const bool unknown = report.verdict == Verdict::unknown ||
                       report.assumptions == Status::unknown || report.canary == Verdict::unknown;
  return unknown ? "inconclusive" : "pass";
}

std::string_view verdict_of(std::span<const Report> reports) {
  std::string_view worst = "pass";
  for (const Report& report : reports) {
    const std::string_view one = verdict_of(report);
    if (one == "violation") return one;
    if (one == "inconclusive") worst = one;
  }
  return worst;
}

std::vector<Report> prove(std::span<const Goal* const> goals, const Options& options,
                          const Progress& progress) {
  std::vector<Report> reports(goals.size());
  std::vector<Running> running;
  const std::string versions =
      options.cache_directory.empty() ? std::string() : solver_versions(options.solvers);
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < goals.size()) {
    while (next < goals.size() && running.size() < std::max(1U, options.jobs)) {
      const Goal& goal = *goals[next];
      reports[next].goal = &goal;
      running.push_back(
          {next, now(), Child([&] { return to_text(prove_here(goal, options, versions)); })});
      ++next;
    }
    std::vector<Child*> children;
    double end = running.front().start + options.seconds;
    for (Running& one : running) {
      children.push_back(&one.child);
      end = std::min(end, one.start + options.seconds);
    }
    read_any(children, end - now());
    std::vector<Running> still;
    for (Running& one : running) {
      if (one.child.ended() || now() >= one.start + options.seconds) {
        finish(one, options, reports[one.index]);
        progress(++done, goals.size());
      } else {
        still.push_back(std::move(one));
      }
    }
    running = std::move(still);
  }
  return reports;
}

spec::Sequence sequence_of(const Report& report) {
  if (report.verdict != Verdict::refuted || report.goal->sequence == nullptr) return {};
  const std::ptrdiff_t place = report.refuted_weight;
  const auto weights = all_weights();
  const bool known = place >= 0 && place < std::ssize(weights);
  const Model model(report.refuting_model,
                    known ? &weights[static_cast<std::size_t>(place)] : nullptr);
  Child child([&] { return spec::to_text(report.goal->sequence(model)); });
  constexpr double seconds = 60;
  const std::string text = output_of(child, seconds);
  if (text.empty()) return {};
  auto source = spec::parse_text(text, std::string(report.goal->name));
  return source ? std::move(source->operations) : spec::Sequence();
}

}  // namespace vlag::smt

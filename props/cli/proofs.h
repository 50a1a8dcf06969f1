// SPDX-License-Identifier: GPL-2.0-only
// How goals and what became of them are shown, and where results of proofs are kept.
#pragma once

#include <span>
#include <string>

#include "props/cli/common.h"
#include "smt/prove.h"

namespace vlag::cli {

/// The directory for smt::Options::cache_directory.
std::string proof_cache();

/// A goal as JSON: what it claims, and how.
Json goal_json(const smt::Goal& goal);
/// The same, and what became of it. Requires: `solvers` are those that were asked.
Json proof_json(const smt::Report& report, const smt::Solvers& solvers);

/// The counterexample of a refuted goal as a sequence, run on the model of 6.12.117.
struct Shown {
  std::size_t operations = 0;  // 0: there is no sequence
  std::string what;            // what the property says that it breaks; empty if it does not
  std::string again;           // the command that shows it again; or why the file was not kept
};
Shown show(const smt::Report& report);

/// In words: why the goal does not hold, or is undecided; "" if neither.
std::string what_is_wrong(const smt::Report& report);
/// Prints what a reader has to act on, or what a falsehood is refuted by.
void print_proof(const smt::Report& report);

/// The table of all reports, what a reader has to act on, and the verdict.
void print_proofs(std::span<const smt::Report> reports);

/// One line on standard error if the cache could not be used as it should.
void warn_of_cache(std::span<const smt::Report> reports);

}  // namespace vlag::cli

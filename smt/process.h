// SPDX-License-Identifier: GPL-2.0-only
// A child process whose output is collected. Solvers ignore their own time limits, run out of
// memory and crash: each runs in one of these, and what it takes down is only itself.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>

namespace vlag::smt {

class Child {
 public:
  /// Forks; the child writes what `body` returns to the pipe and exits. An exception in the body
  /// is a failure. The child does not outlive its parent.
  explicit Child(const std::function<std::string()>& body);
  /// Runs a program that is found on the PATH, with `input` on its standard input.
  Child(const char* program, std::span<const std::string> arguments, const std::string& input);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  /// Kills it, if it still runs.
  ~Child();

  /// Readable when there is output, or the end of it; -1 after the end.
  int descriptor() const { return out_; }
  /// Reads what is there. Requires: descriptor() is readable.
  void read_some();
  bool ended() const { return out_ < 0; }
  const std::string& output() const { return output_; }

  /// Waits for the end of the process. Returns "", or how it failed: "signal 11", "exit code 1".
  std::string wait();

 private:
  void start(const std::function<void(int out)>& child);

  pid_t pid_ = -1;
  int out_ = -1;
  std::string output_;
};

/// Waits until one of the children has output or has ended, or `seconds` have passed, and reads.
/// Returns false when the time is over.
bool read_any(std::span<Child*> children, double seconds);

/// All that a child writes, if it ends well within so many seconds; else "".
std::string output_of(Child& child, double seconds);

/// Seconds on a clock that only goes forward.
double now();

/// Whether a program of that name is on the PATH.
bool on_path(const std::string& program);

}  // namespace vlag::smt

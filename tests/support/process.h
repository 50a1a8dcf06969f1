// SPDX-License-Identifier: GPL-2.0-only
// The binary as a user meets it: a command line in, two streams and an exit code out.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vlag::tests {

struct Process {
  int exit_code = -1;  // -1: it died of a signal
  std::string out;
  std::string err;
};

/// A directory for one test, removed with it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "vlag-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file into it and returns its path.
  std::string file(const std::string& name, std::string_view content) const {
    const std::filesystem::path path = path_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// Runs a line of shell, with both streams caught in files.
inline Process run_shell(const std::string& line) {
  const TemporaryDirectory directory;
  const auto out = directory.path() / "out";
  const auto err = directory.path() / "err";
  const int status = std::system(
      ("{ " + line + "\n} >" + out.string() + " 2>" + err.string() + " </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
}

inline std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace vlag::tests

// SPDX-License-Identifier: GPL-2.0-only
#include "smt/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

namespace vlag::smt {
namespace {

constexpr int failed_to_start = 127;
constexpr int threw = 70;

void write_all(int file, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    written += static_cast<std::size_t>(n);
  }
}

// A file without a name that holds the text, open at its start. A pipe could fill up and block.
int file_with(const std::string& text) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("cannot create a temporary file");
  const int descriptor = dup(fileno(file));
  write_all(descriptor, text);
  lseek(descriptor, 0, SEEK_SET);
  std::fclose(file);
  return descriptor;
}

}  // namespace

void Child::start(const std::function<void(int out)>& child) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe");
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(failed_to_start);
    close(ends[0]);
    child(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  out_ = ends[0];
}

Child::Child(const std::function<std::string()>& body) {
  start([&](int out) {
    try {
      write_all(out, body());
    } catch (const std::exception& error) {
      fmt::print(stderr, "vlag: {}\n", error.what());
      std::fflush(stderr);
      _exit(threw);
    } catch (...) {
      _exit(threw);
    }
  });
}

Child::Child(const char* program, std::span<const std::string> arguments,
             const std::string& input) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int in = file_with(input);
  start([&](int out) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDERR_FILENO);
    execvp(program, pointers.data());
    _exit(failed_to_start);
  });
  close(in);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      output_(std::move(other.output_)) {}

Child::~Child() {
  if (out_ >= 0) close(out_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  wait();
}

void Child::read_some() {
  std::array<char, 4096> buffer{};
  const ssize_t n = read(out_, buffer.data(), buffer.size());
  if (n > 0) output_.append(buffer.data(), static_cast<std::size_t>(n));
  if (n > 0 || (n < 0 && errno == EINTR)) return;
  close(std::exchange(out_, -1));
}

std::string Child::wait() {
  if (pid_ < 0) return "";
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : fmt::format("exit code {}", code);
}

bool read_any(std::span<Child*> children, double seconds) {
  std::vector<pollfd> files;
  files.reserve(children.size());
  for (const Child* child : children) files.push_back({child->descriptor(), POLLIN, 0});
  const double wait_ms = std::clamp(std::ceil(seconds * 1000), 0.0, 1e9);
  const int ready = poll(files.data(), files.size(), static_cast<int>(wait_ms));
  if (ready < 0 && errno == EINTR) return true;
  if (ready <= 0) return false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents != 0) children[i]->read_some();
  }
  return true;
}

std::string output_of(Child& child, double seconds) {
  std::array<Child*, 1> one = {&child};
  const double end = now() + seconds;
  while (!child.ended() && now() < end && read_any(one, end - now())) {
  }
  return child.ended() && child.wait().empty() ? child.output() : "";
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / program;
    if (access(candidate.c_str(), X_OK) == 0) return true;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace vlag::smt

// SPDX-License-Identifier: GPL-2.0-only
// A lockstep kernel as a child process: two pipes, a console, and how it ended. Bytes only; what
// they mean is KernelBackend's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "props/kernel_build.h"
#include "spec/result.h"
#include "spec/wire.h"

namespace vlag::props {

struct KernelOptions {
  std::chrono::milliseconds timeout{20'000};  // Without a byte for that long it hangs
  std::string memory = "64M";
};

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);

 private:
  int fd_;
};

/// A running kernel: the process, its pipes and its console.
class KernelProcess {
 public:
  enum class Event { progress, closed, timeout };

  /// Ensures: it has said hello.
  static spec::Result<std::unique_ptr<KernelProcess>> start(const Kernel& kernel,
                                                            const KernelOptions& options);
  ~KernelProcess() { stop(); }
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  pid_t pid() const { return pid_; }
  const vlag_hello& hello() const { return hello_; }
  const std::string& feature_names() const { return feature_names_; }

  /// Whether it died while nobody asked it anything.
  bool died();

  /// Writes as much of `bytes` as the pipe takes, and returns how much.
  std::size_t write_some(std::span<const std::byte> bytes);

  /// Waits until it can be read, or written if `writing`, and reads what there is.
  Event wait(bool writing);

  /// The bytes that were read and not yet consumed.
  std::span<const std::byte> incoming() const {
    return std::span(incoming_).subspan(consumed_, received_ - consumed_);
  }
  void consume(std::size_t bytes) { consumed_ += bytes; }

  /// What it complained of on its console, from the first such line on: WARN, BUG, Oops or panic;
  /// empty if it did not. What it said before the hello counts only if it never said hello.
  std::string fault() const;

  /// Kills it if it is still there. Returns how it ended.
  std::string stop();

  /// Waits a moment for it to die by itself, then as stop().
  std::string wait_for_end();

 private:
  explicit KernelProcess(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  spec::Result<spec::Done> spawn(const Kernel& kernel, const KernelOptions& options);
  spec::Result<spec::Done> read_hello();
  bool await_bytes(std::size_t bytes);
  Event read_some();

  std::chrono::milliseconds timeout_;
  pid_t pid_ = 0;
  std::string end_;  // How it ended
  Descriptor to_kernel_;
  Descriptor from_kernel_;
  Descriptor console_;
  off_t booted_ = 0;  // Where in the console
  vlag_hello hello_{};
  std::string feature_names_;
  std::vector<std::byte> incoming_;
  std::size_t consumed_ = 0;
  std::size_t received_ = 0;
};

}  // namespace vlag::props

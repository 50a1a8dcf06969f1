// SPDX-License-Identifier: GPL-2.0-only
// A real kernel as a backend: User-Mode Linux as a child process, spoken to over two pipes in the
// records of spec/wire.h.
//
// begin() writes what fits into the pipe and returns, so the caller computes while the kernel
// does; end() writes the rest and reads, whichever the kernel is ready for. A kernel that died or
// hung is replaced by the next begin(): each sequence starts with a reset, so nothing is lost.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "props/backend.h"
#include "props/kernel_build.h"
#include "props/kernel_process.h"
#include "spec/result.h"

namespace vlag::props {

class KernelBackend final : public Backend {
 public:
  /// Errors: it cannot be started, or does not speak this version of the wire.
  static spec::Result<std::unique_ptr<KernelBackend>> start(const Kernel& kernel,
                                                            const KernelOptions& options = {});
  ~KernelBackend() override;
  KernelBackend(const KernelBackend&) = delete;
  KernelBackend& operator=(const KernelBackend&) = delete;

  const BackendInfo& info() const override { return info_; }
  void begin(std::span<const spec::Operation> operations) override;
  Outcome end(spec::Trace& trace) override;

  /// Of the running kernel; 0 if it died and was not replaced yet.
  pid_t pid() const;

 private:
  KernelBackend(const Kernel& kernel, const KernelOptions& options);

  spec::Result<spec::Done> restart();
  spec::Operation to_kernel(spec::Operation operation) const;
  void append_requests(std::span<const spec::Operation> operations);
  Outcome exchange(spec::Trace& trace);
  spec::Result<spec::Done> take_replies(spec::Trace& trace, std::uint32_t end_serial);
  Outcome diagnose();
  Outcome diagnose_hang();

  Kernel kernel_;
  KernelOptions options_;
  BackendInfo info_;
  std::vector<int> kernel_bit_;  // By vlag's feature number; -1: this kernel does not have it
  std::unique_ptr<KernelProcess> process_;
  std::string start_failure_;  // Why there is no process, if so

  std::vector<std::byte> outgoing_;  // Requests of the sequence that is under way
  std::size_t sent_ = 0;             // Bytes of it
  std::uint32_t next_serial_ = 0;
  std::uint32_t requests_ = 0;  // Of this sequence
  std::size_t operations_ = 0;  // Of this sequence
};

}  // namespace vlag::props

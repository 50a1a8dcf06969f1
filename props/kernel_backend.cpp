// SPDX-License-Identifier: GPL-2.0-only
#include "props/kernel_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/policy.h"

namespace vlag::props {
namespace {

using spec::Done;
using spec::Error;
using spec::Operation;
using spec::Result;

constexpr std::uint32_t reply_bytes_max = 64 << 20;  // More is no answer of ours

Error failed(std::string what) { return {std::move(what), {}}; }

}  // namespace

KernelBackend::KernelBackend(const Kernel& kernel, const KernelOptions& options)
    : kernel_(kernel), options_(options) {}

KernelBackend::~KernelBackend() = default;

Result<std::unique_ptr<KernelBackend>> KernelBackend::start(const Kernel& kernel,
                                                            const KernelOptions& options) {
  std::unique_ptr<KernelBackend> backend(new KernelBackend(kernel, options));
  if (const auto started = backend->restart(); !started) return started.error();

  const vlag_hello& hello = backend->process_->hello();
  BackendInfo& info = backend->info_;
  info.name = "kernel:" + kernel.name;
  info.release.assign(hello.release, strnlen(hello.release, sizeof hello.release));
  info.hz = hello.hz;
  info.tick_nsec = hello.tick_nsec;
  info.base_slice = hello.base_slice;
  info.groups = hello.groups != 0;

  backend->kernel_bit_.assign(feature_count, -1);
  std::string_view names = backend->process_->feature_names();
  for (int bit = 0; !names.empty(); ++bit) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (const auto feature = find_feature(names.substr(0, end))) {
      backend->kernel_bit_[static_cast<std::size_t>(*feature)] = bit;
      info.features |= (hello.features >> bit & 1) << static_cast<int>(*feature);
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return backend;
}

pid_t KernelBackend::pid() const { return process_ ? process_->pid() : 0; }

Result<Done> KernelBackend::restart() {
  process_.reset();
  auto process = KernelProcess::start(kernel_, options_);
  if (!process) return process.error();
  process_ = std::move(*process);
  return Done{};
}

// Feature bits by the kernel's numbers. One that this kernel does not have becomes a bit that no
// kernel has, so that it is refused instead of forgotten.
Operation KernelBackend::to_kernel(Operation operation) const {
  if (operation.code != VLAG_FEATURES) return operation;
  std::uint64_t touched = 0;
  std::uint64_t values = 0;
  for (int feature = 0; feature < 64; ++feature) {
    if ((operation.extra >> feature & 1) == 0) continue;
    const auto index = static_cast<std::size_t>(feature);
    const int known = index < kernel_bit_.size() ? kernel_bit_[index] : -1;
    const int bit = known < 0 ? 63 : known;
    touched |= std::uint64_t{1} << bit;
    values |= (operation.arg >> feature & 1) << bit;
  }
  operation.extra = touched;
  operation.arg = values;
  return operation;
}

void KernelBackend::append_requests(std::span<const Operation> operations) {
  const auto append = [this](const auto& record) {
    const auto bytes = std::as_bytes(std::span(&record, 1));
    outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
  };
  outgoing_.clear();
  outgoing_.reserve(operations.size_bytes() + sizeof(vlag_request));
  requests_ = 0;
  while (!operations.empty()) {
    const auto part = operations.first(std::min<std::size_t>(operations.size(), VLAG_MAX_REQUEST));
    append(vlag_request{VLAG_MAGIC, static_cast<std::uint32_t>(part.size()), VLAG_DUMP_EACH,
                        next_serial_ + requests_});
    for (const Operation& operation : part) append(to_kernel(operation));
    operations = operations.subspan(part.size());
    ++requests_;
  }
}

void KernelBackend::begin(std::span<const Operation> operations) {
  operations_ = operations.size();
  start_failure_.clear();
  if (!process_ || process_->died()) {
    if (const auto started = restart(); !started) {
      start_failure_ = started.error().what;
      return;
    }
  }
  append_requests(operations);
  sent_ = process_->write_some(outgoing_);
}

Outcome KernelBackend::end(spec::Trace& trace) {
  trace.clear();
  if (!process_) return {Outcome::Kind::lost, start_failure_};
  Outcome outcome = exchange(trace);
  if (!outcome.completed()) process_.reset();
  return outcome;
}

Outcome KernelBackend::exchange(spec::Trace& trace) {
  const std::uint32_t end_serial = next_serial_ + requests_;
  while (next_serial_ != end_serial) {
    const auto taken = take_replies(trace, end_serial);
    if (!taken) return {Outcome::Kind::lost, taken.error().what};
    if (next_serial_ == end_serial) break;
    switch (process_->wait(sent_ < outgoing_.size())) {
      case KernelProcess::Event::closed:
        return diagnose();
      case KernelProcess::Event::timeout:
        return diagnose_hang();
      case KernelProcess::Event::progress:
        sent_ += process_->write_some(std::span(outgoing_).subspan(sent_));
    }
  }
  if (trace.size() == operations_) return {};
  return {Outcome::Kind::lost,
          fmt::format("the kernel answered {} of {} operations", trace.size(), operations_)};
}

// Appends the whole replies that have arrived; a reply without records ends its request.
Result<Done> KernelBackend::take_replies(spec::Trace& trace, std::uint32_t end_serial) {
  while (next_serial_ != end_serial) {
    const auto bytes = process_->incoming();
    vlag_reply reply{};
    if (bytes.size() < sizeof reply) return Done{};
    std::memcpy(&reply, bytes.data(), sizeof reply);
    if (reply.serial != next_serial_ || reply.bytes > reply_bytes_max) {
      return failed(fmt::format("a corrupt reply: serial {} with {} bytes, expected serial {}",
                                reply.serial, reply.bytes, next_serial_));
    }
    if (bytes.size() - sizeof reply < reply.bytes) return Done{};
    const auto appended = trace.append_records(bytes.subspan(sizeof reply, reply.bytes));
    if (!appended) return failed("a corrupt reply: " + appended.error().what);
    process_->consume(sizeof reply + reply.bytes);
    if (reply.bytes == 0) ++next_serial_;
  }
  return Done{};
}

// Its end of the pipe is closed: a fault if it said so, otherwise nobody knows.
Outcome KernelBackend::diagnose() {
  const std::string end = process_->wait_for_end();
  std::string said = process_->fault();
  if (!said.empty()) return {Outcome::Kind::faulted, std::move(said)};
  return {Outcome::Kind::lost, "the kernel died without a word: " + end};
}

Outcome KernelBackend::diagnose_hang() {
  process_->stop();
  std::string said = process_->fault();
  if (!said.empty()) return {Outcome::Kind::faulted, std::move(said)};
  return {Outcome::Kind::hung, fmt::format("no answer for {} ms", options_.timeout.count())};
}

}  // namespace vlag::props

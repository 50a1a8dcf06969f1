// SPDX-License-Identifier: GPL-2.0-only
#include "props/kernel_backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/policy.h"

namespace vlag::props {
namespace {

using spec::Done;
using spec::Error;
using spec::Operation;
using spec::Result;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Error failed(std::string what) { return {std::move(what), {}}; }

constexpr int pipe_bytes = 1 << 20;          // A whole request fits: begin() does not wait
constexpr std::size_t read_bytes = 1 << 20;  // At a time
constexpr std::size_t fault_text_max = 8 << 10;
constexpr std::size_t console_max = 1 << 20;         // Of it is read
constexpr std::uint32_t reply_bytes_max = 64 << 20;  // More is no answer of ours

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
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool open() {
    std::array<int, 2> fds{};
    if (pipe2(fds.data(), O_CLOEXEC) != 0) return false;
    read.reset(fds[0]);
    write.reset(fds[1]);
    // May be refused (pipe-user-pages-soft); then end() feeds the kernel while it reads.
    fcntl(fds[1], F_SETPIPE_SZ, pipe_bytes);
    return true;
  }
};

// Writing to a dead kernel is an error code, whatever the process thinks of SIGPIPE.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    constexpr timespec now{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// UML keeps its memory in a file that it maps executable, and its pid in a directory below HOME.
// Both are gone, or not needed, once it has booted.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    for (const std::string& parent : parents()) {
      std::string name = parent + "/vlag-XXXXXX";
      if (mkdtemp(name.data()) == nullptr) continue;
      path_ = name;
      return;
    }
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  // In memory if there is room to share: on a disk the host writes dirty pages back.
  static std::vector<std::string> parents() {
    constexpr std::uint64_t wanted = 256 << 20;
    std::vector<std::string> found;
    struct statvfs shm {};
    if (statvfs("/dev/shm", &shm) == 0 && (shm.f_flag & ST_NOEXEC) == 0 &&
        shm.f_bavail * shm.f_frsize >= wanted) {
      found.emplace_back("/dev/shm");
    }
    if (const char* dir = std::getenv("TMPDIR"); dir != nullptr && *dir == '/') {
      found.emplace_back(dir);
    }
    found.emplace_back("/tmp");
    return found;
  }
  std::string path_;
};

// What the kernel said from its first complaint on; empty if it did not complain.
std::string fault_text(std::string_view console) {
  std::size_t first = std::string_view::npos;
  for (const char* complaint : {"WARNING:", "BUG:", "Oops", "Kernel panic"}) {
    first = std::min(first, console.find(complaint));
  }
  if (first == std::string_view::npos) return {};
  const std::size_t line = console.rfind('\n', first);
  std::string text(console.substr(line == std::string_view::npos ? 0 : line + 1, fault_text_max));
  std::erase(text, '\r');
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string describe_status(int status) {
  if (WIFEXITED(status)) return fmt::format("it exited with status {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return fmt::format("it was killed by signal {}", WTERMSIG(status));
  return "it ended";
}

}  // namespace

/// A running kernel: the process, its pipes and its console.
class KernelProcess {
 public:
  enum class Event { progress, closed, timeout };

  /// Ensures: it has said hello.
  static Result<std::unique_ptr<KernelProcess>> start(const Kernel& kernel,
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

  /// What it said on its console since the hello, or since its start if it did not say hello.
  std::string console() const;

  /// Kills it if it is still there. Returns how it ended.
  std::string stop();

  /// Waits a moment for it to die by itself, then as stop().
  std::string wait_for_end();

 private:
  explicit KernelProcess(milliseconds timeout) : timeout_(timeout) {}

  Result<Done> spawn(const Kernel& kernel, const KernelOptions& options);
  Result<Done> read_hello();
  bool await_bytes(std::size_t bytes);
  Event read_some();

  milliseconds timeout_;
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

namespace {

// What the child needs, made before the fork: afterwards nothing may allocate.
struct Launch {
  std::vector<std::string> words;
  std::vector<std::string> settings;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::array<int, 2> keep{};  // Descriptors that survive the exec
  int console = -1;
  pid_t parent = 0;

  void prepare() {
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& setting : settings) envp.push_back(setting.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }
};

[[noreturn]] void become_kernel(const Launch& launch) {
  setpgid(0, 0);  // A panic signals its whole group
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);
  constexpr rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  personality(ADDR_NO_RANDOMIZE);  // Or else UML does so itself and starts again
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(launch.console, STDOUT_FILENO);
  dup2(launch.console, STDERR_FILENO);
  for (const int fd : launch.keep) fcntl(fd, F_SETFD, 0);
  execve(launch.argv[0], launch.argv.data(), launch.envp.data());
  _exit(127);
}

}  // namespace

Result<Done> KernelProcess::spawn(const Kernel& kernel, const KernelOptions& options) {
  Pipe request;
  Pipe answer;
  const PrivateDirectory home;
  console_.reset(memfd_create("vlag-console", MFD_CLOEXEC));
  if (!request.open() || !answer.open() || !console_ || home.path().empty()) {
    return failed(fmt::format("cannot start a kernel: {}", std::strerror(errno)));
  }

  Launch launch;
  launch.words = {kernel.path.string(),
                  "mem=" + options.memory,
                  fmt::format("vlag={},{}", request.read.get(), answer.write.get()),
                  "stderr=1",
                  "console=stderr",
                  "loglevel=5",
                  "panic=-1",
                  "panic_on_warn=1"};
  launch.settings = {"HOME=" + home.path(), "TMPDIR=" + home.path(), "PATH=/usr/bin:/bin"};
  launch.keep = {request.read.get(), answer.write.get()};
  launch.console = console_.get();
  launch.parent = getpid();
  launch.prepare();
  pid_ = fork();
  if (pid_ == 0) become_kernel(launch);
  if (pid_ < 0) {
    pid_ = 0;
    return failed(fmt::format("cannot start a kernel: {}", std::strerror(errno)));
  }
  setpgid(pid_, pid_);  // Whoever comes first
  to_kernel_ = std::move(request.write);
  from_kernel_ = std::move(answer.read);
  request.read.reset();
  answer.write.reset();
  fcntl(to_kernel_.get(), F_SETFL, O_NONBLOCK);
  fcntl(from_kernel_.get(), F_SETFL, O_NONBLOCK);
  return read_hello();
}

Result<std::unique_ptr<KernelProcess>> KernelProcess::start(const Kernel& kernel,
                                                            const KernelOptions& options) {
  std::unique_ptr<KernelProcess> process(new KernelProcess(options.timeout));
  const auto started = process->spawn(kernel, options);
  if (started) return process;
  const std::string end = process->wait_for_end();
  const std::string said = fault_text(process->console());
  return failed(fmt::format("{}: {}; {}{}{}", kernel.path.string(), started.error().what, end,
                            said.empty() ? "" : ": ", said));
}

Result<Done> KernelProcess::read_hello() {
  if (!await_bytes(sizeof hello_)) return failed("the kernel did not say hello");
  std::memcpy(&hello_, incoming().data(), sizeof hello_);
  if (hello_.magic != VLAG_MAGIC || hello_.protocol != VLAG_PROTOCOL) {
    return failed(fmt::format("the kernel speaks protocol {:#x}/{}, expected {:#x}/{}",
                              hello_.magic, hello_.protocol, VLAG_MAGIC, VLAG_PROTOCOL));
  }
  if (hello_.operation_bytes != sizeof(vlag_operation) || hello_.head_bytes != sizeof(vlag_head) ||
      hello_.queue_bytes != sizeof(vlag_queue) || hello_.entity_bytes != sizeof(vlag_entity) ||
      hello_.max_tasks != VLAG_MAX_TASKS || hello_.max_request != VLAG_MAX_REQUEST) {
    return failed("the kernel was built with other records than this program");
  }
  consume(sizeof hello_);
  if (hello_.names_bytes > 4096 || !await_bytes(hello_.names_bytes)) {
    return failed("the kernel did not name its features");
  }
  feature_names_.resize(hello_.names_bytes);
  std::memcpy(feature_names_.data(), incoming().data(), feature_names_.size());
  consume(feature_names_.size());
  struct stat said {};
  if (fstat(console_.get(), &said) == 0) booted_ = said.st_size;
  return Done{};
}

bool KernelProcess::await_bytes(std::size_t bytes) {
  while (incoming().size() < bytes) {
    if (wait(false) != Event::progress) return false;
  }
  return true;
}

bool KernelProcess::died() {
  int status = 0;
  if (pid_ != 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
    end_ = describe_status(status);
    pid_ = 0;
  }
  return pid_ == 0;
}

std::size_t KernelProcess::write_some(std::span<const std::byte> bytes) {
  const NoSigpipe guard;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = write(to_kernel_.get(), bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // Full, or dead: then reading says so
    sent += static_cast<std::size_t>(n);
  }
  return sent;
}

KernelProcess::Event KernelProcess::wait(bool writing) {
  const auto deadline = steady_clock::now() + timeout_;
  for (;;) {
    std::array<pollfd, 2> fds{pollfd{from_kernel_.get(), POLLIN, 0},
                              pollfd{writing ? to_kernel_.get() : -1, POLLOUT, 0}};
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    const int ready = poll(fds.data(), fds.size(), std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Event::timeout;
    if (fds[0].revents != 0) return read_some();
    if ((fds[1].revents & POLLOUT) != 0) return Event::progress;
    return Event::closed;
  }
}

KernelProcess::Event KernelProcess::read_some() {
  if (consumed_ == received_) consumed_ = received_ = 0;
  if (incoming_.size() - received_ < read_bytes) incoming_.resize(received_ + read_bytes);
  const ssize_t n = read(from_kernel_.get(), incoming_.data() + received_, read_bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return Event::progress;
  if (n <= 0) return Event::closed;
  received_ += static_cast<std::size_t>(n);
  return Event::progress;
}

std::string KernelProcess::console() const {
  std::string text(console_max, '\0');
  const ssize_t n = pread(console_.get(), text.data(), text.size(), booted_);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::string KernelProcess::stop() {
  if (pid_ != 0 && !died()) {
    kill(-pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    end_ = describe_status(status);
    pid_ = 0;
  }
  return end_;
}

std::string KernelProcess::wait_for_end() {
  constexpr int patience_ms = 2000;
  for (int ms = 0; ms < patience_ms && !died(); ++ms) usleep(1000);
  return stop();
}

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
  std::string said = fault_text(process_->console());
  if (!said.empty()) return {Outcome::Kind::faulted, std::move(said)};
  return {Outcome::Kind::lost, "the kernel died without a word: " + end};
}

Outcome KernelBackend::diagnose_hang() {
  process_->stop();
  std::string said = fault_text(process_->console());
  if (!said.empty()) return {Outcome::Kind::faulted, std::move(said)};
  return {Outcome::Kind::hung, fmt::format("no answer for {} ms", options_.timeout.count())};
}

}  // namespace vlag::props

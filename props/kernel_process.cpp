// SPDX-License-Identifier: GPL-2.0-only
#include "props/kernel_process.h"

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
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace vlag::props {
namespace {

using spec::Done;
using spec::Error;
using spec::Result;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Error failed(std::string what) { return {std::move(what), {}}; }

constexpr int pipe_bytes = 1 << 20;          // A whole request fits: begin() does not wait
constexpr std::size_t read_bytes = 1 << 20;  // At a time
constexpr std::size_t fault_text_max = 8 << 10;
constexpr std::size_t console_max = 1 << 20;  // Of it is read

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
  setpgid(0, 0);                     // A panic signals its whole group
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // Also when just our thread ends; begin() then restarts it
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

void Descriptor::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

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
  const std::string said = process->fault();
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
  if (consumed_ >= read_bytes) {  // Less than one reply is left
    std::memmove(incoming_.data(), incoming_.data() + consumed_, received_ - consumed_);
    received_ -= std::exchange(consumed_, 0);
  }
  if (incoming_.size() - received_ < read_bytes) incoming_.resize(received_ + read_bytes);
  const ssize_t n = read(from_kernel_.get(), incoming_.data() + received_, read_bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return Event::progress;
  if (n <= 0) return Event::closed;
  received_ += static_cast<std::size_t>(n);
  return Event::progress;
}

std::string KernelProcess::fault() const {
  std::string text(console_max, '\0');
  const ssize_t n = pread(console_.get(), text.data(), text.size(), booted_);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return fault_text(text);
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

}  // namespace vlag::props

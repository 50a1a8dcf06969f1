// SPDX-License-Identifier: GPL-2.0-only
#include "props/kernel_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "spec/nearest.h"

#ifndef VLAG_SOURCE_DIR
#define VLAG_SOURCE_DIR "."
#endif

namespace vlag::props {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using spec::Done;
using spec::Error;
using spec::Result;

// The version that the model follows. Security updates move the archive, and some change the
// scheduler: another version is another kernel.
constexpr std::string_view pinned_version = "6.12";
constexpr std::string_view pinned_package = "linux-source-6.12";
constexpr std::string_view pinned_package_version = "6.12.117-1~deb12u1";
constexpr std::string_view source_tar = "/usr/src/linux-source-6.12.tar.xz";
constexpr std::string_view build_packages = "flex bison bc libelf-dev libssl-dev";

Error failed(std::string what) { return {std::move(what), {}}; }

fs::path root_directory() {
  const char* root = std::getenv("VLAG_ROOT");
  return root != nullptr && *root != '\0' ? root : VLAG_SOURCE_DIR;
}

// FNV-1a, with a length before each part so that parts cannot run together.
class Hash {
 public:
  void add(std::string_view part) {
    mix(fmt::format("{}:", part.size()));
    mix(part);
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void mix(std::string_view bytes) {
    for (const char byte : bytes) {
      state_ ^= static_cast<unsigned char>(byte);
      state_ *= 0x100000001b3;
    }
  }
  std::uint64_t state_ = 0xcbf29ce484222325;
};

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return Error{"cannot be read", {path.string()}};
  return std::move(text).str();
}

// Standard output of a shell command, without the last line feeds; empty if it fails.
std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "re"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  if (!pipe) return text;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), n);
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string shell_quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Where the source comes from and what names its content.
struct Source {
  fs::path directory;
  std::string tar;  // To unpack there if it does not exist
  std::string release;
  std::string identity;
  std::string label;  // First part of the kernel's name
};

Result<Source> package_source(const KernelSpec& spec) {
  if (spec.version != pinned_version) {
    return failed(
        fmt::format("there is no model of Linux {}: expected {}", spec.version, pinned_version));
  }
  const std::string version =
      output_of(fmt::format("dpkg-query -W -f='${{Version}}' {} 2>/dev/null", pinned_package));
  if (version.empty() || !fs::exists(source_tar)) {
    return failed(fmt::format("no kernel source: apt install {}={} {}", pinned_package,
                              pinned_package_version, build_packages));
  }
  if (version != pinned_package_version) {
    return failed(fmt::format("{} {} is installed, but the model follows {}", pinned_package,
                              version, pinned_package_version));
  }
  return Source{cache_directory() / "sources" / version, std::string(source_tar),
                fmt::format("{} {}", pinned_package, version), version, spec.version};
}

// "6.19.0-rc1" from the head of a kernel's top Makefile; empty if it is not one.
std::string kernel_version(const fs::path& makefile) {
  std::ifstream in(makefile);
  std::map<std::string, std::string> values;
  std::string line;
  for (int i = 0; i < 20 && std::getline(in, line); ++i) {
    std::istringstream words(line);
    std::string name, equals, value;
    if (words >> name >> equals && equals == "=") {
      words >> value;
      values[name] = value;
    }
  }
  if (values["VERSION"].empty() || values["PATCHLEVEL"].empty()) return {};
  const std::string& sublevel = values["SUBLEVEL"];
  return fmt::format("{}.{}.{}{}", values["VERSION"], values["PATCHLEVEL"],
                     sublevel.empty() ? "0" : sublevel, values["EXTRAVERSION"]);
}

// Path, size and time of change of every file, as make and git judge.
std::string tree_identity(const fs::path& tree) {
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(tree, fs::directory_options::skip_permission_denied), end;
  for (; at != end; ++at) {
    if (at.depth() == 0 && at->path().filename() == ".git") {
      at.disable_recursion_pending();
      continue;
    }
    struct stat info {};
    if (lstat(at->path().c_str(), &info) != 0 || S_ISDIR(info.st_mode)) continue;
    files.push_back(fmt::format("{} {} {}.{:09}", at->path().string(), info.st_size,
                                info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  std::sort(files.begin(), files.end());
  Hash hash;
  for (const std::string& file : files) hash.add(file);
  return hash.text();
}

Result<Source> directory_source(const KernelSpec& spec) {
  std::error_code error;
  const fs::path tree = fs::canonical(spec.source_dir, error);
  const std::string version = error ? std::string() : kernel_version(tree / "Makefile");
  if (version.empty()) {
    return Error{"not a kernel source tree: no version in its Makefile", {spec.source_dir}};
  }
  return Source{tree,
                {},
                fmt::format("{} {}", tree.filename().string(), version).substr(0, 63),
                tree_identity(tree),
                version};
}

std::string kernel_name(const KernelSpec& spec, const Source& source) {
  std::string name =
      fmt::format("{}-{}{}{}{}", source.label, spec.hz, spec.groups ? "-groups" : "",
                  spec.source_dir.empty() ? "" : "-tree", spec.patches.empty() ? "" : "-patched");
  for (const std::string& edit : spec.edits) name += "+" + edit;
  return name;
}

fs::path edits_directory() { return root_directory() / "props" / "kernel" / "edits"; }
fs::path edit_path(std::string_view name) {
  return edits_directory() / (std::string(name) + ".edit");
}

// Over everything that can change the executable.
Result<std::string> kernel_key(const KernelSpec& spec, const Source& source) {
  Hash hash;
  hash.add(source.identity);
  hash.add(source.release);
  hash.add(fmt::format("hz {} groups {}", spec.hz, spec.groups));
  hash.add(output_of("gcc --version 2>/dev/null | head -n 1"));
  std::vector<fs::path> files;
  std::vector<const char*> made_by = {"lockstep.c", "build.sh", "config"};
  if (!spec.edits.empty()) made_by.push_back("edit.pl");
  for (const char* file : made_by) {
    files.push_back(root_directory() / "props" / "kernel" / file);
  }
  files.push_back(root_directory() / "spec" / "wire.h");
  files.insert(files.end(), spec.patches.begin(), spec.patches.end());
  for (const std::string& edit : spec.edits) files.push_back(edit_path(edit));
  for (const fs::path& file : files) {
    const auto content = read_file(file);
    if (!content) return content.error();
    hash.add(*content);
  }
  return hash.text();
}

fs::path kernels_directory() { return cache_directory() / "kernels"; }

std::optional<Kernel> load(const fs::path& directory) {
  const auto text = read_file(directory / "manifest.json");
  if (!text || access((directory / "linux").c_str(), X_OK) != 0) return std::nullopt;
  const json manifest = json::parse(*text, nullptr, false);
  if (!manifest.is_object()) return std::nullopt;
  try {
    return Kernel{manifest.at("name"), manifest.at("key"), manifest.at("release"),
                  directory / "linux", manifest.at("hz"),  manifest.at("groups")};
  } catch (const json::exception&) {
    return std::nullopt;  // Of another version of vlag
  }
}

bool save_manifest(const Kernel& kernel, const KernelSpec& spec, const fs::path& path) {
  const json manifest = {
      {"schema", "vlag.kernel/1"},     {"name", kernel.name},     {"key", kernel.key},
      {"release", kernel.release},     {"hz", kernel.hz},         {"groups", kernel.groups},
      {"source_dir", spec.source_dir}, {"patches", spec.patches}, {"edits", spec.edits}};
  std::ofstream out(path);
  out << manifest.dump(2) << '\n';
  return static_cast<bool>(out.flush());
}

// Held while one kernel is looked up and built; released when the process ends, however it ends.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Everything goes to the log; build.sh's own lines are the progress. Returns the exit status.
int run_logged(const std::string& command, const fs::path& log_path, const Progress& progress) {
  constexpr std::string_view prefix = "build.sh: ";
  std::ofstream log(log_path);
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return -1;
  char* line = nullptr;
  std::size_t room = 0;
  while (getline(&line, &room, pipe) > 0) {
    std::string_view text = line;
    log << text << std::flush;
    if (!text.starts_with(prefix) || !progress) continue;
    text.remove_prefix(prefix.size());
    progress(text.substr(0, text.find('\n')));
  }
  std::free(line);
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string first_error(const fs::path& log_path) {
  std::ifstream log(log_path);
  std::string line, last;
  while (std::getline(log, line)) {
    if (line.find("error:") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last.empty() ? "it said nothing" : last;
}

std::string build_command(const KernelSpec& spec, const Source& source, const fs::path& out) {
  const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  std::string command;
  if (std::getenv("CCACHE_DIR") == nullptr) {
    command = "CCACHE_DIR=" + shell_quoted((cache_directory() / "ccache").string()) + " ";
  }
  command += shell_quoted((root_directory() / "props" / "kernel" / "build.sh").string());
  const auto option = [&command](const char* name, std::string_view value) {
    command += fmt::format(" --{} {}", name, shell_quoted(value));
  };
  option("source", source.directory.string());
  if (!source.tar.empty()) option("source-tar", source.tar);
  option("out", out.string());
  option("release", source.release);
  option("hz", std::to_string(spec.hz));
  option("groups", spec.groups ? "y" : "n");
  option("jobs", std::to_string(spec.jobs != 0 ? spec.jobs : cpus));
  for (const std::string& patch : spec.patches) option("patch", patch);
  for (const std::string& edit : spec.edits) option("edit", edit_path(edit).string());
  return command;
}

// Requires: the lock of this kernel is held, so no one else writes to these places.
Result<Kernel> build(Kernel kernel, const KernelSpec& spec, const Source& source,
                     const Progress& progress) {
  const std::string id = kernel.name + "-" + kernel.key;
  const fs::path building = cache_directory() / "building" / id;
  const fs::path log = cache_directory() / "logs" / (id + ".log");
  std::error_code error;
  fs::remove_all(building, error);  // What an interrupted build left
  fs::create_directories(building, error);

  const int status = run_logged(build_command(spec, source, building), log, progress);
  if (status != 0) {
    fs::remove_all(building, error);
    return failed(fmt::format("kernel {} could not be built: {} (all of it in {})", kernel.name,
                              first_error(log), log.string()));
  }
  if (!save_manifest(kernel, spec, building / "manifest.json")) {
    return Error{"cannot be written", {(building / "manifest.json").string()}};
  }
  fs::rename(building, kernels_directory() / id, error);
  if (error) return Error{error.message(), {(kernels_directory() / id).string()}};
  return kernel;
}

bool make_directories() {
  std::error_code error;
  for (const char* name : {"kernels", "sources", "logs", "locks", "building"}) {
    fs::create_directories(cache_directory() / name, error);
    if (error) return false;
  }
  return true;
}

bool is_called(const Kernel& kernel, std::string_view name) {
  return kernel.name == name || kernel.name + "-" + kernel.key == name;
}

}  // namespace

fs::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "vlag";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home != '\0' ? home : "/tmp") / ".cache" / "vlag";
}

std::vector<KernelEdit> kernel_edits() {
  std::vector<KernelEdit> edits;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(edits_directory(), error)) {
    if (entry.path().extension() != ".edit") continue;
    KernelEdit edit{entry.path().stem().string(), {}, {}};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      constexpr std::string_view comment = "# ";
      constexpr std::string_view bug = "bug ";
      if (edit.text.empty() && line.starts_with(comment)) edit.text = line.substr(comment.size());
      if (line.starts_with(bug)) edit.bug = line.substr(bug.size());
    }
    edits.push_back(std::move(edit));
  }
  std::sort(edits.begin(), edits.end(),
            [](const KernelEdit& left, const KernelEdit& right) { return left.name < right.name; });
  return edits;
}

Result<Done> known_edits(std::span<const std::string> names) {
  const std::vector<KernelEdit> edits = kernel_edits();
  std::vector<std::string_view> all;
  for (const KernelEdit& edit : edits) all.push_back(edit.name);
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    if (all.empty()) return failed(fmt::format("no edits in {}", edits_directory().string()));
    return failed(
        fmt::format("'{}' is not an edit; the nearest is {}", name, spec::nearest(name, all)));
  }
  return Done{};
}

Result<Kernel> ensure_kernel(const KernelSpec& spec, const Progress& progress) {
  if (const auto known = known_edits(spec.edits); !known) return known.error();
  const auto source = spec.source_dir.empty() ? package_source(spec) : directory_source(spec);
  if (!source) return source.error();
  const auto key = kernel_key(spec, *source);
  if (!key) return key.error();

  Kernel kernel{kernel_name(spec, *source), *key, source->release, {}, spec.hz, spec.groups};
  const fs::path directory = kernels_directory() / (kernel.name + "-" + kernel.key);
  if (auto cached = load(directory)) return *std::move(cached);

  kernel.path = directory / "linux";
  if (!make_directories()) return Error{"cannot be created", {cache_directory().string()}};
  const FileLock lock(cache_directory() / "locks" / (kernel.name + "-" + kernel.key));
  if (!lock.held()) return Error{"cannot be locked", {cache_directory().string()}};
  if (auto cached = load(directory)) return *std::move(cached);  // Built while we waited
  return build(std::move(kernel), spec, *source, progress);
}

std::vector<Kernel> list_kernels() {
  std::vector<std::pair<fs::file_time_type, Kernel>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kernels_directory(), error)) {
    auto kernel = load(entry.path());
    if (!kernel) continue;
    const auto time = fs::last_write_time(kernel->path, error);
    found.emplace_back(time, *std::move(kernel));
  }
  std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
    if (left.second.name != right.second.name) return left.second.name < right.second.name;
    return left.first > right.first;
  });
  std::vector<Kernel> kernels;
  kernels.reserve(found.size());
  for (auto& [time, kernel] : found) kernels.push_back(std::move(kernel));
  return kernels;
}

Result<Kernel> find_kernel(std::string_view name) {
  for (Kernel& kernel : list_kernels()) {
    if (is_called(kernel, name)) return std::move(kernel);
  }
  return failed(fmt::format("there is no kernel {} in {}", name, kernels_directory().string()));
}

Result<Done> remove_kernel(std::string_view name) {
  bool any = false;
  for (const Kernel& kernel : list_kernels()) {
    if (!is_called(kernel, name)) continue;
    std::error_code error;
    fs::remove_all(kernel.path.parent_path(), error);
    if (error) return Error{error.message(), {kernel.path.parent_path().string()}};
    any = true;
  }
  if (any) return Done{};
  return failed(fmt::format("there is no kernel {} in {}", name, kernels_directory().string()));
}

}  // namespace vlag::props

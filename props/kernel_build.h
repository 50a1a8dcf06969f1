// SPDX-License-Identifier: GPL-2.0-only
// The cache of lockstep kernels: find, build, list and remove them.
//
// A kernel is named after what a person chooses ("6.12-250-groups") and keyed by a hash over all
// that it is made of: the source, the harness, the configuration and the compiler. Equal key,
// equal kernel; so a cached one is never stale, and never needs to be checked.
//
//   $XDG_CACHE_HOME/vlag/kernels/<name>-<key>/{linux,manifest.json}
//   $XDG_CACHE_HOME/vlag/sources/<package version>/     unpacked, never changed
//   $XDG_CACHE_HOME/vlag/logs/<name>-<key>.log          of the last build
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/result.h"

namespace vlag::props {

/// What to build. `source_dir` is a kernel tree of the user's; empty: Debian's package.
struct KernelSpec {
  std::string version = "6.12";
  unsigned hz = 250;
  bool groups = false;
  std::string source_dir = {};
  std::vector<std::string> patches = {};
  std::vector<std::string> edits = {};  // by name, in order
  unsigned jobs = 0;                    // 0: one for each CPU
};

/// A kernel that can be run.
struct Kernel {
  std::string name;  // "6.12-250", "6.12-250-groups", "6.12-250-patched", "6.12-250+EDIT"
  std::string key;
  std::string release;         // "linux-source-6.12 6.12.117-1~deb12u1"
  std::filesystem::path path;  // of the executable
  unsigned hz = 0;
  bool groups = false;
};

/// A change to the kernel's source that is kept in props/kernel/edits/ (format: edit.pl there).
struct KernelEdit {
  std::string name;
  std::string bug;   // its entry in the catalogue; empty: a proposal
  std::string text;  // why, as its first comment says
};

/// All of them by name.
std::vector<KernelEdit> kernel_edits();

/// Errors: one of them is unknown (the nearest is named).
spec::Result<spec::Done> known_edits(std::span<const std::string> names);

/// Called with one line for each stage of a build.
using Progress = std::function<void(std::string_view line)>;

/// Where kernels, sources and logs are kept.
std::filesystem::path cache_directory();

/// The cached kernel for `spec`, or a new one. Waits while another process builds the same one.
/// Errors: an edit is unknown; the package is missing or of another version than the model's; the
/// build fails.
spec::Result<Kernel> ensure_kernel(const KernelSpec& spec, const Progress& progress = {});

/// All cached kernels by name, newest first among equals.
std::vector<Kernel> list_kernels();

/// The newest cached kernel with that name, or with that "<name>-<key>".
spec::Result<Kernel> find_kernel(std::string_view name);

/// Removes every cached kernel with that name, or the one with that "<name>-<key>".
/// Errors: there is none.
spec::Result<spec::Done> remove_kernel(std::string_view name);

}  // namespace vlag::props

// SPDX-License-Identifier: GPL-2.0-only
// vlag kernel build|list|edits|remove: the lockstep kernels in the cache.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "props/cli/common.h"

namespace vlag::cli {
namespace {

struct BuildOptions {
  props::KernelSpec spec;
  bool no_groups = false;
  CommonOptions common;
};

// What a version may look like: it becomes part of a package's name.
std::string why_no_version(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string::npos) return {};
  return fmt::format("'{}' is not a kernel version, as 6.12", text);
}

Json kernel_json(const props::Kernel& kernel) {
  return {{"name", kernel.name}, {"key", kernel.key},       {"release", kernel.release},
          {"hz", kernel.hz},     {"groups", kernel.groups}, {"path", kernel.path.string()}};
}

void print_kernel(const props::Kernel& kernel) {
  fmt::print("{:<32} {}  HZ {:<4} groups {:<3}  {}\n", kernel.name, kernel.key, kernel.hz,
             kernel.groups ? "on" : "off", kernel.release);
}

int build(BuildOptions& options) {
  if (const auto known = props::known_edits(options.spec.edits); !known) {
    return bad_input(known.error().message());
  }
  options.spec.groups = !options.no_groups;
  const auto kernel = props::ensure_kernel(options.spec, build_progress());
  if (!kernel) {
    const std::string what = options.spec.source_dir.empty()
                                 ? "linux-source-" + options.spec.version
                                 : options.spec.source_dir;
    return inconclusive(options.common, "vlag.kernel/1",
                        fmt::format("{}: {}", what, kernel.error().message()));
  }
  if (options.common.json()) {
    print_json({{"schema", "vlag.kernel/1"}, {"kernels", Json::array({kernel_json(*kernel)})}});
  } else {
    print_kernel(*kernel);
  }
  return exit_held;
}

int list(const CommonOptions& options) {
  const std::vector<props::Kernel> kernels = props::list_kernels();
  if (options.json()) {
    Json json = Json::array();
    for (const props::Kernel& kernel : kernels) json.push_back(kernel_json(kernel));
    print_json({{"schema", "vlag.kernel/1"}, {"kernels", json}});
    return exit_held;
  }
  for (const props::Kernel& kernel : kernels) print_kernel(kernel);
  if (kernels.empty()) fmt::print("no kernels yet; vlag kernel build 6.12 makes one\n");
  return exit_held;
}

void add_build(CLI::App& parent, int& exit_code) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App& command = *parent.add_subcommand("build", "Build a kernel, or find it built already");
  command.add_option("version", options->spec.version, "Debian's linux-source-VERSION")
      ->check(why_no_version)
      ->capture_default_str();
  command.add_option("--hz", options->spec.hz, "Timer frequency")
      ->check(CLI::IsMember({100, 250, 300, 1000}))
      ->capture_default_str();
  command.add_flag("--no-groups", options->no_groups, "Without CONFIG_FAIR_GROUP_SCHED");
  command.add_option("--source", options->spec.source_dir, "A kernel tree instead of the package")
      ->check(CLI::ExistingDirectory);
  command.add_option("--patch", options->spec.patches, "A patch to apply (may be repeated)")
      ->check(CLI::ExistingFile)
      ->allow_extra_args(false);
  command.add_option("--edit", options->spec.edits, "An edit to apply (may be repeated)")
      ->allow_extra_args(false);
  command.add_option("--jobs", options->spec.jobs, "How many compilers at a time")
      ->check(CLI::Range(1, 256));
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = build(*options); });
}

int list_edits(const CommonOptions& options) {
  Json json = Json::array();
  for (const props::KernelEdit& edit : props::kernel_edits()) {
    json.push_back({{"name", edit.name}, {"bug", edit.bug}, {"text", edit.text}});
    if (options.json()) continue;
    fmt::print("{}\n    {}\n", edit.name, edit.text);
  }
  if (options.json()) print_json({{"schema", "vlag.edits/1"}, {"edits", json}});
  return exit_held;
}

void add_edits(CLI::App& parent, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App& command =
      *parent.add_subcommand("edits", "List the edits that a kernel can be built with");
  add_format_option(command, *options);
  command.callback([options, &exit_code] { exit_code = list_edits(*options); });
}

void add_list(CLI::App& parent, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App& command = *parent.add_subcommand("list", "List the kernels in the cache");
  add_format_option(command, *options);
  command.callback([options, &exit_code] { exit_code = list(*options); });
}

void add_remove(CLI::App& parent, int& exit_code) {
  auto name = std::make_shared<std::string>();
  CLI::App& command = *parent.add_subcommand("remove", "Remove a kernel from the cache");
  command.add_option("name", *name, "As kernel list shows it")->required();
  command.callback([name, &exit_code] {
    const auto removed = props::remove_kernel(*name);
    exit_code = removed ? exit_held : bad_input(removed.error().message());
  });
}

}  // namespace

void add_kernel(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("kernel", "Manage the lockstep kernels");
  command.require_subcommand(1);
  add_build(command, exit_code);
  add_list(command, exit_code);
  add_edits(command, exit_code);
  add_remove(command, exit_code);
}

}  // namespace vlag::cli

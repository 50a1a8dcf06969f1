// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "props/cli/common.h"
#include "props/kernel_backend.h"
#include "props/model_backend.h"

namespace vlag::cli {
namespace {

constexpr std::string_view model_prefix = "model:";
constexpr std::string_view kernel_prefix = "kernel:";

// VERSION-HZ or VERSION-HZ-groups, and +EDIT for each edit.
std::optional<props::KernelSpec> parse_kernel_name(std::string_view name) {
  constexpr std::string_view groups = "-groups";
  props::KernelSpec spec;
  for (std::size_t plus = name.rfind('+'); plus != std::string_view::npos; plus = name.rfind('+')) {
    spec.edits.emplace(spec.edits.begin(), name.substr(plus + 1));
    name = name.substr(0, plus);
  }
  if (name.ends_with(groups)) {
    spec.groups = true;
    name.remove_suffix(groups.size());
  }
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  spec.version = name.substr(0, dash);
  const bool numbers = spec.version.find_first_not_of("0123456789.") == std::string::npos;
  const std::string_view hz = name.substr(dash + 1);
  const auto [end, code] = std::from_chars(hz.data(), hz.data() + hz.size(), spec.hz);
  const bool whole = code == std::errc{} && end == hz.data() + hz.size();
  // The range is the kernel's.
  if (!numbers || !whole || spec.hz < 24 || spec.hz > 1000) return std::nullopt;
  return spec;
}

// An empty place for a model; models are read when the HZ of the kernels is known.
spec::Result<BackendChoice> choose_backend(const std::string& name) {
  if (name.starts_with(model_prefix)) return BackendChoice{name, Policy{}};
  if (!name.starts_with(kernel_prefix)) {
    return spec::Error{
        fmt::format("'{}' is not a backend: model:POLICY or kernel:NAME is expected", name), {}};
  }
  auto kernel = choose_kernel(name.substr(kernel_prefix.size()));
  if (!kernel) return kernel.error();
  return BackendChoice{name, std::move(*kernel)};
}

}  // namespace

spec::Result<KernelChoice> choose_kernel(const std::string& name) {
  if (auto spec = parse_kernel_name(name)) {
    if (const auto known = props::known_edits(spec->edits); !known) return known.error();
    return KernelChoice{name, spec->hz, spec->groups, std::move(*spec)};
  }
  if (auto kernel = props::find_kernel(name)) {
    return KernelChoice{name, kernel->hz, kernel->groups, std::move(*kernel)};
  }
  return spec::Error{
      fmt::format("'{}' is not a kernel: VERSION-HZ or VERSION-HZ-groups is expected, as 6.12-250, "
                  "+EDIT for each edit, or a name that vlag kernel list shows",
                  name),
      {}};
}

spec::Result<props::Kernel> ready_kernel(const KernelChoice& choice) {
  if (const auto* kernel = std::get_if<props::Kernel>(&choice.what)) return *kernel;
  const auto& spec = std::get<props::KernelSpec>(choice.what);
  auto kernel = props::ensure_kernel(spec, build_progress());
  if (kernel) return kernel;
  return spec::Error{fmt::format("kernel {} of linux-source-{}: {}", choice.name, spec.version,
                                 kernel.error().message()),
                     {}};
}

props::BackendMaker kernel_maker(const props::Kernel& kernel) {
  return [kernel]() -> spec::Result<std::unique_ptr<props::Backend>> {
    auto started = props::KernelBackend::start(kernel);
    if (!started) return started.error();
    return std::unique_ptr<props::Backend>(std::move(*started));
  };
}

spec::PolicyText with_hz(spec::PolicyText text, unsigned hz) {
  for (const std::string& set : text.sets) {
    if (set.starts_with("hz=")) return text;
  }
  if (hz != 0) text.sets.insert(text.sets.begin(), fmt::format("hz={}", hz));
  return text;
}

spec::Result<std::vector<BackendChoice>> choose_backends(std::span<const std::string> names,
                                                         const spec::PolicyText& changes) {
  std::vector<BackendChoice> choices;
  unsigned hz = 0;
  bool any_model = false;
  for (const std::string& name : names) {
    auto choice = choose_backend(name);
    if (!choice) return choice.error();
    const auto* kernel = std::get_if<KernelChoice>(&choice->what);
    if (hz == 0 && kernel != nullptr) hz = kernel->hz;
    any_model |= kernel == nullptr;
    choices.push_back(std::move(*choice));
  }
  if (!any_model && !policy_change_arguments(changes).empty()) {
    return spec::Error{"--features and --set change models, but --on names none", {}};
  }
  for (BackendChoice& choice : choices) {
    auto* policy = std::get_if<Policy>(&choice.what);
    if (policy == nullptr) continue;
    spec::PolicyText text = with_hz(changes, hz);
    text.preset = choice.name.substr(model_prefix.size());
    const auto parsed = spec::parse_policy(text);
    if (!parsed) return parsed.error();
    *policy = *parsed;
  }
  return choices;
}

spec::Result<std::unique_ptr<props::Backend>> make_backend(const BackendChoice& choice) {
  if (const auto* policy = std::get_if<Policy>(&choice.what)) {
    return std::unique_ptr<props::Backend>(std::make_unique<props::ModelBackend>(*policy));
  }
  const auto kernel = ready_kernel(std::get<KernelChoice>(choice.what));
  if (!kernel) return kernel.error();
  return kernel_maker(*kernel)();
}

}  // namespace vlag::cli

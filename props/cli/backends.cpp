// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/backends.h"

#include <fmt/format.h>

#include "props/cli/common.h"
#include "props/kernel_backend.h"
#include "props/model_backend.h"

namespace vlag::cli {
namespace {

constexpr std::string_view model_prefix = "model:";
constexpr std::string_view kernel_prefix = "kernel:";

}  // namespace

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

unsigned hz_of(const std::string& name) {
  if (!name.starts_with(kernel_prefix)) return 0;
  const auto spec = parse_kernel_name(name.substr(kernel_prefix.size()));
  return spec ? spec->hz : 0;
}

std::variant<std::unique_ptr<props::Backend>, NotMade> make_backend(const std::string& name,
                                                                    const spec::PolicyText& policy,
                                                                    unsigned kernel_hz) {
  if (name.starts_with(model_prefix)) {
    spec::PolicyText text = with_hz(policy, kernel_hz);
    text.preset = name.substr(model_prefix.size());
    const auto parsed = spec::parse_policy(text);
    if (!parsed) return NotMade{parsed.error().message(), true};
    return std::make_unique<props::ModelBackend>(*parsed);
  }
  if (!name.starts_with(kernel_prefix)) {
    return NotMade{
        fmt::format("'{}' is not a backend: model:POLICY or kernel:NAME is expected", name), true};
  }
  const auto spec = parse_kernel_name(name.substr(kernel_prefix.size()));
  if (!spec) return NotMade{spec.error().message(), true};
  const auto kernel = props::ensure_kernel(*spec, build_progress());
  if (!kernel) return NotMade{kernel.error().message(), false};
  auto backend = kernel_maker(*kernel)();
  if (!backend) return NotMade{backend.error().message(), false};
  return std::move(*backend);
}

}  // namespace vlag::cli

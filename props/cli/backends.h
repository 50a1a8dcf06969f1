// SPDX-License-Identifier: GPL-2.0-only
// Backends by the names that a user gives them: model:POLICY, kernel:NAME.
//
// A name is chosen first (errors: bad input) and made later (errors: inconclusive), so that nothing
// is built or printed before all of the input was read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "props/backend.h"
#include "props/kernel_build.h"
#include "props/lockstep.h"
#include "spec/policy_text.h"

namespace vlag::cli {

/// A kernel by name: one to build if need be, or one of `kernel list` that cannot be built from its
/// name alone.
struct KernelChoice {
  std::string name;
  unsigned hz = 0;
  bool groups = false;
  std::variant<props::KernelSpec, props::Kernel> what;
};

/// "6.12-250", "6.12-1000-groups", "6.12-250+EDIT", or any name that `kernel list` shows.
spec::Result<KernelChoice> choose_kernel(const std::string& name);

/// Builds it if need be.
spec::Result<props::Kernel> ready_kernel(const KernelChoice& choice);

/// A maker of backends on that kernel.
props::BackendMaker kernel_maker(const props::Kernel& kernel);

/// The model's HZ follows the kernel's, unless the user set one.
spec::PolicyText with_hz(spec::PolicyText text, unsigned hz);

struct BackendChoice {
  std::string name;
  std::variant<Policy, KernelChoice> what;
};

/// All backends of one command. `changes` are those to each model; a model's HZ is that of the
/// first kernel, unless changed.
spec::Result<std::vector<BackendChoice>> choose_backends(std::span<const std::string> names,
                                                         const spec::PolicyText& changes);

spec::Result<std::unique_ptr<props::Backend>> make_backend(const BackendChoice& choice);

}  // namespace vlag::cli

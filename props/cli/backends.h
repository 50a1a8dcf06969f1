// SPDX-License-Identifier: GPL-2.0-only
// Backends by the names that a user gives them: model:POLICY, kernel:NAME.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "props/backend.h"
#include "props/kernel_build.h"
#include "props/lockstep.h"
#include "props/search.h"
#include "spec/policy_text.h"

namespace vlag::cli {

/// A maker of backends on that kernel.
props::BackendMaker kernel_maker(const props::Kernel& kernel);

/// The model's HZ follows the kernel's, unless the user set one.
spec::PolicyText with_hz(spec::PolicyText text, unsigned hz);

/// What a command needs to know about a failure: whose fault it was decides the exit code.
struct NotMade {
  std::string message;
  bool bad_input = false;  // else: inconclusive
};

/// Makes the backend called `name`. `policy` says what else holds for a model; `kernel_hz` is the
/// HZ of the kernel that it stands beside, or 0.
std::variant<std::unique_ptr<props::Backend>, NotMade> make_backend(const std::string& name,
                                                                    const spec::PolicyText& policy,
                                                                    unsigned kernel_hz);

/// The HZ of "kernel:NAME"; 0 for anything else.
unsigned hz_of(const std::string& name);

}  // namespace vlag::cli

// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "core/check.h"
#include "tests/support/check_failure.h"

int main(int argc, char** argv) {
  vlag::set_check_handler([](const char* file, int line, const char* condition) {
    throw vlag::tests::CheckFailure(file, line, condition);
  });
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: GPL-2.0-only
// Each sequence in golden/ that has a .trace beside it shows exactly that, line by line.
//
// VLAG_WRITE_GOLDEN=1 writes the traces anew; read the difference before it is committed.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "props/model_backend.h"

namespace vlag::props {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ShowsItsTrace) {
  const auto source = spec::read_sequence(tests::golden_path(GetParam() + ".seq"));
  ASSERT_TRUE(source.ok()) << source.error().message();
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  ASSERT_TRUE(model.run(source->operations, trace).completed());
  const std::string shown = tests::trace_text(source->operations, trace);
  const std::string path = tests::golden_path(GetParam() + ".trace");
  if (std::getenv("VLAG_WRITE_GOLDEN") != nullptr) std::ofstream(path) << shown;
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(shown, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Each, Golden, testing::ValuesIn(tests::golden_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace vlag::props

// SPDX-License-Identifier: GPL-2.0-only
// The table in spec/README.md lists every property, and the mutant that each names.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "props/property.h"
#include "props/relation.h"

namespace vlag::props {
namespace {

std::string readme() {
  std::stringstream text;
  text << std::ifstream(std::string(VLAG_SOURCE_DIR) + "/spec/README.md").rdbuf();
  return text.str();
}

// The row of the table of properties that starts with this name; empty if there is none.
std::string row_of(const std::string& text, std::string_view name) {
  const auto start = text.find("\n| `" + std::string(name) + "` | ");
  if (start == std::string::npos) return {};
  return text.substr(start + 1, text.find('\n', start + 1) - start - 1);
}

void expect_row(const std::string& text, std::string_view name, std::string_view mutant,
                std::string_view divergence) {
  const std::string row = row_of(text, name);
  EXPECT_FALSE(row.empty()) << name;
  EXPECT_TRUE(row.ends_with("| `" + std::string(mutant) + "` |")) << row;
  const bool said = row.find("**not true of 6.12.117**") != std::string::npos;
  EXPECT_EQ(said, !divergence.empty()) << row;
}

TEST(PropertyList, IsThatOfTheReadme) {
  const std::string text = readme();
  ASSERT_FALSE(text.empty());
  for (const Property& one : properties()) expect_row(text, one.name, one.mutant, one.divergence);
  for (const Relation& one : relations()) expect_row(text, one.name, one.mutant, one.divergence);
  EXPECT_EQ(row_of(text, "no_such_property"), "");
}

}  // namespace
}  // namespace vlag::props

// SPDX-License-Identifier: GPL-2.0-only
#include "smt/cache.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <system_error>

namespace vlag::smt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 64;
constexpr std::size_t largest = std::size_t{1} << 20;  // Bytes of an entry; results take a few KB.

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not to be had");
  }
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

}  // namespace

void CacheKey::add(std::string_view part) {
  parts_ += fmt::format("{}:", part.size());
  parts_ += part;
}

std::string CacheKey::text() const { return sha256(parts_); }

std::optional<std::string> Cache::read(const std::string& name, std::string& warning) const {
  const fs::path path = directory_ / name;
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string text(largest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const bool whole =
      text.size() > digits && text.size() <= largest && text[digits] == '\n' &&
      text.compare(0, digits, sha256(std::string_view(text).substr(digits + 1))) == 0;
  if (whole) return text.substr(digits + 1);
  warning = fmt::format("{}: not as it was written; asking anew", path.string());
  return {};
}

void Cache::write(const std::string& name, std::string_view content, std::string& warning) const {
  const fs::path path = directory_ / name;
  const fs::path temporary = path.string() + fmt::format(".{}.new", getpid());
  std::error_code code;
  fs::create_directories(directory_, code);
  if (!code) {
    std::ofstream file(temporary, std::ios::binary);
    file << sha256(content) << '\n' << content;
    file.close();
    if (!file) code = std::make_error_code(std::errc::io_error);
  }
  if (!code) fs::rename(temporary, path, code);
  if (!code) return;
  warning = fmt::format("{}: cannot be written: {}", path.string(), code.message());
  fs::remove(temporary, code);
}

}  // namespace vlag::smt

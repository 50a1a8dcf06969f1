// SPDX-License-Identifier: GPL-2.0-only
// Stands in for libFuzzer where the compiler has none: replays inputs and mutations of them.
//
//   NAME_fuzz [--random N] [--seed S] [FILE | FOLDER]...
//
// First every file, in order of name; then N mutations of them, the same for the same seed.
// The input that ends the program, or takes too long, is left in ./crash-NAME_fuzz.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Read by a sanitized build: what is found ends in SIGABRT, as everything else does.
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }   // NOLINT
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1"; }  // NOLINT

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t size_max = 1 << 16;
constexpr unsigned seconds_max = 20;

/// What a dying program must still find; set before each input.
const Bytes* current = nullptr;
std::string crash_path = "crash";

/// Only calls that are safe in a signal handler.
void save_current() {
  if (current == nullptr) return;
  const int file = open(crash_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  std::size_t written = 0;
  while (written < current->size()) {
    const ssize_t n = write(file, current->data() + written, current->size() - written);
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  close(file);
  constexpr std::string_view said = "the input is in ./";
  (void)!write(STDERR_FILENO, said.data(), said.size());
  (void)!write(STDERR_FILENO, crash_path.data(), crash_path.size());
  (void)!write(STDERR_FILENO, "\n", 1);
}

void on_signal(int number) {
  save_current();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void watch_for_death() {
  for (const int number : {SIGABRT, SIGALRM, SIGFPE, SIGILL}) std::signal(number, on_signal);
#ifndef __SANITIZE_ADDRESS__  // It reports these itself.
  for (const int number : {SIGBUS, SIGSEGV}) std::signal(number, on_signal);
#endif
}

void run(const Bytes& input) {
  current = &input;
  alarm(seconds_max);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
  current = nullptr;
}

/// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// Requires: bound > 0. Ensures: < bound.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

/// What parsers trip over.
constexpr std::array<std::string_view, 18> tokens = {
    "\n",  " ",  "\t",  "\r\n",       "#",          "=",
    "-1",  "0",  "1e9", "0x",         "2147483648", "9223372036854775808",
    "NO_", "\"", "{}",  "[[[[[[[[[[", "\xff\xfe",   "18446744073709551616",
};

Bytes::iterator at(Bytes& bytes, std::size_t index) {
  return bytes.begin() + static_cast<std::ptrdiff_t>(index);
}

void insert(Bytes& bytes, std::size_t where, const Bytes& what) {
  bytes.insert(at(bytes, where), what.begin(), what.end());
}

/// A piece of `bytes`; possibly empty.
Bytes piece(Bytes bytes, Random& random) {
  const std::size_t begin = random.below(bytes.size() + 1);
  const std::size_t length = random.below(std::min<std::size_t>(bytes.size() - begin, 64) + 1);
  return Bytes(at(bytes, begin), at(bytes, begin + length));
}

void mutate_once(Bytes& bytes, const std::vector<Bytes>& corpus, Random& random) {
  const std::size_t where = random.below(bytes.size() + 1);
  const bool inside = where < bytes.size();
  switch (random.below(8)) {
    case 0:
      if (inside) bytes[where] ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
    case 1:
      if (inside) bytes[where] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
      bytes.insert(at(bytes, where), static_cast<std::uint8_t>(random.next()));
      break;
    case 3: {
      const std::size_t end =
          where + random.below(std::min<std::size_t>(bytes.size() - where, 64) + 1);
      bytes.erase(at(bytes, where), at(bytes, end));
      break;
    }
    case 4:
      bytes.resize(where);
      break;
    case 5:
      insert(bytes, where, piece(bytes, random));
      break;
    case 6:
      insert(bytes, where, piece(corpus[random.below(corpus.size())], random));
      break;
    default: {
      const std::string_view token = tokens[random.below(tokens.size())];
      insert(bytes, where, Bytes(token.begin(), token.end()));
    }
  }
  if (bytes.size() > size_max) bytes.resize(size_max);
}

/// Requires: !corpus.empty().
Bytes mutation(const std::vector<Bytes>& corpus, Random& random) {
  Bytes bytes = corpus[random.below(corpus.size())];
  for (std::size_t left = 1 + random.below(8); left > 0; --left) {
    mutate_once(bytes, corpus, random);
  }
  return bytes;
}

/// The files named, and those in the folders named, by name.
std::vector<std::filesystem::path> files_of(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(name)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Arguments {
  std::uint64_t random = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> names;
};

[[noreturn]] void usage(const char* name) {
  std::fprintf(stderr, "usage: %s [--random N] [--seed S] [FILE | FOLDER]...\n", name);
  std::exit(2);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument != "--random" && argument != "--seed") {
      if (argument.starts_with("-")) usage(argv[0]);
      arguments.names.push_back(argument);
      continue;
    }
    if (++i == argc) usage(argv[0]);
    char* end = nullptr;
    (argument == "--seed" ? arguments.seed : arguments.random) = std::strtoull(argv[i], &end, 10);
    if (end == argv[i] || *end != '\0') usage(argv[0]);
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  crash_path = "crash-" + std::filesystem::path(argv[0]).filename().string();
  watch_for_death();

  std::vector<Bytes> corpus;
  for (const auto& path : files_of(arguments.names)) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      return 2;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    run(corpus.back());
  }
  const std::size_t files = corpus.size();
  corpus.emplace_back();
  run(corpus.back());

  Random random(arguments.seed);
  for (std::uint64_t i = 0; i < arguments.random; ++i) run(mutation(corpus, random));
  std::printf("%zu files and %llu mutations (seed %llu)\n", files,
              static_cast<unsigned long long>(arguments.random),
              static_cast<unsigned long long>(arguments.seed));
  return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
// Mutants of the rules: each is the text of a header of core/ with one small change.
//
//   mutate FILE              one line for each mutant: ID, tab, line number, tab, that line as it
//                            became, tab, "body" or "constant"
//   mutate FILE ID           the text with that change
//   mutate FILE - ID...      the text with a copy of each function for each of its mutants, but not
//                            of those named, as `if (VLAG_MUTANT("ID")) { ... }` before its body:
//                            one build has all of them
//
// What is changed are the bodies of functions and the constants. A constexpr function that is no
// template counts as a constant: a compiler may have run it. An ID is made of what it changes,
// FILE,FUNCTION,FROM,TO,N (the N-th such change in that function), so it outlives other edits.
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct Region {
  std::size_t begin;
  std::size_t end;
  std::string function;
  bool runs;  // A function, and not one of constants alone.
};

struct Mutant {
  std::size_t at;
  std::size_t length;
  std::string with;
  std::string from;  // As they are named in the ID.
  std::string to;
  std::string function;
};

bool of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Comments and preprocessor lines blanked, so that positions stay.
std::string code_of(std::string text) {
  bool line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool comment = text.compare(i, 2, "//") == 0;
    if (comment || (line_start && text[i] == '#')) {
      while (i < text.size() && text[i] != '\n') text[i++] = ' ';
    }
    if (i < text.size()) line_start = text[i] == '\n' || (line_start && text[i] == ' ');
  }
  return text;
}

std::size_t closing(const std::string& code, std::size_t open) {
  const char opened = code[open];
  const char close = opened == '(' ? ')' : opened == '{' ? '}' : '>';
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == opened) ++depth;
    if (code[i] == close && --depth == 0) return i;
  }
  return std::string::npos;
}

// The last name in the text before `end`.
std::string name_before(std::string_view text, std::size_t end) {
  while (end > 0 && !of_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && of_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

bool is_function(std::string_view head) {
  const std::size_t last = head.find_last_not_of(" \n");
  if (last == std::string_view::npos || !has(head, "(")) return false;
  return head[last] == ')' || head.substr(0, last + 1).ends_with(" const");
}

// Bodies of functions, and constants that are one number. `templates`: only bodies of templates.
std::vector<Region> regions_of(const std::string& code, bool templates) {
  std::vector<Region> regions;
  std::size_t start = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::string_view head = std::string_view(code).substr(start, i - start);
    const bool constant = has(head, "constexpr ") && has(head, " = ");
    if (code[i] == '{' && constant) {
      i = closing(code, i);
    } else if (code[i] == '{' && is_function(head)) {
      const std::size_t end = closing(code, i);
      if (!templates || has(head, "template")) {
        const bool runs = has(head, "template") || !has(head, "constexpr ");
        regions.push_back({i + 1, end, name_before(head, head.find('(')), runs});
      }
      i = end;
      start = end + 1;
    } else if (code[i] == ';' || code[i] == '{' || code[i] == '}') {
      if (code[i] == ';' && constant && !templates && !has(head, "array")) {
        const std::size_t value = head.find(" = ");
        regions.push_back({start + value, i, name_before(head, value), false});
      }
      start = i + 1;
    }
  }
  return regions;
}

class Finder {
 public:
  Finder(const std::string& code, const Region& region, std::vector<Mutant>& found)
      : code_(code), region_(region), found_(found) {}

  void run() {
    for (std::size_t i = region_.begin; i < region_.end; ++i) {
      operators(i);
      unary(i);
      numbers(i);
      words(i);
      branches(i);
      calls(i);
    }
  }

 private:
  bool at(std::size_t i, std::string_view what) const {
    return code_.compare(i, what.size(), what) == 0;
  }
  bool word_at(std::size_t i, std::string_view what) const {
    return at(i, what) && !of_name(code_[i - 1]) && !of_name(code_[i + what.size()]);
  }
  std::string text(std::size_t begin, std::size_t end) const {
    return code_.substr(begin, end - begin);
  }
  void add(std::size_t at, std::size_t length, std::string with, std::string from, std::string to) {
    found_.push_back(
        {at, length, std::move(with), std::move(from), std::move(to), region_.function});
  }
  void replace(std::size_t i, std::string_view from, std::string_view to) {
    add(i, from.size(), std::string(to), std::string(from), std::string(to));
  }

  // Between blanks, so that no template bracket, pointer or sign is meant.
  void operators(std::size_t i) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 19> flips = {{
        {"+", "-"},   {"-", "+"},   {"*", "+"},   {"/", "*"},     {"<", "<="},
        {"<", ">"},   {"<=", "<"},  {">", ">="},  {">", "<"},     {">=", ">"},
        {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"},   {"+=", "-="},
        {"-=", "+="}, {">>", "<<"}, {"<<", ">>"}, {">>=", "<<="},
    }};
    if (code_[i - 1] != ' ') return;
    for (const auto& [from, to] : flips) {
      if (!at(i, from)) continue;
      const char next = code_[i + from.size()];
      if (next == ' ' || next == '\n') replace(i, from, to);
    }
  }

  void unary(std::size_t i) {
    if (code_[i] == '!' && code_[i + 1] != '=') add(i, 1, "", "!", "");
    const bool sign = code_[i] == '-' && (of_name(code_[i + 1]) || code_[i + 1] == '(');
    if (sign && has(" (,{", code_.substr(i - 1, 1))) add(i, 1, "", "-", "");
  }

  void numbers(std::size_t i) {
    if (std::isdigit(static_cast<unsigned char>(code_[i])) == 0) return;
    if (of_name(code_[i - 1]) || code_[i - 1] == '\'') return;
    std::size_t end = i;
    while (of_name(code_[end]) || code_[end] == '\'') ++end;
    const std::string number = text(i, end);
    for (const char* step : {" + 1", " - 1"}) {
      add(i, number.size(), "(" + number + step + ")", number, number + step[1] + "1");
    }
  }

  void words(std::size_t i) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> swaps = {{
        {"least", "greatest"},
        {"greatest", "least"},
        {"floor", "truncate"},
        {"truncate", "floor"},
        {"left", "right"},
        {"right", "left"},
        {"true", "false"},
        {"false", "true"},
    }};
    for (const auto& [from, to] : swaps) {
      if (word_at(i, from)) replace(i, from, to);
    }
  }

  void branches(std::size_t i) {
    if (word_at(i, "if") && code_[i + 3] == '(') {
      const std::size_t end = closing(code_, i + 3);
      add(i + 4, end - i - 4, "!(" + text(i + 4, end) + ")", "if", "if_not");
    }
    if (code_[i] != '?') return;
    const std::size_t middle = code_.find(" : ", i);
    const std::size_t end = code_.find(';', i);
    if (middle == std::string::npos || middle > end) return;
    add(i + 2, end - i - 2, text(middle + 3, end) + " : " + text(i + 2, middle), "?:", "swapped");
  }

  // Two arguments that have an order are swapped: the last two of those that have more.
  void calls(std::size_t i) {
    for (const std::string_view name : {"before", "choose", "clamp", "earlier"}) {
      if (!word_at(i, name)) continue;
      std::size_t open = i + name.size();
      if (code_[open] == '<') open = closing(code_, open) + 1;
      if (code_[open] != '(') continue;
      const auto arguments = split(open + 1, closing(code_, open));
      if (arguments.size() < 2) continue;
      const auto [a, b] = arguments[arguments.size() - 2];
      const auto [c, d] = arguments.back();
      add(a, d - a, text(c, d) + ", " + text(a, b), std::string(name), "swapped");
    }
  }

  std::vector<std::pair<std::size_t, std::size_t>> split(std::size_t begin, std::size_t end) const {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    int depth = 0;
    std::size_t start = begin;
    for (std::size_t i = begin; i <= end; ++i) {
      if (i == end || (code_[i] == ',' && depth == 0)) {
        while (start < i && std::isspace(static_cast<unsigned char>(code_[start])) != 0) ++start;
        parts.emplace_back(start, i);
        start = i + 1;
      }
      if (code_[i] == '(' || code_[i] == '{') ++depth;
      if (code_[i] == ')' || code_[i] == '}') --depth;
    }
    return parts;
  }

  const std::string& code_;
  const Region& region_;
  std::vector<Mutant>& found_;
};

// No blanks in an ID.
std::string id_of(const std::string& file, const Mutant& mutant, int number) {
  std::string id = file + "," + mutant.function + "," + mutant.from + "," + mutant.to + "," +
                   std::to_string(number);
  id.erase(std::remove(id.begin(), id.end(), ' '), id.end());
  return id;
}

std::string applied(const std::string& text, const Mutant& mutant) {
  std::string result = text;
  return result.replace(mutant.at, mutant.length, mutant.with);
}

// The line that position is on, without leading blanks.
std::string line_at(const std::string& text, std::size_t at) {
  std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  while (text[begin] == ' ') ++begin;
  return text.substr(begin, text.find('\n', std::max(begin, at)) - begin);
}

struct Named {
  Mutant mutant;
  std::string id;
  std::string text;
};

std::vector<Named> all_of(const std::string& name, const std::string& text,
                          const std::vector<Region>& regions, const std::string& code) {
  std::vector<Mutant> mutants;
  for (const Region& region : regions) Finder(code, region, mutants).run();
  std::map<std::string, int> seen;
  std::set<std::string> texts = {text};  // Two changes may come to the same.
  std::vector<Named> all;
  for (const Mutant& mutant : mutants) {
    const std::string id =
        id_of(name, mutant, ++seen[mutant.function + ',' + mutant.from + ',' + mutant.to]);
    const std::string mutated = applied(text, mutant);
    if (texts.insert(mutated).second) all.push_back({mutant, id, mutated});
  }
  return all;
}

// A function that is not computed by the compiler: its mutants can be chosen when it runs.
bool in_body(const Region& region) { return region.runs; }

std::size_t line_of(const std::string& text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

// Every function with its mutants before it.
std::string with_all(const std::string& path, const std::string& text,
                     const std::vector<Region>& regions, const std::vector<Named>& all,
                     const std::set<std::string>& without) {
  std::string result;
  std::size_t done = 0;
  for (const Region& region : regions) {
    if (!in_body(region)) continue;
    result += text.substr(done, region.begin - done);
    done = region.begin;
    for (const Named& one : all) {
      const Mutant& mutant = one.mutant;
      if (mutant.at < region.begin || mutant.at >= region.end || without.contains(one.id)) continue;
      const std::size_t longer = mutant.with.size() - mutant.length;
      result += "\n#line 1 \"mutant:" + one.id + "\"\nif (VLAG_MUTANT(\"" + one.id + "\")) {" +
                one.text.substr(region.begin, region.end + longer - region.begin) + "}";
    }
    result += "\n#line " + std::to_string(line_of(text, region.begin)) + " \"" + path + "\"\n";
  }
  return result + text.substr(done);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string path = argv[1];
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) {
    std::cerr << "mutate: " << path << " cannot be read\n";
    return 2;
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string code = code_of(text);
  // Words are the machine, and have symbols for a counterpart: only what is a template is a rule.
  const std::vector<Region> regions = regions_of(code, name == "machine.h");
  const std::vector<Named> all = all_of(name, text, regions, code);
  if (argc == 2) {
    for (const Named& one : all) {
      const bool body = std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
        return in_body(region) && region.begin <= one.mutant.at && one.mutant.at < region.end;
      });
      std::cout << one.id << '\t' << line_of(text, one.mutant.at) << '\t'
                << line_at(one.text, one.mutant.at) << '\t' << (body ? "body" : "constant") << '\n';
    }
    return 0;
  }
  if (std::string_view(argv[2]) == "-") {
    const std::set<std::string> without(argv + 3, argv + argc);
    std::cout << with_all(path, text, regions, all, without);
    return 0;
  }
  for (const Named& one : all) {
    if (one.id != argv[2]) continue;
    std::cout << one.text;
    return 0;
  }
  return 2;
}

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Changes the rules of core/ one operator at a time, and asks the proofs of each mutant until one
# is refuted: what no goal kills, no goal has proved.
#
#   mutants.sh [OPTION]... [HEADER]...    HEADER: as average.h; all with rules if none is named
#
#   --only REGEX     only mutants whose ID matches
#   --stem STEM      ask only the goals of this stem (may be repeated)
#   --list           list the mutants
#   --seconds N      for one goal (20); undecided is not killed
#   --jobs N         mutants at a time (one for each CPU)
#   --known FILE     why which mutants survive (tests/mutants/survivors.txt)
#
# Everything is compiled from a copy of core/, spec/ and smt/, in which each function holds its
# mutants too, and the environment (VLAG_MUTANT=ID) says which of them runs: one build asks of all.
# A mutant that does not compile is left out and named. A mutant of a constant is compiled by itself.
#
# Prints for each mutant "killed ID GOAL", "survived ID", or "not compiled ID"; then the ratio of
# those killed to those that compile and are not equivalent. Exit codes: 0 at least 95 %, and a reason
# for each that survives; 1 less, or a line of the file of survivors that is out of date; 2 bad
# usage; 3 inconclusive (no compiler, or the goals do not hold to begin with).
set -uo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..")
only=. seconds=20 jobs=$(nproc) known=$root/tests/mutants/survivors.txt list=
stems=() headers=()

fail() { # STATUS MESSAGE...
  echo "mutants: ${*:2}" >&2
  exit "$1"
}

while (($#)); do
  case $1 in
    --only | --stem | --seconds | --jobs | --known)
      (($# > 1)) || fail 2 "$1 needs a value"
      case $1 in
        --only) only=$2 ;;
        --stem) stems+=("$2") ;;
        --seconds) seconds=$2 ;;
        --jobs) jobs=$2 ;;
        --known) known=$2 ;;
      esac
      shift
      ;;
    --list) list=1 ;;
    -*) fail 2 "'$1' is not an option" ;;
    *) headers+=("${1#core/}") ;;
  esac
  shift
done
[[ $seconds =~ ^[1-9][0-9]*$ && $jobs =~ ^[1-9][0-9]*$ ]] || fail 2 "--seconds and --jobs are numbers from 1"
[[ -r $known ]] || fail 2 "$known cannot be read"

mapfile -t with_rules < <(cd "$root/core" && grep -l '^template <class M' -- *.h)
((${#headers[@]})) || headers=("${with_rules[@]}")
for header in "${headers[@]}"; do
  [[ " ${with_rules[*]} " == *" $header "* ]] || fail 2 "core/$header has no rules; those that have: ${with_rules[*]}"
done
mapfile -t all_stems < <(cd "$root/smt" && for f in *_goals.cpp; do echo "${f%_goals.cpp}"; done)
for stem in "${stems[@]}"; do
  [[ " ${all_stems[*]} " == *" $stem "* ]] || fail 2 "'$stem' is not a stem; those there are: ${all_stems[*]}"
done
((${#stems[@]})) || stems=("${all_stems[@]}")

work=$(mktemp -d) || fail 3 "no temporary directory"
trap 'rm -rf "$work"' EXIT
export work seconds
cxx=${CXX:-c++}
export cxx
mkdir -p "$work/tree" "$work/base" "$work/stems" "$work/mutants" "$work/results"
cp -r "$root/core" "$root/spec" "$root/smt" "$work/tree"

"$cxx" -std=c++20 -O1 "$root/tests/mutants/mutate.cpp" -o "$work/mutate" || fail 3 "mutate.cpp does not compile"
for header in "${headers[@]}"; do
  "$work/mutate" "$root/core/$header" || exit 3
done | grep -E -- "$only" >"$work/list"
[[ -s $work/list ]] || fail 2 "no mutant has an ID that matches $only"
if [[ $list ]]; then
  cat "$work/list"
  exit
fi

# What is the same in all of them: z3++.h takes longest.
mkdir "$work/pch"
cat >"$work/pch/all.h" <<'END'
#include <z3++.h>
#include <fmt/format.h>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>
inline bool is_active_mutant(std::string_view id) {
  static const char* const active = std::getenv("VLAG_MUTANT");
  return active != nullptr && id == active;
}
#define VLAG_MUTANT(id) (!std::is_constant_evaluated() && is_active_mutant(id))
END
"$cxx" -std=c++20 -O0 -w -x c++-header "$work/pch/all.h" -o "$work/pch/all.h.gch" || fail 3 "z3++.h does not compile"

# compile OVERLAY SOURCE OBJECT [OPTION]...: the overlay's headers go before those of the tree.
compile() {
  "$cxx" -std=c++20 -O0 -w -include "$work/pch/all.h" -I "$1" -I "$work/tree" -MMD -MF "$3.d" \
    -c "$2" -o "$3" "${@:4}"
}
export -f compile

# The sources: a goal's only if its stem is asked.
for source in "$work"/tree/{core,spec,smt}/*.cpp; do
  stem=${source##*/}
  if [[ $stem == *_goals.cpp && " ${stems[*]} " != *" ${stem%_goals.cpp} "* ]]; then continue; fi
  [[ $stem == goal.cpp ]] || echo "$source"
done >"$work/sources"
cp "$root/tests/mutants/prover.cpp" "$work/tree/smt/main.cpp"
echo "$work/tree/smt/main.cpp" >>"$work/sources"
for stem in "${stems[@]}"; do echo "{\"$stem\", ${stem}_goals},"; done >"$work/tree/smt/stems.inc"
# The list of all stems asks for stems that are not linked in.
sed '/std::span<const Goal> goals()/,/^}/d; /const Goal\* find_goal/,/^}/d' "$root/smt/goal.cpp" >"$work/tree/smt/goal.cpp"
echo "$work/tree/smt/goal.cpp" >>"$work/sources"

# Functions with their mutants in them, without those that do not compile.
cp -r "$work/tree/core" "$work/original"
put_mutants() {
  local header without
  for header in "${headers[@]}"; do
    mapfile -t without < <(grep "^$header," "$work/not_compiled")
    "$work/mutate" "$work/original/$header" - "${without[@]}" >"$work/tree/core/$header" || fail 3 "$header cannot be mutated"
  done
}
object_of() { tr / _ <<<"${1#"$work/tree/"}" | sed "s|^|$work/base/|; s|\$|.o|"; }
syntax() { compile "$work/tree" "$1" /dev/null -fsyntax-only -fmax-errors=0 2>&1 | grep -oE 'mutant:[^:]+' | sort -u; true; }
build_base() { compile "$work/tree" "$1" "$(object_of "$1")"; }
export -f object_of syntax build_base
: >"$work/not_compiled"
while :; do
  put_mutants
  xargs -P "$jobs" -I{} bash -c 'syntax {}' <"$work/sources" | sed 's/^mutant://' | sort -u >"$work/bad"
  [[ -s $work/bad ]] || break
  before=$(wc -l <"$work/not_compiled")
  sort -u "$work/bad" "$work/not_compiled" -o "$work/not_compiled"
  (($(wc -l <"$work/not_compiled") > before)) || fail 3 "the tree does not compile"
done
xargs -P "$jobs" -I{} bash -c 'build_base {} || exit 255' <"$work/sources" || fail 3 "the tree does not compile"
"$cxx" -o "$work/prover" "$work"/base/*.o -lz3 -lfmt -lcrypto || fail 3 "the prover does not link"

# The goals hold as they are: this fills the cache, unless they were proved before.
cp -r "${XDG_CACHE_HOME:-$HOME/.cache}/vlag/proofs" "$work/cache" 2>/dev/null
base_stem() {
  local result
  result=$("$work/prover" "$work/cache" 120 "$1")
  [[ $result == survived ]] || echo "$1: before any mutation: $result" >&2
  [[ $result == survived* ]] || return 255
}
export -f base_stem
printf '%s\n' "${stems[@]}" | xargs -P "$jobs" -I{} bash -c 'base_stem {}' || fail 3 "the goals do not hold without a mutation"

# The stems to ask of a header: its own, those that name it, those that include it some way.
order_of() { # HEADER
  local stem
  for stem in "${stems[@]}"; do
    if [[ $stem == "${1%.h}" ]]; then
      echo "0 $stem"
    elif grep -q "\"core/$1\"" "$root/smt/${stem}_goals.cpp"; then
      echo "1 $stem"
    elif grep -q "/core/$1\( \|\$\)" "$work/base/smt_${stem}_goals.cpp.o.d"; then
      echo "2 $stem"
    fi
  done | sort -s -n -k1,1 | cut -d' ' -f2
}
for header in "${headers[@]}"; do order_of "$header" >"$work/stems/of-$header"; done

# The prover for a mutant of a constant: what includes the header, compiled anew.
prover_for() { # ID
  local header=${1%%,*} dir objects=() source object
  dir=$work/mutants/$(cksum <<<"$1" | cut -d' ' -f1)
  mkdir -p "$dir/core"
  "$work/mutate" "$work/original/$header" "$1" >"$dir/core/$header" || return
  while IFS= read -r source; do
    object=$(object_of "$source")
    if grep -q "/core/$header\( \|\$\)" "$object.d"; then
      compile "$dir" "$source" "$dir/${object##*/}" 2>"$dir/log" || return
      object=$dir/${object##*/}
    fi
    objects+=("$object")
  done <"$work/sources"
  "$cxx" -o "$dir/prover" "${objects[@]}" -lz3 -lfmt -lcrypto 2>"$dir/log" && echo "$dir/prover"
}

# Prints one line: what became of the mutant.
ask_mutant() { # ID KIND
  local id=$1 header=${1%%,*} prover=$work/prover result order
  if grep -qxF -- "$id" "$work/not_compiled"; then
    echo "not_compiled $id"
    return
  fi
  if [[ $2 == constant ]]; then
    prover=$(prover_for "$id") || { echo "not_compiled $id" && return; }
  fi
  mapfile -t order <"$work/stems/of-$header"
  result=$(VLAG_MUTANT=$id "$prover" "$work/cache" "$seconds" "${order[@]}" 2>/dev/null)
  case $result in
    'killed '*)
      result=${result#killed }
      echo "killed $id ${result%%:*}"
      ;;
    survived*) echo "$result" | sed "s|^survived|survived $id|" ;;
    *) echo "survived $id (the prover failed)" ;;
  esac
}
export -f prover_for ask_mutant

cut -f1,4 "$work/list" | tr '\t' ' ' | xargs -P "$jobs" -d '\n' -I{} bash -c 'read -r id kind <<<"$1"; ask_mutant "$id" "$kind" | tee "$work/results/$BASHPID"' ask {} >&2 ||
  fail 3 "the mutants could not be asked"
cat "$work"/results/* >"$work/all"

# In the order of the list, whoever was first; then the sums.
awk -v known="$known" '
  BEGIN {
    while ((getline line < known) > 0) {
      if (line ~ /^#/ || line !~ /[^ ]/) continue
      id = line
      sub(/[ \t].*/, "", id)
      sub(/^[^ \t]+[ \t]+/, "", line)
      reason[id] = line
    }
  }
  FILENAME ~ /\/all$/ { what[$2] = $1; rest = $0; sub(/^[^ ]+ [^ ]+ ?/, "", rest); by[$2] = rest; next }
  {
    split($0, field, "\t")
    id = field[1]
    header = id
    sub(/,.*/, "", header)
    headers[header] = 1
    listed[id] = 1
    state = what[id]
    if (state == "survived") {
      why = id in reason ? reason[id] : "no reason is given"
      if (!(id in reason)) unexplained = 1
      ++total
      if (why ~ /^equivalent: /) { ++equivalent; --total }
      printf "survived      %s %s\n              line %s: %s\n              %s\n", id, by[id], field[2], field[3], why
    } else if (state == "killed") {
      ++total
      ++killed
      printf "killed        %s by %s\n", id, by[id]
      if (id in reason) { print "out of date:  " id " is killed"; stale = 1 }
    } else if (state == "not_compiled") {
      ++not_compiled
      printf "not compiled  %s\n", id
    } else { printf "not asked     %s\n", id; ++total }
  }
  END {
    percent = total ? 100 * killed / total : 100
    printf "killed/total = %d/%d = %.1f %%; %d more are equivalent, %d do not compile\n", killed, total, percent, equivalent, not_compiled
    exit stale || unexplained || percent < 95
  }' "$work/all" "$work/list"
status=$?

# A reason for what is no mutant of these headers.
for header in "${headers[@]}"; do
  "$work/mutate" "$root/core/$header"
done | cut -f1 >"$work/ids"
while read -r id _; do
  [[ $id && $id != \#* ]] || continue
  [[ " ${headers[*]} " == *" ${id%%,*} "* ]] || continue
  grep -qxF -- "$id" "$work/ids" || { echo "out of date:  $id is no mutant" && status=1; }
done <"$known"
exit $status

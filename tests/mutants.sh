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
# Everything is compiled from a copy of core/, spec/ and smt/; each mutant is one more copy of one
# header before it in the include path. What includes the header is compiled anew for each mutant,
# and a binary with the goals of one stem is linked; the stems whose goals name the header first.
#
# Prints for each mutant "killed ID GOAL", "survived ID", or "not compiled ID"; then the ratio of
# those killed to those that compile and are not equivalent. Exit codes: 0 at least 95 %; 1 less, or
# a line of the file of survivors that is out of date; 2 bad usage; 3 inconclusive (no compiler,
# or the goals do not hold to begin with).
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

mapfile -t with_rules < <(cd "$root/core" && grep -l '^template <class M>' -- *.h)
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
  "$work/mutate" "$work/tree/core/$header" || exit 3
done | grep -E -- "$only" >"$work/list"
[[ -s $work/list ]] || fail 2 "no mutant has an ID that matches $only"
if [[ $list ]]; then
  cat "$work/list"
  exit
fi

# compile OVERLAY SOURCE OBJECT: the overlay's headers go before those of the tree.
compile() {
  "$cxx" -std=c++20 -O0 -w -include "$work/pch/all.h" -I "$1" -I "$work/tree" -MMD -MF "$3.d" \
    -c "$2" -o "$3"
}
export -f compile
compile_base() { compile "$work/tree" "$1" "$work/base/$(tr / _ <<<"${1#"$work/tree/"}").o"; }
export -f compile_base

# What is the same in all of them: z3++.h takes longest.
mkdir "$work/pch"
printf '#include <%s>\n' z3++.h fmt/format.h array functional map string vector >"$work/pch/all.h"
"$cxx" -std=c++20 -O0 -w -x c++-header "$work/pch/all.h" -o "$work/pch/all.h.gch" || fail 3 "z3++.h does not compile"

# A stem that is not linked in has no goals.
{
  echo '#include "smt/goal.h"'
  sed -nE 's/^(std::vector<Goal> [a-z_]+_goals\(\));$/__attribute__((weak)) \1 { return {}; }/p' "$root/smt/goal.h" |
    sed '1i namespace vlag::smt {'
  echo '}  // namespace vlag::smt'
} >"$work/tree/smt/none.cpp"
cp "$root/tests/mutants/prover.cpp" "$work/tree/smt/main.cpp"

for source in "$work"/tree/{core,spec,smt}/*.cpp; do
  stem=${source##*/}
  if [[ $stem == *_goals.cpp && " ${stems[*]} " != *" ${stem%_goals.cpp} "* ]]; then continue; fi
  echo "$source"
done | xargs -P "$jobs" -I{} bash -c 'compile_base {} || exit 255' || fail 3 "the tree does not compile"
mapfile -t always < <(printf '%s\n' "$work"/base/{smt_main,smt_none}.cpp.o)
(cd "$work/base" && ar rcs base.a $(printf '%s\n' *.o | grep -vE '_goals.cpp.o$|^smt_(main|none).cpp.o$'))

# link OUTPUT OBJECT...: and from the archive what they need. Prints which of it.
link() {
  "$cxx" -o "$1" "${@:2}" "$work/base/base.a" -lz3 -lfmt -lcrypto -Wl,--trace |
    sed -nE 's/.*base\.a[):(]+([a-z_0-9]+\.cpp\.o).*/\1/p'
  return "${PIPESTATUS[0]}"
}
export -f link

# The objects of each stem, and that its goals hold: this fills the cache.
base_stem() {
  local stem=$1 out=$work/stems/$1
  link "$out" "$work/base/smt_${stem}_goals.cpp.o" "$work"/base/smt_{main,none}.cpp.o >"$out.archive" || return 255
  { sort -u "$out.archive" && printf '%s\n' "smt_${stem}_goals.cpp.o" smt_main.cpp.o smt_none.cpp.o; } >"$out.objects"
  "$out" "$work/cache" 120 >"$out.result" 2>&1 || { echo "$stem: $(<"$out.result")" >&2 && return 255; }
  grep -qx survived "$out.result" || echo "$stem: before any mutation: $(<"$out.result")" >&2
}
export -f base_stem
printf '%s\n' "${stems[@]}" | xargs -P "$jobs" -I{} bash -c 'base_stem {}' || fail 3 "the goals do not hold without a mutation"

includes() { grep -q "/core/$2\( \|\$\)" "$work/base/$1.d"; } # OBJECT HEADER
export -f includes

# The stems to ask of a header: its own, those that name it, those that include it some way.
order_of() { # HEADER
  local stem source
  for stem in "${stems[@]}"; do
    source=$work/tree/smt/${stem}_goals.cpp
    if [[ $stem == "${1%.h}" ]]; then
      echo "0 $stem"
    elif grep -q "\"core/$1\"" "$source"; then
      echo "1 $stem"
    elif includes "smt_${stem}_goals.cpp.o" "$1"; then
      echo "2 $stem"
    fi
  done | sort -s -n -k1,1 | cut -d' ' -f2
}
for header in "${headers[@]}"; do order_of "$header" >"$work/stems/of-$header"; done

# Prints one line: what became of the mutant.
ask_mutant() { # ID
  local id=$1 header=${1%%,*} number dir stem object result undecided=
  number=$(cut -d' ' -f1 <<<"$(cksum <<<"$id")")
  dir=$work/mutants/$number
  mkdir -p "$dir/core" "$dir/cache"
  "$work/mutate" "$work/tree/core/$header" "$id" >"$dir/core/$header" || return 255
  while IFS= read -r stem; do
    local objects=()
    while IFS= read -r object; do
      if ! includes "$object" "$header"; then
        objects+=("$work/base/$object")
        continue
      fi
      objects+=("$dir/$object")
      [[ -e $dir/$object ]] && continue
      local source=${object%.o}
      if ! compile "$dir" "$work/tree/${source/_/\/}" "$dir/$object" 2>"$dir/log"; then
        echo "not_compiled $id" && rm -rf "$dir"
        return
      fi
    done <"$work/stems/$stem.objects"
    if ! link "$dir/prover" "${objects[@]}" >"$dir/log" 2>&1; then
      echo "not_compiled $id" && rm -rf "$dir"
      return
    fi
    result=$("$dir/prover" "$work/cache" "$seconds" 2>/dev/null)
    case $result in
      'killed '*)
        result=${result#killed }
        echo "killed $id ${result%%:*}" && rm -rf "$dir"
        return
        ;;
      survived) ;;
      *) undecided=" (${result:-the prover failed})" ;;
    esac
  done <"$work/stems/of-$header"
  echo "survived $id$undecided" && rm -rf "$dir"
}
export -f ask_mutant

cut -f1 "$work/list" | xargs -P "$jobs" -d '\n' -I{} bash -c 'ask_mutant "$1" | tee "$work/results/$BASHPID"' ask {} >&2 ||
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
    exit stale || percent < 95
  }' "$work/all" "$work/list"
status=$?

# A reason for what is no mutant of these headers.
for header in "${headers[@]}"; do
  "$work/mutate" "$work/tree/core/$header"
done | cut -f1 >"$work/ids"
while read -r id _; do
  [[ $id && $id != \#* ]] || continue
  [[ " ${headers[*]} " == *" ${id%%,*} "* ]] || continue
  grep -qxF -- "$id" "$work/ids" || { echo "out of date:  $id is no mutant" && status=1; }
done <"$known"
exit $status

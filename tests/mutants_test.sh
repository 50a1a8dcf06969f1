#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tests/mutants.sh on two small headers, with the goals of one of them: its mutants are killed, those
# of the other survive, and a survivor without a reason is a failure.
set -uo pipefail
mutants=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/mutants.sh
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

expect() { # WHAT CONDITION...
  local what=$1
  shift
  "$@" && return
  echo "FAILED: $what (exit $status)"
  echo "$output"
  failures=$((failures + 1))
}
run() { output=$("$mutants" "$@" 2>"$directory/errors") && status=0 || status=$?; }
exits() { [[ $status == "$1" ]]; }
says() { grep -qE -- "$1" <<<"$output"; }
complains() { grep -qE -- "$1" "$directory/errors"; }

run --lists
expect 'an unknown option' exits 2
expect 'is named' complains "'--lists' is not an option"
run policy.h
expect 'a header without rules' exits 2
expect 'is named, with those that have' complains 'core/policy.h has no rules; those that have: .*slice.h'
run --stem sliced slice.h
expect 'an unknown stem' exits 2
run --only nothing_like_it slice.h
expect 'no mutant' exits 2

cat >"$directory/known" <<'END'
slice.h,clamp_slice,clamp,swapped,1 a reason that is out of date
lag.h,entity_lag,-,,1 equivalent: a reason that is taken at its word
END
run --stem slice --known "$directory/known" slice.h lag.h
expect 'a survivor without a reason' exits 1
expect 'a killed bound' says '^killed +slice.h,slice_max,.* by slice_'
expect 'the other bound' says '^killed +slice.h,slice_min,.* by slice_'
expect 'a killed call' says '^killed +slice.h,clamp_slice,clamp,swapped,1 by slice_'
expect 'a reason for one that is killed' says '^out of date: +slice.h,clamp_slice'
expect 'the survivor' says '^survived +lag.h,lag_limit,[+],-,1'
expect 'has no reason' says 'no reason is given'
expect 'the sums' says '^killed/total = 5/8 = 62.5 %; 1 more are equivalent, 1 do not compile'
exit $((failures > 0))

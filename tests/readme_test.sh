#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every command in a ```console block of README.md is run, and must print what is shown there.
#
#   readme_test.sh BINARY
#
# `$ ./vlag ...` is a command; the lines below it are its standard output, complete and in order,
# except that a line `...` stands for any number of lines.
set -uo pipefail
binary=${1:?"usage: readme_test.sh BINARY"}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Splits the blocks into NUMBER.command and NUMBER.expected.
awk -v dir="$scratch" '
  /^```console$/ { inside = 1; next }
  /^```/ { inside = 0; next }
  inside && /^\$ / { ++n; print substr($0, 3) > (dir "/" n ".command"); printf "" > (dir "/" n ".expected"); next }
  inside { print > (dir "/" n ".expected") }
' README.md

# Whether the output is what was expected, gaps allowed where "..." stands.
matches() {
  awk '
    NR == FNR { expected[++wanted] = $0; next }
    { printed[++got] = $0 }
    END {
      at = 1
      gap = 0
      for (i = 1; i <= wanted; ++i) {
        if (expected[i] == "...") { gap = 1; continue }
        if (gap) while (at <= got && printed[at] != expected[i]) ++at
        if (at > got || printed[at] != expected[i]) {
          print "expected: " expected[i]
          print "printed:  " (at <= got ? printed[at] : "(nothing)")
          exit 1
        }
        ++at
        gap = 0
      }
      if (!gap && at <= got) { print "also printed: " printed[at]; exit 1 }
    }' "$1" "$2"
}

commands=0
failures=0
for command in "$scratch"/*.command; do
  [[ -e $command ]] || break
  ((++commands))
  line=$(<"$command")
  case $line in
    './vlag '*) ;;
    *) echo "README.md: '$line' is not a ./vlag command"; ((++failures)); continue ;;
  esac
  eval "\"\$binary\" ${line#./vlag }" >"$scratch/output" 2>"$scratch/errors"
  if ! matches "${command%.command}.expected" "$scratch/output"; then
    echo "README.md: $line"
    cat "$scratch/errors"
    ((++failures))
  fi
done
echo "$commands commands of README.md, $failures differ"
((commands > 0 && failures == 0))

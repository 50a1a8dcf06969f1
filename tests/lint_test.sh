#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A checker that cannot fail is worth nothing: each rule of .ci/lint must name its violation.
set -uo pipefail

root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp "$root/.clang-format" "$tree/"
mkdir -p "$tree"/{core,spec,props/cli,props/kernel,smt,tests}
licence='// SPDX-License-Identifier: GPL-2.0-only'
failures=0

fail() {
  echo "FAILED: $1"
  echo "${output-}"
  failures=$((failures + 1))
}

# rejects FILE TEXT EXPECTED: with that file, lint fails and says EXPECTED.
rejects() {
  printf '%s\n' "$2" >"$tree/$1"
  if output=$("$root/.ci/lint" "$tree" 2>&1); then
    fail "accepted $1: $2"
  elif [[ $output != *"$3"* ]]; then
    fail "$1 is rejected without saying: $3"
  fi
  rm "$tree/$1"
}

accepts() { # FILE TEXT
  printf '%s\n' "$2" >"$tree/$1"
  output=$("$root/.ci/lint" "$tree" 2>&1) || fail "rejected $1: $2"
  rm "$tree/$1"
}

in_core() { rejects core/a.h "$licence"$'\n'"$1" "core/a.h:2: $1: banned in core/: $2"; }

output=$("$root/.ci/lint" "$tree" 2>&1) || fail "an empty tree"
accepts core/a.h "$licence"$'\n''int f();'

rejects core/a.h "$licence"$'\n''int  f( );' 'run ./vlag format'
rejects core/a.h 'int f();' 'core/a.h:1: no licence line'
rejects core/CMakeLists.txt 'vlag_library(vlag_core)' 'core/CMakeLists.txt:1: no licence line'
accepts tests/data.txt 'no licence needed'

in_core '#include <chrono>' 'time is an argument'
in_core '#include <random>' 'core is deterministic'
in_core '#include <unordered_map>' 'iteration order'
in_core 'float f();' 'use scaled integers'
in_core 'int f(double x);' 'use scaled integers'
in_core '#include <iostream>' 'core does no I/O'
in_core 'int x = rand();' 'core is deterministic'
in_core 'int* x = new int;' 'no heap'
in_core 'void* x = malloc(1);' 'no heap'
in_core 'std::function<int()> f;' 'it may allocate'
rejects core/a.h "$licence"$'\n''float f();  // With a comment.' 'core/a.h:2: float f();'
accepts core/a.h "$licence"$'\n''// A new double in a comment is not code.'$'\n''int DOUBLE_TICK, newest, floats, strand();'
accepts spec/a.h "$licence"$'\n''double f();'

includes() { rejects "$1" "$licence"$'\n'"#include \"$2\"" "$1:2: includes \"$2\""; }
includes core/a.h spec/a.h
includes core/a.h props/a.h
includes core/a.h smt/a.h
includes core/a.h tests/support/a.h
includes spec/a.h props/a.h
includes spec/a.h smt/a.h
includes spec/a.h tests/a.h
includes props/a.h smt/a.h
includes props/a.h props/cli/a.h
includes props/a.h tests/a.h
includes props/cli/a.h tests/a.h
includes smt/a.h props/a.h
includes smt/a.h tests/a.h
rejects core/a.h "$licence"$'\n''#include "b.h"' 'core/a.h:2: "b.h": name the file from the root'
accepts core/a.h "$licence"$'\n''#include "core/b.h"'
accepts spec/a.h "$licence"$'\n''#include "core/b.h"'$'\n''#include "spec/b.h"'
accepts props/a.h "$licence"$'\n''#include "core/b.h"'$'\n''#include "props/b.h"'$'\n''#include "spec/b.h"'
accepts props/cli/a.h "$licence"$'\n''#include "props/b.h"'$'\n''#include "props/cli/b.h"'
accepts smt/a.h "$licence"$'\n''#include "core/b.h"'$'\n''#include "smt/b.h"'$'\n''#include "spec/b.h"'
accepts tests/a.h "$licence"$'\n''#include "props/b.h"'$'\n''#include "props/cli/b.h"'$'\n''#include "smt/b.h"'

# Kernel style stays as it is, but has its licence line.
accepts props/kernel/a.c "$licence"$'\n''int  f( );'
accepts spec/wire.h "$licence"$'\n''int  f( );'
rejects props/kernel/a.c 'int f();' 'props/kernel/a.c:1: no licence line'

home=/home
rejects tests/data.txt "see $home/someone/file" 'tests/data.txt:1: names a path of one machine'
accepts tests/data.txt 'the home/page of all'

# A long file is worth a word, not a failure.
accepts core/a.h "$licence$(printf '\n// line%.0s' {1..501})"
[[ $output == *'look for the missing idea'* ]] || fail 'a long file goes without a note'

# With --format the violation goes away.
printf '%s\nint  f( );\n' "$licence" >"$tree/core/a.h"
"$root/.ci/lint" --format "$tree" || fail 'format'
output=$("$root/.ci/lint" "$tree" 2>&1) || fail 'what --format leaves'
rm "$tree/core/a.h"

# In a repository only tracked files count.
if git -C "$tree" init -q; then
  accepts core/a.h 'int  f( );'
  printf 'int  f( );\n' >"$tree/core/a.h"
  git -C "$tree" add core/a.h
  rejects core/a.h 'int  f( );' 'core/a.h:1: no licence line'
fi

((failures == 0)) || exit 1
echo "lint: every rule names its violation"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ./vlag in a tree of its own, with stand-ins for apt, dpkg, cmake and ninja.
set -uo pipefail

root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
mkdir -p "$tree/bin" "$tree/elsewhere" "$tree/checkout"
cp "$root/vlag" "$tree/checkout/vlag"
ln -s "$tree/checkout/vlag" "$tree/elsewhere/vlag-link"
for tool in awk bash cat chmod dirname env flock git grep mkdir nproc readlink rm sort touch; do
  ln -s "$(command -v $tool)" "$tree/bin/$tool"
done
failures=0

stub() { # NAME BODY
  rm -f "$tree/bin/$1"
  printf '#!/bin/bash\n%s\n' "$2" >"$tree/bin/$1"
  chmod +x "$tree/bin/$1"
}

# Everything is installed, and builds a binary that says how it was called.
fresh() {
  rm -rf "$tree/checkout/build" "$tree/apt.log" "$tree/ninja.log"
  # shellcheck disable=SC2016
  {
    stub dpkg-query 'if [[ $1 == -W && $2 == "-f=\${Version}" ]]; then echo -n 6.12.117-1~deb12u1
      else shift 2; for p; do [[ " '"${MISSING-}"' " == *" $p "* ]] || echo "$p installed"; done; fi'
    stub apt-get 'echo "$*" >>'"$tree/apt.log"
    stub sudo 'shift; "$@"'
    stub cmake 'mkdir -p build/$2; touch build/$2/build.ninja'
    stub ninja 'mkdir -p "$2/props/cli"; echo "ninja: no work to do."; echo "$*" >>'"$tree/ninja.log"'
      echo "echo \"root=\$VLAG_ROOT cwd=\$PWD args=\$*\"; exit 1" >"$2/props/cli/vlag"; chmod +x "$2/props/cli/vlag"'
  }
}

# launch ARGUMENT...: sets output and status.
launch() { output=$(cd "$tree/elsewhere" && PATH=$tree/bin "${as[@]}" ./vlag-link "$@" 2>&1) && status=0 || status=$?; }
as=(env)

expect() { # WHAT CONDITION...
  local what=$1
  shift
  "$@" && return
  echo "FAILED: $what (exit $status)"
  echo "$output"
  failures=$((failures + 1))
}
says() { [[ $output == *"$1"* ]]; }
exits() { [[ $status == "$1" ]]; }
lines() { [[ $(grep -c . <<<"$output") == "$1" ]]; }
apt_was() { [[ -e $tree/apt.log ]] && grep -qE -- "$1" "$tree/apt.log"; }
no_apt() { [[ ! -e $tree/apt.log ]]; }

fresh
launch check --steps 5
expect 'the binary runs where it was called, and its exit code counts' \
  says "root=$tree/checkout cwd=$tree/elsewhere args=check --steps 5"
expect 'exit code of the binary' exits 1
expect 'nothing is installed that is there' no_apt
launch check
expect 'quiet when up to date' lines 1

mkdir -p "$tree/checkout/tests"
# shellcheck disable=SC2016
printf '#!/bin/bash\necho "mutants of $*"; exit 1\n' >"$tree/checkout/tests/mutants.sh"
chmod +x "$tree/checkout/tests/mutants.sh"
launch mutants slice.h
expect 'the mutants, of the headers that are named' says 'mutants of slice.h'
expect 'exit code of the mutants' exits 1

MISSING='flex cmake' fresh
launch check
expect 'says what it installs' says 'installing cmake flex'
expect 'lists first' apt_was 'update'
expect 'installs what is missing and nothing else' apt_was 'install -y --no-install-recommends .*cmake flex$'

# A kernel source of another version, that apt can replace.
fresh
# shellcheck disable=SC2016
stub dpkg-query 'if [[ $2 == "-f=\${Version}" ]]; then echo 6.12.1; else shift 2; for p; do echo "$p installed"; done; fi'
launch check
expect 'installs the pinned kernel source' apt_was 'install .*linux-source-6.12=6.12.117-1~deb12u1$'

# One that apt does not have: say so once, and go on.
rm "$tree/apt.log"
# shellcheck disable=SC2016
stub apt-get 'echo "$*" >>'"$tree/apt.log"'; [[ $* != *=6.12.117* ]]'
launch check
expect 'says that apt does not have it' says 'apt does not offer linux-source-6.12=6.12.117-1~deb12u1'
expect 'goes on without' says 'args=check'
rm "$tree/apt.log"
launch check
expect 'asks no second time' no_apt
expect 'and is quiet about it' lines 1

MISSING=flex fresh
stub apt-get 'exit 100'
launch check
expect 'an install that fails' exits 3
expect 'is named' says 'could not install flex'

if ((EUID != 0)); then
  stub sudo 'exit 1'
elif command -v setpriv >/dev/null; then
  ln -s "$(command -v setpriv)" "$tree/bin/setpriv"
  rm "$tree/bin/sudo"
  as=(setpriv --reuid=65534 --clear-groups)
fi
if ((EUID != 0 || ${#as[@]} > 1)); then
  MISSING=flex fresh
  rm "$tree/bin/sudo"
  launch check
  expect 'neither root nor sudo' exits 3
  expect 'what to run, in one line' lines 1
  expect 'what to run' says 'run as root: apt-get install --no-install-recommends flex'
  as=(env)
fi

fresh
rm "$tree/bin/apt-get"
launch check
expect 'not Debian' exits 3
expect 'not Debian, in one line' lines 1
expect 'not Debian' says 'this is not Debian'

fresh
stub ninja 'echo "a.cpp:1: error: no"; exit 1'
launch check
expect 'a build that fails' exits 3
expect 'the compiler speaks' says 'a.cpp:1: error: no'
expect 'the build is named' says 'the build of build/release failed'

fresh
stub cmake 'echo "CMake Error: no"; exit 1'
launch check
expect 'a configuration that fails' exits 3
expect 'cmake speaks' says 'CMake Error: no'

# A build tree that was copied from elsewhere is configured anew.
fresh
mkdir -p "$tree/checkout/build/release"
touch "$tree/checkout/build/release/build.ninja"
echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere' >"$tree/checkout/build/release/CMakeCache.txt"
launch check
expect 'a copied build tree' says 'configuring build/release'

# `test` passes on what ctest says, last and unchanged.
fresh
# shellcheck disable=SC2016
stub ctest 'echo "$RC_PARAMS $*"; echo "Total Test time"; exit 8'
launch test --fast -R name
expect 'the exit code of ctest' exits 8
expect 'a fixed seed, the labels and the arguments' \
  says 'seed=1 --test-dir build/dev --output-on-failure -j '
expect 'the labels and the arguments' says '-L ^(unit|props)$ -R name'
expect 'ctest has the last word' test "${output##*$'\n'}" = 'Total Test time'
RC_PARAMS=seed=7 launch test
expect 'a seed that was asked for' says 'seed=7 --test-dir'

((failures == 0)) || exit 1
echo "vlag: installs, builds and runs"

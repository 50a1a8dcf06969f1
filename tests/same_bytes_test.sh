#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Same seed, same bytes: g++ and clang++, without optimisation and with all of it, make programs
# that print the same of the same random sequences (support/print_streams.cpp).
set -uo pipefail

root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$root" || exit 1

sources=(
  core/*.cpp spec/{legal,observation,operations,result,view}.cpp
  props/{model_backend,pairs,random_sequence,property}.cpp tests/support/print_streams.cpp
)
for source in props/*_props.cpp; do
  [[ $source == props/reference_props.cpp ]] || sources+=("$source")
done

# A second run of the same sources is free.
launcher=
if [[ ! ${CCACHE_DISABLE-} ]] && command -v ccache >/dev/null; then launcher=ccache; fi

build_and_run() { # COMPILER OPTION
  local compiler=$1 option=$2 name=${1%++}$2
  command -v "$compiler" >/dev/null || {
    echo "same_bytes_test: $compiler is not installed (./vlag test installs it)"
    return 1
  }
  mkdir "$work/$name"
  # shellcheck disable=SC2016  # The inner shell expands them.
  printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c \
    '$1 $2 -std=c++20 $3 -w -I. -c "$4" -o "$5/$(basename "$4").o"' \
    sh "$launcher" "$compiler" "$option" {} "$work/$name" || return 1
  "$compiler" "$work/$name"/*.o -lfmt -o "$work/$name/print_streams" || return 1
  "$work/$name/print_streams" >"$work/$name.txt"
}

reference=
for compiler in g++ clang++; do
  for option in -O0 -O3; do
    build_and_run "$compiler" "$option" || {
      echo "same_bytes_test: $compiler $option did not get so far as to print"
      exit 1
    }
    output=$work/${compiler%++}$option.txt
    if [[ ! $reference ]]; then
      reference=$output
      # What it prints is worth comparing.
      if ! grep -q '^seed 3 sequence 59: ' "$reference" || ! grep -q '^  ' "$reference"; then
        echo "same_bytes_test: sequences or violations are missing"
        exit 1
      fi
    elif ! cmp -s "$reference" "$output"; then
      echo "same_bytes_test: $compiler $option prints something else than g++ -O0:"
      diff "$reference" "$output" | head -n 10
      exit 1
    fi
  done
done
echo "same_bytes_test: the same $(wc -l <"$reference") lines from 4 programs"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Instructions per operation, counted by callgrind: repeatable whatever else the machine does.
#
#   instructions.sh BUILD_DIR [TASKS ...]
#
# Each figure is (count for 3,000 operations - count for 1,000) / 2,000, so that setting the stage
# cancels out.
set -euo pipefail
build=${1:?"usage: instructions.sh BUILD_DIR [TASKS ...]"}
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(8 100 1000 100000)
counter=$build/tests/vlag_count
[ -x "$counter" ] || { echo "instructions.sh: $counter is not built" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

count() {  # OPERATION TASKS TIMES
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$counter" "$@" \
    >/dev/null 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
  sed -n 's/^summary: //p;s/^totals: //p' "$scratch/out" | head -n 1
}

printf '%-22s %9s %14s\n' operation tasks instructions
for operation in tick_and_pick tick_and_switch block_and_wake dequeue_and_enqueue; do
  for tasks in "${sizes[@]}"; do
    few=$(count "$operation" "$tasks" 1000)
    many=$(count "$operation" "$tasks" 3000)
    printf '%-22s %9d %14d\n' "$operation" "$tasks" $(((many - few) / 2000))
  done
done

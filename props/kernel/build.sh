#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds one lockstep kernel: User-Mode Linux with lockstep.c at the end of fair.c.
#
#   build.sh --source DIR --out DIR [--source-tar FILE] [--hz N] [--groups y|n]
#            [--release TEXT] [--version V] [--jobs N] [--patch FILE]...
#
# DIR/linux is the result. --source is a kernel tree; it is only read. When it does not
# exist yet, --source-tar is unpacked there. All work is done below --out, in a tree of
# symbolic links where the few files that change are copies. The build directory lies
# inside that tree, so all paths that the compiler sees are relative, and ccache finds what
# an earlier build in another place compiled.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wire=$here/../../spec/wire.h
version=6.12 source='' source_tar='' out='' release='' hz=250 groups=n jobs=$(nproc)
patches=()

say() { echo "build.sh: $*" >&2; }
die() { say "error: $*"; exit 1; }

while (($#)); do
  (($# > 1)) || die "$1 needs a value"
  case $1 in
    --version) version=$2 ;;
    --source) source=$2 ;;
    --source-tar) source_tar=$2 ;;
    --out) out=$2 ;;
    --release) release=$2 ;;
    --hz) hz=$2 ;;
    --groups) groups=$2 ;;
    --jobs) jobs=$2 ;;
    --patch) patches+=("$(realpath "$2")") ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
[[ -n $source && -n $out ]] || die "--source and --out are needed"
[[ $hz =~ ^[0-9]+$ && $groups =~ ^[yn]$ ]] || die "--hz takes a number, --groups y or n"

# Unpacks what a UML build can touch: no other architectures, drivers without their code.
unpack() {
  local to=$1 partial=$1.partial.$$
  say "unpacking $source_tar"
  mkdir -p "$partial"
  trap 'rm -rf "$partial"' EXIT
  xz -dc -T0 "$source_tar" | tar -x -C "$partial" --strip-components=1 --wildcards \
    --exclude='*/Documentation/*/*' --exclude='*/tools/testing/*' \
    --exclude='*/drivers/gpu/*.[chS]' --exclude='*/drivers/net/*.[chS]' \
    --exclude='*/drivers/media/*.[chS]' --exclude='*/drivers/staging/*.[chS]' \
    --exclude='*/sound/*.[chS]' --exclude='*.dts' --exclude='*.dtsi' -f -
  mv -T "$partial" "$to" 2>/dev/null || [[ -e $to/Kbuild ]] || die "cannot unpack to $to"
  rm -rf "$partial"
  trap - EXIT
}

# Replaces a link by a copy of what it points to, so that it can be changed.
own() {
  local file=$tree/$1
  [[ -L $file ]] || return 0
  cp --remove-destination "$(readlink -f "$file")" "$file"
  chmod u+w "$file"
}

# Tells whether a struct of a header has a field: versions lie, stable trees backport.
has() {
  local struct=$1 field=$2
  sed -n "/^struct $struct {/,/^}/p" "$tree/kernel/sched/sched.h" |
    grep -Eq "[^[:alnum:]_]$field(;|,|\[| *:)"
}

write_build_header() {
  local probe
  echo "#define VLAG_RELEASE \"${release//[\"\\]/}\""
  for probe in cfs_rq.sum_w_vruntime cfs_rq.nr_queued cfs_rq.h_nr_idle cfs_rq.h_nr_delayed \
               rq.donor; do
    has "${probe%.*}" "${probe#*.}" || continue
    probe=${probe/./_}
    echo "#define VLAG_HAS_${probe^^}"
  done
}

# The hook, the wire, HZ (without a prompt in UML) and HRTICK (not offered by UML).
hook() {
  local file
  for file in ${patches[@]+"${patches[@]}"}; do
    say "applying $file"
    grep -E '^(---|\+\+\+) ' "$file" | sed -E 's,^[-+]+ [ab]/([^[:space:]]+).*,\1,' | sort -u |
      while read -r name; do own "$name"; done
    patch -s -p1 -d "$tree" <"$file" >&2 || die "$file does not apply"
  done
  own kernel/sched/fair.c
  printf '\n#include "lockstep.c"\n' >>"$tree/kernel/sched/fair.c"
  cp "$here/lockstep.c" "$wire" "$tree/kernel/sched/"
  write_build_header >"$tree/kernel/sched/vlag_build.h"
  own arch/um/Kconfig
  sed -i "/^config HZ\$/,/^config /s/default [0-9]*/default $hz/" "$tree/arch/um/Kconfig"
  grep -q "default $hz\$" "$tree/arch/um/Kconfig" || die "HZ is not where it was in arch/um/Kconfig"
  printf '\nconfig SCHED_HRTICK\n\tdef_bool HIGH_RES_TIMERS\n' >>"$tree/arch/um/Kconfig"
}

configure() {
  local wanted
  cp "$here/config" "$build/wanted"
  printf '%s\n' CONFIG_CGROUPS="$groups" CONFIG_CGROUP_SCHED="$groups" \
    CONFIG_FAIR_GROUP_SCHED="$groups" >>"$build/wanted"
  compile KCONFIG_ALLCONFIG=wanted allnoconfig >/dev/null
  for wanted in $(grep -E '^CONFIG_[A-Z0-9_]+=y' "$build/wanted") CONFIG_HZ="$hz" \
                CONFIG_SCHED_HRTICK=y; do
    grep -qx "$wanted" "$build/.config" || die "this tree does not take $wanted"
  done
}

compile() {
  make -s -C "$build" -f ../Makefile ARCH=um O=. -j"$jobs" "${tools[@]}" \
    CFLAGS_fair.o=-Dhrtick_start=vlag_hrtick_start LOCALVERSION=-vlag KBUILD_BUILD_VERSION=1 \
    KBUILD_BUILD_TIMESTAMP=0 KBUILD_BUILD_USER=vlag KBUILD_BUILD_HOST=vlag "$@"
}

[[ -e $source/Kbuild ]] || [[ -n $source_tar ]] || die "no kernel source in $source"
[[ -e $source/Kbuild ]] || unpack "$source"
source=$(realpath "$source")
[[ -n $release ]] || release="Linux $version"

mkdir -p "$out"
out=$(realpath "$out")
tree=$out/tree build=$out/tree/build
tools=()
if command -v ccache >/dev/null; then
  tools=(CC='ccache gcc' HOSTCC='ccache gcc')
  export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$out CCACHE_COMPILERCHECK=content
fi
unset MAKEFLAGS MAKELEVEL KBUILD_OUTPUT ARCH CROSS_COMPILE

say "linking the source"
[[ -n ${VLAG_KEEP_TREE:-} ]] || rm -rf "$tree"
cp -rs "$source" "$tree"
rm -rf "$build"
mkdir "$build"
hook
say "configuring: HZ $hz, groups $groups"
configure
say "compiling with $jobs jobs${tools:+ and ccache}"
compile linux >&2
strip -g "$build/linux" -o "$out/linux"
[[ -n ${VLAG_KEEP_TREE:-} ]] || rm -rf "$tree"
say "done: $out/linux"

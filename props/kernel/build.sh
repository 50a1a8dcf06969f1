#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds one lockstep kernel: User-Mode Linux with lockstep.c at the end of fair.c.
#
#   build.sh --source DIR --out DIR [--source-tar FILE] [--hz N] [--groups y|n]
#            [--release TEXT] [--version V] [--jobs N] [--patch FILE]...
#            [--edit FILE]...
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
patches=() edits=()

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
    --edit) edits+=("$(realpath "$2")") ;;
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

# A tree of links to the source. What UML compiles little of is one link to the directory.
link_source() {
  local entry name
  say "linking the source"
  rm -rf "$tree"
  mkdir -p "$tree/arch"
  for entry in "$source"/* "$source"/.[!.]*; do
    name=${entry##*/}
    case $name in
      .git | arch) ;;
      Documentation | drivers | net | rust | samples | sound | tools)
        ln -s "$entry" "$tree/$name"
        ;;
      *) cp -rs "$entry" "$tree/$name" ;;
    esac
  done
  for entry in "$source"/arch/*; do
    name=arch/${entry##*/}
    case $name in
      arch/um | arch/x86) cp -rs "$entry" "$tree/$name" ;;
      *) ln -s "$entry" "$tree/$name" ;;
    esac
  done
}

# Makes a file of the tree, or the place of a new one, our own: nothing is written through a link.
own() {
  local path=$tree part target
  local -a parts
  IFS=/ read -ra parts <<<"$1"
  for part in "${parts[@]}"; do
    [[ $part != .. ]] || die "$1 leads out of the tree"
    path+=/$part
    [[ -L $path ]] || continue
    target=$(readlink -f "$path")
    rm "$path"
    if [[ -d $target ]]; then cp -rs "$target" "$path"; else cp "$target" "$path"; fi
  done
  [[ ! -f $path ]] || chmod u+w "$path"
}

apply_patch() {
  local name
  say "applying $1"
  sed -nE -e 's,^(---|\+\+\+) [^/]+/([^[:space:]]+).*,\2,p' \
    -e 's,^(rename|copy) (from|to) (.*),\3,p' "$1" | sort -u |
    while read -r name; do own "$name"; done
  patch -s -f -p1 -d "$tree" <"$1" >&2 || die "$1 does not apply"
}

apply_edits() {
  local name names
  say "editing: ${edits[*]##*/}"
  names=$("$here/edit.pl" --files "${edits[@]}") || exit 1
  for name in $names; do own "$name"; done
  "$here/edit.pl" "$tree" "${edits[@]}" || exit 1
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
  for file in ${patches[@]+"${patches[@]}"}; do apply_patch "$file"; done
  ((!${#edits[@]})) || apply_edits
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
  # Without its file systems cgroup_init() warns.
  printf "CONFIG_%s=$groups\n" CGROUPS CGROUP_SCHED FAIR_GROUP_SCHED SYSFS PROC_FS \
    >>"$build/wanted"
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

link_source
rm -rf "$build"
mkdir "$build"
hook
say "configuring: HZ $hz, groups $groups"
configure
say "compiling with $jobs jobs${tools:+ and ccache}"
compile linux >&2
strip -g "$build/linux" -o "$out/linux"
rm -rf "$tree"
say "done: $out/linux"

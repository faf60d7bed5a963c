#!/usr/bin/env bash
# Compile the queue disciplines for the kernel: FOLDER/NAME.bpf.o for each law here, or for the files that are given. With
# --ready, only say what is missing, if anything.
# usage: build.sh FOLDER [-DMACRO] [FILE.c...]
set -euo pipefail

missing() {
  echo "$1" >&2
  exit 1
}

for clang in clang clang-{30..17} ""; do
  # Older ones have no tags in types, with which a map says what its list holds.
  [[ -z $clang || $("$clang" -dumpversion 2>/dev/null || true) =~ ^(1[7-9]|[2-9][0-9])\. ]] && break
done
[[ -n $clang ]] || missing "no clang for the queue disciplines: install 17 or newer (Debian: apt install clang-19)"
[[ -e /usr/include/bpf/bpf_helpers.h ]] || missing "no headers of libbpf: install them (Debian: apt install libbpf-dev)"
[[ ${1:-} != --ready ]] || exit 0

mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
options=() sources=()
for word; do
  [[ $word == -* ]] && options+=("$word") || sources+=("$word")
done
if [[ ${#sources[@]} == 0 ]]; then
  cd "$here"
  sources=(*.c)
fi
for source in "${sources[@]}"; do
  name=$(basename "$source" .c)
  # -mcpu=v3 has 32-bit jumps and arithmetic, since Linux 5.1. What is written names no folder of this machine.
  (cd "$(dirname "$source")" && "$clang" -target bpf -mcpu=v3 -g -O2 -Wall "-ffile-prefix-map=$here=." "-I$here" \
    -fdebug-compilation-dir=. ${options[@]+"${options[@]}"} -c "$name.c" -o "$out/$name.bpf.o")
done

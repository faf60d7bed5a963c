#!/usr/bin/env bash
# Compile the engine to WebAssembly: target/wasm/aqmlab.wasm. With --ready, only say what is missing for JavaScript, if
# anything.
#
# The standard library is that of the toolchain, where rustup has installed it for WebAssembly; otherwise it is compiled
# from the sources that another toolchain has: Debian's rustc-web.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=wasm32-unknown-unknown
build=(cargo build --quiet --release --package wasm --target "$target" --target-dir target/wasm-build)

missing() {
  echo "$1" >&2
  exit 1
}

if [[ ! -d "$(rustc --print target-libdir --target "$target")" ]]; then
  found=
  for candidate in "$(command -v rustc)" /usr/bin/rustc; do
    sources="$("$candidate" --print sysroot 2>/dev/null || true)/lib/rustlib/src/rust/library"
    if [[ -d $sources ]]; then
      found=$candidate
      break
    fi
  done
  [[ -n $found ]] || missing "no standard library for WebAssembly: rustup target add $target (Debian: apt \
install rustc-web rust-web-src lld)"
  # A standard library from its sources is not a stable feature.
  export RUSTC=$found RUSTC_BOOTSTRAP=1
  build+=(-Zbuild-std=std,panic_abort)
  # Debian's compiler has no linker of its own.
  if [[ $found == /usr/bin/rustc ]]; then
    command -v wasm-ld >/dev/null || missing "no linker for WebAssembly: install lld (Debian: apt install lld)"
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
  fi
fi
command -v npm >/dev/null || missing "no npm: install Node.js 20 or newer"
node=$(node --version | tr -d v)
[[ ${node%%.*} -ge 20 ]] || missing "Node.js $node is too old: install 20 or newer"
[[ ${1:-} != --ready ]] || exit 0

export CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=true
"${build[@]}"
mkdir -p target/wasm
cp "target/wasm-build/$target/release/aqmlab.wasm" target/wasm/

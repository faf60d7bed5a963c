#!/bin/sh
# Unpacks packages of Debian in FOLDER: what a machine with an x86-64 processor needs to build and run programs for ARM.
#
#   foreign.sh rust FOLDER     rustc-web, with its standard library for arm64, where rustup cannot fetch one
#   foreign.sh python FOLDER   Python for arm64 and all that it needs, for qemu
#
# Nothing is installed and no privilege is needed: apt uses a separate state.
set -eu
what=$1 folder=$2
command -v apt-get >/dev/null && command -v dpkg >/dev/null || {
  echo "apt-get and dpkg are missing: this machine is no Debian" >&2
  exit 1
}
new=$folder.new
rm -rf "$new"
mkdir -p "$new/apt/lists/partial" "$new/apt/cache/archives/partial"
touch "$new/apt/status"
case $what in
rust) machine=amd64 ;;
python) machine=arm64 ;;
esac
cat >"$new/apt/config" <<END
quiet "2";
Dir::State "$new/apt";
Dir::State::Lists "$new/apt/lists";
Dir::State::status "$new/apt/status";
Dir::Cache "$new/apt/cache";
APT::Sandbox::User "$(id -un)";
APT::Architecture "$machine";
#clear APT::Architectures;
APT::Architectures { "$machine"; "arm64"; };
END
export APT_CONFIG="$new/apt/config"
apt-get update
cd "$new/apt/cache/archives"
case $what in
rust)
  version=$(apt-cache policy libstd-rust-web-dev | sed -n 's/.*Candidate: //p')
  runtime=libstd-rust-web-$(echo "$version" | cut -d. -f1,2)
  llvm=$(apt-cache depends "$runtime:amd64" | sed -n 's/.*Depends: \(libllvm[0-9]*\).*/\1/p')
  apt-get download "rustc-web:amd64=$version" "$runtime:amd64=$version" "$llvm:amd64" \
    "libstd-rust-web-dev:amd64=$version" "libstd-rust-web-dev:arm64=$version"
  ;;
python) apt-get install --yes --download-only --no-install-recommends python3 libstdc++6 >/dev/null ;;
esac
for package in *.deb; do dpkg -x "$package" "$new"; done
rm -rf "$new/apt"
mv "$new" "$folder"

#!/bin/sh
# Unpacks Debian's rustc-web and its standard library for arm64 in FOLDER, where rustup cannot fetch
# aarch64-unknown-linux-gnu. Nothing is installed and no privilege is needed: apt uses a separate state.
set -eu
folder=$1
command -v apt-get >/dev/null && command -v dpkg >/dev/null || {
  echo "rustup target add aarch64-unknown-linux-gnu" >&2
  exit 1
}
new=$folder.new
rm -rf "$new"
mkdir -p "$new/apt/lists/partial" "$new/apt/cache/archives/partial" "$new/packages"
touch "$new/apt/status"
cat >"$new/apt/config" <<END
quiet "2";
Dir::State "$new/apt";
Dir::State::Lists "$new/apt/lists";
Dir::State::status "$new/apt/status";
Dir::Cache "$new/apt/cache";
APT::Sandbox::User "$(id -un)";
APT::Architecture "amd64";
#clear APT::Architectures;
APT::Architectures { "amd64"; "arm64"; };
END
export APT_CONFIG="$new/apt/config"
apt-get update
cd "$new/packages"
version=$(apt-cache policy libstd-rust-web-dev | sed -n 's/.*Candidate: //p')
runtime=libstd-rust-web-$(echo "$version" | cut -d. -f1,2)
llvm=$(apt-cache depends "$runtime:amd64" | sed -n 's/.*Depends: \(libllvm[0-9]*\).*/\1/p')
apt-get download "rustc-web:amd64=$version" "$runtime:amd64=$version" "$llvm:amd64" \
  "libstd-rust-web-dev:amd64=$version" "libstd-rust-web-dev:arm64=$version"
for package in *.deb; do dpkg -x "$package" "$new"; done
rm -rf "$new/apt" "$new/packages"
mv "$new" "$folder"

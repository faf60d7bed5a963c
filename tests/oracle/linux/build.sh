#!/bin/bash
# Builds a User-Mode Linux kernel with time travel from Debian's source package, once: `make kernel`.
# usage: build.sh [PACKAGE] [SUITE]    bookworm's own linux-source-6.12 serves too; it has no DualPI2
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/backports.sh"
out=${AQMLAB_CACHE:-$HOME/.cache/aqmlab}/kernel
package=${1:-linux-source-7.2}
suite=${2:-trixie-backports}

# The patch adds the first option.
options="CONFIG_UML_TIME_TRAVEL_SEED=y $(grep '=y$' "$here/kernel.config")"
if [ -x "$out/linux" ] && ! grep -qvxFf <("$out/linux" --showconfig) <(printf '%s\n' $options); then
  echo "$out/linux is there: Linux $(cat "$out/linux.version"); to build it anew remove that folder"
  exit
fi

# A command or a file that tells whether a package is there, and the package.
needs gcc:gcc make:make flex:flex bison:bison bc:bc perl:perl patch:patch xz:xz-utils ar:binutils \
  /usr/include/gelf.h:libelf-dev /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring /sbin/ip:iproute2 \
  /sbin/ethtool:ethtool dpkg-deb:dpkg apt-get:apt

mkdir -p "$out"
exec 9> "$out/lock"
flock --nonblock 9 || { echo "$out: another build is at work there; wait for it" >&2; exit 1; }
cd "$out"

backports "$PWD/apt" "$suite"
version=$(apt-cache "${apt[@]}" show "$package" | sed -n 's/^Version: //p' | head -1)
if [ ! -f "$package.deb" ]; then
  apt-get "${apt[@]}" download "$package"
  mv "${package}"_*.deb "$package.deb"
fi

# Unpacked beside, then renamed: an interrupted build begins again where it was.
if [ ! -d source ]; then
  rm -rf unpack source.part
  mkdir unpack source.part
  dpkg-deb -x "$package.deb" unpack
  tar -xf unpack/usr/src/"$package".tar.* -C source.part --strip-components=1
  rm -rf unpack
  mv source.part source
fi
cd source
# By itself the kernel takes no seed. A source that was unpacked before lacks the patch.
grep -q set_seed drivers/char/random.c || patch --quiet --strip=1 < "$here/seed.patch"
# ARCH=um has 100; distributions have 250 or 1000, and TCP's timers and PIE depend on it.
sed -i '/^config HZ$/,/^config/ s/default 100$/default 1000/' arch/um/Kconfig
make -s ARCH=um defconfig
cat "$here/kernel.config" >> .config
make -s ARCH=um olddefconfig
make -s ARCH=um -j"$(nproc)" linux
echo "$version" > "$out/linux.version"
# Beside, then renamed: a run may be under way.
strip -o "$out/linux.part" linux
mv "$out/linux.part" "$out/linux"
echo "$out/linux: Linux $version"

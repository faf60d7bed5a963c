#!/bin/bash
# Gets the kernel of the guest that tests queue disciplines, with its modules, from Debian's packages: `make guest`.
# The newest of the series is taken, since the mirror forgets older ones. What is there already stays.
set -euo pipefail
. "$(cd "$(dirname "$0")" && pwd)/../linux/backports.sh"
out=${AQMLAB_CACHE:-$HOME/.cache/aqmlab}/guest
series='7\.2\.[0-9]+\+deb13-cloud-amd64'
modules='drivers/net/veth net/sched/sch_netem net/sched/sch_htb'

if [ -e "$out/vmlinuz" ]; then
  echo "$out: Linux $(cat "$out/version"); to get it anew remove that folder"
  exit
fi
[ "$(uname -m)" = x86_64 ] || { echo "the guest is for x86-64 only; this is $(uname -m)" >&2; exit 1; }
needs xz:xz-utils dpkg-deb:dpkg apt-get:apt /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring

mkdir -p "$out"
cd "$out"
exec 9> lock
flock --nonblock 9 || { echo "$out: another one is at work there; wait for it" >&2; exit 1; }
backports "$PWD/../kernel/apt" trixie-backports
version=$(apt-cache "${apt[@]}" pkgnames linux-binary-7.2 | sed -nE "s/^linux-binary-($series)$/\1/p" | sort -V | tail -1)
[ -n "$version" ] || { echo "the mirror has no linux-binary-7.2.*-cloud-amd64" >&2; exit 1; }
rm -rf unpack
mkdir unpack
for package in "linux-binary-$version" "linux-modules-$version"; do
  apt-get "${apt[@]}" download -qq "$package"
  dpkg-deb -x "$package"_*.deb unpack
  rm "$package"_*.deb
done
from=unpack/usr/lib/modules/$version
for module in $modules; do
  xz --decompress --stdout "$from/kernel/$module.ko.xz" > "$(basename "$module").ko"
done
echo "$version" > version
# Last: it says that all is there.
mv "$from/vmlinuz" vmlinuz
rm -rf unpack
echo "$out: Linux $version"

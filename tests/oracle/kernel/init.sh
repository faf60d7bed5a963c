#!/bin/bash
# The first process of the guest, whose root is the host's files. $given and $tests come from the kernel's command line.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t bpf bpf /sys/fs/bpf
mount -t tmpfs tmp /run
mkdir -p /run/netns
cd "$tests" && /usr/bin/python3 -S -E -B -m oracle.kernel.inside "$given" > /dev/vport*
echo o > /proc/sysrq-trigger
sleep 5

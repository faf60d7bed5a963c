# The first process of the guest, whose root is the host's files: guest.sh FOLDER SEED BIN IP
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
# The guest has memory for more flows than the kernel gives to TCP by itself.
echo 262144 524288 1048576 > /proc/sys/net/ipv4/tcp_mem
[ -e "$1/programs.sh" ] && . "$1/programs.sh"
[ -e "$1/qdisc" ] && qdisc=$(cat "$1/qdisc")
[ -e "$1/fates.pcapng" ] && fates=$1/fates.pcapng
{ echo "$2" > /sys/module/random/parameters/seed && "$3/aqmlab-router" ${qdisc:+--qdisc} ${qdisc:+"$qdisc"} ${fates:+--pcapng} ${fates:+"$fates"} --guest --scenario "$1/scenario.toml" --seed "$2" --out "$1" --ip "$4" --traffic "$3/aqmlab-traffic"; } 2> "$1/errors"
echo o > /proc/sysrq-trigger
sleep 5

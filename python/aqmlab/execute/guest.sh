# The first process of the guest, whose root is the host's files: guest.sh FOLDER SEED BIN IP
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
[ -e "$1/qdisc" ] && qdisc=$(cat "$1/qdisc")
[ -e "$1/fates.pcapng" ] && fates=$1/fates.pcapng
{ echo "$2" > /sys/module/random/parameters/seed && "$3/aqmlab-router" ${qdisc:+--qdisc} ${qdisc:+"$qdisc"} ${fates:+--pcapng} ${fates:+"$fates"} --guest --scenario "$1/scenario.toml" --seed "$2" --out "$1" --ip "$4" --traffic "$3/aqmlab-traffic"; } 2> "$1/errors"
echo o > /proc/sysrq-trigger
sleep 5

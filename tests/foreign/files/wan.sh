#!/bin/sh
# shapes a line of 50/10
WAN=${1:-eth0}
IFB=ifb0
UP=9500   # kbit/s
DOWN=47500
TC=/sbin/tc
HALF=$((UP / 2))
modprobe ifb
$TC qdisc del dev $WAN root 2>/dev/null
$TC qdisc add dev $WAN root handle 1: htb default 20
$TC class add dev $WAN parent 1: classid 1:1 htb rate ${UP}kbit ceil ${UP}kbit burst 15k
$TC class add dev $WAN parent 1:1 classid 1:10 htb rate ${HALF}kbit ceil ${UP}kbit prio 1
$TC class add dev $WAN parent 1:1 classid 1:20 htb rate ${HALF}kbit \
    ceil ${UP}kbit prio 2
$TC qdisc add dev $WAN parent 1:10 handle 10: fq_codel limit 300 target 13ms
$TC qdisc add dev $WAN parent 1:20 handle 20: fq_codel
$TC filter add dev $WAN parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
ip link add $IFB type ifb && ip link set $IFB up txqueuelen 500
$TC qdisc add dev $WAN handle ffff: ingress
$TC filter add dev $WAN parent ffff: protocol all matchall action mirred egress redirect dev $IFB
$TC qdisc add dev $IFB root cake bandwidth ${DOWN}kbit besteffort ingress nat

"""The network: a namespace for each group of senders, one for the router, one for the receiver.

The bottleneck is HTB with bursts of one packet on the router's way to the receiver, the discipline under test below it.
The delay is netem on the ACKs' way from the router to the senders: there it is no sender's egress, where it would count
for TCP small queues, and not the bottleneck's. If the configuration has a `path`, data has netem on its way too, in a
namespace between the router and the receiver, with these words. With `receive_us` there is a netem for each group
instead, which lets the first packet wait so long and hands it over with all that have come meanwhile, as a queue of a
network card does: the receiver's GRO then joins them.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROUTER, MIDDLE, RECEIVER = "r", "m", "b"
ADDRESS = "10.9.0.2"
"""The receiver's."""

PORT = 5000
"""Of the first group."""

BOTTLENECK = "r1"
HANDLE = "10:"
"""Of the discipline under test."""

BURST = 1600
"""What HTB lets go at once: a full packet, whatever the clock's resolution."""


def sender(group: int) -> str:
    return f"s{group}"


def build(conf: Mapping[str, Any]) -> None:
    groups = conf["groups"]
    if any(group["cc"] == "dctcp" for group in groups):
        # The receiver has to be one too: it takes over what the first namespace has.
        Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("dctcp")
    _sh("ip link set lo up")
    middle = "path" in conf or "receive_us" in conf
    for name in (ROUTER, *([MIDDLE] if middle else []), RECEIVER, *map(sender, range(len(groups)))):
        _sh(f"ip netns add {name}; ip -n {name} link set lo up")
    devices = _joined((ROUTER, BOTTLENECK, "10.8.0.1"), (MIDDLE, "m0", "10.8.0.2")) if middle else []
    transmit = f"numtxqueues {conf['queues']}" if "queues" in conf else ""
    before = (MIDDLE, "m1") if middle else (ROUTER, BOTTLENECK)
    devices += _joined((*before, "10.9.0.1"), (RECEIVER, "b0", ADDRESS), transmit)
    _sh("ip -n b route add default via 10.9.0.1")
    if middle:
        _sh("ip -n m route add default via 10.8.0.1; ip -n r route add 10.9.0.0/24 via 10.8.0.2")
        _sysctl(MIDDLE, {"net.ipv4.ip_forward": 1})
        _delay(conf)
    for g, group in enumerate(groups):
        name = sender(g)
        _sh(f"ip link add e0 netns {name} type veth peer name t{g} netns r")
        _sh(f"ip -n {name} addr add 10.1.{g}.2/24 dev e0; ip -n r addr add 10.1.{g}.1/24 dev t{g}")
        _sh(f"ip -n {name} link set e0 up; ip -n r link set t{g} up; ip -n {name} route add default via 10.1.{g}.1")
        _sh(f"tc -n r qdisc add dev t{g} root netem delay {group['rtt_ms']}ms limit 1000000")
        devices += [(name, "e0"), (ROUTER, f"t{g}")]
    for namespace, device in devices:
        # A packet is a packet: nothing is joined or cut on the way, but by hosts that are to offload.
        joins = "on" if conf.get("offload") and namespace not in (ROUTER, MIDDLE) else "off"
        features = f"gro {joins} " + " ".join(f"{feature} off" for feature in ("tso", "gso", "tx", "rx"))
        _sh(f"ip netns exec {namespace} ethtool -K {device} {features} >/dev/null 2>&1 || true")
        # TCP sends several segments at once unless this forbids it, whatever the device has. Without tso they are cut
        # as they leave the host; with it the router would have the whole.
        most = "" if joins == "on" else "gso_max_segs 1"
        _sh(f"ip -n {namespace} link set {device} {most} mtu {conf.get('mtu', 1500)} || true")
    for name in map(sender, range(len(groups))):
        if conf.get("fq"):
            _sh(f"tc -n {name} qdisc add dev e0 root fq")
    _sysctl(ROUTER, {"net.ipv4.ip_forward": 1})
    for name in (RECEIVER, *map(sender, range(len(groups)))):
        _sysctl(name, {"net.ipv4.tcp_rmem": "4096 6291456 12582912", "net.ipv4.tcp_wmem": "4096 4194304 12582912"})
        _sysctl(name, {"net.ipv4.tcp_no_metrics_save": 1, **conf.get("sysctl", {})})
        _sysctl(name, {"net.ipv4.tcp_ecn": conf.get("ecn", 0)})
    if "hystart" in conf:
        Path("/sys/module/tcp_cubic/parameters/hystart").write_text(str(int(conf["hystart"])))
    if "more" in conf:
        # A shaper of its own, and what is below it. The router's own packets would take its tokens.
        _sysctl(ROUTER, {"net.ipv6.conf.all.disable_ipv6": 1})
        if conf["qdisc"].startswith("cake_mq "):
            _sh(f"ip netns exec {ROUTER} python3 -m oracle.linux.guest.cake_mq {conf['qdisc']}")
        else:
            _sh(f"tc -n r qdisc add dev {BOTTLENECK} root handle {HANDLE} {conf['qdisc']}")
        for kind, words in (each.split(maxsplit=1) for each in conf["more"]):
            _sh(f"tc -n r {kind} add dev {BOTTLENECK} {words}")
        return
    rate, burst = conf["rate_mbit"], conf.get("burst", BURST)
    _sh(f"tc -n r qdisc add dev {BOTTLENECK} root handle 1: htb default 1")
    _sh(
        f"tc -n r class add dev {BOTTLENECK} parent 1: classid 1:1 "
        f"htb rate {rate}mbit burst {burst} cburst {burst} quantum 1600"
    )
    _sh(f"tc -n r qdisc add dev {BOTTLENECK} parent 1:1 handle {HANDLE} {conf['qdisc']}")


def _delay(conf: Mapping[str, Any]) -> None:
    """What lets data wait between the router and the receiver."""
    if "path" in conf:
        _sh(f"tc -n m qdisc add dev m1 root netem {conf['path']} limit 1000000")
        return
    wait, groups = conf["receive_us"], range(len(conf["groups"]))
    # The probe is in the last band, which lets it pass.
    _sh(f"tc -n m qdisc add dev m1 root handle 1: prio bands {len(groups) + 1} priomap {f'{len(groups)} ' * 16}")
    for g in groups:
        _sh(f"tc -n m qdisc add dev m1 parent 1:{g + 1} netem slot {wait}us {wait}us limit 1000000")
        port = f"u32 match ip dport {PORT + g} 0xffff"
        _sh(f"tc -n m filter add dev m1 parent 1: protocol ip {port} flowid 1:{g + 1}")


def _joined(one: tuple[str, str, str], peer: tuple[str, str, str], options: str = "") -> list[tuple[str, str]]:
    """Join two namespaces, each given with a device and its address; `options` are the first's. Return the devices."""
    ends = (one, peer)
    (namespace, device, _), (other, its_device, _) = ends
    _sh(f"ip link add {device} netns {namespace} {options} type veth peer name {its_device} netns {other}")
    for each, of_each, address in ends:
        _sh(f"ip -n {each} addr add {address}/24 dev {of_each}; ip -n {each} link set {of_each} up")
    _neighbours(ends[0], ends[1])
    return [(namespace, device), (other, its_device)]


def _neighbours(*ends: tuple[str, str, str]) -> None:
    """Let both ends of the bottleneck know each other: an ARP request that is lost in its queue would cut the link."""
    for (namespace, device, _), (other, its_device, address) in (ends, ends[::-1]):
        shown = subprocess.run(["ip", "-n", other, "-j", "link", "show", its_device], capture_output=True, check=True)
        hardware = json.loads(shown.stdout)[0]["address"]
        _sh(f"ip -n {namespace} neigh replace {address} lladdr {hardware} dev {device} nud permanent")


def _sysctl(namespace: str, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        _sh(f"ip netns exec {namespace} sysctl -qw {key}='{value}'")


def _sh(command: str) -> None:
    subprocess.run(command, shell=True, check=True)

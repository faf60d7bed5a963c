"""Which link a file states where its program has more than one number for it: rates, headers, queues of devices."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from aqmlab.cli import terminal
from aqmlab.foreign.model import Unreadable
from aqmlab.foreign.read import parse
from aqmlab.foreign.scenario import Given, scenario
from aqmlab.scenario import Scenario


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A table with the path of each value."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


def linked(text: str, **given: Any) -> tuple[dict[str, Any], str]:
    """The scenario of a text with every value filled in, and its lines."""
    lines = scenario(parse("f", text), Given(**given))
    return flat(Scenario.parse(lines).resolved), lines


HTB = "tc qdisc add dev eth0 root handle 1: htb default 10\n"
CLASS = "tc class add dev eth0 parent {} classid {} htb rate {} ceil {} burst 1600 cburst 1600\n"
LEAF = "tc qdisc add dev eth0 parent 1:10 fq_codel\n"
STAB = "tc qdisc add dev {} root handle 1: stab linklayer atm overhead 44 htb default 10\n" + (
    "tc class add dev {} parent 1: classid 1:10 htb rate 10mbit burst 1600 cburst 1600\n"
)

SCRIPTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a class at the top has nobody to borrow from": (
        HTB + CLASS.format("1:", "1:10", "50mbit", "100mbit") + LEAF,
        {"dumbbell.rate": "50 Mbit/s"},
    ),
    "a class borrows what the one above it has": (
        HTB + CLASS.format("1:", "1:1", "80mbit", "100mbit") + CLASS.format("1:1", "1:10", "50mbit", "90mbit") + LEAF,
        {"dumbbell.rate": "80 Mbit/s"},
    ),
    "a class borrows no more than its ceiling": (
        HTB + CLASS.format("1:", "1:1", "80mbit", "100mbit") + CLASS.format("1:1", "1:10", "50mbit", "60mbit") + LEAF,
        {"dumbbell.rate": "60 Mbit/s"},
    ),
    "a class has its own rate whatever the one above it has": (
        HTB + CLASS.format("1:", "1:1", "20mbit", "20mbit") + CLASS.format("1:1", "1:10", "50mbit", "60mbit") + LEAF,
        {"dumbbell.rate": "50 Mbit/s"},
    ),
    "classes side by side have their rates together": (
        HTB + CLASS.format("1:", "1:10", "30mbit", "100mbit") + CLASS.format("1:", "1:20", "20mbit", "100mbit"),
        {"dumbbell.rate": "50 Mbit/s"},
    ),
    "PPP sees no header of Ethernet": (
        STAB.format("pppoe-wan", "pppoe-wan"),
        {"dumbbell.framing": "atm overhead 44", "reverse_aqm.name": "droptail", "dumbbell.reverse_buffer": "3 packets"},
    ),
    "Ethernet's header is in a size table": (STAB.format("eth0", "eth0"), {"dumbbell.framing": "atm overhead 58"}),
    "what PPP redirects has no header of Ethernet": (
        "tc qdisc add dev pppoe-wan ingress\n"
        "tc filter add dev pppoe-wan parent ffff: matchall action mirred egress redirect dev ifb0\n"
        + STAB.format("ifb0", "ifb0"),
        {"dumbbell.framing": "atm overhead 44", "dumbbell.buffer": "32 packets"},
    ),
    "PPP without a size table": (
        "tc qdisc add dev ppp0 root tbf rate 10mbit burst 1600 limit 15000",
        {"dumbbell.overhead": "0 B"},
    ),
    "Ethernet without a size table": (
        "tc qdisc add dev eth0 root tbf rate 10mbit burst 1600 limit 15000",
        {"dumbbell.overhead": "14 B"},
    ),
    "a length that the script sets": (
        "ip link set dev ppp0 txqueuelen 50\ntc qdisc add dev ppp0 root pfifo\n",
        {"dumbbell.reverse_buffer": "50 packets"},
    ),
    "a length that htb tells": (
        "qdisc htb 1: dev ifb0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 77\n"
        "# tc class show dev ifb0\nclass htb 1:10 root prio 0 rate 8Mbit ceil 8Mbit burst 1600b cburst 1600b\n",
        {"dumbbell.reverse_buffer": "77 packets"},
    ),
    "netem has its own length": (
        "tc qdisc add dev ppp0 root netem delay 10ms rate 8mbit\n",
        {"dumbbell.reverse_buffer": "1000 packets"},
    ),
}


@pytest.mark.parametrize("case", SCRIPTS)
def test_the_link_of_a_script_is_that_of_the_kernel(case: str) -> None:
    text, wanted = SCRIPTS[case]
    found, _ = linked(text, up=1e9)  # the line, where no shaper is below it
    assert {key: found.get(key) for key in wanted} == wanted


SHAPED = (
    "qdisc cake 1: dev eth0 root refcnt 2 bandwidth 12Mbit besteffort rtt 100ms raw overhead 0\n"
    "qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------\n"
    "qdisc cake 2: dev ifb4eth0 root refcnt 2 bandwidth 48Mbit besteffort rtt 100ms raw overhead 0\n"
)


@pytest.mark.parametrize(
    ("line", "rate", "aqm", "buffer"),
    [
        (10e6, "10 Mbit/s", "droptail", "500 ms"),
        (12e6, "12 Mbit/s", "droptail", "500 ms"),
        (13e6, "12 Mbit/s", "cake", ""),
    ],
)
def test_the_queue_of_a_shaper_that_is_not_below_the_line_is_the_modem_s(
    line: float, rate: str, aqm: str, buffer: str
) -> None:
    found, _ = linked(SHAPED, down=50e6, up=line)
    assert (found["dumbbell.rate"], found["aqm.name"]) == ("48 Mbit/s", "cake")
    assert (found["dumbbell.reverse_rate"], found["reverse_aqm.name"]) == (rate, aqm)
    assert not buffer or found["dumbbell.reverse_buffer"] == buffer


def test_the_command_tells_whose_the_rates_are(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(SHAPED)
    told = quick_cli("import", "f", "--up", "13mbit", "--out", "link.toml").stdout
    assert "its rates are those of the shapers, 48 Mbit/s down: --down and --up give the line's" in told
    assert "shapers" not in quick_cli("import", "f", "--up", "10mbit", "--down", "50mbit", "--out", "link.toml").stdout


def test_advice_for_files_of_a_router_begins_with_import(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(SHAPED)
    for files, said in (
        (["f", "g"], "first `aqmlab import f g --out link.toml`, then `aqmlab advise link.toml`"),
        (["f"], "f: not TOML but what tc prints: `aqmlab import FILE --out link.toml` makes a scenario of one or of"),
    ):
        done = quick_cli("advise", *files)
        assert done.returncode == terminal.BAD_USAGE
        assert said in " ".join(done.stderr.split())


TREES = {
    "the names tell": (("download", "bridge"), ("upload", "ether1")),
    "the parents tell": (("a", "bridge-lan"), ("b", "pppoe-out1")),
    "a name goes before a parent": (("download", "ether1"), ("upload", "lan")),
    "one name tells": (("group", "ether5"), ("wan_up", "ether2")),
    "a virtual LAN is the line too": (("Download", "bridge"), ("x", "vlan7")),
}


@pytest.mark.parametrize("case", TREES)
def test_two_trees_of_routeros_are_one_link(case: str) -> None:
    (down, up) = TREES[case]
    first, second = (f"add name={name} parent={parent} max-limit=" for name, parent in (down, up))
    for lines in (f"{first}100M\n{second}10M\n", f"{second}10M\n{first}100M\n"):
        found, _ = linked(f"/queue tree\n{lines}")
        assert (found["dumbbell.rate"], found["dumbbell.reverse_rate"]) == ("100 Mbit/s", "10 Mbit/s")


def test_a_tree_without_a_direction_is_refused() -> None:
    with pytest.raises(
        Unreadable, match=r"f, line 2: queue tree all, parent=global: its direction cannot be told: put"
    ):
        linked("/queue tree\nadd name=all parent=global max-limit=10M\n")


def test_a_leaf_of_a_tree_is_within_its_limit_and_that_above() -> None:
    tree = "/queue tree\nadd name=down parent=bridge max-limit={}\nadd name=all parent=down max-limit={}\n"
    for limits in (("90M", "40Mbps"), ("40.0Mbps", "90M"), ("0bps", "40M")):
        assert linked(tree.format(*limits))[0]["dumbbell.rate"] == "40 Mbit/s"


def test_a_simple_queue_is_within_its_parent() -> None:
    queues = "/queue simple\nadd name=all max-limit=8M/35.0Mbps\nadd name=one parent=all max-limit=20M/20M\n"
    found, _ = linked(queues, of="one")
    assert (found["dumbbell.rate"], found["dumbbell.reverse_rate"]) == ("20 Mbit/s", "8 Mbit/s")
    assert linked(queues, of="all")[0]["dumbbell.rate"] == "35 Mbit/s"


def test_the_rate_of_each_address_is_noted() -> None:
    types = "/queue type\nadd kind=pcq name=each pcq-rate=5M\n/queue simple\n"
    _, lines = linked(types + "add name=all max-limit=8M/35M queue=each/each\n")
    assert "pcq-rate=5M: that each address has this rate at most" in lines
    assert "pcq-rate" not in linked(types + "add name=all max-limit=8M/35M\n")[1]


def policy(*lines: str) -> str:
    return "policy-map CHILD\n class VOICE\n  priority 512\n class class-default\n  fair-queue\n" + "\n".join(lines)


TWO = "interface Gi0/0\n bandwidth 90000\n!\ninterface Gi0/1\n bandwidth 30000\n service-policy output CHILD\n"
PARENT = "policy-map PARENT\n class class-default\n  {}\n  service-policy CHILD\n"
POLICIES = {
    "the interface with the policy": (policy(TWO), "30 Mbit/s"),
    "a guarantee is no limit": (policy("  bandwidth 2000", PARENT.format("shape average 20000000")), "20 Mbit/s"),
    "a peak is twice the rate": (policy(PARENT.format("shape peak 20000000")), "40 Mbit/s"),
    "a peak with its bursts": (policy(PARENT.format("shape peak 20000000 8000 4000")), "30 Mbit/s"),
    "units of IOS XR": (policy(PARENT.format("shape average 100 mbps")), "100 Mbit/s"),
}


@pytest.mark.parametrize("case", POLICIES)
def test_the_rate_of_a_policy_is_that_of_its_shaper_or_interface(case: str) -> None:
    text, rate = POLICIES[case]
    found, _ = linked(text)
    assert (found["dumbbell.rate"], found["aqm.name"]) == (rate, "drr")


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a size table ends": (
        "tc qdisc add dev eth0 root stab overhead 44 tbf rate 9mbit burst 1600 limit 15000\n"
        "tc qdisc change dev eth0 root tbf rate 8mbit burst 1600 limit 15000\n",
        {"dumbbell.framing": "auto", "dumbbell.rate": "8 Mbit/s"},
    ),
    "htb stays": (
        STAB.format("eth0", "eth0") + "tc qdisc replace dev eth0 root htb default 20\n",
        {"dumbbell.framing": "atm overhead 58", "dumbbell.rate": "10 Mbit/s"},
    ),
    "replace keeps what it does not name": (
        "tc qdisc add dev eth0 root cake bandwidth 9mbit besteffort\ntc qdisc replace dev eth0 root cake rtt 50ms\n",
        {"reverse_aqm.bandwidth": "9 Mbit/s", "reverse_aqm.diffserv": "besteffort", "reverse_aqm.rtt": "50 ms"},
    ),
    "replace with another handle begins anew": (
        "tc qdisc add dev eth0 root cake bandwidth 9mbit\ntc qdisc replace dev eth0 root handle 9: cake rtt 50ms\n",
        {"reverse_aqm.bandwidth": "auto", "reverse_aqm.rtt": "50 ms"},
    ),
    "netem keeps its rate, and no delay": (
        "tc qdisc add dev eth0 root netem delay 9ms rate 9mbit\ntc qdisc change dev eth0 root netem loss 1%\n",
        {"dumbbell.rate": "9 Mbit/s", "dumbbell.delay": "1.5 ms", "dumbbell.reverse_loss": 0.01},
    ),
    "a class of htb has its ceiling from its rate": (
        HTB
        + CLASS.format("1:", "1:1", "80mbit", "80mbit")
        + CLASS.format("1:1", "1:10", "50mbit", "90mbit")
        + LEAF
        + "tc class change dev eth0 parent 1:1 classid 1:10 htb rate 20mbit burst 1600 cburst 1600\n",
        {"dumbbell.rate": "20 Mbit/s"},
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_that_of_the_kernel(case: str) -> None:
    text, wanted = CHANGES[case]
    found, _ = linked(text, up=1e9)  # the line, where no shaper is below it
    assert {key: found.get(key) for key in wanted} == wanted


def test_a_device_of_ns3_without_a_queue_disc() -> None:
    rate = 'default ns3::PointToPointNetDevice::DataRate "8Mbps"\n'
    found, lines = linked(rate)
    assert (found["dumbbell.buffer"], "no queue disc is named" in lines) == ("100 packets", True)
    found, lines = linked(rate + 'default ns3::CoDelQueueDisc::MaxSize "64KiB"\n')
    assert (found["dumbbell.buffer"], "no queue disc is named" in lines) == ("65536 B", False)


def test_the_link_layer_beside_hfsc_is_noted() -> None:
    text = (Path(__file__).parent / "foreign" / "files" / "qosmate-hfsc").read_text()
    assert "pppoe-ptm mpu 64: the link layer beside hfsc has no counterpart" in linked(text)[1]


SENDERS = """
$ns duplex-link $r1 $r2 1.5Mb 20ms RED
Agent/TCP set window_ 40
for {set i 0} {$i < 5} {incr i} {
  set tcp($i) [$ns create-connection TCP/Reno $s($i) TCPSink $r2 $i]
  $tcp($i) set window_ 100
}
set one [new Agent/TCP]
$one set packetSize_ 552
set other [new Agent/TCP]
set sink [new Agent/TCPSink]
set e [new Application/Traffic/Exponential]
set c [new Application/Traffic/CBR]
$c set packetSize_ 500
$c set interval_ 0.005
set d [new Application/Traffic/CBR]
$ns at 1.0 "$c start"
"""


def test_what_is_set_of_one_sender_alone_is_that_sender_s() -> None:
    text = scenario(parse("f", SENDERS), None)
    tcp = [entry for entry in tomllib.loads(text)["traffic"] if "tcp" in entry]
    assert [(each["name"], each["count"], each["packet_size"]) for each in tcp] == [
        ("tcp-reno", 5, "1040 B"),
        ("tcp", 1, "592 B"),
        ("tcp-2", 1, "1040 B"),
    ]
    assert [each["tcp"].partition("max_window=")[2] for each in tcp] == ["100", "40", "40"]
    datagrams = [entry for entry in tomllib.loads(text)["traffic"] if entry.get("kind") == "cbr"]
    assert [(each["rate"], each["packet_size"]) for each in datagrams] == [
        ("800000 bit/s", "500 B"),
        ("448000 bit/s", "210 B"),
    ]
    assert "f, line 12: Application/Traffic/Exponential has no counterpart" in text
    assert "when flows start and stop is not taken over" in text


AGAIN = """
$ns duplex-link $r1 $r2 1.5Mb 20ms RED
Application/Traffic/CBR set interval_ 0.05
for {set i 0} {$i < 5} {incr i} {
  set tcp($i) [new Agent/TCP/Reno]
}
for {set i 5} {$i < 15} {incr i} {
  set tcp($i) [new Agent/TCP/Newreno]
}
set tcp [new Agent/TCP]; set c [new Application/Traffic/CBR]
$tcp set window_ $w
$c set interval_ 5ms
$c set packet_size_ 1000
set tcp [new Agent/TCP/Sack1]
set c [new Application/Traffic/CBR]
$c set rate_ $rate
set f [new Agent/TCP/FullTcp]
set g [$ns create-connection TCP/FullTcp $a TCP/FullTcp $b 0]
"""


def test_variables_that_are_used_again_and_values_that_are_not_known() -> None:
    text = scenario(parse("f", AGAIN), None)
    traffic = tomllib.loads(text)["traffic"]
    tcp = [(each["name"], each["count"]) for each in traffic if "tcp" in each]
    assert tcp == [("tcp-reno", 5), ("tcp-newreno", 10), ("tcp", 1), ("tcp-sack1", 1)]
    cbr = [(each["rate"], each["packet_size"]) for each in traffic if "tcp" not in each]
    assert cbr == [("336000 bit/s", "1000 B"), ("448000 bit/s", "210 B")]  # 210 bytes in 5 ms
    for remark in (
        "f, line 10: window_ $w: no number here: 20 is taken",
        "f, line 15: rate_ $rate: no number here: 448Kb is taken",
        "f, line 15: ns-2 takes interval_ of one source alone: that of all is left out",
        "f, line 17: TCP/FullTcp, which sends both ways, has no counterpart: it is left out",
    ):
        assert remark in text


def test_a_section_that_is_off_does_not_turn_qosmate_off() -> None:
    text = (Path(__file__).parent / "foreign" / "files" / "qosmate-hfsc").read_text()
    found, _ = linked(f"{text}\nconfig autorate 'autorate'\n\toption enabled '0'\n")
    assert found["dumbbell.rate"] == "90 Mbit/s"


def test_a_class_belongs_to_the_only_device_also_if_that_has_no_name() -> None:
    found, _ = linked(
        "qdisc htb 5: root refcnt 5 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000\n"
        "qdisc netem 10: parent 5:1 limit 1000 delay 20ms seed 1\n"
        "class htb 5:1 root leaf 10: prio 0 rate 30Mbit ceil 30Mbit burst 15Kb cburst 1600b\n"
    )
    assert found["dumbbell.reverse_rate"] == "30 Mbit/s"


@pytest.mark.parametrize(
    ("more", "queues"), [("qdisc cake 0: dev d parent 5:2\nqdisc cake 0: dev d parent 5:1\n", 2), ("", 4)]
)
def test_each_transmit_queue_of_cake_mq_is_counted(more: str, queues: int) -> None:
    found, text = linked(f"qdisc cake_mq 5: dev d root bandwidth 95Mbit diffserv3\n{more}")
    assert (found["reverse_aqm.name"], found["reverse_aqm.queues"]) == ("cake_mq", queues)
    assert ("the number of transmit queues is not stated" in text) == (not more)

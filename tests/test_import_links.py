"""Which link a file states where its program has more than one number for it: rates, headers, queues of devices."""

from collections.abc import Mapping
from typing import Any

import pytest

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
    found, _ = linked(text, up=1e7)
    assert {key: found.get(key) for key in wanted} == wanted

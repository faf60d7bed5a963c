"""Configurations and scripts of other programs as scenarios, and files that cannot be read."""

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from aqmlab.cli.app import app
from aqmlab.foreign.model import Unreadable
from aqmlab.foreign.read import parse, read
from aqmlab.foreign.scenario import Given, scenario
from aqmlab.scenario import Scenario

FILES = Path(__file__).parent / "foreign" / "files"
MEASURED = Path(__file__).parent / "measured"


def made(*names: str, **given: Any) -> dict[str, Any]:
    """The scenario of files, with every value filled in."""
    text = scenario(read([FILES / name for name in names]), Given(**given))
    one = Scenario.parse(text)
    one.check()
    return one.resolved


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


CASES: list[tuple[tuple[str, ...], dict[str, Any], dict[str, Any]]] = [
    (
        ("wan.sh",),
        {},
        {
            "dumbbell.rate": "47.5 Mbit/s",
            "dumbbell.reverse_rate": "9.5 Mbit/s",
            "aqm.name": "cake",
            "aqm.bandwidth": "47.5 Mbit/s",
            "aqm.ingress": True,
            "reverse_aqm.name": "htb",
            "reverse_aqm.classes.c10.rate": "4.75 Mbit/s",
            "reverse_aqm.classes.c10.dscp": ["EF"],
            "reverse_aqm.classes.c10.limit": "300 packets",
            "reverse_aqm.classes.c10.aqm.aqm.target": "13 ms",
            "reverse_aqm.classes.c20.priority": 2,
            "reverse_aqm.classes.c1.burst": "15360 B",
        },
    ),
    # 500 kbit/s: sqm-scripts lengthen the target to 33 cells of ATM; 2 Mbit/s: 6.996 ms.
    (
        ("sqm",),
        {},
        {
            "dumbbell.rate": "2 Mbit/s",
            "dumbbell.reverse_rate": "500 kbit/s",
            "dumbbell.framing": "atm overhead 40",
            "aqm.classes.c12.aqm.aqm.target": "6.996 ms",
            "aqm.classes.c12.aqm.aqm.interval": "101.996 ms",
            "aqm.classes.c12.aqm.aqm.ecn": True,
            "aqm.classes.c12.aqm.quantum": "1500 B",
            "reverse_aqm.classes.c12.aqm.quantum": "300 B",
            "aqm.classes.c12.ceil": "1.984 Mbit/s",
            "aqm.classes.c11.dscp": ["CS6", "EF", "AF42"],
            "reverse_aqm.classes.c13.aqm.aqm.target": "27.984 ms",
            "reverse_aqm.classes.c13.aqm.aqm.ecn": False,
            "reverse_aqm.classes.c13.dscp": ["CS1"],
        },
    ),
    (
        ("qosmate",),
        {},
        {
            "dumbbell.rate": "90 Mbit/s",
            "dumbbell.framing": "pppoe-ptm mpu 64",
            "aqm.diffserv": "diffserv4",
            "aqm.flowmode": "dual-dsthost",
            "aqm.ingress": True,
            "aqm.rtt": "60 ms",
            "reverse_aqm.ack_filter": "on",  # 90 Mbit/s is 15 times 6 Mbit/s
            "reverse_aqm.flowmode": "dual-srchost",
        },
    ),
    (("qosmate-hfsc",), {}, {"dumbbell.rate": "90 Mbit/s", "aqm.name": "fq", "reverse_aqm.aqm.name": "codel"}),
    (
        ("cake-autorate.sh",),
        {},
        {"dumbbell.rate": "60 Mbit/s", "reverse_aqm.bandwidth": "15 Mbit/s", "aqm.name": "cake"},
    ),
    (
        ("ShapedDevices.csv", "network.json"),
        {},
        {"dumbbell.rate": "120 Mbit/s", "dumbbell.reverse_rate": "20 Mbit/s", "aqm.diffserv": "diffserv4"},
    ),
    (("ShapedDevices.csv",), {"of": "2"}, {"dumbbell.rate": "2.5 Mbit/s", "aqm.name": "fq"}),
    (
        ("routeros.rsc",),
        {},
        {
            "dumbbell.rate": "95 Mbit/s",
            "dumbbell.reverse_rate": "18.5 Mbit/s",
            "aqm.flowmode": "dual-dsthost",
            "aqm.bandwidth": "auto",
            "reverse_aqm.framing": "pppoe-ptm overhead 44",
            "reverse_aqm.rtt": "60 ms",
            "reverse_aqm.ack_filter": "on",
        },
    ),
    (
        ("routeros.rsc",),
        {"of": "guests"},
        {"dumbbell.rate": "5 Mbit/s", "dumbbell.buffer": "2000 packets", "aqm.aqm.target": "8 ms"},
    ),
    (
        ("ns2-red.tcl",),
        {},
        {
            "dumbbell.rate": "10 Mbit/s",
            "dumbbell.delay": "20 ms",
            "dumbbell.buffer": "60 packets",
            "dumbbell.sender_delay": ["5 ms"],
            "dumbbell.receiver_delay": ["1 ms"],
            "aqm.min_th": 5.0,
            "aqm.ecn": True,
            "aqm.bytes": False,
            "aqm.spacing": "wait",
        },
    ),
    (
        ("ns2-simplex.tcl",),
        {},
        {
            "dumbbell.rate": "15 Mbit/s",
            "dumbbell.delay": "35 ms",
            "dumbbell.buffer": "300 packets",
            "dumbbell.reverse_buffer": "79 packets",
            "dumbbell.sender_delay": ["3 ms"],
            "dumbbell.receiver_delay": ["0 s"],
            "aqm.min_th": 20.0,
            "aqm.gentle": False,
            "aqm.mean_packet": "1000 B",
            "reverse_aqm.name": "droptail",
        },
    ),
    (
        ("ns3-red.cc",),
        {},
        {
            "dumbbell.rate": "1 Mbit/s",
            "dumbbell.delay": "50 ms",
            "dumbbell.buffer": "25 packets",
            "aqm.max_th": 15.0,
            "aqm.bandwidth": "1 Mbit/s",
            "aqm.pkrate": "auto",
            "aqm.linterm": 50.0,
        },
    ),
    (
        ("ns3-codel.txt",),
        {},
        {"dumbbell.rate": "8 Mbit/s", "dumbbell.delay": "20 ms", "dumbbell.buffer": "1500 packets", "aqm.form": "ns3"},
    ),
    (
        ("mahimahi.sh",),
        {},
        {
            "dumbbell.delay": "20 ms",
            "dumbbell.buffer": "150000 B",
            "dumbbell.reverse_buffer": "100 packets",
            "dumbbell.reverse_loss": 0.01,
            "reverse_aqm.name": "codel",
            "aqm.name": "droptail",
        },
    ),
    (
        ("ios-wred.cfg",),
        {},
        {
            "dumbbell.rate": "20 Mbit/s",
            "dumbbell.buffer": "128 packets",
            "aqm.name": "wred",
            "aqm.min_th": [20.0, 32.0],
            "aqm.w_q": 2.0**-10,
        },
    ),
]


@pytest.mark.parametrize(
    ("names", "given_", "wanted"), CASES, ids=lambda each: each[0] if isinstance(each, tuple) else ""
)
def test_a_file_of_another_program_is_the_link_that_it_states(
    names: tuple[str, ...], given_: Mapping[str, Any], wanted: Mapping[str, Any]
) -> None:
    found = flat(made(*names, **given_))
    assert {key: found.get(key) for key in wanted} == wanted


def test_measurements_give_the_traffic() -> None:
    text = scenario(
        read([FILES / "wan.sh", *(MEASURED / f"{name}.json" for name in ("iperf3-bidir", "irtt", "iperf3-udp"))])
    )
    one = Scenario.parse(text)
    one.check()
    entries = {each["name"]: each for each in one.resolved["traffic"]}
    assert list(entries) == ["iperf3-down", "iperf3-up", "irtt", "iperf3-up-3"]
    assert entries["irtt"]["interval"] == "20 ms"
    assert entries["irtt"]["packet_size"] == "88 B"
    assert entries["iperf3-up-3"]["rate"] == "5 Mbit/s"
    assert entries["iperf3-up"]["from"] == ["receivers"]


def test_every_line_has_its_origin() -> None:
    text = scenario(read([FILES / "wan.sh"]))
    lines = text.splitlines()
    table = lines[lines.index("[dumbbell]") + 1 : lines.index("", lines.index("[dumbbell]"))]
    assert len(table) > 5
    for line in table:
        assert re.search(r"# (\S*wan\.sh, line \d+: |.*assumed|Ethernet's header|each class)", line), line
    assert "wan.sh, line 22: nat: no addresses are translated here" in text


REFUSED = {
    "nothing": ("", r"f: empty: save again what the program prints"),
    "blanks": (" \n\n", r"f: empty"),
    "a photograph": ("\x89PNG\r\n\x1a\n\0\0", r"f: no text: one of tc -s"),
    "prose": (
        "Dear Sir,\nthe line is slow.\n",
        r"f: of no format that is known: one of tc .*; it begins with 'Dear Sir,'",
    ),
    "torn JSON": ('[{"kind":"htb","handle":"1:"', r"f, line 1: torn JSON: copy it whole"),
    "an empty list": ("[]", r"f: an empty list: the command found nothing: name a device"),
    "another JSON": ('{"a": 1}', r"f: JSON of no format that is known"),
    "a torn line": (
        "qdisc fq_codel 0: dev eth0 root\nqdisc htb 1: dev\n",
        r"f, line 2: .* the line is torn behind dev",
    ),
    "a bad number": (
        "qdisc fq_codel 10: dev eth0 root refcnt 2 limit many\n",
        r"f, line 1: many: must be a whole number: save what tc prints",
    ),
    "a variable": ("tc qdisc add dev $NIC root cake\n", r"f, line 1: \$NIC has no value in this file: write the value"),
    "open quotes": (
        "config queue 'wan\n\toption enabled '1'\n",
        r"f, line 1: .*: no closing quotation: close the quotes",
    ),
    "a rate in words": (
        "config queue 'wan'\n\toption enabled '1'\n\toption interface 'a'\n\toption upload 'fast'\n",
        r"f, line 4: option upload 'fast': must be a whole number of kbit/s",
    ),
    "no classes": (
        "qdisc htb 1: dev eth0 root refcnt 2 default 0x10\n",
        r"f, line 1: htb of eth0 without its classes: give",
    ),
    "no counterpart": (
        "qdisc hhf 8001: dev eth0 root refcnt 2 limit 1000p\n",
        r"f, line 1: hhf has no counterpart here",
    ),
    "no queue": ("qdisc noqueue 0: dev eth0 root refcnt 2\n", r"f: no queue but noqueue: give `tc -s -d qdisc show`"),
    "nothing enabled": (
        "config queue 'wan'\n\toption enabled '0'\n\toption interface 'a'\n",
        r"f: no queue \(sqm queue 'wan' is not enabled\): give `tc -s -d qdisc show`",
    ),
    "a tree without limits": (
        "/queue tree\nadd name=Upload parent=global queue=default\n",
        r"f: no queue: give the queues that have a max-limit",
    ),
    "sites without circuits": (
        '{"Site": {"downloadBandwidthMbps": 9, "uploadBandwidthMbps": 9}}',
        r"f: no queue: give ShapedDevices.csv beside it",
    ),
    "no rate": ("qdisc fq_codel 0: dev eth0 root refcnt 2\n", r"eth0 has no shaper, .*: give it with --up 50mbit"),
    "two devices": (
        "qdisc fq_codel 0: dev eth0 root refcnt 2\nqdisc fq_codel 0: dev eth1 root refcnt 2\n",
        r"f: eth0, eth1 have queues: say with --wan DEVICE",
    ),
    "a class alone": (
        "class htb 1:10 root prio 0 rate 1Mbit ceil 1Mbit\n",
        r"f, line 1: htb: of which device it is cannot be told: write the command above it, as in `# tc -s -d class",
    ),
    "a recording that is not there": ("mm-link a.up a.down", r"f, line 1: a.down: no such file beside it"),
    "a queue of ns-2's without a counterpart": (
        "$ns duplex-link $a $b 1Mb 10ms BLUE",
        r"f, line 1: queue BLUE has no counterpart here; those",
    ),
    "a number that nothing can have": (
        "qdisc noqueue 0: dev lo root refcnt 2\nqdisc sfq 1: dev e root limit 127p divisor 5\n",
        r"f, line 2: no simulation can have reverse_aqm.divisor = 5: must be a power of two",
    ),
    "two commands in a line": (
        "qdisc htb 1: dev a root refcnt 2\nqdisc htb 1: dev b root refcnt 2\n"
        "# tc class show dev a; tc class show dev b\n"
        "class htb 1:1 root prio 0 rate 8Mbit ceil 8Mbit burst 1600b cburst 1600b\n",
        r"f, line 4: htb: of which device it is cannot be told: write the command above it",
    ),
    "a circle of classes": (
        "tc qdisc add dev e root handle 1: htb\ntc class add dev e parent 1:2 classid 1:1 htb rate 1mbit\n"
        "tc class add dev e parent 1:1 classid 1:2 htb rate 1mbit\n",
        r"f, line 2: class 1:1 is above itself: correct its parent",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_line_and_the_cure(case: str) -> None:
    text, message = REFUSED[case]
    with pytest.raises(Unreadable, match=message) as refused:
        scenario(parse("f", text), Given(up=1e7) if "divisor" in text else None)
    assert "\n" not in str(refused.value)


def test_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    line = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth {}Mbit besteffort rtt 100ms raw overhead 0\n"
    for name, rate in (("a", 90), ("b", 80), ("c", 90)):
        (tmp_path / name).write_text(line.format(rate))
    with pytest.raises(
        Unreadable, match=r"b, line 1: eth0 has cake .* here and cake .*a, line 1: give the state of one time"
    ):
        read([tmp_path / "a", tmp_path / "b"])
    assert len(read([tmp_path / "a", tmp_path / "c"]).qdiscs) == 1


def test_what_the_kernel_has_goes_before_what_a_script_wanted(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("tc qdisc replace dev eth0 root cake bandwidth 90mbit\n")
    (tmp_path / "shown").write_text("qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 50Mbit diffserv3\n")
    both = read([tmp_path / "script", tmp_path / "shown"])
    assert [each.options["bandwidth"] for each in both.qdiscs] == [50e6]
    assert [each.options["bandwidth"] for each in both.wanted] == [90e6]


def test_compressed_files_are_read_and_torn_ones_refused(tmp_path: Path) -> None:
    packed = gzip.compress((FILES / "sqm").read_bytes())
    (tmp_path / "sqm.gz").write_bytes(packed)
    assert read([tmp_path / "sqm.gz"]).sections[0].options["upload"] == "500"
    (tmp_path / "sqm.gz").write_bytes(packed[:60])
    with pytest.raises(Unreadable, match=r"sqm.gz: compressed by gzip, and torn"):
        read([tmp_path / "sqm.gz"])


SEEDS = [path.read_text() for path in sorted(FILES.iterdir()) if path.suffix != ".trace"] + [
    each[key] if isinstance(each[key], str) else json.dumps(each[key])
    for each in json.loads((FILES.parent / "tc.json").read_text())[::5]
    for key in ("text", "json")
]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A file with some of its lines and characters lost, doubled or replaced."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(len(text) - 1, 0)))
        length = draw(st.integers(0, 30))
        instead = draw(
            st.one_of(
                st.sampled_from(["", " ", "\n", "-1", "0", "1e99", "'", '"', "%", "{", "}", "$x", "\\"]),
                st.text(max_size=5),
            )
        )
        text = text[:at] + instead + text[at + length :]
    return text


def refusal(text: str) -> str:
    try:
        scenario(parse("f", text), Given(down=1e7, up=1e6))
    except Unreadable as refused:
        return str(refused)
    return ""


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(damaged(), st.text(max_size=200)))
def test_no_text_ends_a_reader_with_anything_but_the_refusal(text: str) -> None:
    assert "\n" not in refusal(text)


def test_the_command_writes_a_file_that_validates(tmp_path: Path) -> None:
    out = tmp_path / "link.toml"
    ran = CliRunner().invoke(app, ["import", str(FILES / "wan.sh"), "--out", str(out), "--rtt", "40ms"])
    assert ran.exit_code == 0, ran.output
    assert Scenario.load(out).resolved["dumbbell"]["delay"] == "2 ms"
    ran = CliRunner().invoke(app, ["validate", str(out)])
    assert "valid: cake" in ran.output


def test_round_trips_of_hosts_near_and_far(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["import", str(FILES / "wan.sh"), "--out", str(tmp_path), "--rtt", "20-80ms"])
    assert ran.exit_code == 0, ran.output
    table = Scenario.load(tmp_path / "link.toml").resolved["dumbbell"]
    # One way: the link's 1 ms twice, and what is left of 20, 10 and 40 ms.
    assert (table["delay"], table["receiver_delay"]) == ("1 ms", ["1 ms"])
    assert table["sender_delay"] == ["18 ms", "8 ms", "38 ms"]
    ran = CliRunner().invoke(app, ["import", str(FILES / "wan.sh"), "--rtt", "80-20ms"])
    assert ran.exit_code == 2
    assert "from the shortest to the longest" in ran.output


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("hello\n")
    ran = CliRunner().invoke(app, ["import", str(tmp_path / "f")])
    assert ran.exit_code == 2
    assert "of no format that is known" in ran.output

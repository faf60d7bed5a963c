"""`aqmlab audit`: each rule on sets of files with one fault, and none of them on sets that are right."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli

from aqmlab.advice.advise import configurations
from aqmlab.advice.link import Link
from aqmlab.advice.runs import Runs
from aqmlab.audit.audit import Audit, audit
from aqmlab.audit.cost import costed
from aqmlab.audit.findings import Cost, Grade
from aqmlab.audit.router import Given
from aqmlab.cli import terminal
from aqmlab.foreign.dummynet import rate
from aqmlab.foreign.read import parse, read

FOLDER = Path(__file__).parent / "audit"
SETS = FOLDER / "right"

LINK = Given(down=100e6, up=20e6, rtt=0.03)
LINKS = {
    "cake": Given(100e6, 40e6, 0.03, "pppoe-ptm"),
    "simple": LINK,
    "opnsense": LINK,
    "cake_mq": Given(up=1e9),
    "qosmate": LINK,
    "two_links": LINK,
    "sqm_alone": Given(100e6, 40e6, 0.03, "pppoe-ptm"),
    "adsl": Given(16e6, 1e6, 0.04, "pppoe-llcsnap"),
}
"""The link of each set."""

Edits = Sequence[tuple[str, str, str]]


def audited(
    folder: Path, name: str, edits: Edits = (), more: Mapping[str, str] | None = None, given: Given | None = None
) -> Audit:
    """Audit a set after edits, each of a file by a regular expression, and with further files."""
    texts = {file.name: file.read_text() for file in sorted((SETS / name).iterdir())}
    for file, pattern, instead in edits:
        if pattern == "":
            del texts[file]
            continue
        changed = re.sub(pattern, instead, texts[file], flags=re.MULTILINE)
        assert changed != texts[file], f"{file} has no {pattern}"
        texts[file] = changed
    for file, text in {**texts, **(more or {})}.items():
        (folder / file).write_text(text)
    return audit(read(sorted(folder.iterdir())), given)


def rules(found: Audit) -> set[str]:
    return {each.rule for each in found.findings}


@pytest.mark.parametrize("name", [each.name for each in sorted(SETS.iterdir())])
@pytest.mark.parametrize("known", [True, False])
def test_a_set_that_is_right_gives_no_finding(name: str, known: bool, tmp_path: Path) -> None:
    found = audited(tmp_path, name, given=LINKS.get(name) if known else None)
    assert not found.findings, found


FAULTS = [each for file in sorted(FOLDER.glob("faults/*.toml")) for each in tomllib.loads(file.read_text())["fault"]]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_is_found_and_nothing_else(fault: dict[str, Any], tmp_path: Path) -> None:
    known = {key: value or None for key, value in fault.get("given", {}).items()}
    given = replace(LINKS[fault["set"]], **known)
    found = audited(tmp_path, fault["set"], fault.get("edits", ()), fault.get("files"), given)
    assert rules(found) == set(fault["finds"]), found
    for each in found.findings:
        assert each.evidence
        assert each.grade in (Grade.WRONG, Grade.DOUBTFUL)
        lines = each.mends or {}
        assert lines
        if "tc" in lines:  # the lines are tc's
            assert not parse("mend.sh", f"{lines['tc']}\n").unread


@pytest.mark.parametrize(
    ("rate", "words", "grade", "told"),
    [
        # (64 + 30) · 65 / 64 of 64 + 22 bytes are 1.11, and (1500 + 30) · 65 / 64 of 1500 + 22 are 1.021.
        (
            "9500kbit",
            "noatm overhead 22",
            Grade.DOUBTFUL,
            "packets of 64 bytes take 10.55 Mbit/s of the link's 10 Mbit/s",
        ),
        ("12mbit", "noatm overhead 22", Grade.DOUBTFUL, "at 9.5 Mbit/s packets of 64 bytes take 10.55 Mbit/s"),
        ("9900kbit", "noatm overhead 22", Grade.WRONG, "even full packets take 10.11 Mbit/s at 9.9 Mbit/s"),
        ("8mbit", "noatm overhead 22", Grade.NOTE, "packets of 64 bytes take 8.881 Mbit/s of the link's 10 Mbit/s"),
        ("9500kbit", "noatm overhead 30", None, ""),
        ("9500kbit", "ptm overhead 30", None, ""),
    ],
)
def test_an_overhead_is_judged_by_what_packets_take_of_the_link(
    rate: str, words: str, grade: Grade | None, told: str
) -> None:
    line = f"tc qdisc replace dev pppoe-wan root cake bandwidth {rate} besteffort {words}\n"
    found = of_lines(line, Given(up=10e6, layer="pppoe-ptm"))
    (one,) = (each for each in (*found.findings, *found.notes) if each.rule == "overhead") if grade else (None,)
    assert (one.grade if one else None) is grade
    assert told in (one.title if one else "")


def test_a_64th_for_which_sqm_has_no_word_is_mended_by_the_rate(tmp_path: Path) -> None:
    edits = [("tc.txt", "38Mbit diff", "39900Kbit diff"), ("sqm", "38000", "39900")]
    found = audited(tmp_path, "cake", edits, given=Given(100e6, 40e6, 0.03, "bridged-ptm overhead 34"))
    (line,) = mended(found, "overhead")
    assert line.startswith(f"uci set sqm.wan.upload='{40_000 * 0.95 * 64 // 65:.0f}'")
    (tmp_path / "more").mkdir()
    found = audited(tmp_path / "more", "cake", [("tc.txt", "overhead 34", "overhead 64")], given=LINKS["cake"])
    assert all("sqm.wan.overhead='30'" in each for each in mended(found, "overhead"))


@pytest.mark.parametrize(
    ("known", "lacking"),
    [(Given(), "Give --down and --up,"), (Given(up=40e6), "Give --down,"), (Given(down=100e6), "Give --up,")],
)
def test_what_was_not_checked_for_want_of_an_option_is_told(known: Given, lacking: str, tmp_path: Path) -> None:
    for name in ("cake", "opnsense"):
        (tmp_path / name).mkdir()
        untold = {each.rule: each.title for each in audited(tmp_path / name, name, given=known).untold}
        assert lacking in untold["above-link"]
        assert ("--link-layer" in untold.get("overhead", "")) == (name == "cake")
    (tmp_path / "all").mkdir()
    assert not audited(tmp_path / "all", "cake", given=LINKS["cake"]).untold


NOTES = {
    "other-queue": (
        [("tc.txt", " nat ", " nonat "), ("sqm", "'nat dual", "'dual")],
        "nonat in place of nat on pppoe-wan",
    ),
    "ingress-unseen": ([("tc.txt", "17213213 pkt", "57213213 pkt")], "17,213,113 of them went through ifb4pppoe-wan"),
}


@pytest.mark.parametrize("rule", NOTES)
def test_what_may_be_meant_is_a_note(rule: str, tmp_path: Path) -> None:
    edits, told = NOTES[rule]
    found = audited(tmp_path, "cake", edits, given=LINKS["cake"])
    assert not found.findings
    (note,) = found.notes
    assert note.rule == rule
    assert told in note.title
    assert f"To know:\n- {note.title[:20]}" in repr(found)
    assert [each["rule"] for each in found.document()["notes"]] == [rule]


def mended(found: Audit, rule: str) -> list[str]:
    """Return the lines that mend a rule's findings."""
    return [
        line
        for each in found.findings
        if each.rule == rule
        for text in each.mends.values()
        for line in text.split("\n")
    ]


LEAF = "tc class change dev eth1 parent 1:1 classid 1:12 htb prio 2 quantum"
BUCKETS_OF_LEAF = "burst 1599 cburst 2373"


@pytest.mark.parametrize(
    ("edits", "rule", "line"),
    [
        (
            [("class.txt", "quantum 1514 rate 3166", "quantum 200000 rate 3166")],
            "quantum",
            f"{LEAF} 1514 rate 3166kbit ceil 18984kbit {BUCKETS_OF_LEAF}",
        ),
        (
            [("class.txt", "rate 3166Kbit", "rate 7Mbit")],
            "children-beyond-parent",
            f"{LEAF} 1514 rate 6541091bit ceil 18984kbit {BUCKETS_OF_LEAF}",
        ),
        (
            [("class.txt", "rate 19Mbit ceil 19Mbit (.*) burst 2375b", r"rate 19Mbit ceil 190Mbit \1 burst 2000b")],
            "ceiling-without-lender",
            "tc class change dev eth1 classid 1:1 htb rate 190000kbit ceil 190000kbit burst 2375 cburst 2375",
        ),
        (
            [("class.txt", "rate 19Mbit ceil 19Mbit", "rate 38Mbit ceil 38Mbit"), ("class.txt", "3166K", "6332K")],
            "above-link",
            f"{LEAF} 1514 rate 3166kbit ceil 9492kbit burst 1600 cburst 1600",
        ),
    ],
)
def test_a_mended_class_of_htb_keeps_its_other_words(edits: Edits, rule: str, line: str, tmp_path: Path) -> None:
    assert line in mended(audited(tmp_path, "simple", [*edits, ("sqm", "", "")], given=LINK), rule)


def test_the_mend_of_an_overhead_takes_cells_away(tmp_path: Path) -> None:
    edits = [("tc.txt", "noatm overhead 34 mpu 68", "atm overhead 44"), ("sqm", "", "")]
    for number, (layer, words) in enumerate({"overhead 34": "noatm overhead 34", "pppoe-ptm": "pppoe-ptm"}.items()):
        (folder := tmp_path / str(number)).mkdir()
        found = audited(folder, "cake", edits, given=Given(100e6, 40e6, 0.03, layer))
        assert f"tc qdisc change dev pppoe-wan root cake {words}" in mended(found, "overhead")


def test_a_section_without_a_name_is_mended_by_its_number(tmp_path: Path) -> None:
    edits = [("sqm", "config queue 'eth1'", "config queue 'other'\n\nconfig queue"), ("sqm", "95000", "99000")]
    found = audited(tmp_path, "simple", [*edits, ("class.txt", "95Mbit", "99Mbit")], given=LINK)
    (line,) = mended(found, "above-link")
    assert line.startswith("uci set sqm.@queue[1].download='95000';")


def of_lines(lines: str, given: Given) -> Audit:
    return audit(parse("up.sh", lines), given)


@pytest.mark.parametrize("waits", ["latency 20ms", "limit 30000"])
def test_the_mend_of_tbf_keeps_its_size_table_and_its_wait(waits: str) -> None:
    table, words = "stab overhead 26 linklayer atm mpu 64", f"rate 21mbit burst 5000 {waits}"
    found = of_lines(f"tc qdisc add dev eth1 root handle 1: {table} tbf {words}\n", Given(up=20e6))
    written = waits.replace("20ms", "20000us")
    line = f"tc qdisc change dev eth1 root {table} tbf rate 19000kbit burst 2375 {written}"
    assert line in mended(found, "above-link")


@pytest.mark.parametrize(("device", "finds"), [("ifb4eth1", False), ("ppp0", False), ("eth1", True)])
def test_a_bare_class_waits_as_long_as_its_device_lets_it(device: str, finds: bool) -> None:
    lines = (
        "tc qdisc add dev {0} root handle 1: htb default 10\ntc class add dev {0} parent 1: classid 1:10 htb rate {1}\n"
    )
    assert ("unmanaged-queue" in rules(of_lines(lines.format(device, "20mbit"), Given()))) == finds


def test_the_queue_that_htb_shows_is_that_of_its_device(tmp_path: Path) -> None:
    edits = [
        ("class.txt", "(1:13 parent 1:1) leaf 130:", r"\1"),
        ("tc.txt", "^qdisc fq_codel 130: (.*\n)+?(?=qdisc)", ""),
    ]
    assert "unmanaged-queue" in rules(audited(tmp_path, "simple", edits))
    assert "unmanaged-queue" not in rules(
        audited(tmp_path, "simple", [*edits, ("tc.txt", "direct_qlen 1000", "direct_qlen 50")])
    )


@pytest.mark.parametrize(
    ("above", "inside", "finds"),
    [
        ("ls m2 19mbit", "ls m2 19mbit", True),
        ("ls m2 19mbit ul m2 19mbit", "ls m2 19mbit", False),
        ("ls m2 1gbit", "ls m2 19mbit ul m2 19mbit", False),
    ],
)
def test_hfsc_shapes_by_its_upper_limit_alone(above: str, inside: str, finds: bool) -> None:
    lines = (
        "tc qdisc add dev eth1 root handle 1: hfsc default 10\n"
        f"tc class add dev eth1 parent 1: classid 1:1 hfsc {above}\n"
        f"tc class add dev eth1 parent 1:1 classid 1:10 hfsc {inside}\n"
        "tc qdisc add dev eth1 parent 1:10 fq_codel\n"
    )
    assert ("nothing-shapes" in rules(of_lines(lines, Given(up=20e6)))) == finds


def test_a_queue_of_dummynet_is_mended_by_its_whole_line_after_a_flush(tmp_path: Path) -> None:
    edits = [
        ("pipe.txt", "^(q10001 .*) droptail", r"\1 AQM CoDel target 5ms interval 100ms NoECN"),
        ("dnctl.conf", "10001 weight 100", "10001 mask dst-ip 0xffffffff weight 100 codel target 9ms noecn"),
    ]
    line, then = mended(audited(tmp_path, "opnsense", edits), "ecn-off")
    assert line == "queue 10001 config pipe 10001 weight 100 mask dst-ip 0xffffffff codel ecn target 9ms"
    assert then.startswith("dnctl -q flush && configctl ipfw reload")


def test_a_rate_of_sqm_with_a_unit_is_none(tmp_path: Path) -> None:
    edits = [("sqm", "'eth1'$", "'br-lan'"), ("sqm", "'95000'", "'85mbit'")]
    (found,) = (each for each in audited(tmp_path, "simple", edits).findings if each.rule == "home-side")
    assert "also slows what stays at home" in found.title


def test_every_rule_has_a_fault() -> None:
    """The names of rules are those in the sources of the rules."""
    folder = Path(audit.__code__.co_filename).parent / "rules"
    sources = "".join(file.read_text() for file in folder.glob("*.py"))
    named = set(re.findall(r'Finding\(\s*"([a-z0-9-]+)"', sources))
    guide = (ROOT / "docs/guide/audit.md").read_text()
    assert not [name for name in named if f"`{name}`" not in guide]
    assert named - {name for fault in FAULTS for name in fault["finds"]} == {"classes-unused", "no-classes"}


def test_what_advice_prints_is_right(tmp_path: Path) -> None:
    """The lines of every configuration that advice has for a link, audited on that link."""
    for down, up, rtt, layer in (
        ("50mbit", "10mbit", "20ms", "pppoe-ptm"),
        ("1gbit", "1mbit", "90ms", "pppoe-llcsnap"),
    ):
        for label, made in configurations(Link.given(down, up, rtt, "home", layer)).items():
            for text in (made.tc, made.uci):
                if text:
                    (tmp_path / "lines").write_text(f"{text}\n")
                    found = audit(read([tmp_path / "lines"]), Given.of(down, up, rtt, layer))
                    assert found.lanes, label
                    assert not found.findings, (label, found)


def test_a_cost_is_a_paired_difference(tmp_path: Path) -> None:
    given = Given.of("4mbit", "1mbit", "10-20ms", "")
    edits = [
        ("tc.txt", "38Mbit", "1100Kbit"),
        ("tc.txt", "95Mbit", "3800Kbit"),
        ("tc.txt", " split-gso", " no-split-gso"),
    ]
    (tmp_path / "set").mkdir()
    found = audited(tmp_path / "set", "cake", [*edits, ("sqm", "", "")], given=given)
    assert [each.rule for each in found.findings] == ["above-link", "no-split-gso", "no-split-gso"]
    (above, unsplit, _), stopped = costed(found.findings, found.router, tmp_path / "store", 2)
    assert stopped is None
    assert isinstance(above.cost, Cost)
    present, mended, more = above.cost.delay
    assert present.n == mended.n == more.n == 2
    assert None not in (present.mean, mended.mean, more.mean)
    assert more.mean == pytest.approx(present.mean - mended.mean)
    assert more.mean > 0.05  # the modem's queue of half a second, in part
    assert mended.mean < 0.06
    assert 0.2e6 < (above.cost.goodput[1].mean or 0) < 0.95e6
    assert above.cost.link == "4 Mbit/s down and 1 Mbit/s up, round trips of 10 to 20 ms"
    assert isinstance(unsplit.cost, str)


def test_the_cost_of_a_fault_is_that_of_it_alone(tmp_path: Path) -> None:
    """A second fault in the same direction does not hide what mending the first one brings."""
    given = Given(4e6, 1e6, 0.02, "pppoe-llcsnap")
    edits = [
        ("tc.txt", "38Mbit", "1100Kbit"),
        ("tc.txt", "95Mbit", "3800Kbit"),
        ("tc.txt", r"^(qdisc cake 8006.*)noatm overhead 34 mpu 68", r"\1atm overhead 40"),
    ]
    (tmp_path / "set").mkdir()
    found = audited(tmp_path / "set", "cake", [*edits, ("sqm", "", "")], given=given)
    assert [each.rule for each in found.findings] == ["above-link", "overhead"]
    for each in costed(found.findings, found.router, tmp_path / "store", 2)[0]:
        assert isinstance(each.cost, Cost)
        present, mended, _ = each.cost.delay
        assert None not in (present.mean, mended.mean)
        assert mended.mean < 0.08 < present.mean


def run(quick_cli: Cli, tmp_path: Path, *arguments: str) -> Any:
    for file in (SETS / "cake").iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace("38Mbit diff", "41Mbit diff"))
    return quick_cli("audit", "tc.txt", *arguments)


def test_the_command_prints_findings_and_ends_with_their_status(quick_cli: Cli, tmp_path: Path) -> None:
    options = ("--down", "100mbit", "--up", "40mbit", "--rtt", "20ms", "--no-cost")
    done = run(quick_cli, tmp_path, *options)
    assert done.returncode == terminal.FOUND
    assert done.stdout.startswith("1 fault found.\n")
    assert (
        "pppoe-wan: cake, shapes to 41 Mbit/s; runs, and has held packets back 4,620,934 times in 5,612,001"
        in done.stdout
    )
    assert "1. wrong: The shaper of pppoe-wan has 41 Mbit/s, which is not below the link's 40 Mbit/s up" in done.stdout
    assert "packets 5612001, overlimits 4620934" in done.stdout
    assert "tc.txt, line 13: qdisc cake 8005: dev pppoe-wan" in done.stdout
    assert "tc qdisc change dev pppoe-wan root cake bandwidth 38000kbit" in done.stdout
    document = json.loads(run(quick_cli, tmp_path, *options, "--json").stdout)
    (finding,) = (each for each in document["findings"] if each["rule"] == "above-link")
    assert finding["grade"] == "wrong"
    assert finding["evidence"][0]["line"] == 13
    assert document["link"]["up"] == 40e6


def test_a_set_that_is_right_ends_with_status_0(quick_cli: Cli, tmp_path: Path) -> None:
    done = run(quick_cli, tmp_path, "--down", "100mbit", "--up", "50mbit", "--link-layer", "pppoe-ptm")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing is wrong with these queues" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt"], "'none.txt': No such file or directory"),
        (["tc.txt", "--up", "40ms"], "40ms: must be a rate above 0"),
        (["tc.txt", "--rtt", "0ms"], "0ms: must be above 0, from the shortest to the longest"),
        (["tc.txt", "--link-layer", "hops"], "hops: must be tc's words for CAKE: docsis, pppoe-ptm,"),
        (["tc.txt", "--link-layer", "cable"], "cable: must be tc's words for CAKE: docsis"),
        (
            ["tc.txt", "--link-layer", "VDSL2"],
            "VDSL2: must be tc's words for CAKE: pppoe-ptm, or bridged-ptm for VDSL wi",
        ),
        (["tc.txt", "--link-layer", "FTTH"], "FTTH: must be tc's words for CAKE: ethernet"),
        (["empty.txt"], "empty.txt: empty: save again"),
        (["iperf3.json"], "iperf3.json: no queue and no configuration of one: give what `tc -s -d qdisc show` prints"),
    ],
)
def test_bad_input_is_refused_in_one_line(quick_cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "tc.txt").write_text((SETS / "cake/tc.txt").read_text())
    (tmp_path / "iperf3.json").write_text('{"start": {"test_start": {"protocol": "TCP"}}, "intervals": []}')
    done = quick_cli("audit", *arguments)
    assert done.returncode == terminal.BAD_USAGE
    assert message in " ".join(done.stderr.split())


def test_dummynet_is_read_as_it_is_printed(tmp_path: Path) -> None:
    state = read([SETS / "opnsense" / name for name in ("sched.txt", "pipe.txt", "rules.txt", "dnctl.conf")])
    assert not state.unread
    by_handle = {each.handle: each for each in state.qdiscs}
    assert by_handle["10000:"].options == {"bandwidth": 95e6, "delay": 0.0}
    scheduler = by_handle["s10000:"]
    assert (scheduler.kind, scheduler.device) == ("fq_codel", "pipe 10000")
    values = {
        "active": 1,
        "target": 0.005,
        "interval": 0.1,
        "quantum": 1514,
        "limit": 10240,
        "flows": 1024,
        "ecn": True,
    }
    assert scheduler.options == values
    assert scheduler.statistics is not None
    assert (scheduler.statistics["packets"], scheduler.statistics["drops"]) == (8123, 12)
    assert by_handle["q141072:"].options == {"aqm": "droptail", "limit": 50}
    assert [each.target for each in state.filters] == ["queue 10000", "queue 10001"]
    assert state.sections[0].options == {"bw": "95Mbit/s", "type": "fq_codel", "ecn": ""}


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (
            "pipe 1 config bw 10MBytes/s queue 50 codel target 15ms ecn",
            {"bw": "10MBytes/s", "queue": "50", "codel": ""},
        ),
        ("/sbin/ipfw -q queue 3 config pipe 1 mask dst-ip 0xffffffff weight 7 codel", {"mask": "dst-ip 0xffffffff"}),
        ("dnctl sched 2 config pipe 1 type fq_pie mask src-ip6 /64", {"type": "fq_pie", "mask": "src-ip6 /64"}),
    ],
)
def test_a_line_of_dummynet_is_read(line: str, options: Mapping[str, str]) -> None:
    (section,) = parse("dnctl.conf", f"{line}\n").sections
    assert options.items() <= section.options.items()


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("95Mbit/s", 95e6),
        ("95.000 Mbit/s", 95e6),
        ("10MBytes/s", 80e6),
        ("512Kbit/s", 512e3),
        ("0", None),
        ("unlimited", None),
    ],
)
def test_a_rate_of_dummynet_is_read(text: str, bits: float | None) -> None:
    assert rate(text) == bits


def test_ctrl_c_keeps_the_costs_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edits = [("tc.txt", "38Mbit", "1100Kbit"), ("tc.txt", "95Mbit", "4200Kbit"), ("sqm", "", "")]
    (tmp_path / "set").mkdir()
    found = audited(tmp_path / "set", "cake", edits, given=Given(4e6, 1e6, 0.02))
    perform, calls = Runs.perform, []

    def once(runs: Runs, wanted: Any) -> BaseException | None:
        calls.append(1)
        return perform(runs, wanted) if len(calls) == 1 else KeyboardInterrupt()

    monkeypatch.setattr(Runs, "perform", once)
    (first, second), stopped = costed(found.findings, found.router, tmp_path / "store", 1)
    assert isinstance(first.cost, Cost)
    assert second.cost is None
    assert isinstance(stopped, KeyboardInterrupt)

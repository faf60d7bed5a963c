"""`aqmlab audit`: each rule on sets of files with one fault, and none of them on sets that are right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from aqmlab.audit.audit import Audit, audit
from aqmlab.audit.findings import Grade
from aqmlab.audit.router import Given
from aqmlab.foreign.read import read

SETS = Path(__file__).parent / "audit"

LINK = Given(down=100e6, up=20e6, rtt=0.03)
LINKS = {
    "cake": Given(100e6, 40e6, 0.03, "pppoe-ptm"),
    "simple": LINK,
    "opnsense": LINK,
    "cake_mq": Given(up=1e9),
    "qosmate": LINK,
    "plain": LINK,
}
"""The link of each set."""

Edits = Sequence[tuple[str, str, str]]


def audited(folder: Path, name: str, edits: Edits = (), more: Mapping[str, str] | None = None, given: Given | None = None) -> Audit:
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


CAKE, SIMPLE, SENSE, MQ = "cake", "simple", "opnsense", "cake_mq"
IDLE = [("tc.txt", r"dropped \d+, overlimits \d+", "dropped 0, overlimits 0"), ("tc.txt", r"^(  drops|  marks) .*$", r"\1 0 0 0")]
NOTHING = r"\A"

BROKEN: Mapping[str, tuple[str, Edits, Mapping[str, str], set[str]]] = {
    # 1. The shaper is at the rate of the link or above.
    "cake above": (CAKE, [("tc.txt", "38Mbit diff", "42Mbit diff"), ("sqm", "38000", "42000")], {}, {"above-link"}),
    "cake download above": (CAKE, [("tc.txt", "95Mbit best", "99Mbit best"), ("sqm", "95000", "99000")], {}, {"above-link"}),
    "htb above": (SIMPLE, [("class.txt", "rate 19Mbit ceil 19Mbit", "rate 21Mbit ceil 21Mbit"), ("sqm", "19000", "21000")], {}, {"above-link"}),
    "pipe above": (SENSE, [("sched.txt", "19.000", "20.500"), ("pipe.txt", "19.000", "20.500"), ("dnctl.conf", "19M", "20.5M")], {}, {"above-link"}),
    "pipe of a configuration above": (SENSE, [("sched.txt", "", ""), ("pipe.txt", "", ""), ("dnctl.conf", "95M", "120M")], {}, {"above-link"}),
    # 2. Nothing shapes.
    "no shaper": (SIMPLE, [("tc.txt", r"^qdisc htb 1: dev eth1(.*\n)*\Z", "qdisc fq_codel 0: dev eth1 root limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn\n Sent 771231231 bytes 2912312 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"), ("sqm", "", ""), ("class.txt", "", ""), ("filters.txt", "", "")], {}, {"nothing-shapes"}),
    "no shaper for downloads": (SIMPLE, [("tc.txt", r"^qdisc ingress(.*\n)*\Z", ""), ("class.txt", r"^root.*ifb4eth1(.*\n)*\Z", ""), ("sqm", "95000", "0"), ("filters.txt", "", "")], {}, {"nothing-shapes"}),
    "mq of fq_codel, a gateway": (SIMPLE, [("tc.txt", r"^qdisc htb 1: dev eth1(.*\n)*\Z", "qdisc mq 0: dev eth1 root\n Sent 771231231 bytes 2912312 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\nqdisc fq_codel 0: dev eth1 parent :1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn\n Sent 771231231 bytes 2912312 pkt (dropped 0, overlimits 0 requeues 0)\n"), ("sqm", "", ""), ("class.txt", "", ""), ("filters.txt", "", "")], {}, {"nothing-shapes"}),
    # 3. Another queue.
    "shaper below pppoe": (CAKE, [("tc.txt", "^qdisc fq_codel 0: dev eth1 root refcnt 2.*$", "qdisc cake 8001: dev eth1 root bandwidth 38Mbit besteffort noatm overhead 34")], {}, {"two-shapers", "never-full"}),
    "shaper below a vlan": (SIMPLE, [("tc.txt", "dev eth1", "dev eth0.2"), ("class.txt", "dev eth1", "dev eth0.2"), ("filters.txt", "dev eth1", "dev eth0.2"), ("sqm", "'eth1'", "'eth0.2'"), ("tc.txt", "^qdisc fq_codel 0: dev eth0 root refcnt 2.*$", "qdisc tbf 2: dev eth0 root rate 19Mbit burst 3000b lat 40ms"), ("tc.txt", "ifb4eth1", "ifb4eth0.2"), ("class.txt", "ifb4eth1", "ifb4eth0.2"), ("filters.txt", "ifb4eth1", "ifb4eth0.2")], {}, {"two-shapers", "never-full"}),
    "cake shapes in htb": (SIMPLE, [("tc.txt", r"fq_codel (110: dev ifb4eth1 parent 1:10).*$", r"cake \1 bandwidth 95Mbit besteffort")], {}, {"two-shapers", "other-queue"}),
    "pfifo in htb": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"pfifo \1 limit 1000p")], {}, {"unmanaged-queue"}),
    "bfifo in htb": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"bfifo \1 limit 1514000b")], {}, {"unmanaged-queue"}),
    "a class without a discipline": (SIMPLE, [("tc.txt", r"^qdisc fq_codel 130:(.*\n){5}", ""), ("class.txt", " leaf 130:", "")], {}, {"unmanaged-queue"}),
    "tbf with a long queue": (SIMPLE, [("tc.txt", r"^qdisc htb 1: dev eth1 .*$", "qdisc tbf 1: dev eth1 root rate 19Mbit burst 3000b lat 400ms"), ("tc.txt", r"^qdisc fq_codel 1[123]0: dev eth1(.*\n){5}", ""), ("class.txt", r"^class htb 1:1[123] (.*\n){6}", ""), ("class.txt", r"^class htb 1:1 root rate 19(.*\n){6}", ""), ("sqm", "", "")], {}, {"unmanaged-queue"}),
    "sqm on the bridge": (CAKE, [("sqm", "'pppoe-wan'", "'br-lan'"), ("tc.txt", "pppoe-wan", "br-lan"), ("filters.txt", "pppoe-wan", "br-lan"), ("tc.txt", "noqueue 0: dev br-lan", "noqueue 0: dev wlan0")], {}, {"home-side"}),
    # 4. Never full, never marked.
    "never full": (CAKE, IDLE, {}, {"never-full"}),
    "htb never full": (SIMPLE, [*IDLE[:1], ("class.txt", r"overlimits \d+", "overlimits 0")], {}, {"never-full"}),
    "never marked": (CAKE, [("tc.txt", "dropped 2177", "dropped 0"), ("tc.txt", "^  drops  .*$", "  drops  0 0 0"), ("tc.txt", "^  marks  +0 .*$", "  marks  0 0 0")], {}, {"never-marked"}),
    # 5. ECN.
    "no ecn in a class": (SIMPLE, [("tc.txt", "(120: .*) ecn drop", r"\1 drop")], {}, {"ecn-off"}),
    "noecn of a command": (SIMPLE, [("tc.txt", "", ""), ("class.txt", "", ""), ("filters.txt", "", ""), ("sqm", "", "")], {"up.sh": "tc qdisc add dev eth1 root handle 1: htb default 10\ntc class add dev eth1 parent 1: classid 1:10 htb rate 19mbit\ntc qdisc add dev eth1 parent 1:10 fq_codel noecn\n"}, {"ecn-off", "nothing-shapes"}),
    "red without ecn": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"red \1 limit 300000b min 30000b max 90000b"), ("sqm", "", "")], {}, {"ecn-off"}),
    "dummynet without ecn": (SENSE, [("sched.txt", "flows 1024 ECN", "flows 1024 NoECN")], {}, {"ecn-off"}),
    # 6. Overhead.
    "no overhead": (CAKE, [("tc.txt", "noatm overhead 34 mpu 68", "raw overhead 0")], {}, {"overhead"}),
    "cells on ptm": (CAKE, [("tc.txt", "noatm overhead 34 mpu 68", "atm overhead 44")], {}, {"overhead"}),
    "far too much": (CAKE, [("tc.txt", "noatm overhead 34 mpu 68", "noatm overhead 64")], {}, {"overhead"}),
    "a negative overhead": (CAKE, [("tc.txt", "noatm overhead 34 mpu 68", "noatm overhead -4")], {}, {"overhead"}),
    # 7. Ingress.
    "no filter": (SIMPLE, [("filters.txt", "ifb4eth1", "ifb9"), ("tc.txt", r"(ifb4eth1 .*\n Sent )\d+ bytes \d+", r"\g<1>0 bytes 0")], {}, {"ingress-unseen", "ingress-nowhere"}),
    "no ingress discipline": (CAKE, [("tc.txt", r"^qdisc ingress(.*\n){3}", ""), ("filters.txt", "", ""), ("tc.txt", r"(ifb4pppoe-wan .*\n Sent )\d+ bytes \d+", r"\g<1>0 bytes 0")], {}, {"ingress-unseen"}),
    "a filter without a hook": (CAKE, [("tc.txt", r"^qdisc ingress(.*\n){3}", ""), ("tc.txt", r"(ifb4pppoe-wan .*\n Sent )\d+ bytes \d+", r"\g<1>0 bytes 0")], {}, {"ingress-unseen", "ingress-nowhere"}),
    "nothing went through": (CAKE, [("filters.txt", "", ""), ("tc.txt", r"(ifb4pppoe-wan .*\n Sent )\d+ bytes \d+", r"\g<1>0 bytes 0")], {}, {"ingress-unseen"}),
    "the ifb is gone": (CAKE, [("tc.txt", r"^qdisc cake 8006(.*\n)*\Z", "")], {}, {"ingress-nowhere", "not-running"}),
    "the ifb does not shape": (CAKE, [("tc.txt", r"^qdisc cake 8006(.*\n)*\Z", "qdisc fq_codel 0: dev ifb4pppoe-wan root limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 4Mb ecn\n")], {}, {"ingress-nowhere", "not-running"}),
    "ipv4 alone": (CAKE, [("filters.txt", "protocol all", "protocol ip")], {}, {"ingress-ipv4-only"}),
    # 8. Limits.
    "over the limit": (SIMPLE, [("tc.txt", r"drop_overlimit 0 new_flow_count 190231", "drop_overlimit 1200 new_flow_count 190231")], {}, {"overflow"}),
    "over the memory": (SIMPLE, [("tc.txt", r"drop_overlimit 0 (new_flow_count 190231 ecn_mark 77)", r"drop_overlimit 0 \1 drop_overmemory 800")], {}, {"overflow"}),
    "little memory, high rate": (SIMPLE, [("class.txt", "rate 95Mbit ceil 95Mbit", "rate 950Mbit ceil 950Mbit"), ("sqm", "95000", "950000")], {}, {"small-limit"}),
    "a limit of ten": (SIMPLE, [("tc.txt", r"(120: .*) limit 1001p", r"\1 limit 10p")], {}, {"small-limit"}),
    "cake is full": (CAKE, [("tc.txt", "325Kb of 4Mb", "4Mb of 4Mb")], {}, {"memory-full"}),
    # 9. HTB and HFSC.
    "past the classes": (SIMPLE, [("tc.txt", "(dev eth1 .*)direct_packets_stat 0", r"\1direct_packets_stat 2712311")], {}, {"unclassified"}),
    "default is not there": (SIMPLE, [("tc.txt", "default 0x12", "default 0x99")], {}, {"unclassified"}),
    "no default": (SIMPLE, [("tc.txt", "default 0x12", "default 0")], {}, {"unclassified"}),
    "children beyond": (SIMPLE, [("class.txt", r"3166Kbit", "18Mbit")], {}, {"children-beyond-parent"}),
    "a ceiling without a lender": (SIMPLE, [("class.txt", "rate 19Mbit ceil 19Mbit", "rate 19Mbit ceil 190Mbit")], {}, {"ceiling-without-lender"}),
    "quantum at its bound": (SIMPLE, [("class.txt", "quantum 1514 rate 3166", "quantum 200000 rate 3166")], {}, {"quantum"}),
    "hfsc without a default": (SIMPLE, [("tc.txt", "qdisc htb 1: dev eth1 root refcnt 2 r2q 10 default 0x12 .*$", "qdisc hfsc 1: dev eth1 root refcnt 2"), ("class.txt", r"class htb (1:1[123] parent 1:1 leaf \S+|1:1 root) .*?rate (1?[963]\w+) ceil (\w+) .*$", r"class hfsc \1 ls m1 0bit d 0us m2 \2 ul m1 0bit d 0us m2 \3"), ("sqm", "", "")], {}, {"unclassified"}),
    # 10. Several queues.
    "mq of cakes": (MQ, [("tc.txt", "cake_mq", "mq"), ("tc.txt", "root refcnt 5 .*$", "root")], {}, {"shaper-for-each-queue"}),
    "queues that do not share": (MQ, [("tc.txt", r"(8001:2) bandwidth 900Mbit", r"\1 bandwidth 500Mbit")], {}, {"shaper-for-each-queue"}),
    # 11. Configuration and state.
    "disabled": (CAKE, [("sqm", "enabled '1'", "enabled '0'"), ("tc.txt", r"^qdisc cake 8005(.*\n)*\Z", "qdisc fq_codel 0: dev pppoe-wan root limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 4Mb ecn\n"), ("filters.txt", "", "")], {}, {"not-enabled"}),
    "not started": (CAKE, [("tc.txt", r"^qdisc cake 8005(.*\n)*\Z", "qdisc fq_codel 0: dev pppoe-wan root limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 4Mb ecn\n"), ("filters.txt", "", "")], {}, {"not-running"}),
    "another discipline": (CAKE, [("sqm", "'cake'", "'fq_codel'"), ("sqm", "layer_cake", "simple")], {}, {"other-queue"}),
    "another leaf": (SIMPLE, [("sqm", "'fq_codel'", "'codel'")], {}, {"other-queue"}),
    "another rate": (CAKE, [("sqm", "95000", "70000")], {}, {"other-rate"}),
    "not read": (CAKE, [("sqm", "qdisc_really_really_advanced '1'", "qdisc_really_really_advanced '0'")], {}, {"options-ignored"}),
    "not read at all": (CAKE, [("sqm", "qdisc_advanced '1'", "qdisc_advanced '0'")], {}, {"options-ignored"}),
    "a word is missing": (CAKE, [("sqm", "nat dual-dsthost ingress", "nat dual-dsthost ingress rtt 30ms")], {}, {"words-missing"}),
    "two tools": (CAKE, [], {"qosmate": "config global 'global'\n\toption enabled '1'\n\nconfig settings 'settings'\n\toption WAN 'eth9'\n\toption UPRATE '1'\n"}, {"two-tools"}),
    # 12. dummynet.
    "droptail in place of codel": (SENSE, [("dnctl.conf", "type fq_codel ecn", "type qfq"), ("sched.txt", "type FQ_CODEL", "type QFQ"), ("sched.txt", r"^ FQ_CODEL.*\n", ""), ("dnctl.conf", "weight 100", "weight 100 codel target 5 interval 100 ecn")], {}, {"aqm-not-applied"}),
    "no AQM line": (SENSE, [("dnctl.conf", "type fq_codel ecn", "type qfq"), ("sched.txt", "type FQ_CODEL", "type QFQ"), ("sched.txt", r"^ FQ_CODEL.*\n", ""), ("dnctl.conf", "weight 100", "mask dst-ip 0xffffffff weight 100 codel ecn"), ("pipe.txt", r"^(q1000\d .*) droptail", r"\1")], {}, {"aqm-not-applied"}),
    "busy": (SENSE, [], {"dmesg": "[1932] config_aqm Unable to configure flowset, flowset busy!\n"}, {"aqm-not-applied"}),
    "another scheduler": (SENSE, [("sched.txt", "type FQ_CODEL", "type WF2Q+"), ("sched.txt", r"^ FQ_CODEL.*\n", "")], {}, {"other-scheduler"}),
    "a long queue": (SENSE, [("dnctl.conf", "type fq_codel ecn", "type wf2q+"), ("sched.txt", "type FQ_CODEL", "type WF2Q+"), ("sched.txt", r"^ FQ_CODEL.*\n", ""), ("pipe.txt", r"^(q10001) +50", r"\1 1000")], {}, {"unmanaged-queue"}),
    "rules for the pipe": (SENSE, [("rules.txt", "queue 10001", "pipe 10001")], {}, {"scheduler-bypassed"}),
    "rules match none": (SENSE, [("rules.txt", r"^60002 .* queue", "60002 0 0 queue")], {}, {"scheduler-bypassed"}),
    "no flow": (SENSE, [("sched.txt", "1 active", "0 active"), ("sched.txt", r"^  0 ip.*\n", "")], {}, {"scheduler-bypassed"}),
    # 13. Offloading.
    "hardware offloading": (CAKE, [("firewall", "(config defaults)", "\\1\n\toption flow_offloading '1'\n\toption flow_offloading_hw '1'")], {}, {"hardware-offload"}),
    # 14. Values.
    "red upside down": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"red \1 limit 300000b min 90000b max 30000b ecn"), ("sqm", "", "")], {}, {"red-thresholds"}),
    "red too small": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"red \1 limit 60000b min 30000b max 90000b ecn"), ("sqm", "", "")], {}, {"red-thresholds"}),
    "red too late": (SIMPLE, [("tc.txt", r"fq_codel (120: dev eth1 parent 1:12).*$", r"red \1 limit 3000000b min 400000b max 900000b ecn"), ("sqm", "", "")], {}, {"red-thresholds"}),
    "rtt too short": (CAKE, [("tc.txt", "rtt 100ms", "rtt 10ms")], {}, {"cake-rtt"}),
    "rtt too long": (CAKE, [("tc.txt", "rtt 100ms", "rtt 1s")], {}, {"cake-rtt"}),
    "a short target": (SIMPLE, [("tc.txt", r"(120: .*) target 5ms", r"\1 target 300us")], {}, {"short-target"}),
    "packets in one piece": (CAKE, [("tc.txt", "split-gso", "no-split-gso")], {}, {"no-split-gso"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_fault_is_found_and_nothing_else(case: str, tmp_path: Path) -> None:
    name, edits, more, expected = BROKEN[case]
    given = LINKS[name]
    if case == "little memory, high rate":
        given = Given(1e9, 20e6, 0.04)
    found = audited(tmp_path, name, edits, more, given)
    assert rules(found) == expected, found
    for each in found.findings:
        assert each.evidence
        assert each.mends
        assert each.grade in (Grade.WRONG, Grade.DOUBTFUL)


def test_every_rule_has_a_fault() -> None:
    """The names of rules are those in the sources of the rules."""
    folder = Path(audit.__code__.co_filename).parent / "rules"
    sources = "".join(file.read_text() for file in folder.glob("*.py"))
    named = set(re.findall(r'Finding\(\s*"([a-z0-9-]+)"', sources))
    assert named - set().union(*(rules for *_, rules in BROKEN.values())) == {"classes-unused", "no-classes", "autorate-refused"}

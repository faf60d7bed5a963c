"""The configurations whose runs are stored: a bottleneck, its discipline in tc's words, groups of TCP senders."""

from collections.abc import Iterator, Mapping
from typing import Any

from oracle.linux import arrivals

Conf = Mapping[str, Any]

RED = "red limit 400000 min 30000 max 90000 avpkt 1500 burst 40 probability 0.1 bandwidth 10mbit"
CHOKE = "choke limit 300 min 20 max 60 probability 0.1 avpkt 1500 burst 30 bandwidth 10mbit"

# Names in results, and tc's words.
DISCIPLINES = {
    "codel": "codel limit 1000",
    "fq_codel": "fq_codel limit 10240",
    "pie": "pie limit 1000",
    "fq_pie": "fq_pie limit 10240",
    "red": RED,
    "ared": f"{RED} adaptive",
    "sfb": "sfb",
    "choke": CHOKE,
    "cake": "cake unlimited besteffort rtt 100ms",
    "dualpi2": "dualpi2",
    "sfq": "sfq",
}


def dumbbell(qdisc: str, *groups: Conf, **more: Any) -> dict[str, Any]:
    """A minute of 10 Mbit/s, of which the first ten seconds do not count."""
    return {"rate_mbit": 10, "qdisc": qdisc, "groups": list(groups), "dur": 60, "warm": 10, **more}


def group(n: int, cc: str, rtt_ms: float = 40) -> dict[str, Any]:
    return {"n": n, "rtt_ms": rtt_ms, "cc": cc}


def _closed() -> Iterator[tuple[str, dict[str, Any]]]:
    for cc in ("cubic", "reno"):
        for n in (1, 2, 5):
            yield f"fifo_{cc}_10m_40ms_n{n}_100p", dumbbell("pfifo limit 100", group(n, cc))
        for limit in (20, 200):
            yield f"fifo_{cc}_10m_40ms_n2_{limit}p", dumbbell(f"pfifo limit {limit}", group(2, cc))
        yield f"fifo_{cc}_10m_100ms_n4_80p", dumbbell("pfifo limit 80", group(4, cc, 100))
    for n in (1, 2, 5):
        yield f"fifo_bbr_10m_40ms_n{n}_100p", dumbbell("pfifo limit 100", group(n, "bbr"))
    yield "fifo_cubic_10m_40ms_n2_nohystart", dumbbell("pfifo limit 100", group(2, "cubic"), hystart=0)
    for name, qdisc in DISCIPLINES.items():
        for n, cc in ((1, "cubic"), (5, "cubic"), (5, "reno")):
            # SFB's and SFQ's Reno were not run.
            if cc == "cubic" or name not in ("sfb", "sfq"):
                yield f"{name}_{cc}_10m_40ms_n{n}", dumbbell(qdisc, group(n, cc))
    for name in ("codel", "pie"):
        yield f"{name}_bbr_10m_40ms_n2", dumbbell(DISCIPLINES[name], group(2, "bbr"))
    for name in ("codel", "fq_codel", "pie", "red"):
        yield f"{name}_ecn_cubic_10m_40ms_n2", dumbbell(f"{DISCIPLINES[name]} ecn", group(2, "cubic"), ecn=1)
    yield "dualpi2_ecn_cubic_10m_40ms_n2", dumbbell("dualpi2", group(2, "cubic"), ecn=1)


def _others() -> Iterator[tuple[str, dict[str, Any]]]:
    """Other rates, delays and buffers, many flows, mixtures, DCTCP; two seeds each."""
    fast = {"rate_mbit": 100, "dur": 30, "warm": 5}
    yield "fifo_cubic_100m_30ms_n4_250p", dumbbell("pfifo limit 250", group(4, "cubic", 30), **fast)
    yield "fifo_cubic_30m_150ms_n2_200p", dumbbell("pfifo limit 200", group(2, "cubic", 150), rate_mbit=30)
    yield "fifo_reno_20m_10ms_n3_50p", dumbbell("pfifo limit 50", group(3, "reno", 10), rate_mbit=20)
    yield "fifo_cubic_2m_60ms_n3_30p", dumbbell("pfifo limit 30", group(3, "cubic", 60), rate_mbit=2)
    yield "fifo_bbr_20m_20ms_n1_20p", dumbbell("pfifo limit 20", group(1, "bbr", 20), rate_mbit=20)
    yield "fifo_reno_10m_200ms_n1_50p", dumbbell("pfifo limit 50", group(1, "reno", 200))
    yield "fifo_bbr_10m_100ms_n3_60p", dumbbell("pfifo limit 60", group(3, "bbr", 100))
    for cc, n, limit in (
        ("cubic", 1, 10),
        ("cubic", 20, 100),
        ("cubic", 50, 100),
        ("reno", 2, 33),
        ("reno", 20, 100),
        ("bbr", 2, 400),
    ):
        yield f"fifo_{cc}_10m_40ms_n{n}_{limit}p", dumbbell(f"pfifo limit {limit}", group(n, cc))
    yield "fifo_mix_cubic_reno", dumbbell("pfifo limit 100", group(2, "cubic"), group(2, "reno"))
    yield "fifo_mix_cubic_bbr", dumbbell("pfifo limit 100", group(1, "cubic"), group(1, "bbr"))
    yield "fifo_mix_cubic_bbr2", dumbbell("pfifo limit 40", group(2, "cubic"), group(2, "bbr"))
    for cc in ("cubic", "reno"):
        yield f"fifo_mix_rtt_{cc}", dumbbell("pfifo limit 60", group(2, cc, 20), group(2, cc, 120))
    yield "hd_cubic_n3", dumbbell("pfifo_head_drop limit 80", group(3, "cubic"))
    yield "codel_cubic_n20", dumbbell("codel limit 1000", group(20, "cubic"))
    yield "codel_reno_n2_100ms", dumbbell("codel limit 1000", group(2, "reno", 100))
    yield "codel_ecn_reno_n4", dumbbell("codel limit 1000 ecn", group(4, "reno"), ecn=1)
    yield "pie_cubic_n20", dumbbell("pie limit 1000", group(20, "cubic"))
    yield "fq_codel_mix", dumbbell("fq_codel limit 10240", group(2, "cubic"), group(2, "bbr"))
    # HTB's burst of one byte makes the link exact, on which a threshold of two packets depends.
    exact = {"ecn": 1, "burst": 1, "dur": 40}
    yield "fifo_dctcp_n2", dumbbell("pfifo limit 50", group(2, "dctcp"), **exact)
    yield "codel_dctcp_n2", dumbbell("codel limit 1000 ecn ce_threshold 2ms", group(2, "dctcp"), **exact)
    threshold = "codel limit 1000 ecn ce_threshold 1ms"
    yield "codel_dctcp_20m_20ms_n1", dumbbell(threshold, group(1, "dctcp", 20), rate_mbit=20, **exact)


# Names in results, and netem's words for the way of the data.
PATHS = {
    "steady": "delay 20ms",
    "uniform2": "delay 20ms 2ms",
    "uniform10": "delay 20ms 10ms",
    "normal5": "delay 20ms 5ms distribution normal",
    "pareto5": "delay 20ms 5ms distribution pareto",
    "reorder1": "delay 20ms reorder 1%",
    "reorder25gap5": "delay 20ms reorder 25% gap 5",
    "gap20": "delay 20ms reorder 100% gap 20",
    "loss01": "delay 20ms loss 0.1%",
    "loss1": "delay 20ms loss 1%",
    "duplicate1": "delay 20ms duplicate 1%",
    "normal5loss05": "delay 20ms 5ms distribution normal loss 0.5%",
    "far_uniform20": "delay 100ms 20ms",
    "far_reorder2loss01": "delay 100ms reorder 2% loss 0.1%",
    "all": "delay 50ms 5ms distribution normal reorder 2% loss 0.1% duplicate 0.5%",
}


def _varied() -> Iterator[tuple[str, dict[str, Any]]]:
    """Delays, losses and order that vary behind the bottleneck: netem there, and ours on the bottleneck."""
    for name, words in PATHS.items():
        for cc in ("cubic", "bbr"):
            yield f"netem_{name}_{cc}", dumbbell("pfifo limit 100", group(2, cc, 20), path=words)


def _bursts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Hosts that offload: senders hand over several segments at once; two seeds each."""
    for rate, rtt_ms, cc, n, name in (
        (10, 40, "cubic", 1, "100p"),
        (10, 40, "cubic", 2, "20p"),
        (10, 100, "reno", 2, "60p"),
        (10, 40, "bbr", 1, "100p"),
        (10, 40, "cubic", 2, "codel"),
        (20, 20, "bbr", 2, "50p"),
        (20, 10, "reno", 2, "fq_codel"),
        (20, 20, "cubic", 4, "pie"),
        (50, 20, "cubic", 2, "100p"),
        (50, 20, "reno", 1, "60p"),
        (50, 40, "bbr", 2, "codel"),
        (50, 10, "cubic", 4, "fq_codel"),
        (100, 20, "cubic", 1, "60p"),
        (100, 20, "cubic", 2, "codel"),
        (100, 10, "reno", 2, "40p"),
        (100, 30, "bbr", 1, "250p"),
        (100, 20, "bbr", 4, "fq_codel"),
        (100, 2, "cubic", 2, "100p"),
        # Buffers that are hardly larger than a burst.
        (100, 10, "cubic", 1, "15p"),
        (100, 10, "reno", 2, "15p"),
        (100, 20, "bbr", 1, "15p"),
        # With fq at the sender, which paces CUBIC and Reno too.
        (20, 20, "reno", 1, "codel fq"),
        (50, 20, "cubic", 2, "60p fq"),
        (100, 20, "cubic", 1, "60p fq"),
        (100, 20, "bbr", 1, "60p fq"),
    ):
        queue, *fq = name.split()
        words = DISCIPLINES.get(queue) or f"pfifo limit {queue[:-1]}"
        yield (
            "_".join(("offload", cc, f"{rate}m", f"{rtt_ms}ms", f"n{n}", *name.split())),
            dumbbell(words, group(n, cc, rtt_ms), **_offloads(rate), **({"fq": True} if fq else {})),
        )


def _offloads(rate: int) -> dict[str, Any]:
    """About as many packets each, but for the slowest links."""
    long = {10: {}, 20: {"dur": 40, "warm": 8}, 50: {"dur": 20, "warm": 4}, 100: {"dur": 16, "warm": 4}}
    return {"rate_mbit": rate, "offload": True, **long.get(rate, {"dur": 8, "warm": 3})}


def _joined() -> Iterator[tuple[str, dict[str, Any]]]:
    """The receiver's host collects packets of each flow for a time, and joins them; two seeds each."""
    for rate, rtt_ms, cc, n, wait_us, limit in (
        (20, 20, "cubic", 2, 2000, 50),
        (50, 40, "cubic", 1, 1000, 100),
        (50, 40, "bbr", 1, 1000, 100),
        (100, 20, "cubic", 1, 200, 60),
        (100, 20, "bbr", 1, 200, 60),
        (100, 10, "reno", 2, 500, 40),
        (100, 10, "bbr", 2, 500, 100),
        (300, 20, "cubic", 1, 100, 200),
        (300, 20, "bbr", 1, 100, 200),
    ):
        yield (
            f"offload_{cc}_{rate}m_{rtt_ms}ms_n{n}_{limit}p_{wait_us}us",
            dumbbell(f"pfifo limit {limit}", *[group(1, cc, rtt_ms)] * n, **_offloads(rate), receive_us=wait_us),
        )


CLOSED = dict(_closed()) | dict(_others()) | dict(_varied()) | dict(_bursts()) | dict(_joined())
"""What is stored in reference.jsonl."""

_SMALL = {name: words.replace("avpkt 1500 burst 40", "avpkt 1000 burst 50") for name, words in DISCIPLINES.items()}
_SMALL["choke"] = CHOKE.replace("avpkt 1500", "avpkt 1000")

NOT_ECT, ECT1, ECT0 = 0, 1, 2

# Names in results, tc's words, and the ECN field of the packets.
OPEN_DISCIPLINES = {
    "fifo": ("pfifo limit 100", NOT_ECT),
    "headdrop": ("pfifo_head_drop limit 100", NOT_ECT),
    **{name: (words, NOT_ECT) for name, words in _SMALL.items()},
    **{f"{name}_ecn": (f"{_SMALL[name]} ecn", ECT0) for name in ("codel", "fq_codel", "pie", "red")},
    "cake_ecn": (DISCIPLINES["cake"], ECT0),
    "dualpi2_ect0": ("dualpi2", ECT0),
    "dualpi2_ect1": ("dualpi2", ECT1),
}


def open_loop(qdisc: str, ecn_field: int, pattern: str) -> dict[str, Any]:
    """The packets of a pattern on a link that is exact: HTB's burst is a byte."""
    conf = dumbbell(qdisc, group(0, "cubic", 0), warm=0, burst=1, probe=False)
    return conf | {"ecn_field": ecn_field, "arrivals": pattern}


OPEN = {
    f"open_{name}_{pattern}": open_loop(qdisc, ecn_field, pattern)
    for name, (qdisc, ecn_field) in OPEN_DISCIPLINES.items()
    for pattern in arrivals.PATTERNS
}
"""What is stored in reference-open.jsonl."""

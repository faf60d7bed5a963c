"""Claims on the distinction of short and long flows, and its effect on the web: section III."""

from __future__ import annotations

import numpy as np

from aqmlab.library.redtail.measures import (
    DEFAULT_N,
    HERO,
    LONG,
    PAYLOAD,
    PRINTED_TABLE_3,
    PRINTED_TABLE_4,
    Printed,
    of,
    per_seed,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import mean, paired
from aqmlab.theory import redtail

DEFAULT_T = 10.0
"""Silence after which a pair counts as new here (s); the paper does not state it."""
THINK = 50.0
"""The mean time between the sessions of a client (s)."""
SMALLEST, SHAPE = 2300.0, 1.3
"""Minimum (bytes) and shape of the Pareto distribution of file sizes."""
BOTH_ENDS = 2
"""Packets of a connection in addition to its file: SYN and FIN."""


def taken_for_long(n: int, silence: float) -> float:
    """Compute the fraction of web connections with a packet that the pair's count classifies as long.

    The first ``n`` packets of a pair are short; after ``silence`` (s) a pair is new. A client that returns earlier
    finds the pair's counter unchanged, and the packets of several files add up. Retransmissions are not counted.
    """
    longer = redtail.longer_than(np.maximum(PAYLOAD * np.arange(n + 1), SMALLEST))
    file = np.zeros(n + 1)
    file[BOTH_ENDS + 1 :] = -np.diff(longer)[: n - BOTH_ENDS]
    again = -np.expm1(-silence / THINK)
    within, weight, share = file, 1 - again, 0.0
    while weight > 1e-12:
        share += weight * (1 - float(within.sum()))
        weight *= again
        within = np.convolve(within, file)[: n + 1]
    return share


def _web_in_long(runs: Runs) -> list[float]:
    """Return the share of the web's packets that enter the long queue, for each seed (%)."""
    return paired(
        lambda lane, ftp, web: 100 * (lane - ftp) / web,
        per_seed(runs, LONG + "arrivals", HERO),
        per_seed(runs, of("FTP", "arrivals"), HERO),
        per_seed(runs, of("WEB", "arrivals"), HERO),
    )


def printed_room(table: Printed) -> float:
    """Return the share of web packets in the long queue according to the printed delays (%).

    At this share the web's delay is the weighted mean of CBR's in the short queue and FTP's in the long one.
    """
    ftp, web, cbr = (table[name][1] for name in ("FTP", "WEB", "CBR"))
    return 100 * (web - cbr) / (ftp - cbr)


def false_alarms(_: Evidence) -> Judgement:
    """Judge the number of web connections that enter the long queue."""
    n = int(DEFAULT_N)
    checks = [
        Check.exact("connections with a packet in the long queue", 100 * taken_for_long(n, DEFAULT_T), unit="%", most=2)
    ]
    single = 100 * float(redtail.longer_than(DEFAULT_N * PAYLOAD))
    why = (
        f"By the paper's Pareto law, for our N of {n} packets and T of {DEFAULT_T:.0f} s; the paper prints neither. "
        f"{single:.1f} % of the files are longer; SYN, FIN, and counters that go on when a reader thinks for less than "
        f"T make up the rest. T = 100 s would make it {100 * taken_for_long(n, 100.0):.0f} % in the long run."
    )
    return Judgement(checks, why)


def much_of_web_is_long(evidence: Evidence) -> Judgement:
    """Judge the share of web packets that enter the long queue, by our runs and by the printed delays."""
    runs = evidence["web"]
    share = _web_in_long(runs)
    room = [printed_room(table) for table in (PRINTED_TABLE_3[HERO], PRINTED_TABLE_4)]
    checks = [
        Check.of("packets of web that come to the long queue", share, unit="%", least=10),
        Check.of(
            "that minus what the delays of Table III have room for",
            [one - room[0] for one in share],
            unit="%",
            least=0,
        ),
    ]
    beyond = 100 * (SMALLEST / (DEFAULT_N * PAYLOAD)) ** (SHAPE - 1) / SHAPE
    loss = mean(per_seed(runs, LONG + "loss_ratio", HERO, scale=100))
    why = (
        f"Pareto's law with shape {SHAPE} has {beyond:.0f} % of its bytes beyond the first {DEFAULT_N:.0f} packets of "
        f"a file, on the average of long times, and whatever N is near that. They wait with FTP, and {loss:.1f} % of "
        "the long queue is lost. If web differs from CBR by these packets alone, the printed delays have room for "
        f"{room[0]:.0f} % of them in Table III and for {room[1]:.0f} % in Table IV: its web has fewer large files than "
        "the law, or its counters forget sooner than ours, or its delays of web are those of the short queue."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="false-alarms",
        text="Fewer than 2 % of the short connections are taken for long ones.",
        where="Section III",
        judge=false_alarms,
    ),
)

BEYOND = (
    Claim(
        name="much-of-web-is-long",
        text="A good part of the web's packets go through the queue of long flows, more than the printed delays allow.",
        where="ours",
        judge=much_of_web_is_long,
        needs=("web",),
        shown=["table3"],
        beyond=True,
    ),
)

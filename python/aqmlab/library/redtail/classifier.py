"""How RED+Tail tells short flows from long ones, and what that does to the web: section III."""

from __future__ import annotations

import numpy as np

from aqmlab.library.redtail.readings import (
    DEFAULT_N,
    HERO,
    LONG,
    PAYLOAD,
    TABLE_3,
    TABLE_4,
    Printed,
    mean,
    of,
    per_seed,
    together,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.theory import redtail

DEFAULT_T = 10.0
"""After what silence a pair is new here, in s; the paper does not say."""
THINK = 50.0
"""The mean time between the sessions of a client, in s."""
SMALLEST, SHAPE = 2300.0, 1.3
"""The law of the files, in bytes."""
BOTH_ENDS = 2
"""What a connection sends beside its file: SYN and FIN, in packets."""


def taken_for_long(n: int, silence: float) -> float:
    """Compute which share of the web's connections has a packet that the count of its pair takes for long.

    A client that comes back within `silence` finds the counter of its pair as it left it, and the packets of several
    files add up.

    Parameters
    ----------
    n : int
        So many packets of a pair are short.
    silence : float
        After this a pair is new, in s.

    Returns
    -------
    float
        The share, if no packet is sent again.
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
    """Give of each seed how many of the web's packets come to the long queue, in percent."""
    return together(
        lambda lane, ftp, web: 100 * (lane - ftp) / web,
        per_seed(runs, LONG + "arrivals", HERO),
        per_seed(runs, of("FTP", "arrivals"), HERO),
        per_seed(runs, of("WEB", "arrivals"), HERO),
    )


def printed_room(table: Printed) -> float:
    """Give how many of the web's packets can have been in the long queue by the printed delays, in percent.

    Parameters
    ----------
    table : mapping
        What is printed of each class.

    Returns
    -------
    float
        The share that makes the web's mean of CBR's delay in the short queue and FTP's in the long one.
    """
    ftp, web, cbr = (table[name][1] for name in ("FTP", "WEB", "CBR"))
    return 100 * (web - cbr) / (ftp - cbr)


def false_alarms(_: Evidence) -> Judgement:
    """Judge how many web connections go to the long queue."""
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
    """Judge how many of the web's packets go to the long queue, by our runs and by the printed delays."""
    runs = evidence["web"]
    share = _web_in_long(runs)
    room = [printed_room(table) for table in (TABLE_3[HERO], TABLE_4)]
    checks = [
        Check.of("packets of web that come to the long queue", share, unit="%", least=10),
        Check.of(
            "that less what the delays of Table III have room for",
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

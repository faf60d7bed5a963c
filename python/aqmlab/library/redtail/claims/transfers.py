"""Claims on small files over a link that drops at random: section II (Fig. 2, Table I)."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np

from aqmlab.library.redtail import theory
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import ratio
from aqmlab.theory import redtail
from aqmlab.theory.tcp import transfers


def loss_free(evidence: Evidence) -> Judgement:
    """Compare the column without loss of Table I with slow start and with the packet engine."""
    runs = evidence["table1"]
    checks = []
    for size in (30, 90, 150):
        printed = theory.PRINTED[size, 0.0][0]
        # half a unit of its last digit
        low, high = printed - 0.005, printed + 0.005
        formula = float(transfers.loss_free(size, theory.RTT, theory.PACKET_TIME))
        checks.append(Check.exact(f"{size} KB, slow start by formula", formula, unit="s", least=low, most=high))
        engine = theory.delivery(runs, size, 0.0)
        checks.append(Check.of(f"{size} KB, packet engine", engine, unit="s", least=low, most=high))
    return Judgement(
        checks,
        "Slow start from one packet, an ACK a packet, and two round trips besides the data: SYNs, request, last ACK. "
        "This fixes the initial window and that ACKs are not delayed.",
    )


def small_delays(evidence: Evidence) -> Judgement:
    """Compare the other columns of Table I with the packet engine."""
    runs = evidence["table1"]
    checks = []
    for (size, p), (printed, _) in theory.PRINTED.items():
        if p:
            ratios = [one / printed for one in theory.delivery(runs, size, p)]
            # a mean of some hundred transfers with such a deviation is accurate to about a fifth
            checks.append(Check.of(f"{size} KB, Pd = {p:g}: mean over the printed", ratios, least=0.8, most=1.25))
    short = fmean(check.value for check in checks[:3])
    long = fmean(check.value for check in checks[3:])
    tried = fmean(
        float(theory.tried(30, p, theory.trials_each(evidence)).mean()) / mean
        for (size, p), (mean, _) in theory.PRINTED.items()
        if size == 30 and p
    )
    return Judgement(
        checks,
        f"From 90 KB on the means are {long:.2f} of the printed ones, at 30 KB {short:.2f}. Our transfers have no "
        f"request that could be lost, at the cost of the long first time-out; trials that have one come to {tried:.2f} "
        "at 30 KB.",
    )


def small_deviations(evidence: Evidence) -> Judgement:
    """Compare the deviations of Table I with those of trials."""
    checks = []
    for (size, p), (_, printed) in theory.PRINTED.items():
        if p:
            ratios = theory.tried(size, p, theory.trials_each(evidence)).std(axis=1, ddof=1) / printed
            # the deviation of a heavy tail from a few hundred transfers is accurate to about a third
            effect = f"{size} KB, Pd = {p:g}: deviation over the printed"
            checks.append(Check.of(effect, ratios, least=0.67, most=1.5))
    all_over = fmean(check.value for check in checks)
    return Judgement(
        checks,
        f"Trials of TCP packet by packet, with ns-2's timer of the time; on average {all_over:.2f} of the printed. "
        "What deviates are time-outs: 6 s, doubled each time, for a SYN, a request or the first packets.",
    )


def several_times(evidence: Evidence) -> Judgement:
    """Compare the delay of a 90 KB file at Pd = 0.04 with that without loss."""
    runs = evidence["table1"]
    printed = theory.PRINTED[90, 0.04][0] / theory.PRINTED[90, 0.0][0]
    free, lossy = theory.delivery(runs, 90, 0.0), theory.delivery(runs, 90, 0.04)
    ratios = ratio(lossy, free)
    return Judgement(
        [
            Check.of(
                "delay of 90 KB at Pd = 0.04 over that without loss", ratios, least=0.75 * printed, most=1.25 * printed
            )
        ],
        f"The paper has {printed:.1f}. Three or four of the 90 packets are lost, in windows too small for three "
        "duplicate ACKs as often as not, and a time-out is longer than the whole transfer without loss.",
    )


def lost_in_64(_: Evidence) -> Judgement:
    """Compute the probability of a loss in 64 packets."""
    p = float(transfers.any_lost(64, 0.04))
    # as printed, to four digits
    return Judgement(
        [Check.exact("probability of a loss in 64 packets at 0.04", p, least=0.92665, most=0.92675)],
        "1 - 0.96^64, if losses are independent.",
    )


def most_lose(_: Evidence) -> Judgement:
    """Compute the share of the scenario's files that lose a packet."""
    # files by the packets of 1 kB that they need, up to where hardly any is longer
    edges = np.arange(0, 100_001) * 1e3
    share = -np.diff(redtail.longer_than(np.maximum(edges, 2300.0)))
    packets = np.arange(1, edges.size)
    few = float(share @ transfers.any_lost(packets, 0.04))
    return Judgement(
        [Check.exact("share of web files that lose a packet at 0.04", few, least=0.5)],
        f"A slow start up to 64 packets takes a file of 64 KB, and {100 * float(redtail.longer_than(64e3)):.1f} % of "
        "the files are longer; half of them are four packets or fewer. It is true of the files of 30 KB and more in "
        "Table I.",
    )


def fifteenth(_: Evidence) -> Judgement:
    """Compute the window that contains the 15th packet, and the window after its loss."""
    window = 2 ** math.floor(math.log2(15))
    return Judgement(
        [
            Check.exact("window when the 15th packet is lost", window, unit="packets", least=8, most=8),
            Check.exact("slow-start threshold after it", window / 2, unit="packets", least=4, most=4),
        ],
        "Windows of 1, 2, 4 and 8 packets: the 15th is the last of the fourth. Half of it is the threshold, and "
        "Tahoe starts from one packet again.",
    )


CLAIMS = (
    Claim(
        name="files-without-loss",
        text="Without loss files of 30, 90 and 150 KB take 0.88, 1.18 and 1.34 s.",
        where="Table I",
        judge=loss_free,
        needs=["table1"],
        shown=["table1", "fig2"],
    ),
    Claim(
        name="files-with-loss",
        text="Their mean delay rises with the drop probability as Table I has it.",
        where="Table I, Fig. 2",
        judge=small_delays,
        needs=["table1"],
        shown=["table1", "fig2"],
    ),
    Claim(
        name="files-deviations",
        text="So do the standard deviations.",
        where="Table I",
        judge=small_deviations,
        shown=["table1"],
    ),
    Claim(
        name="files-several-times",
        text="At Pd = 0.04 a file of 90 KB takes 4.81 s, in comparison to 1.18 s.",
        where="Section II",
        judge=several_times,
        needs=["table1"],
        shown=["table1", "fig2"],
    ),
    Claim(
        name="lost-in-64",
        text="A loss in the slow start of 64 packets has the probability 0.9267 at Pd = 0.04.",
        where="Section II",
        judge=lost_in_64,
    ),
    Claim(
        name="most-lose",
        text="Therefore most TCP connections lose a packet in their first slow start.",
        where="Section II",
        judge=most_lose,
    ),
    Claim(
        name="fifteenth",
        text="If the 15th packet is lost, the threshold goes from 64 to 4 KB, the window from 8 to 1 KB (Tahoe).",
        where="Section II",
        judge=fifteenth,
    ),
)

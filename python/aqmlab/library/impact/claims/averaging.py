"""Claims on the averaging of the queue: section III-B (Fig. 7)."""

from __future__ import annotations

import math

from aqmlab.library.impact.measures import (
    HERO,
    MIN_TH,
    PACKET_TIME,
    RED,
    SAME,
    SURGE_END,
    dropped,
    swing,
    tcp_goodput,
    udp_loss,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import difference, mean


def flat_goodput(evidence: Evidence) -> Judgement:
    """Judge the dependence of TCP's goodput on the averaging."""
    runs = evidence["averaging"]
    each = [tcp_goodput(runs, RED, {"aqm.w_q": w}) for w in runs.points("aqm.w_q")]
    span = [
        100 * (max(seed) - min(seed)) / mean(seed)
        for seed in ([one for one in found if one is not None] for found in zip(*each, strict=True))
    ]
    return Judgement(
        [Check.of("largest minus smallest TCP goodput over all w, of their mean", span, unit="%", most=SAME)],
        "The queue is never empty for long, whatever the weight, and the link full.",
    )


def falling_loss(evidence: Evidence) -> Judgement:
    """Judge the dependence of UDP's loss on the averaging."""
    runs = evidence["averaging"]
    weights = runs.points("aqm.w_q")
    loss = {w: udp_loss(runs, RED, {"aqm.w_q": w}) for w in weights}
    checks = [
        Check.of(
            f"UDP loss with w = {w:g} minus that of w = 1",
            difference(loss[w], loss[weights[-1]]),
            unit="points",
            least=0,
        )
        for w in weights[:-1]
    ]
    first, last = weights[0], weights[-1]
    unrest, losses = (
        {w: mean(measure(runs, RED, {"aqm.w_q": w})) for w in (first, last)} for measure in (swing, udp_loss)
    )
    return Judgement(
        checks,
        f"From w = {first:g} to {last:g} the queue's standard deviation goes from {unrest[first]:.0f} to "
        f"{unrest[last]:.0f} packets and UDP's loss from {losses[first]:.1f} to {losses[last]:.1f} %: TCP settles at "
        "the loss that it needs whatever the average does, and UDP gets about the same.",
    )


def after_the_peak(evidence: Evidence) -> Judgement:
    """Count the drops from a short queue after a surge of UDP has ended."""
    runs = evidence["surge"]
    checks = []
    for label, bound in ((RED, {"least": 1.0}), (HERO, {"most": 0.0})):
        checks.append(
            Check.of(
                f"{label}: packets dropped in the 2 s after the surge while fewer than {MIN_TH} wait",
                [dropped(runs, label, seed, SURGE_END, SURGE_END + 2, MIN_TH) for seed in runs.study.seeds],
                unit="packets",
                **bound,
            )
        )
    lag = math.log(3) / 0.002 * PACKET_TIME
    return Judgement(
        checks,
        f"From max_th RED's average takes {lag:.2f} s of full load to min_th after the queue has gone, longer if fewer "
        "packets come and less from where it stood lower, and drops until then; GRED-I looks at the queue and drops "
        "nothing below min_th.",
    )


CLAIMS = (
    Claim(
        name="goodput-whatever-w",
        text="TCP's goodput hardly depends on RED's averaging weight.",
        where="Section III-B, Fig. 7",
        judge=flat_goodput,
        needs=["averaging"],
        shown=["fig7"],
    ),
    Claim(
        name="udp-loss-falls-with-w",
        text="UDP loses the less the larger RED's averaging weight; least if the queue is not averaged.",
        where="Section III-B, Fig. 7",
        judge=falling_loss,
        needs=["averaging"],
        shown=["fig7"],
        sensitive=True,
    ),
    Claim(
        name="drops-after-the-peak",
        text="After a peak RED goes on dropping though the queue is short again; without averaging it would not.",
        where="Section III-B; V",
        judge=after_the_peak,
        needs=["surge"],
        shown=["surge"],
    ),
)

"""Claims of section 6.4 (Fig. 17): the measurement's period and weight, and the virtual drop-tail buffer."""

from __future__ import annotations

import numpy as np

from aqmlab.library.lred.measures import Q0, between
from aqmlab.papers import Check, Claim, Evidence, Judgement


def _virtual(evidence: Evidence) -> Judgement:
    """Measure how often p is 0 or 1, and the longest queue."""
    runs = evidence["beta10"]
    share, longest, steep = [], [], []
    for seed in runs.study.seeds:
        frame = runs.series("LRED", seed=seed).filter(between(20.0, 60.0))
        p = np.concatenate([frame[f"bottleneck.p.{name}"].drop_nulls().to_numpy() for name in ("min", "max")])
        share.append(100 * float(((p <= 0) | (p >= 1)).mean()))
        longest.append(float(frame["bottleneck.queue.max"].to_numpy().max()))
        steep.append(10 * float(frame["bottleneck.loss_ratio.min"].drop_nulls().to_numpy().min()) ** 0.5)
    return Judgement(
        [
            # Nearly always: nine times of ten.
            Check.of("milliseconds whose lowest or highest p is 0 or 1", share, unit="%", least=90),
            Check.of("longest queue", longest, unit="packets", most=Q0 + 1),
        ],
        f"From 20 s on. beta sqrt(L) is {min(steep):.2g} at least, so that one packet beside q0 takes p beyond 0 or 1. "
        "An arrival that finds q0 packets is dropped with L only: the queue may have one more, and a queue that is "
        "held at its end is found there often.",
    )


def _measured_well(evidence: Evidence) -> Judgement:
    """Compare the paper's measurement with shorter and longer ones."""
    runs = evidence["measurement"]
    usual = "m_t = 1 s"
    checks = [
        Check.of(
            f"queue deviation, {label} minus {usual}, m_w = 0.1",
            runs.differences("queue_mad", label, usual),
            unit="packets",
            least=0,
        )
        for label in runs.labels
        if label != usual
    ]
    return Judgement(
        checks,
        "A short period follows the loss of single bursts, a long one is late when the load changes; both show in the "
        "queue's deviation.",
    )


CLAIMS = (
    Claim(
        name="measurement",
        text="A measurement period of 1 s and a weight of .1 are reasonable: a shorter period is inaccurate, a longer "
        "one slow, a small weight captures the latest loss.",
        where="Section 6.4",
        judge=_measured_well,
        needs=["measurement"],
    ),
    Claim(
        name="virtual-drop-tail",
        text="With beta = 10, p is nearly always 0 or 1, and the queue stays below q0 as in a buffer of that length.",
        where="Section 6.4, Fig. 17",
        judge=_virtual,
        needs=["beta10"],
        shown=["fig17"],
    ),
)

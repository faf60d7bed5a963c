"""Claims on the start: the growth of p_k from .0002, and the effect of the gain."""

from __future__ import annotations

import math
from operator import sub

import numpy as np

from aqmlab.library.raqm.measures import BAND, FLOWS, at
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import mean, paired, rounded

EPS, PERIOD = 0.9, 1.0
"""The gain and T (s), for which the scenarios use the defaults of `aqmlab show raqm`."""


def starts(runs: Runs, where: At) -> dict[int, tuple[float, float]]:
    """Return the time p_k needs to reach half of its final value, and the predicted periods, by seed.

    The prediction is by (3): the logarithm of p_k's growth divided by its mean step eps c(x) (x - 1) at the rate x = 1
    / (1 - l) of a busy link, with the loss ratio l until then. Seeds whose final p_k is not above the start are
    omitted.
    """
    from aqmlab.theory.raqm import map

    found = {}
    settling = 2.0  # the flows' slow starts
    for seed in runs.of(runs.hero, where)["seed"].to_list():
        frame = runs.series(runs.hero, where, seed)
        times = frame["t"].to_numpy()
        p = frame["bottleneck.p_1.mean"].to_numpy()
        half = float(np.mean(p[times >= runs.duration - 50])) / 2
        first = int(np.argmax(times >= settling))
        if half <= 10 * p[first]:
            continue
        end = first + int(np.argmax(p[first:] >= half))
        arrivals, drops = (
            float(frame[f"bottleneck.{name}"].to_numpy()[first:end].sum()) for name in ("arrivals", "drops")
        )
        if not drops:
            continue
        x = 1 / (1 - drops / arrivals)
        step = eps_of(runs, where) * float(map.c(x)) * (x - 1)
        found[seed] = float(times[end]) - settling, PERIOD * math.log(half / float(p[first])) / step
    return found


def eps_of(runs: Runs, where: At) -> float:
    """Return the gain eps at a point: the point's value if the gain varies, otherwise the default."""
    return float(where.get("aqm.eps", EPS)) if "aqm.eps" in runs.frame.columns else EPS


def started(evidence: Evidence) -> Judgement:
    """Compare the time p_k needs with the prediction from the losses."""
    checks, means = [], []
    for case in ("case1", "case3"):
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            found = starts(runs, at(flows))
            if not found:
                means.append(f"case {case[-1]} with {flows:g} flows: p_k does not rise")
                continue
            checks.append(
                Check.of(
                    f"time of p_k to half its rest over that by the losses, case {case[-1]}, {flows:g} flows",
                    [taken / expected for taken, expected in found.values()],
                    least=1 - BAND,
                    most=1 + BAND,
                )
            )
            means.append(f"case {case[-1]} with {flows:g} flows: {rounded(mean(one for one, _ in found.values()))} s")
    return Judgement(
        checks,
        "Until p_k counts, losses are the buffer's overflows, and a busy link's arrivals exceed it by l / (1 - l): "
        f"ln p_k grows by 4 eps l / (1 - l) a period, less where the link idles in between. {'; '.join(means)}.",
    )


def gain(evidence: Evidence) -> Judgement:
    """Compare starts and steadiness by the gain."""
    import polars

    runs = evidence["gain"]
    parts = runs.points("aqm.eps")
    half, near = {"aqm.eps": 0.5}, {"aqm.eps": 0.9}
    taken = {eps: {seed: one for seed, (one, _) in starts(runs, {"aqm.eps": eps}).items()} for eps in parts}
    spread = polars.col("queue_std")
    ratios = [taken[0.5][seed] / taken[0.9][seed] for seed in sorted(taken[0.5].keys() & taken[0.9].keys())]
    checks = [
        # Proportional to 1 / eps: 1.8 times, within a fifth.
        Check.of("time of p_k with eps = .5 over that with .9", ratios, least=1.8 * (1 - BAND), most=1.8 * (1 + BAND)),
        Check.of(
            "standard deviation of the queue with eps = .9 minus that with .5",
            paired(sub, runs.each(spread, runs.hero, near), runs.each(spread, runs.hero, half)),
            unit="packets",
            most=1.0,
        ),
    ]
    means = ", ".join(f"eps = {eps:g} {rounded(mean(one))} s" for eps, one in taken.items())
    return Judgement(
        checks,
        f"{means}. The start is not the loop of the analysis: the buffer, not p_k, makes the losses, and p_k grows at "
        "a rate in proportion to the gain. So a big gain pays there, not near r0.",
    )


BEYOND = [
    Claim(
        name="start",
        text="RAQM's start takes as long as the overflows' loss ratio lets p_k grow.",
        where="(3)",
        judge=started,
        needs=["case1", "case3"],
        shown=["start"],
        beyond=True,
    ),
    Claim(
        name="gain",
        text="A bigger gain makes the start shorter in proportion, and the queue no less steady.",
        where="(3), Theorem 2",
        judge=gain,
        needs=["gain"],
        shown=["start"],
        beyond=True,
    ),
]

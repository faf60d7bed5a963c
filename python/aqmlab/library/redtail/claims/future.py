"""Claims on the future work that the authors list: bandwidth by a prediction of the web's demand."""

from __future__ import annotations

from operator import sub

import numpy as np

from aqmlab.library.redtail.measures import (
    LONG_MEAN,
    MAX_TH1,
    PREDICTION,
    RULE,
    SHORT_DELAY,
    bound,
    forecast_rates,
    per_seed,
)
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import mean, paired

PRINTED = 30e3
"""The paper's max_th1 (bytes)."""
_STEADY = 110.0
"""Start of the judgement of predictions (s), which excludes the beginning of the web."""


def _points(runs: Runs) -> list[tuple[At, str]]:
    return [({MAX_TH1: size}, f"max_th1 = {size / 1e3:g} kB") for size in runs.points(MAX_TH1)]


def _shorter_waits(evidence: Evidence) -> Judgement:
    """Compare the delay in the short queue, and that of all web packets."""
    runs = evidence["prediction"]
    checks = []
    for at, place in _points(runs):
        for metric, quantity in ((SHORT_DELAY, "short queue"), ("classes.web.queue_delay_mean", "web")):
            reduction = runs.differences(metric, RULE, PREDICTION, at, scale=1e3)
            checks.append(Check.of(f"reduction of the {quantity}'s mean delay, {place}", reduction, unit="ms", least=0))
    rule, ours, averaged, first = (
        runs.mean(SHORT_DELAY, label, {MAX_TH1: PRINTED}, scale=1e3).mean or 0 for label in runs.labels
    )
    return Judgement(
        checks,
        f"With the paper's max_th1 of 30 kB the short queue waits {rule:.0f} ms by its length alone, {ours:.0f} ms "
        f"with a prediction, {averaged:.0f} ms with a mean of the last 10 s in its place, and {first:.0f} ms if it is "
        "always served first. What is predicted is served without a queue that would have to ask for it. Of the web, "
        "the packets after a file's 64th wait in the long queue.",
    )


def _better_than_a_mean(evidence: Evidence) -> Judgement:
    """Compare the reductions of the short queue's delay by a prediction and by a long mean."""
    runs = evidence["prediction"]
    checks, shares = [], []
    for at, place in _points(runs):
        rule, ours, averaged = (per_seed(runs, SHORT_DELAY, label, at, 1e3) for label in (RULE, PREDICTION, LONG_MEAN))
        reduction = paired(sub, averaged, ours)
        share = paired(lambda a, b, c: 100 * (a - c) / (a - b), rule, ours, averaged)
        shares += share
        checks += [
            Check.of(f"short queue's mean delay, long mean minus prediction, {place}", reduction, unit="ms", least=0),
            # The effect is the prediction's if a mean has at most half of it.
            Check.of(f"share of the reduction that the long mean has as well, {place}", share, unit="%", most=50),
        ]
    return Judgement(
        checks,
        f"The long mean alone makes {sum(shares) / max(len(shares), 1):.0f} % of what the prediction takes off the "
        "delay: both serve the mean rate without a queue that would have to ask for it. The prediction also follows "
        "what has just come; but a burst is in the queue, and in C1 by its length, before any interval of 100 ms has "
        "counted it.",
    )


def _below_the_bound(evidence: Evidence) -> Judgement:
    """Compare the delay in the short queue with max_th1 / C, for both rules."""
    runs = evidence["prediction"]
    checks = []
    for size in runs.points(MAX_TH1):
        for label, least, most in ((RULE, 0.8, 1.2), (PREDICTION, 0.0, 0.5)):
            delays = runs.values(SHORT_DELAY, label, {MAX_TH1: size}, scale=1e3)
            ratios = [None if delay is None else delay / bound(size) for delay in delays]
            name = f"short queue's mean delay over max_th1 / C = {bound(size):.0f} ms, {label}, {size / 1e3:g} kB"
            checks.append(Check.of(name, ratios, least=least, most=most))
    return Judgement(
        checks,
        "A steady rate r has C1 = r by the rule only at q1 = r max_th1 / C, which is a delay of max_th1 / C whatever r "
        "is. At that is taken as within a fifth, far below as less than half. A packet also waits for the one in "
        "transmission, 2.7 ms if that has 1000 bytes: the more in comparison, the shorter max_th1.",
    )


def _long_flows_pay_little(evidence: Evidence) -> Judgement:
    """Compare delay and throughput of the long flows."""
    runs = evidence["prediction"]
    checks = []
    for at, place in _points(runs):
        for metric, quantity in (("queue_delay_mean", "mean delay"), ("throughput", "throughput")):
            ours, rule = (runs.values(f"classes.ftp.{metric}", label, at) for label in (PREDICTION, RULE))
            change = [100 * (a / b - 1) if a and b else None for a, b in zip(ours, rule, strict=True)]
            checks.append(Check.of(f"change of FTP's {quantity}, {place}", change, unit="%", least=-5, most=5))
    return Judgement(
        checks,
        "Little is taken as within 5 %. Whatever comes in the short queue is sent sooner or later, and takes as much "
        "from the long flows by either rule; a prediction only sends it sooner. What a shorter wait changes is what "
        "the web and its readers ask for in the same time.",
    )


def _no_more_loss(evidence: Evidence) -> Judgement:
    """Compare the loss ratio of the web."""
    runs = evidence["prediction"]
    checks = [
        Check.of(
            f"web's loss ratio, with prediction minus without, {place}",
            runs.differences("classes.web.loss_ratio", PREDICTION, RULE, at, scale=100),
            unit="%",
            most=0.2,
        )
        for at, place in _points(runs)
    ]
    short = [runs.mean("lanes.bottleneck.short.loss_ratio", label, scale=100).mean or 0 for label in (RULE, PREDICTION)]
    return Judgement(
        checks,
        "No more is taken as less than a fifth of a percent more. The short queue loses only what the shared buffer "
        f"has no room for, {short[0]:.2f} % by its length and {short[1]:.2f} % with a prediction; the rest is early "
        "drops of files with more than 64 packets, in the long queue.",
    )


def _faster_files(evidence: Evidence) -> Judgement:
    """Compare the completion times of web files."""
    runs = evidence["prediction"]
    checks = [
        Check.of(
            f"reduction of the {quantity} completion time, {place}",
            runs.differences(f"classes.web.completion_time_{metric}", RULE, PREDICTION, at),
            unit="s",
            least=0,
        )
        for at, place in _points(runs)
        for metric, quantity in (("mean", "mean"), ("p95", "95th percentile of the"))
    ]
    return Judgement(checks, "A small file is a handful of round trips, and each has the short queue in it once.")


def _predictable(evidence: Evidence) -> Judgement:
    """Compare the prediction's squared error with those of the mean and of the last interval."""
    runs = evidence["forecast"]
    checks, texts = [], []
    for label in runs.labels:
        gains: list[list[float]] = [[], []]
        best = []
        for seed in runs.study.seeds:
            predicted, came = forecast_rates(runs, label, seed, _STEADY)
            error = float(((predicted - came)[1:] ** 2).mean())
            gains[0].append(100 * (1 - error / float(came[1:].var())))
            best.append(float(np.corrcoef(came[1:], came[:-1])[0, 1]) ** 2)
            gains[1].append(100 * (1 - error / float((np.diff(came) ** 2).mean())))
        for naive, gain in zip(("the mean of all", "the last interval's rate"), gains, strict=True):
            checks.append(Check.of(f"squared error saved to {naive}, intervals of {label}", gain, unit="%", least=0))
        texts.append(f"{mean(best):.0%} at {label}")
    return Judgement(
        checks,
        "The mean of all is known only afterwards. The best that a straight line from one interval to the next could "
        f"save to it is {', '.join(texts)}, the square of their correlation. The long memory of web traffic comes from "
        "its large files, of which the short queue sees the first 64 packets alone: what one interval tells of the "
        "next is that a file takes several round trips. Holt's trend takes a burst for a rise.",
    )


_WHERE = "Section VII leaves allocation by prediction to the future"

BEYOND = [
    Claim(
        name="predictable",
        text="What the web wants can be predicted from its recent past.",
        where="Section VII",
        judge=_predictable,
        needs=["forecast"],
        shown=["forecast"],
        beyond=True,
    ),
    Claim(
        name="prediction-delay",
        text="Allocation by prediction shortens the delay of short flows.",
        where=_WHERE,
        judge=_shorter_waits,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
    Claim(
        name="prediction-mean",
        text="It is the prediction that helps: a mere mean of the last 10 s helps less, by half or more.",
        where=_WHERE,
        judge=_better_than_a_mean,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
    Claim(
        name="prediction-bound",
        text="The short queue's delay is max_th1 / C by the present rule, and far below with a prediction.",
        where=_WHERE,
        judge=_below_the_bound,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
    Claim(
        name="prediction-files",
        text="Allocation by prediction delivers web files sooner.",
        where=_WHERE,
        judge=_faster_files,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
    Claim(
        name="prediction-cost",
        text="Long flows pay little for it.",
        where=_WHERE,
        judge=_long_flows_pay_little,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
    Claim(
        name="prediction-loss",
        text="Allocation by prediction loses no more of the web.",
        where=_WHERE,
        judge=_no_more_loss,
        needs=["prediction"],
        shown=["prediction"],
        beyond=True,
    ),
]

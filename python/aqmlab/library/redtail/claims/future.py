"""Claims on the future work that the authors list: bandwidth by a prediction of the web's demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.redtail.measures import (
    DELAY,
    LONG_MEAN,
    LOSS,
    MAX_TH1,
    PREDICTION,
    RATE,
    RULE,
    SHORT_DELAY,
    around,
    between,
    bound,
    forecast_rates,
    of,
)
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEADY = 110.0
"""Start of the judgement of predictions (s), which excludes the beginning of the web."""
_WHERE = "Section VII leaves allocation by prediction to the future"
_EACH = (MAX_TH1, "max_th1 = {:g} B")


def hurst(counts: NDArray[np.float64], step: float) -> float:
    """Estimate the Hurst parameter H: the variance of means over 0.2 to 25 s falls as the power 2 H - 2 of the time."""
    times, variances = [], []
    for group in np.unique(np.rint(np.geomspace(0.2, 25, 12) / step).astype(int)):
        whole = len(counts) // group * group
        times.append(group * step)
        variances.append(counts[:whole].reshape(-1, group).mean(axis=1).var())
    return 1 + float(np.polyfit(np.log(times), np.log(variances), 1)[0]) / 2


@claim(
    quote="web traffic is strongly correlated and has a long range dependency property",
    where="Section VII",
    tolerance=Tolerance(0.1, "", "independent counts have 0.5; the estimate from 200 s is accurate to about a tenth"),
    shown="forecast",
)
def long_range(forecast: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web traffic, as the short queue sees it, has long-range dependence."""
    found = forecast.from_series(
        forecast.labels[0],
        lambda frame: hurst(between(frame, _STEADY)["lane.short.arrivals"].to_numpy().astype(float), 0.1),
    )
    return Judgement(
        [
            Check.of(
                "Hurst parameter of the short queue's arrivals, from 0.2 to 25 s", found, least=0.5 + tolerance.value
            )
        ],
        "Files of infinite variance make it, and the short queue sees only the first packets of each; beyond the "
        "seconds that these take the arrivals are nearly independent.",
    )


@claim(
    quote="the future bandwidth demand of the web traffic is predictable",
    where="Section VII",
    tolerance=Tolerance(0, "%", "better than no prediction at all"),
    shown="forecast",
)
def predictable(forecast: Runs, *, tolerance: Tolerance) -> Judgement:
    """What the web wants can be predicted from its recent past."""

    def saved(label: str, naive: Callable[[NDArray[np.float64]], float]) -> PerSeed:
        found = {}
        for seed in forecast.study.seeds:
            predicted, came = forecast_rates(forecast, label, seed, _STEADY)
            found[seed] = 100 * (1 - float(((predicted - came)[1:] ** 2).mean()) / naive(came))
        return PerSeed.of(found, "%")

    checks = [
        Check.of(f"squared error saved to {name}, intervals of {label}", saved(label, naive), least=tolerance.value)
        for label in forecast.labels
        for name, naive in (
            ("the mean of all", lambda came: float(came[1:].var())),
            ("the last interval's rate", lambda came: float((np.diff(came) ** 2).mean())),
        )
    ]
    return Judgement(
        checks,
        "The mean of all is known only afterwards. What one interval tells of the next is that a file takes several "
        "round trips; Holt's trend takes a burst for a rise.",
    )


@claim(
    where=_WHERE,
    tolerance=Tolerance(1, "ms", "a third of a packet's time"),
    shown="prediction",
)
def prediction_delay(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction shortens the delay of short flows."""
    checks, beside = (
        prediction.compare(metric, PREDICTION, [RULE], better="lower", tolerance=tolerance, each=_EACH)
        for metric in (SHORT_DELAY, of("WEB", DELAY))
    )
    waits = ", ".join(
        f"{prediction.per_seed(SHORT_DELAY, label, {MAX_TH1: 30e3}).mean:.0f}" for label in prediction.labels
    )
    return Judgement(
        checks,
        f"With the paper's max_th1 of 30 kB the short queue waits {waits} ms by its length, with a prediction, with a "
        "mean of 10 s in its place, and if it is always served first: what is predicted is served without a queue "
        "that would have to ask for it.",
        beside,
    )


@claim(
    where=_WHERE,
    tolerance=Tolerance(50, "%", "the effect is the prediction's if a mean has at most half of it"),
    shown="prediction",
)
def prediction_mean(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is the prediction that helps: a mere mean of the last 10 s helps less, by half or more."""
    checks = []
    for size in prediction.points(MAX_TH1):
        rule, ours, averaged = (
            prediction.per_seed(SHORT_DELAY, label, {MAX_TH1: size}) for label in (RULE, PREDICTION, LONG_MEAN)
        )
        share = 100 * ((rule - averaged) / (rule - ours))
        checks.append(
            Check.of(
                f"share of the reduction that the long mean has as well, max_th1 = {size / 1e3:g} kB",
                share,
                unit="%",
                most=tolerance.value,
            )
        )
    return Judgement(
        checks,
        "Both serve the mean rate without a queue that would have to ask for it. A burst is in the queue, and in C1 "
        "by its length, before any interval of 100 ms has counted it.",
    )


@claim(
    where=_WHERE,
    tolerance=Tolerance(20, "% of it", "'is'; far below is less than half"),
    shown="prediction",
)
def prediction_bound(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """The short queue's delay is max_th1 / C by the present rule, and far below with a prediction."""
    checks = []
    for size in prediction.points(MAX_TH1):
        rule, ours = (
            prediction.per_seed(SHORT_DELAY, label, {MAX_TH1: size}) / bound(size) for label in (RULE, PREDICTION)
        )
        place = f"short queue's delay over max_th1 / C = {bound(size):.0f} ms"
        checks += [
            around(f"{place}, {RULE}", rule.called("", ""), 1, tolerance),
            Check.of(f"{place}, {PREDICTION}", ours, unit="", most=0.5),
        ]
    return Judgement(
        checks,
        "A steady rate r has C1 = r by the rule only at q1 = r max_th1 / C, a delay of max_th1 / C whatever r is. A "
        "packet also waits for the one in transmission, 2.7 ms, and what a burst brings beyond C1max by either rule.",
    )


@claim(
    where=_WHERE,
    tolerance=Tolerance(1, "% of it", "less no reader notices"),
    shown="prediction",
)
def prediction_files(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction delivers web files sooner."""
    checks = prediction.compare(
        of("WEB", "completion_time_mean"), PREDICTION, [RULE], better="lower", tolerance=tolerance, each=_EACH
    )
    return Judgement(checks, "A small file is a handful of round trips, and each has the short queue in it once.")


@claim(
    where=_WHERE,
    tolerance=Tolerance(5, "% of it", "little"),
    shown="prediction",
)
def prediction_cost(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Long flows pay little for it."""
    checks = [
        one
        for metric in (DELAY, RATE)
        for one in prediction.compare(
            of("FTP", metric), PREDICTION, [RULE], better="equal", tolerance=tolerance, each=_EACH
        )
    ]
    return Judgement(
        checks,
        "Whatever comes in the short queue is sent sooner or later, and takes as much from the long flows by either "
        "rule.",
    )


@claim(
    where=_WHERE,
    tolerance=Tolerance(0.2, "%", "a fifth of a packet in a hundred"),
    shown="prediction",
)
def prediction_loss(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction loses no more of the web."""
    checks = prediction.compare(
        of("WEB", LOSS), PREDICTION, [RULE], better="not higher", tolerance=tolerance, each=_EACH
    )
    return Judgement(
        checks, "The short queue loses only what the shared buffer has no room for; the rest is drops of long files."
    )

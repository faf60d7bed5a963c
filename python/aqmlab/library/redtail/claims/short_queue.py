"""Claims on the queue of short flows over max_th1: section VI-A (Fig. 16)."""

from __future__ import annotations

from aqmlab.library.redtail.measures import (
    BAND,
    DELAY,
    HERO,
    LONG,
    LOSS,
    MAX_TH1,
    RATE,
    SHORT,
    TENTH,
    around,
    bound,
    deviation,
    of,
    over_bound,
    versus,
)
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

TRAFFIC = {"CBR": of("CBR", DELAY), "WEB": of("WEB", DELAY), "the short queue": SHORT + DELAY}
_UNSTATED = "The paper does not print C1max: both the calibrated one and C, which its analysis has, are judged."


def _figure_16(maxth1: Runs, equation_1: Runs) -> dict[str, Runs]:
    """Return the runs that may be those of Fig. 16, by the words for their C1max."""
    return {"": maxth1, ", C1max = C": equation_1}


@claim(
    quote="maxth1/C is a lower bound of the average queuing delay at the drop-tail queue",
    where="Section VI-A",
    tolerance=Tolerance(0, "", "a bound"),
    shown="fig16",
)
def bound_below(equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """By eq. (1) max_th1/C is a lower bound of the mean delay."""
    checks = [
        Check.of(
            f"delay of {name} / (max_th1/C), the least over max_th1",
            PerSeed.least(over_bound(equation_1, metric, HERO)),
            least=1 - tolerance.value,
        )
        for name, metric in TRAFFIC.items()
    ]
    return Judgement(
        checks, "A queue of any length below max_th1 takes max_th1/C to empty at C q1/max_th1, and a longer one more."
    )


@claim(
    quote="The simple lower bound … is seen to provide a good approximation",
    where="Section VI-A, Fig. 16",
    tolerance=Tolerance(25, "% of it", "Table III has 36 % for CBR, which the text calls larger than expected"),
    shown="fig16",
)
def bound_near(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is a good approximation of CBR's and web's delay."""

    def near(runs: Runs, where: str) -> list[Check]:
        return [
            around(f"delay of {name} / (max_th1/C), max_th1 = {size / 1e3:g} kB{where}", ratio, 1, tolerance)
            for name in ("CBR", "WEB")
            for size, ratio in zip(runs.points(MAX_TH1), over_bound(runs, TRAFFIC[name], HERO), strict=True)
        ]

    return Judgement(
        [*near(maxth1, ""), *near(equation_1, ", C1min = 0, C1max = C")],
        "The paper does not print C1max. What a burst brings beyond it waits, however small max_th1 is. With C1min = 0 "
        "and C1max = C, as in eq. (1), CBR follows the bound, and WEB's mean has the packets of long files, which wait "
        "with FTP.",
    )


@claim(
    quote="almost a constant even when maxth1 is decreasing",
    where="Section VI-A, Fig. 16",
    tolerance=Tolerance(15, "%", "what the figure's axis of 0.4 s shows as almost a constant"),
    shown="fig16",
)
def long_delay_flat(maxth1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The delay of FTP hardly depends on max_th1."""
    delays = [maxth1.per_seed(of("FTP", DELAY), HERO, {MAX_TH1: size}) for size in maxth1.points(MAX_TH1)]
    spread = 100 * ((PerSeed.most(delays) - PerSeed.least(delays)) / PerSeed.average(delays))
    return Judgement(
        [Check.of("delay of FTP, greatest minus least over its mean", spread, unit="%", most=tolerance.value)],
        f"From {min(one.mean for one in delays):.0f} to {max(one.mean for one in delays):.0f} ms.",
    )


@claim(
    quote="the mean delay at the Adaptive RED queue is around q2/C2",
    where="Section VI-A",
    tolerance=TENTH,
    shown="fig16",
)
def middle_over_rate(maxth1: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is about the middle of the region over the long queue's rate."""
    middle = sum(BAND) / 2
    checks = []
    for size in maxth1.points(MAX_TH1):
        delay = maxth1.per_seed(of("FTP", DELAY), HERO, {MAX_TH1: size})
        rate = maxth1.per_seed(LONG + RATE, HERO, {MAX_TH1: size}, unit="kB/s")
        checks.append(
            Check.better(
                f"delay of FTP over q2/C2, max_th1 = {size / 1e3:g} kB",
                delay,
                (1e3 * middle / rate).called("", "ms"),
                "equal",
                tolerance,
            )
        )
    return Judgement(checks, "Little's law, with a queue that Adaptive RED keeps near its middle.")


@claim(
    quote="the drop-tail queue has a very small delay variance",
    where="Section VI-A, Fig. 16",
    tolerance=Tolerance(50, "% of it", "very small: a deviation of less than half of FTP's"),
    shown="fig16",
)
def short_varies_little(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Delay varies very little in the short queue."""
    checks = [
        versus(
            f"deviation of the delay of CBR over FTP's, max_th1 = {size / 1e3:g} kB{where}",
            (deviation(runs, owner, HERO, {MAX_TH1: size}) for owner in ("CBR", "FTP")),
            "lower",
            tolerance,
        )
        for where, runs in _figure_16(maxth1, equation_1).items()
        for size in runs.points(MAX_TH1)
    ]

    def tail(metric: str, size: float) -> PerSeed:
        high, middle = (maxth1.per_seed(metric.replace("mean", part), HERO, {MAX_TH1: size}) for part in ("p95", "p50"))
        return high - middle

    beside = [
        Check.better(
            f"95th percentile less median of {name} over FTP's, max_th1 = {size / 1e3:g} kB",
            tail(TRAFFIC[name], size),
            tail(of("FTP", DELAY), size),
            "lower",
            tolerance,
        )
        for name in ("the short queue", "WEB")
        for size in maxth1.points(MAX_TH1)
    ]
    return Judgement(
        checks,
        f"{_UNSTATED} The longer the short queue, the faster it is served, but only up to C1max: beyond it the delay "
        "grows with the burst. WEB's packets of long files wait with FTP.",
        beside,
    )


@claim(
    quote="the delay variance at the Adaptive RED queue is slightly increased",
    where="Section VI-A, Fig. 16",
    tolerance=Tolerance(5, "%", "less is no increase; more than half is not slight"),
    shown="fig16",
)
def long_varies_more(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """FTP's varies slightly more with a smaller max_th1."""
    checks, found = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        points = runs.points(MAX_TH1)
        small, great = (deviation(runs, "FTP", HERO, {MAX_TH1: size}).to("ms") for size in (points[0], points[-1]))
        checks.append(
            Check.of(
                f"deviation of FTP's delay at the least max_th1 over that at the greatest{where}",
                100 * (small / great - 1),
                unit="%",
                least=tolerance.value,
                most=50,
            )
        )
        found.append(f"{small} and {great}{where}")
    return Judgement(
        checks, f"{_UNSTATED} {'; '.join(found)}: a small max_th1 lets the short queue take more of the rate at once."
    )


@claim(
    quote="The delay and loss at the drop-tail queue can be improved by … using a more aggressive bandwidth allocation "
    "policy (smaller maxth1)",
    where="Section V; of the delay also section IV",
    tolerance=TENTH,
    shown="fig16",
)
def smaller_max_th1(maxth1: Runs, *, tolerance: Tolerance) -> Judgement:
    """A smaller max_th1 improves delay and loss of the short flows."""
    points = maxth1.points(MAX_TH1)
    checks = [
        versus(
            f"{name} of the short queue, least max_th1 over greatest",
            (maxth1.per_seed(SHORT + metric, HERO, {MAX_TH1: size}) for size in (points[0], points[-1])),
            "lower",
            tolerance,
        )
        for metric, name in ((DELAY, "delay"), (LOSS, "loss"))
    ]
    return Judgement(checks, "A short queue that is served sooner leaves room in the shared buffer.")


@claim(
    quote="the mean packet delay requirements at both queues can be satisfied by properly designing the values",
    where="Section VI-A",
    tolerance=Tolerance(20, "% of it", "as for the printed delays"),
    shown="targets",
)
def delay_targets(targets: Runs, *, tolerance: Tolerance) -> Judgement:
    """Both queues' delays can be had by choice of the thresholds."""
    checks = []
    for label in targets.labels:
        low, high = (float(one.split()[0]) for one in label.split(" to "))
        for size in targets.points(MAX_TH1):
            at, where = {MAX_TH1: size}, f"max_th1 = {size / 1e3:g} kB, long queue {label}"
            rate = targets.per_seed(LONG + RATE, label, at, unit="kB/s").mean
            checks += [
                around(
                    f"delay of the short queue, {where}",
                    targets.per_seed(SHORT + DELAY, label, at),
                    bound(size),
                    tolerance,
                ),
                around(
                    f"delay of the long queue, {where}",
                    targets.per_seed(LONG + DELAY, label, at),
                    1e3 * (low + high) / 2 / rate,
                    tolerance,
                ),
            ]
    return Judgement(
        checks,
        "max_th1/C for the short queue, the middle of the thresholds over its rate for the long one. Bursts beyond "
        "C1max make the short queue miss its target.",
    )

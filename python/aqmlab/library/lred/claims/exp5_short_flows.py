"""Claims of experiment 5 (Figs. 11 to 14): short flows beside long ones, AVQ, Pareto's law."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import polars

from aqmlab.library.lred.measures import ARRIVALS, FOUR, SAID, away, best, lower, rivals
from aqmlab.papers import Check, Claim, Judgement, PerSeed, Runs, Tolerance, claim
from aqmlab.theory import avq

_STEP = Tolerance(5, "packets", "a fortieth of the figure's axis")
_EACH = (ARRIVALS, "{:g}/s")
_AVQS = tuple(f"AVQ {alpha:g}" for alpha in (0.01, 0.05, 0.1, 0.15))
_FORMS = ("AVQ 0.01 from 0.8 C", "AVQ 0.15 from 0.8 C", "AVQ 0.01, its paper's form", "AVQ 0.15, its paper's form")


def _best(measure: str) -> Claim:
    @claim(
        text=f"With short flows between the long ones LRED has {SAID[measure]} of LRED, PI, PI* and REM.",
        name=f"short-flows-{measure}",
        quote="Clearly, LRED outperforms PI, PI*, and REM in all these measures",
        where="Section 6.2, Experiment 5, Fig. 11",
        tolerance=FOUR[measure][2],
        shown="fig11",
        comparative=True,
    )
    def judge(exp5: Runs) -> Judgement:
        """Compare, averaged over the arrival rates."""
        values = ", ".join(f"{label} {exp5.per_seed(FOUR[measure][0], label):.3g}" for label in exp5.labels)
        return Judgement(
            best(exp5, measure, rivals(exp5)),
            f"Means over the rates: {values}. A late integrator has the buffer full while short flows are there, and "
            "drops too much for as long after they have gone.",
        )

    return judge


BEST = [_best(measure) for measure in FOUR]


@claim(
    quote="LRED is again more stable due to its good responsiveness",
    where="Section 6.2, Experiment 5, Fig. 12",
    tolerance=_STEP,
    shown="fig12",
)
def short_flows_responsive(exp5: Runs, *, tolerance: Tolerance) -> Judgement:
    """When short flows come and go, LRED's queue stays closer to its target than those of PI, PI* and REM."""
    parts = [
        check
        for rate in exp5.points(ARRIVALS)
        if rate in (30, 100)
        for begin, change in ((50, "come"), (150, "go"))
        for check in lower(
            f"|queue - q0|, 20 s after flows {change}, {rate:g}/s",
            partial(away, exp5, at={ARRIVALS: rate}, begin=begin, end=begin + 20),
            rivals(exp5),
            tolerance,
        )
    ]
    return Judgement(parts, "LRED measures the new loss within its window of 4 s, whatever it is.")


@claim(
    quote="is required to guarantee stability for this scenario",
    where="Section 6.2, Experiment 5",
    shown="fig13",
)
def avq_limit() -> Judgement:
    """By AVQ's design rule alpha must be at most 0.2 for 100 flows of 450 ms at 2500 packets a second."""
    rule = float(avq.working_rule(N=100, d=0.45, C=2500.0, gamma=0.98))
    critical, _ = avq.least_critical_alpha(100, 0.45, 2500.0, 0.98, B=200)
    return Judgement(
        [],
        "The theorem of AVQ's authors is not in the paper, and a formula found by its number would test nothing. "
        f"N / (gamma C R^2) is {rule:.2g}; with a virtual buffer of 200 packets our linear model of AVQ is unstable "
        f"above {critical:.2g}.",
    )


def _trend(measure: str, sign: int, words: str) -> Claim:
    metric = "queue_mean" if measure == "queue" else FOUR[measure][0]
    unit = FOUR[measure][2].unit
    size = {"goodput": 0.05, "loss": 0.1, "queue": 0.5, "deviation": 0.5}[measure]

    @claim(
        text=f"The smaller AVQ's alpha, the {words}.",
        name=f"avq-trend-{measure}",
        quote="When alpha decreases, AVQ achieves higher goodput and lower loss ratio but larger average queue length "
        "as well as queue deviation",
        where="Section 6.2, Experiment 5, Fig. 13",
        tolerance=Tolerance(size, unit, "what the figure's axis would show"),
        shown="fig13",
    )
    def judge(exp5_avq: Runs, *, tolerance: Tolerance) -> Judgement:
        """Compare the slowest AVQ with the fastest, averaged over the arrival rates, in each form."""

        def change(slow: str, fast: str) -> Check:
            gained = (exp5_avq.per_seed(metric, slow) - exp5_avq.per_seed(metric, fast)) * sign
            return Check.of(f"{slow} minus {fast}{', reversed' if sign < 0 else ''}", gained, least=tolerance.value)

        steps = [change(slow, fast) for slow, fast in pairwise(_AVQS)]
        return Judgement(
            [change(_AVQS[0], _AVQS[-1])],
            "1 / alpha is the time constant of the virtual capacity, 100 s for 0.01: from C such an AVQ uses more than "
            "gamma C in 200 s, from ns-2's 0.8 C less.",
            [*steps, change(*_FORMS[:2]), change(*_FORMS[2:])],
        )

    return judge


TRENDS = [
    _trend("goodput", 1, "higher its goodput"),
    _trend("loss", -1, "lower its loss ratio"),
    _trend("queue", 1, "longer its queue"),
    _trend("deviation", 1, "larger its queue deviation"),
]


def _against_avq(measure: str, q0: int) -> Claim:
    label = f"LRED q0 = {q0}"

    @claim(
        text=f"On one side of 60 short flows a second LRED with q0 = {q0} has a "
        f"{'higher goodput' if measure == 'goodput' else 'lower loss ratio'} than AVQ.",
        name=f"avq-{q0}-{measure}",
        quote=f"LRED with q0 = {q0} {'is better than' if q0 == 20 else 'outperforms'} AVQ",
        where="Section 6.2, Experiment 5, Fig. 13; the side is not readable in our copy",
        tolerance=FOUR[measure][2],
        shown="fig13",
    )
    def judge(exp5_avq: Runs, *, tolerance: Tolerance) -> Judgement:
        """Compare with AVQ at each alpha and each rate; half of the rates or more are on either side, 60 on both."""
        metric, better, _ = FOUR[measure]
        parts, beside = (
            [
                check
                for rate in exp5_avq.points(ARRIVALS)
                for check in exp5_avq.compare(
                    metric,
                    label,
                    labels,
                    better=better,
                    tolerance=tolerance,
                    at={ARRIVALS: rate},
                    name=f"{measure} at {rate:g}/s",
                )
            ]
            for labels in (_AVQS, _FORMS)
        )
        empty = exp5_avq.per_seed("queue_empty", label)
        return Judgement(
            parts,
            f"LRED's queue is empty for {empty:.2g} % of the time: slow starts leave an estimate that is too high, and "
            f"while the queue is empty p is only beta sqrt(L) q0 below it, with q0 = {q0} a tenth of it or less.",
            beside,
            need=0.5,
        )

    return judge


AGAINST_AVQ = [_against_avq(measure, q0) for q0 in (20, 10) for measure in ("goodput", "loss")]


@claim(
    quote="the difference between the results of Poisson and Pareto distributions is generally insignificant",
    where="Section 6.2, Experiment 5, Fig. 14",
    tolerance=Tolerance(10, "% of it", "insignificant: a tenth, a line's width in the figure"),
    shown="fig14",
)
def pareto_alike(exp5: Runs, exp5_pareto: Runs, *, tolerance: Tolerance) -> Judgement:
    """Pareto's law makes no significant difference from Poisson arrivals."""

    def length(runs: Runs, label: str, at: dict[str, float | str]) -> PerSeed:
        def mean(frame: polars.DataFrame) -> float:
            return float(frame.filter(polars.col("t").is_between(50, 150))["queue.mean"].to_numpy().mean())

        return runs.from_series(label, mean, at, unit="packets")

    gaps = "traffic.short.interarrival"
    checks = [
        Check.better(
            f"mean queue of {label} from 50 s to 150 s, {gap} over Poisson",
            length(exp5_pareto, label, {gaps: gap}),
            length(exp5, label, {ARRIVALS: 100.0}),
            "equal",
            tolerance,
        )
        for gap in exp5_pareto.points(gaps)
        for label in ("LRED", "PI", "PI*", "REM")
    ]
    return Judgement(
        checks,
        "Lifetimes of a shape below 2 have no variance: a run of 100 s has more or less traffic by chance.",
        need=0.8,
    )


@claim(
    quote="LRED still has faster response and better performance",
    where="Section 6.2, Experiment 5, Fig. 14",
    tolerance=_STEP,
    shown="fig14",
)
def pareto_best(exp5_pareto: Runs, *, tolerance: Tolerance) -> Judgement:
    """With Pareto's law too LRED responds faster and holds its queue better."""
    gaps = "traffic.short.interarrival"
    parts = [
        check
        for gap in exp5_pareto.points(gaps)
        for check in lower(
            f"|queue - q0| in the 20 s after the flows come, {gap}",
            partial(away, exp5_pareto, at={gaps: gap}, begin=50, end=70),
            rivals(exp5_pareto),
            tolerance,
        )
    ]
    return Judgement(parts, "The law of the arrivals does not enter LRED's measurement.")

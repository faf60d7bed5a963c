"""Claims of sections 1 to 3 on the form of LRED's law, and on packets of several sizes."""

from collections.abc import Iterable
from dataclasses import replace

import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DEVIATION, GOODPUT, TIME
from aqmlab_papers.lred.measures import COUNT, OFF_TARGET
from aqmlab_papers.lred.theory import BETA, C
from aqmlab_papers.theory import lred

_GIVEN = 400
"""The number of flows whose L the law with the queue alone is given."""
_SPREAD = polars.col("queue_mad") + OFF_TARGET


@claim(
    "the drop probability for a small queue length q would still be quite high, resulting in low link utility",
    "Section 3, (3)",
    "laws",
)
@tolerance(GOODPUT)
def root(laws: Runs, *, tolerance: Tolerance) -> Judgement:
    """At high loss LRED's root keeps the link used, where a linear law whose gain is set too small does not."""
    at = [{COUNT: count} for count in laws.points(COUNT) if count > 400]

    def used(*others: str) -> list[Check]:
        return [
            check
            for point in at
            for check in laws.compare(
                "utilisation",
                "LRED",
                others,
                better="higher",
                tolerance=tolerance,
                at=point,
                name=f"utilisation, {point[COUNT]:g} flows,",
            )
        ]

    beside = used("linear", "proportional")
    light = [{COUNT: laws.points(COUNT)[0]}]
    beside += laws.compare(
        "queue_mad",
        "LRED",
        ["linear", "proportional"],
        better="lower",
        tolerance=DEVIATION,
        at=light,
        name=f"deviation with {light[0][COUNT]:g} flows",
    )
    empty = ", ".join(
        f"{label} {PerSeed.average(laws.per_seed('queue_empty', label, point) for point in at):.2g} %"
        for label in ("LRED", "L alone", "linear", "proportional")
    )
    return Judgement(
        used("L alone"),
        "The paper does not say which gain is too small: L alone, a linear law with next to none, surely is. The "
        "linear law beside has the gain that LRED has with 400 flows, a smaller one than LRED's with more flows, and "
        f"that is not too small. The queue is empty for {empty} of the time.",
        beside,
    )


@claim("depends on the percentage of traffic rate change only", "Section 3, (3)", "gains", arithmetic=True)
def root_gain() -> Judgement:
    """The root makes the loop's gain independent of the number of flows."""
    few, many = (float(C**2 / (1.5 * count) * lred.gain(count, 0.35, C, BETA)) for count in (100.0, 1000.0))
    effect = "gain of the loop at 1000 flows over that at 100"
    return Judgement(
        [Effect(effect).exact(many / few, least=0.99, most=1.01)], "Kc Hc = beta C / (sqrt(eta) R) has no N."
    )


@claim(
    "this multi-granular update improves not only the stability of the system, but also its responsiveness",
    "Sections 1 and 7",
    "laws",
)
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; of response times {TIME.value:g} %"))
def two_grains(laws: Runs, *, tolerance: Tolerance) -> Judgement:
    """Both grains, the queue's and the loss ratio's, make LRED more stable and responsive than either alone."""
    measures: dict[str, tuple[str | polars.Expr, Tolerance]] = {
        "deviation and distance of the mean from the target": (_SPREAD, tolerance),
        "response time": ("response_time", TIME),
    }

    def against(other: str, counts: Iterable[float]) -> list[Check]:
        return [
            check
            for count in counts
            for name, (metric, by) in measures.items()
            for check in laws.compare(
                metric,
                "LRED",
                [other],
                better="lower",
                tolerance=by,
                at={COUNT: count},
                fill=laws.duration,
                name=f"{name}, {count:g} flows,",
            )
        ]

    counts = laws.points(COUNT)
    return Judgement(
        against("L alone", counts) + against("queue alone", [count for count in counts if count != _GIVEN]),
        f"L alone has no target: any queue is at rest with it. The queue alone is given the L that {_GIVEN} flows "
        "need, which LRED has to find, so that this load is beside; at every other load it cannot reach the target. "
        "More stable is nearer to the target: by the deviation alone, beside, LRED is mostly the less steady one, as a "
        "queue that rests at an end of the buffer cannot vary.",
        [
            *against("queue alone", [count for count in counts if count == _GIVEN]),
            *laws.compare(
                "queue_mad",
                "LRED",
                ["L alone", "queue alone"],
                better="lower",
                tolerance=tolerance,
                each=(COUNT, "{:g} flows"),
                name="deviation alone",
            ),
        ],
    )


@claim("improve the fairness among TCP connections with different packet size", "Section 3", "sizes")
@tolerance(0.02, "", "a fiftieth of the range of Jain's index, which is a share")
def bytes_fair(sizes: Runs, *, tolerance: Tolerance) -> Judgement:
    """Counting the queue in bytes, and dropping by size, is fairer to flows of different packet sizes."""
    share = (polars.col("classes.large.goodput") / polars.col("classes.small.goodput")).alias("large over small")
    ratios = [sizes.per_seed(share, label).mean for label in ("LRED", "LRED in bytes")]
    parts = sizes.compare("jain", "LRED in bytes", ["LRED"], better="higher", tolerance=tolerance)
    return Judgement(
        parts,
        f"Flows with packets four times as large have {ratios[0]:.2g} times the goodput of the others with LRED, and "
        f"{ratios[1]:.2g} times with LRED in bytes, which drops larger packets more often.",
        beside=[
            Effect("mean queue of LRED").of(sizes.per_seed("queue_mean", "LRED"), least=80, most=120),
            Effect("mean delay of LRED in bytes, whose target takes 50 ms").of(
                sizes.per_seed("queue_delay_mean", "LRED in bytes"), least=40, most=60
            ),
        ],
    )

"""Claims of sections 1 to 3 on the form of LRED's law, and on packets of several sizes."""

import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.lred.measures import COUNT
from aqmlab_papers.lred.theory import BETA, C
from aqmlab_papers.theory import lred


@claim(
    "the drop probability for a small queue length q would still be quite high, resulting in low link utility",
    "Section 3, (3)",
    "laws",
)
@tolerance(0.5, "%", "of the link, as for goodput")
def root(laws: Runs, *, tolerance: Tolerance) -> Judgement:
    """At high loss LRED's root keeps the link used, where a linear law whose gain is too low does not."""
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

    beside = used("proportional")
    light = [{COUNT: laws.points(COUNT)[0]}]
    beside += laws.compare(
        "queue_mad",
        "LRED",
        ["linear", "proportional"],
        better="lower",
        tolerance=Tolerance(2, "packets", "a hundredth of the buffer"),
        at=light,
        name=f"deviation with {light[0][COUNT]:g} flows",
    )
    empty = ", ".join(
        f"{label} {PerSeed.average(laws.per_seed('queue_empty', label, point) for point in at):.2g} %"
        for label in ("LRED", "L alone", "linear", "proportional")
    )
    return Judgement(
        used("L alone", "linear"),
        "What is too small is not stated: L alone is a linear law with next to no gain, linear has the gain that LRED "
        f"has at 400 flows, and with more a smaller one than LRED. The queue is then empty for {empty} of the time: L "
        "integrates, so that a gain that is not negligible finds the loss.",
        beside,
    )


@claim("depends on the percentage of traffic rate change only", "Section 3, (3)", "gains", arithmetic=True)
def root_gain() -> Judgement:
    """The root makes the loop's gain independent of the number of flows."""
    few, many = (float(C**2 / (1.5 * count) * lred.gain(count, 0.35, C, BETA)) for count in (100.0, 1000.0))
    effect = "gain of the loop at 1000 flows over that at 100"
    return Judgement([Effect(effect).exact(many / few, least=0.99, most=1.01)], "Kc Hc = beta C / (sqrt(eta) R).")


@claim(
    "this multi-granular update improves not only the stability of the system, but also its responsiveness",
    "Sections 1 and 7",
    "laws",
)
@tolerance(2, "packets", "a hundredth of the buffer; response times are whole seconds")
def two_grains(laws: Runs, *, tolerance: Tolerance) -> Judgement:
    """Both grains, the queue's and the loss ratio's, make LRED more stable and responsive than either alone."""
    spread = (polars.col("queue_mad") + (polars.col("queue_mean") - 100).abs()).alias(
        "deviation and distance of the mean from the target"
    )
    parts = laws.compare(
        spread,
        "LRED",
        ["L alone", "queue alone"],
        better="lower",
        tolerance=tolerance,
        each=(COUNT, "{:g} flows"),
        unit="packets",
    )
    parts += laws.compare(
        "response_time",
        "LRED",
        ["L alone", "queue alone"],
        better="lower",
        tolerance=Tolerance(1, "s", "response times are whole seconds"),
        each=(COUNT, "{:g} flows"),
        fill=laws.duration,
    )
    return Judgement(
        parts,
        "L alone has no target: any queue is at rest. The queue alone has the L of 400 flows from the start, which "
        "LRED has to find: there it needs no second grain, elsewhere it has no way to the target.",
    )


@claim("improve the fairness among TCP connections with different packet size", "Section 3", "sizes")
@tolerance(0.02, "", "a fiftieth of Jain's index")
def bytes_fair(sizes: Runs, *, tolerance: Tolerance) -> Judgement:
    """Counting the queue in bytes, and dropping by size, is fairer to flows of different packet sizes."""
    share = (polars.col("classes.large.goodput") / polars.col("classes.small.goodput")).alias("large over small")
    ratios = [sizes.per_seed(share, label).mean for label in ("LRED", "LRED in bytes")]
    parts = sizes.compare("jain", "LRED in bytes", ["LRED"], better="higher", tolerance=tolerance)
    return Judgement(
        parts,
        f"Flows with packets four times as large have {ratios[0]:.2g} times the goodput, in bytes {ratios[1]:.2g}. "
        "The target holds if mean_packet is the mean of what arrives.",
        beside=[
            Effect("mean queue of LRED").of(sizes.per_seed("queue_mean", "LRED"), least=80, most=120),
            Effect("mean delay of LRED in bytes, whose target takes 50 ms").of(
                sizes.per_seed("queue_delay_mean", "LRED in bytes"), least=40, most=60
            ),
        ],
    )

"""Claims on the queues and drop probabilities beside web traffic: sections II to IV (Figs. 1 and 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aqmlab.library.redtail.measures import (
    ALL_TRAFFIC,
    ARED,
    BAND,
    C1_MAX,
    FLOWS_ALONE,
    FULL,
    HERO,
    LONG,
    PROPAGATION,
    Q2,
    TENTH,
    P,
    Q,
    between,
    of,
    share_in,
    spread_over,
    swing,
    versus,
)
from aqmlab.library.redtail.measures import N as AFTER
from aqmlab.papers import Check, Judgement, Runs, Tolerance, claim

if TYPE_CHECKING:
    import polars

IN_REGION = Tolerance(
    5, "%", "a queue is in its region if it is there for 95 % of the time (bins of 0.25 s), and leaves it if it is not"
)
DOUBLED = Tolerance(2, "", "at least doubled, what a figure without a scale of its own shows as a change")


@claim(
    quote="the Adaptive RED works well with those FTP connections before the web traffic comes in",
    where="Section II, Fig. 1",
    tolerance=IN_REGION,
    shown="fig1",
)
def calm_alone(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """With long flows alone Adaptive RED keeps its queue in the desired region."""
    share = time.from_series(ARED, share_in(Q, BAND, *FLOWS_ALONE), unit="%")
    deviation = swing(time, Q, ARED, FLOWS_ALONE)
    return Judgement(
        [Check.of("time in the region before web traffic comes", share, least=100 - tolerance.value)],
        f"Ten flows in congestion avoidance keep near the middle, by {deviation:.1f} packets (standard deviation).",
    )


@claim(
    quote="the queue length of Adaptive RED deviates dramatically from the desired region",
    where="Section II, Fig. 1",
    tolerance=Tolerance(10, "%", "dramatically: outside the region for at least a tenth of the time"),
    shown="fig1",
)
def thrown_by_web(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """When web and CBR traffic come, its queue leaves the region."""
    outside = 100 - time.from_series(ARED, share_in(Q, BAND, *ALL_TRAFFIC), unit="%")
    return Judgement(
        [Check.of("time outside the region after web traffic came", outside, unit="%", least=tolerance.value)],
        "Web bursts are faster than the averaged queue; the excursions are short, and most of the time the queue is "
        "in the region all the same.",
    )


def doubled(column: str, name: str, why: str) -> Callable[..., Judgement]:
    """Create the judgement that a series of Adaptive RED's swings at least twice as much beside web traffic."""

    def judge(time: Runs, *, tolerance: Tolerance) -> Judgement:
        before, after = (swing(time, column, ARED, period) for period in (FLOWS_ALONE, ALL_TRAFFIC))
        effect = f"standard deviation of {name} after web traffic came / before"
        return Judgement(
            [Check.of(effect, after / before, least=tolerance.value)], f"From {before:.2g} to {after:.2g}{why}."
        )

    return judge


GREAT_VARIATION = claim(
    text="Its queue varies a lot more then.",
    quote="This over-reaction causes a great queue length variation",
    where="Section II, Fig. 1",
    tolerance=DOUBLED,
    shown="fig1",
    name="great-variation",
    runs="time",
)(doubled(Q, "the queue", " packets"))
OVER_REACTION = claim(
    text="Adaptive RED then raises and lowers its drop probability rapidly.",
    quote="makes the Adaptive RED increase/decrease its dropping probability rapidly",
    where="Section II",
    tolerance=DOUBLED,
    shown="fig1",
    name="over-reaction",
    runs="time",
)(doubled(P, "p", ": p follows the averaged queue, which the bursts move"))


@claim(
    quote="This scheme prevents the over-reaction behavior of RED",
    where="Section IV",
    tolerance=Tolerance(10, "% of it", "less is not prevented"),
    shown="fig4",
)
def prevents_over_reaction(time: Runs, n: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail prevents this: the long queue's drop probability swings less than Adaptive RED's."""
    ared = swing(time, P, ARED, ALL_TRAFFIC)
    checks = [
        versus(
            f"standard deviation of p of RED+Tail over Adaptive RED's, N = {after}",
            (n.from_series(HERO, spread_over(P, *ALL_TRAFFIC), {AFTER: after}), ared),
            "lower",
            tolerance,
        )
        for after in n.points(AFTER)
    ]
    return Judgement(
        checks,
        "The bursts take the rate from the long queue in place of adding to it, and the fewer web files it has, the "
        "less it swings.",
    )


@claim(
    quote="the virtual queue length q2 is quite stable and stays in the desired region even after",
    where="Section IV, Fig. 4",
    tolerance=IN_REGION,
    shown="fig4",
)
def steady_long_queue(n: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail's long queue stays in the region beside web traffic."""
    shares = {
        after: n.from_series(HERO, share_in(Q2, BAND, *ALL_TRAFFIC), {AFTER: after}, unit="%")
        for after in n.points(AFTER)
    }
    return Judgement(
        [
            Check.of(f"time that the long queue is in the region, N = {after}", share, least=100 - tolerance.value)
            for after, share in shares.items()
        ],
        "Its rate is what short flows leave. With a small N the rest of every larger web file comes to it as a burst.",
    )


@claim(
    quote="the Adaptive RED queue has a small length variation",
    where="Abstract, Sections I and IV, Figs. 1 and 4",
    tolerance=Tolerance(1, "packets", "what a figure with an axis of 160 packets resolves"),
    shown="fig4 fig1 over-n",
)
def steadier(n: Runs, web: Runs, *, tolerance: Tolerance) -> Judgement:
    """It varies less than Adaptive RED's queue."""
    ared = web.per_seed("queue_std", ARED)
    checks = [
        Check.better(
            f"standard deviation of the long queue minus that of Adaptive RED's queue, N = {after}",
            n.per_seed(LONG + "queue_std", HERO, {AFTER: after}),
            ared,
            "lower",
            tolerance,
        )
        for after in n.points(AFTER)
    ]
    return Judgement(
        checks, f"Adaptive RED's swings by {ared}. The larger N, the less of the web's files reaches the long queue."
    )


@claim(
    quote="make FTP senders reduce flow rates automatically without shrinking their congestion window sizes",
    where="Section III",
    tolerance=Tolerance(
        10, "%", "the least printed difference that the text speaks of is 12 %; a window halved in a fifth of the flows"
    ),
    shown="fig8",
)
def windows_hold(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """A small rate slows FTP without shrinking its windows."""
    import polars

    sent, windows = (
        time.from_series(HERO, while_squeezed(value), unit="%") for value in (polars.col("ftp.arrivals"), outstanding())
    )
    then = "in the half seconds that leave FTP the least of the link, from the mean"
    return Judgement(
        [
            Check.of(f"packets that FTP sends {then}", sent, most=-tolerance.value),
            Check.of(f"packets that FTP has outstanding {then}", windows, least=-tolerance.value),
        ],
        "Packets on the wire move to the queue. The rate is back when the burst has passed, with the same windows.",
    )


def outstanding() -> polars.Expr:
    """Return FTP's packets in the queue, by Little's law, and on the wire; the long queue has the web's too."""
    import polars

    return (polars.col("ftp.delay") + PROPAGATION) * polars.col("ftp.throughput") / (8 * FULL)


def while_squeezed(value: polars.Expr) -> Callable[[polars.DataFrame], float]:
    """Create a reading of the change (%) of a value from its mean, where the short queue has its greatest rate."""

    def reading(frame: polars.DataFrame) -> float:
        import polars

        halves = between(frame, *ALL_TRAFFIC).group_by((polars.col("t") * 2).floor())
        found = halves.agg(value.mean().alias("value"), polars.col("c1.mean").mean().alias("c1"))
        least = found.filter(polars.col("c1") >= 0.95 * polars.col("c1").max())
        return 100 * (float(least["value"].mean()) / float(found["value"].mean()) - 1)  # type: ignore[arg-type]

    return reading


@claim(
    quote="C1max preserves the minimum available bandwidth … to prevent FTP connections from timeout",
    where="Section III",
    tolerance=TENTH,
    shown="over-c1max",
)
def spares_timeouts(c1max: Runs, *, tolerance: Tolerance) -> Judgement:
    """C1max below C spares FTP time-outs."""
    whole = c1max.per_seed(of("FTP", "timeouts"), HERO, {C1_MAX: 1.0})
    checks = [
        Check.better(
            f"time-outs of FTP over those with C1max = C, C1max = {most:g} C",
            c1max.per_seed(of("FTP", "timeouts"), HERO, {C1_MAX: most}),
            whole,
            "lower",
            tolerance,
        )
        for most in c1max.points(C1_MAX)
        if most < 1
    ]
    return Judgement(
        checks, f"With C1max = C they have {whole}: bursts are short, and the retransmission timer is long."
    )

"""Claims of ours on the future work that the authors list: several bottlenecks, and sub-aggregates with guarantees."""

import polars

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, ours, tolerance
from aqmlab_papers.raqm import measures
from aqmlab_papers.raqm.claims.cases import FIFTH
from aqmlab_papers.raqm.measures import CORRECTED, CROSS_FLOWS, FLOOD, PLAIN, cross_points, handicap, link_share

HOPS, AGGREGATES = "Section 4 leaves several hops to the future", "Section 4 leaves sub-aggregates to the future"
FAIR = Tolerance(0.02, "", "of the ratio of goodputs, .58 by the square-root law for three times the loss")
PART = Tolerance(0.01, "", "a hundredth of the link")


@ours(HOPS, "bottlenecks")
@tolerance(FIFTH)
def hops_target(bottlenecks: Runs, *, tolerance: Tolerance) -> Judgement:
    """Where there are several bottlenecks, RAQM holds the queue of each at its target."""
    runs = bottlenecks
    checks = [
        Effect(f"mean queue of the {link} bottleneck, {at[CROSS_FLOWS]:g} flows more").near(
            runs.per_seed(f"links.{link}.queue_mean", runs.hero, at), measures.Q0, tolerance
        )
        for at in cross_points(runs)
        for link in measures.LINKS
    ]
    return Judgement(
        checks, "As at a single bottleneck, RAQM steers the rate of arrivals to the link's rate, not the queue to q0."
    )


@ours(HOPS, "bottlenecks")
@tolerance(FAIR)
def hops_fair(bottlenecks: Runs, *, tolerance: Tolerance) -> Judgement:
    """RAQM is no harder than PI and REM on flows that cross several bottlenecks."""
    checks = [
        Effect(f"goodput of a long flow over a short one's, RAQM minus {other}, {at[CROSS_FLOWS]:g} flows more").better(
            handicap(bottlenecks, bottlenecks.hero, at), handicap(bottlenecks, other, at), "not lower", tolerance
        )
        for at in cross_points(bottlenecks)
        for other in bottlenecks.others
    ]
    return Judgement(
        checks,
        "Early drops hit every packet alike, overflows hit flows that come in bursts. With few flows more RAQM's "
        "queues are long and overflow, with many they are short (claim `hops-target`).",
    )


@ours("Section 4 leaves both to the future", "bottlenecks")
@tolerance(10, "% of it", "as for the shares at one bottleneck")
def hops_shares(bottlenecks_shares: Runs, *, tolerance: Tolerance) -> Judgement:
    """With an expected rate of their own at each bottleneck the long flows get their share over several hops."""
    part = polars.col("classes.long.throughput") / 10e6
    least = 1 - tolerance.value / 100
    checks, beside = (
        [
            Effect(f"{effect}, {at[CROSS_FLOWS]:g} flows more").of(
                bottlenecks_shares.per_seed(part, label, at) / 0.3, least=least
            )
            for at in cross_points(bottlenecks_shares)
        ]
        for effect, label in (
            ("part of their share that they get", measures.SHARED),
            ("the same without shares", PLAIN),
        )
    )
    return Judgement(checks, "A p_k of their own falls at each hop until the arrivals there are .3 C.", beside)


@ours(AGGREGATES, "sub-aggregates")
@tolerance(10, "% of it", "r0 is for arrivals, of which losses of up to a tenth are a part")
def shares_guaranteed(sub_aggregates: Runs, *, tolerance: Tolerance) -> Judgement:
    """With an expected rate of its own each sub-aggregate gets its share of the link, whatever others send."""
    runs = sub_aggregates
    checks = [
        Effect(f"part of its share that the {name} gets, {flood(rate)}").of(
            link_share(runs, measures.SHARED, name, {FLOOD: rate}) / share, least=1 - tolerance.value / 100
        )
        for rate in runs.points(FLOOD)
        for name, share in measures.SHARES.items()
    ]
    most = {FLOOD: runs.points(FLOOD)[-1]}
    third = link_share(runs, CORRECTED, "third", most) / measures.SHARES["third"]
    return Judgement(
        checks,
        "r0 is for arrivals, so what an aggregate loses is missing from its share. With r0 corrected for that the "
        f"third takes {third:.2f} of its share beside the {flood(most[FLOOD])}: its p_k must find a middle with an "
        "alpha that is made for sources that react.",
    )


def flood(rate: float) -> str:
    """Name the flood of a point."""
    return f"flood of {rate / 1e6:g} Mbit/s"


@ours(AGGREGATES, "sub-aggregates")
@tolerance(PART)
def shares_protect(sub_aggregates: Runs, *, tolerance: Tolerance) -> Judgement:
    """Sub-aggregates protect those with few flows from many, and from a flood."""
    checks = [
        Effect(f"part of the link that the {name} gets, with shares minus without, {flood(rate)}").better(
            link_share(sub_aggregates, measures.SHARED, name, {FLOOD: rate}),
            link_share(sub_aggregates, PLAIN, name, {FLOOD: rate}),
            "higher",
            tolerance,
        )
        for rate in sub_aggregates.points(FLOOD)
        for name in ("first", "second")
    ]
    return Judgement(
        checks,
        "One p for all divides the link by the number of flows, and what does not react takes what it sends. A p "
        "of its own confines the flood to its aggregate.",
    )

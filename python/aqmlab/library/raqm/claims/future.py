"""Claims on the future work that the authors list: several bottlenecks, and sub-aggregates with guarantees."""

from __future__ import annotations

from aqmlab.library.raqm.measures import (
    CORRECTED,
    CROSS_FLOWS,
    FLOOD,
    LINKS,
    PLAIN,
    Q0,
    SHARED,
    SHARES,
    cross_points,
    handicaps,
    link_shares,
)
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import difference, mean


def _queues_at_target(evidence: Evidence) -> Judgement:
    """Check RAQM's mean queue at each bottleneck."""
    runs = evidence["bottlenecks"]
    checks = [
        Check.of(
            f"mean queue of the {link} bottleneck, {at[CROSS_FLOWS]:g} flows more",
            runs.values(f"links.{link}.queue_mean", runs.hero, at),
            unit="packets",
            least=0.8 * Q0,
            most=1.2 * Q0,
        )
        for at in cross_points(runs)
        for link in LINKS
    ]
    rates = ", ".join(
        f"{_mean_of_links(runs, runs.hero, 'loss_ratio', at):.1%} are lost and "
        f"{_mean_of_links(runs, runs.hero, 'utilisation', at):.1%} of "
        f"the link is used with {at[CROSS_FLOWS]:g}"
        for at in cross_points(runs)
    )
    return Judgement(
        checks,
        "RAQM steers the rate of arrivals to C, not the queue. A link that loses l and is busy all the time has "
        "arrivals of C / (1 - l): the greater l, the harder p(k) climbs until the queue is short enough for the link "
        "to idle, or p(k) is 1 and the queue at l q0; with a small l it climbs slowly from .0002. At these "
        f"bottlenecks {rates} flows more.",
    )


def _mean_of_links(runs: Runs, label: str, metric: str, at: At) -> float:
    return sum(runs.mean(f"links.{link}.{metric}", label, at).mean or 0 for link in LINKS) / len(LINKS)


def _off(runs: Runs, label: str, at: At) -> list[float]:
    """Return the distance of the mean queues from their target, averaged over the bottlenecks, for each seed."""
    import polars

    off = [(polars.col(f"links.{link}.queue_mean") - Q0).abs() for link in LINKS]
    return [float(one) for one in runs.of(label, at).sort("seed").select(value=sum(off[1:], off[0]) / 3)["value"]]


def _closer_than_others(evidence: Evidence) -> Judgement:
    """Compare the queues' distances from their target."""
    runs = evidence["bottlenecks"]
    checks = [
        Check.of(
            f"|mean queue - q0|, {other} minus {runs.hero}, {at[CROSS_FLOWS]:g} flows more",
            difference(_off(runs, other, at), _off(runs, runs.hero, at)),
            unit="packets",
            least=0,
        )
        for at in cross_points(runs)
        for other in runs.others
    ]
    queues = "; ".join(
        ", ".join(f"{label} {_mean_of_links(runs, label, 'queue_mean', at):.0f}" for label in runs.labels)
        + f" with {at[CROSS_FLOWS]:g} flows more"
        for at in cross_points(runs)
    )
    return Judgement(
        checks,
        f"Means of the three bottlenecks in the last 100 s, in packets: {queues}. PI and REM integrate the error of "
        "the queue and come to rest at the target alone, however long it takes; RAQM integrates the error of the rate.",
    )


def _fair_to_long_flows(evidence: Evidence) -> Judgement:
    """Compare the goodput of flows over three bottlenecks with that of flows over one."""
    runs = evidence["bottlenecks"]
    checks, texts = [], []
    for at in cross_points(runs):
        hero = handicaps(runs, runs.hero, at)
        for other in runs.others:
            more = difference(hero, handicaps(runs, other, at))
            pair = f"{runs.hero} minus {other}, {at[CROSS_FLOWS]:g} flows more"
            checks.append(Check.of(f"goodput of a long flow over that of another, {pair}", more, least=0))
        for label in runs.labels:
            overflows = _mean_of_links(runs, label, "drops_overflow", at)
            drops = overflows + _mean_of_links(runs, label, "drops_early", at)
            bias = [runs.mean(f"classes.{name}.loss_ratio", label, at).mean or 0 for name in ("long", "cross2")]
            texts.append(
                f"with {label} and {at[CROSS_FLOWS]:g} flows more {mean(handicaps(runs, label, at)):.2f}, where "
                f"{overflows / drops:.0%} of the drops are overflows and at the second bottleneck long flows lose "
                f"{bias[0]:.1%}, others {bias[1]:.1%}"
            )
    return Judgement(
        checks,
        "Three times the loss of one bottleneck leaves the square-root law's flow 1 / sqrt(3) = .58 of the rate, less "
        "for the longer round trip and for time-outs. Early drops hit every packet alike, overflows hit flows that "
        f"come in bursts. The ratio is, {'; '.join(texts)}.",
    )


def _guarantees(evidence: Evidence) -> Judgement:
    """Compare each aggregate's throughput with its configured share."""
    runs = evidence["sub-aggregates"]
    checks = []
    for rate in runs.points(FLOOD):
        for name, share in SHARES.items():
            got = [part / share for part in link_shares(runs, SHARED, name, {FLOOD: rate})]
            checks.append(Check.of(f"part of its share that the {name} gets, {_flood(rate)}", got, least=0.9))
    most = runs.points(FLOOD)[-1]
    corrected, literal = (
        ", ".join(
            f"{mean(link_shares(runs, label, name, {FLOOD: most})) / share:.2f}" for name, share in SHARES.items()
        )
        for label in (CORRECTED, SHARED)
    )
    overflows = [runs.mean("drops_overflow", label, {FLOOD: most}).mean or 0 for label in (CORRECTED, SHARED)]
    return Judgement(
        checks,
        "Met is taken as nine tenths. r0 is for arrivals, so what an aggregate loses is missing from its share. With "
        f"r0 corrected for that the parts beside the {_flood(most)} are {corrected} instead of {literal}. By the "
        "paper's r0 that flood has p(k) = 1 for good; by the other its p(k) must find the middle, with an alpha that "
        f"is made for sources that react. {overflows[0]:.0f} packets a run overflow then, instead of "
        f"{overflows[1]:.0f}, and they are anyone's.",
    )


def _flood(rate: float) -> str:
    return f"flood of {rate / 1e6:g} Mbit/s"


def _protection(evidence: Evidence) -> Judgement:
    """Compare the first two aggregates with shares and without."""
    runs = evidence["sub-aggregates"]
    checks = [
        Check.of(
            f"part of the link that the {name} gets, with shares minus without, {_flood(rate)}",
            difference(*(link_shares(runs, label, name, at) for label in (SHARED, PLAIN))),
            least=0,
        )
        for rate in runs.points(FLOOD)
        for at in [{FLOOD: rate}]
        for name in ("first", "second")
    ]
    most = {FLOOD: runs.points(FLOOD)[-1]}
    beside = runs.mean("classes.third.throughput", SHARED, most, scale=1e-6).mean or 0
    return Judgement(
        checks,
        "One p for all divides the link by the number of flows, and what does not react takes what it sends. A p of "
        f"its own confines the {_flood(most[FLOOD])} to its aggregate, where it leaves {beside:.2g} Mbit/s to the TCP "
        "flows beside it.",
    )


def _no_waste(evidence: Evidence) -> Judgement:
    """Compare the link's utilisation with shares and without."""
    runs = evidence["sub-aggregates"]
    checks = [
        Check.of(
            f"utilisation, with shares minus without, {_flood(rate)}",
            runs.differences("utilisation", SHARED, PLAIN, {FLOOD: rate}, scale=100),
            unit="%",
            least=-1,
        )
        for rate in runs.points(FLOOD)
    ]
    return Judgement(
        checks,
        "No waste is taken as less than 1 % of the link. In the queue-dependent mode an empty queue drops nothing, "
        "whosesoever share it is.",
    )


_HOPS_WHERE = "Section 6 leaves several hops to the future"
_SHARES_WHERE = "Section 6 leaves sub-aggregates to the future"

BEYOND = [
    Claim(
        name="hops-target",
        text="Where there are several bottlenecks, RAQM holds the queue of each at its target.",
        where=_HOPS_WHERE,
        judge=_queues_at_target,
        needs=["bottlenecks"],
        shown=["bottlenecks"],
        beyond=True,
    ),
    Claim(
        name="hops-closer",
        text="Where there are several bottlenecks, RAQM's queues are closer to their target than those of PI and REM.",
        where=_HOPS_WHERE,
        judge=_closer_than_others,
        needs=["bottlenecks"],
        shown=["bottlenecks"],
        beyond=True,
    ),
    Claim(
        name="hops-fair",
        text="RAQM is no harder than PI and REM on flows that cross several bottlenecks.",
        where=_HOPS_WHERE,
        judge=_fair_to_long_flows,
        needs=["bottlenecks"],
        shown=["bottlenecks"],
        beyond=True,
    ),
    Claim(
        name="shares-guaranteed",
        text="With an expected rate of its own each sub-aggregate gets its share of the link, whatever others send.",
        where=_SHARES_WHERE,
        judge=_guarantees,
        needs=["sub-aggregates"],
        shown=["sub-aggregates"],
        beyond=True,
    ),
    Claim(
        name="shares-protect",
        text="Sub-aggregates protect those with few flows from many, and from a flood.",
        where=_SHARES_WHERE,
        judge=_protection,
        needs=["sub-aggregates"],
        shown=["sub-aggregates"],
        beyond=True,
    ),
    Claim(
        name="shares-no-waste",
        text="Sub-aggregates use the link as well as one aggregate.",
        where=_SHARES_WHERE,
        judge=_no_waste,
        needs=["sub-aggregates"],
        shown=["sub-aggregates"],
        beyond=True,
    ),
]

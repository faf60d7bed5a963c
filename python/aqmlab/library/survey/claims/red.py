"""Claims on RED: sections 2.1, 2.2 and 4.2."""

from __future__ import annotations

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.library.survey.measures import SIGNALLED, mean_of
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import mean

VISIBLE_LOSS = 0.005
"""Line width on the axis of Fig. 2c: smaller losses are not visible there."""
START = "after the first 5 s"


def red_at_maxth(evidence: Evidence) -> Judgement:
    """Compare RED's backlog with its upper threshold."""
    runs = evidence["schemes"]
    found = list(runs.each(measures.BACKLOG / 80_000, "RED").values())
    settled = list(evidence["settled"].each(measures.BACKLOG / 80_000, "RED").values())
    signalled = mean_of(SIGNALLED, runs, "RED")
    flows = mean_of(polars.col("classes.ftp.flows"), runs, "RED")
    least = flows / (theory.PROPAGATION + 0.8 * measures.FULL) / (theory.CAPACITY - measures.NODES * theory.UDP)
    # "around": within a fifth of it
    checks = [
        Check.of("mean backlog of RED over maxth", found, least=0.8, most=1.2),
        Check.of(f"the same, {START}", settled, least=0.8, most=1.2),
    ]
    return Judgement(
        checks,
        f"RED keeps {checks[0].value * 80:.0f} kB. With maxp = 1 everything is marked at maxth; TCP rests where "
        f"{100 * signalled:.0f} % of its packets are marked or dropped, which RED's line and spacing give at "
        f"{20 + 60 * 1.5 * signalled:.0f} kB if the queue stayed at its average. At maxth every packet is marked: "
        f"{flows:.0f} windows of one packet are {100 * least:.0f} % of what UDP leaves of the link, so that it would "
        f"take {flows / least:.0f} flows to rest there.",
    )


def red_incipient(evidence: Evidence) -> Judgement:
    """Check that RED's average misses bursts: it drops packets it could have marked, and its queue swings."""
    runs = evidence["settled"]
    lost = list(runs.each(measures.LOST, "RED").values())
    full = mean_of(polars.col("classes.ftp.drops_overflow"), runs, "RED")
    spread = list(runs.each(polars.col("queue_std") / polars.col("queue_mean"), "RED").values())
    rate = mean_of(polars.col("arrivals"), runs, "RED") / 15
    checks = [
        # RED marks TCP's packets while there is time; those it drops arrived too late for a mark.
        Check.of(f"loss of TCP packets with RED, {START}", lost, least=VISIBLE_LOSS),
        # a queue held by its average would deviate little; half of its mean is much
        Check.of("standard deviation of RED's queue over its mean", spread, least=0.5),
    ]
    return Judgement(
        checks,
        f"A weight of 0.002 averages over 500 packets, {500 / rate:.2f} s of what arrives: the average sees a burst "
        f"soon, but who is marked obeys a round trip of {theory.PROPAGATION:.2f} s later and UDP never. The queue "
        f"deviates by {100 * checks[1].value:.0f} % of its mean. Of TCP's lost packets {full:.0f} in 15 s met a full "
        "buffer, the others an average above maxth.",
    )


def best_maxp(evidence: Evidence) -> Judgement:
    """Compare RED's delay and loss at maxp = 1 with those at smaller values."""
    runs = evidence["maxp"]
    values = runs.points("aqm.max_p")
    largest = values[-1]
    lost = [mean_of(measures.LOST_OF_ALL, runs, "RED", {"aqm.max_p": value}) for value in (values[0], largest)]
    checks = []
    measured = (("mean wait, ms", measures.WAIT * 1e3), ("loss of TCP packets", measures.LOST))
    for name, value in (*measured, ("loss of all packets", measures.LOST_OF_ALL)):
        at_one = runs.each(value, "RED", {"aqm.max_p": largest})
        for other in values[:-1]:
            others = runs.each(value, "RED", {"aqm.max_p": other})
            found = [others[seed] - number for seed, number in at_one.items() if seed in others]
            checks.append(Check.of(f"{name}: at maxp = {other:g} minus that at {largest:g}", found, least=0))
    return Judgement(
        checks,
        "A steeper slope keeps a shorter queue, and the losses by overflow that TCP is spared come to it as marks. UDP "
        f"cannot be marked and is dropped instead: at maxp = {largest:g} {100 * lost[1]:.1f} % of all packets are "
        f"lost, at {values[0]:g} {100 * lost[0]:.1f} %.",
    )


def only_if_full(_: Evidence) -> Judgement:
    """Compare the threshold above which RED drops every packet with the buffer, both as printed."""
    return Judgement(
        [Check.exact("maxth over the buffer", 80_000 / measures.BUFFER, least=1)],
        "RED's probability is maxp at an average of maxth, and maxp is 1: gentle or not, from 80 000 bytes on it takes "
        "every packet, when a fifth of the buffer is free.",
    )


def red_synchronisation(evidence: Evidence) -> Judgement:
    """Compare the common swing of TCP's arrivals, and fairness, between RED and drop tail."""
    runs, settled = evidence["schemes"], evidence["settled"]
    swings = {label: swing(runs, label, 5.0) for label in ("DropTail", "RED")}
    checks = [
        Check.of(
            f"coefficient of variation of TCP's arrivals in {TOGETHER:g} s, DropTail minus RED, {START}",
            [one - swings["RED"][seed] for seed, one in swings["DropTail"].items() if seed in swings["RED"]],
            least=0,
        ),
        Check.of(
            f"Jain's index of TCP flows, RED minus DropTail, {START}",
            measures.difference(settled, polars.col("classes.ftp.jain"), "RED", "DropTail"),
            least=0,
        ),
    ]
    means = {label: mean(one) for label, one in swings.items()}
    return Judgement(
        checks,
        f"Flows that halve and grow together make their sum swing: in bins of {TOGETHER:g} s, about a round trip, by "
        f"{100 * means['DropTail']:.1f} % with drop tail and {100 * means['RED']:.1f} % with RED. The losses do not "
        "tell, for RED marks TCP's packets and most that it drops are UDP's. A full buffer paces TCP by its "
        "departures; a slope up to maxp = 1 acts on all flows at once.",
    )


TOGETHER = 0.1
"""Time scale of common behaviour of flows (s): about a round trip, and the duration of a loss event."""


def swing(runs: Runs, label: str, start: float) -> dict[int, float]:
    """Return the variation of TCP's total arrivals from ``start`` (s), by seed.

    It is their standard deviation in bins of `TOGETHER` divided by their mean.
    """
    found = {}
    for seed, arrivals in measures.over_time(runs, label, TOGETHER, polars.col("ftp.arrivals").sum()).items():
        late = arrivals.cast(polars.Float64).to_numpy()[round(start / TOGETHER) :]
        found[seed] = float(late.std() / late.mean())
    return found


def red_proportional(evidence: Evidence) -> Judgement:
    """Compare how often RED drops or marks packets of TCP and UDP."""
    runs = evidence["settled"]
    tcp, udp = (
        polars.col(f"classes.{name}.loss_ratio") + polars.col(f"classes.{name}.mark_ratio") for name in ("ftp", "udp")
    )
    found = list(runs.each(tcp / udp, "RED").values())
    check = Check.of(
        f"share of TCP's packets dropped or marked over that of UDP's, {START}", found, least=0.8, most=1.25
    )
    return Judgement(
        [check],
        "RED asks no packet whose it is: what is dropped or marked of a flow is in proportion to its packets. In "
        "bytes it is not in proportion, for small packets are dropped as often as large ones.",
    )


CLAIMS = (
    Claim(
        name="red-at-maxth",
        text="RED stabilises the queue around maxth = 80 000 bytes.",
        where="Section 4.2, Fig. 2b",
        judge=red_at_maxth,
        needs=["schemes", "settled"],
        shown=["fig2", "schemes"],
        sensitive=True,
    ),
    Claim(
        name="red-late",
        text="RED does not detect incipient congestion by load changes of short term.",
        where="Section 4.2",
        judge=red_incipient,
        needs=["settled"],
        shown=["fig2"],
    ),
    Claim(
        name="red-maxp",
        text="maxp = 1 is ideal: it minimises both delay and loss of RED.",
        where="Section 4.2",
        judge=best_maxp,
        needs=["maxp"],
    ),
    Claim(
        name="red-full",
        text="RED's thresholds are such that it drops with a probability of one only if the queue is full.",
        where="Section 4.2",
        judge=only_if_full,
    ),
    Claim(
        name="red-synchronisation",
        text="RED avoids synchronisation and the lock-out of drop tail.",
        where="Sections 2.1, 2.2",
        judge=red_synchronisation,
        needs=["schemes", "settled"],
    ),
    Claim(
        name="red-proportional",
        text="RED drops packets in proportion to the connections' share of the bandwidth.",
        where="Section 2.2",
        judge=red_proportional,
        needs=["settled"],
    ),
)

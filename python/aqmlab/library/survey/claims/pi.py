"""Claims on PI: section 4.2, and ours on its gains."""

from __future__ import annotations

from itertools import pairwise

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.library.survey.measures import SIGNALLED, mean_of
from aqmlab.library.survey.theory import climb
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean
from aqmlab.theory import pi


def pi_like_droptail(evidence: Evidence) -> Judgement:
    """Compare PI's loss with drop tail's."""
    runs = evidence["schemes"]
    # "almost as much": at least four fifths, and not more
    checks = [
        Check.of(
            f"{name} that PI loses over those that DropTail loses",
            measures.ratios(runs, value, "PI", "DropTail"),
            least=0.8,
            most=1.0,
        )
        for name, value in (
            ("TCP packets", measures.LOST),
            ("all packets", measures.LOST_OF_ALL),
            ("bytes", measures.LOST_BYTES),
        )
    ]
    kept = mean_of(measures.BACKLOG, runs, "PI") / 1e3
    for other in runs.labels:
        if other not in ("PI", "DropTail"):
            found = measures.difference(runs, measures.LOST, "PI", other)
            checks.append(Check.of(f"loss of TCP packets, PI minus {other}", found, least=0))
    return Judgement(
        checks,
        "PI's probability moves by (a - b)(q - q_ref) 160 times a second, and q exceeds its target by 30 packets at "
        f"most: at best by {(theory.A - theory.B) * 30 * theory.FREQUENCY:.3f} a second. Until it is where the load "
        f"wants it the buffer overflows as drop tail's does; PI keeps {kept:.0f} kB instead of 70. UDP, which cannot "
        "be marked and for which drop tail's buffer mostly has room, PI drops as often as it would mark TCP.",
    )


def pi_sensitive(evidence: Evidence) -> Judgement:
    """Compare PI's loss at gains from a twelfth to ten times the printed ones."""
    runs = evidence["gains"]
    points = runs.points("aqm.a")
    by_point = [runs.each(measures.LOST, "PI", {"aqm.a": point}) for point in points]
    seeds = sorted(set.intersection(*(set(one) for one in by_point)))
    spread = [max(one[seed] for one in by_point) / min(one[seed] for one in by_point) for seed in seeds]
    # "very sensitive": at least twice as much
    check = Check.of(
        "greatest loss of TCP packets over the least, of gains from a twelfth to ten times the printed", spread, least=2
    )
    means = [mean(one) for one in by_point]
    falls = all(one >= other for one, other in pairwise(means))
    return Judgement(
        [check],
        f"{100 * means[0]:.1f} % of TCP's packets are lost at a = {points[0]:.3g}, {100 * means[-1]:.1f} % at "
        f"{points[-1]:.3g}: "
        + ("the larger the gains the fewer, since the sooner the probability is there." if falls else "not in order."),
    )


def gains_hot(_: Evidence) -> Judgement:
    """Compare PI's printed gains with PI's rule, and the margins of both."""
    a, b = theory.rule_gains()
    origin = theory.rule_gains(theory.GAINS_FOR)
    flows, rtt = 3 * measures.NODES, theory.PROPAGATION + measures.FULL
    left = theory.CAPACITY - measures.NODES * theory.UDP
    loaded = pi.tustin(*pi.rule(flows, rtt, left), theory.FREQUENCY)[0]
    checks = [
        Check.exact("printed a over that of PI's rule for 60 flows, 180 ms, 45 Mbit/s", theory.A / a, least=2),
        Check.exact("phase margin there with the printed gains", theory.margin(theory.A, theory.B), unit="°", most=0),
        Check.exact("phase margin there with the rule's", theory.margin(a, b), unit="°", least=0),
    ]
    return Judgement(
        checks,
        f"The printed gains are the rule's for 2500 packets a second ({origin[0]:.4g}, {origin[1]:.4g}); the link "
        f"carries 5625 of 1000 bytes, for which it has {a:.3g} and {b:.3g}. That is for as few as {theory.FLOWS_MIN} "
        f"flows and round trips of {1e3 * theory.RTT_MAX:.0f} ms; for the {flows} of the runs and {1e3 * rtt:.0f} ms "
        f"it has a = {loaded:.3g}.",
    )


def gains_slow(evidence: Evidence) -> Judgement:
    """Compare the least time PI needs to reach its probability with the run, and observe the climb."""
    runs = evidence["schemes"]
    # The required probability is taken from REM, whose backlog is near PI's target. Padhye's model, tried first,
    # predicts losses; more marks than losses are needed, since a mark costs no time-out.
    needed = list(runs.each(SIGNALLED, "REM").values())
    kept = mean_of(measures.BACKLOG, runs, "REM") / 1e3
    bound = [climb(p) for p in needed]
    quarter = runs.duration / 4
    growth, last = [], []
    for p in measures.over_time(runs, "PI", quarter, polars.col("p.mean").mean()).values():
        growth.append(p[3] / p[1])
        last.append(p[3])
    waits = measures.over_time(runs, "PI", quarter, polars.col("ftp.delay").mean()).values()
    late = [measures.RATE / 8e3 * wait[3] for wait in waits]
    gains = evidence["gains"]
    rule, printed = gains.points("aqm.a")[0], min(gains.points("aqm.a"), key=lambda one: abs(one - theory.A))
    slow = gains.each(measures.LOST, "PI", {"aqm.a": rule})
    at_printed = gains.each(measures.LOST, "PI", {"aqm.a": printed})
    a, b = theory.rule_gains()
    checks = [
        Check.of(
            "least time that PI takes to its probability over the run's", [t / runs.duration for t in bound], least=1
        ),
        Check.of("PI's probability in the last quarter over that in the second", growth, least=1.2),
        Check.of(
            "loss of TCP packets with the rule's gains minus that with the printed",
            [slow[seed] - loss for seed, loss in at_printed.items() if seed in slow],
            least=0,
        ),
    ]
    padhye = theory.predicted_loss(measures.NODES, 1.0, 1e3 * theory.TARGET)
    return Judgement(
        checks,
        f"REM, which keeps {kept:.0f} kB, marks or drops {100 * mean(needed):.0f} % of TCP's packets. From 0 to "
        f"there PI takes p / ((a - b)(Q - q_ref) f) = {mean(bound):.0f} s even if its buffer is full all the time, "
        f"and {(theory.A - theory.B) / (a - b):.0f} times as long with its rule's gains. In the last quarter of the "
        f"run its mean is {100 * mean(last):.1f} %, at a backlog of {mean(late):.0f} kB. By Padhye's losses "
        f"alone, {100 * padhye:.0f} % at 70 kB, it would take {climb(padhye):.0f} s: but a mark costs no time-out, "
        "and more are needed.",
    )


CLAIMS = (
    Claim(
        name="pi-like-droptail",
        text="A crudely configured PI drops almost as much traffic as drop tail.",
        where="Section 4.2, Fig. 2c (the text says 2b)",
        judge=pi_like_droptail,
        needs=["schemes"],
        shown=["fig2", "schemes"],
        sensitive=True,
    ),
    Claim(
        name="pi-sensitive",
        text="PI is very sensitive to its parameters.",
        where="Section 4.2",
        judge=pi_sensitive,
        needs=["gains"],
        shown=["gains"],
    ),
)

BEYOND = (
    Claim(
        name="gains-hot",
        text="PI's gains are several times too large for its link by its own rule.",
        where="ours",
        judge=gains_hot,
        shown=["plant"],
        beyond=True,
    ),
    Claim(
        name="gains-slow",
        text="20 s are too short for PI to learn its probability, with its rule's gains still more so.",
        where="ours",
        judge=gains_slow,
        needs=["schemes", "gains"],
        shown=["gains"],
        beyond=True,
    ),
)

"""What the survey claims of its six disciplines, and how the data judge it."""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from itertools import pairwise

import polars

from aqmlab.papers import Check, Evidence, Judgement, Runs
from aqmlab.scenarios.survey import measures, theory
from aqmlab.summary import Summary
from aqmlab.theory import pi

TOLD = polars.col("classes.ftp.loss_ratio") + polars.col("classes.ftp.mark_ratio")
"""The share of TCP's packets that are marked or dropped."""
METRICS = ("queue_delay_mean", "utilisation")
START = "after the first 5 s"


def _named(value: polars.Expr, runs: Runs, label: str, at: Mapping[str, float | str] | None = None) -> float:
    found = list(measures.each(runs, value, label, at).values())
    return sum(found) / len(found)


def almost_full(evidence: Evidence) -> Judgement:
    """Check how full drop tail's buffer is."""
    runs = evidence["schemes"]
    full = list(measures.each(runs, measures.BACKLOG / measures.BUFFER, "DropTail").values())
    median = list(measures.each(runs, polars.col("queue_delay_p50") / measures.FULL, "DropTail").values())
    # "almost always full": nine tenths of it, on average and for at least half of the packets
    checks = [
        Check.of("mean backlog over the buffer", full, least=0.9),
        Check.of("median wait over that in a full buffer", median, least=0.9),
    ]
    for other in runs.labels:
        if other != "DropTail":
            found = measures.less(runs, measures.WAIT * 1e3, "DropTail", other)
            checks.append(Check.of(f"mean wait of DropTail less that of {other}", found, unit="ms", least=0))
    return Judgement(
        checks,
        f"The mean backlog is {100 * checks[0].value:.0f} % of the buffer: windows that halve leave some of it, and "
        "UDP's bursts of 20 ms come and go. Nothing but the buffer bounds drop tail's queue.",
    )


def red_at_maxth(evidence: Evidence) -> Judgement:
    """Compare RED's backlog with its upper threshold."""
    runs = evidence["schemes"]
    found = list(measures.each(runs, measures.BACKLOG / 80_000, "RED").values())
    settled = list(measures.each(evidence["settled"], measures.BACKLOG / 80_000, "RED").values())
    told = _named(TOLD, runs, "RED")
    # "around": within a fifth of it
    checks = [
        Check.of("mean backlog of RED over maxth", found, least=0.8, most=1.2),
        Check.of(f"the same, {START}", settled, least=0.8, most=1.2),
    ]
    return Judgement(
        checks,
        f"RED keeps {checks[0].value * 80:.0f} kB. With maxp = 1 everything is marked at maxth; TCP rests where "
        f"{100 * told:.0f} % of its packets are marked or dropped, which RED's line and spacing give at "
        f"{20 + 60 * 1.5 * told:.0f} kB. At maxth the queue could rest only if senders heeded neither marks nor "
        "losses.",
    )


def red_incipient(evidence: Evidence) -> Judgement:
    """Check that RED's average does not see bursts come: its buffer overflows all the same."""
    runs = evidence["settled"]
    over = list(measures.each(runs, polars.col("drops_overflow"), "RED").values())
    spread = list(measures.each(runs, polars.col("queue_std") / polars.col("queue_mean"), "RED").values())
    rate = _named(polars.col("arrivals"), runs, "RED") / 15
    checks = [
        Check.of(f"packets that RED's full buffer drops in 15 s, {START}", over, unit="packets", least=1),
        # a queue held by its average would deviate little: a half of its mean is much
        Check.of("standard deviation of RED's queue over its mean", spread, least=0.5),
    ]
    return Judgement(
        checks,
        f"A weight of 0.002 averages over 500 packets, {500 / rate:.2f} s of what arrives: the average sees a burst "
        f"soon, but who is marked obeys a round trip of {theory.PROPAGATION:.2f} s later and UDP never. The queue "
        f"deviates by {100 * checks[1].value:.0f} % of its mean.",
    )


def best_maxp(evidence: Evidence) -> Judgement:
    """Compare RED's delay and loss at maxp = 1 with those at smaller ones."""
    runs = evidence["maxp"]
    values = runs.points("aqm.max_p")
    own = values[-1]
    lost = [_named(measures.LOST_OF_ALL, runs, "RED", {"aqm.max_p": value}) for value in (values[0], own)]
    checks = []
    measured = (("mean wait, ms", measures.WAIT * 1e3), ("loss of TCP packets", measures.LOST))
    for name, value in (*measured, ("loss of all packets", measures.LOST_OF_ALL)):
        at_one = measures.each(runs, value, "RED", {"aqm.max_p": own})
        for other in values[:-1]:
            told = measures.each(runs, value, "RED", {"aqm.max_p": other})
            found = [told[seed] - number for seed, number in at_one.items() if seed in told]
            checks.append(Check.of(f"{name}: at maxp = {other:g} less that at {own:g}", found, least=0))
    return Judgement(
        checks,
        "A steeper slope keeps a shorter queue, and what TCP loses less by overflow it is told by marks. UDP cannot "
        f"be marked and is dropped instead: at maxp = {own:g} "
        f"{100 * lost[1]:.1f} % of all packets are lost, at {values[0]:g} {100 * lost[0]:.1f} %.",
    )


def only_if_full(_: Evidence) -> Judgement:
    """Compare the threshold from which RED drops everything with the buffer, both as printed."""
    return Judgement(
        [Check.exact("maxth over the buffer", 80_000 / measures.BUFFER, least=1)],
        "RED that is not gentle drops all from an average of 80 000 bytes on, when a fifth of the buffer is free; "
        "gentle RED would do so from 160 000 on, which no buffer of 100 000 reaches.",
    )


def blue_steps(evidence: Evidence) -> Judgement:
    """Compare BLUE's loss with that of other pairs of steps."""
    runs = evidence["steps"]
    own, *others = runs.labels
    checks = [
        Check.of(f"loss of TCP packets: {other} less {own}", measures.less(runs, measures.LOST, other, own), least=0)
        for other in others
    ]
    worst = max((_named(measures.LOST, runs, label), label) for label in runs.labels)
    return Judgement(
        checks,
        f"A probability that falls as fast as it rises, or faster, has to be learnt anew by overflows: {worst[1]} "
        f"loses {100 * worst[0]:.1f} % of TCP's packets, the printed steps "
        f"{100 * _named(measures.LOST, runs, own):.1f} %.",
    )


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
        for name, value in (("TCP packets", measures.LOST), ("bytes", measures.LOST_BYTES))
    ]
    kept = _named(measures.BACKLOG, runs, "PI") / 1e3
    for other in runs.labels:
        if other not in ("PI", "DropTail"):
            found = measures.less(runs, measures.LOST, "PI", other)
            checks.append(Check.of(f"loss of TCP packets, PI less {other}", found, least=0))
    return Judgement(
        checks,
        "PI's probability moves by (a - b)(q - q_ref) 160 times a second, and q exceeds its target by 30 packets at "
        f"most: at best by {(theory.A - theory.B) * 30 * theory.FREQUENCY:.3f} a second. Until it is where the load "
        f"wants it the buffer overflows as drop tail's does; PI keeps {kept:.0f} kB instead of 70.",
    )


def pi_sensitive(evidence: Evidence) -> Judgement:
    """Compare PI's loss with gains a twelfth to ten times the printed ones."""
    runs = evidence["gains"]
    points = runs.points("aqm.a")
    told = [measures.each(runs, measures.LOST, "PI", {"aqm.a": point}) for point in points]
    seeds = sorted(set.intersection(*(set(one) for one in told)))
    spread = [max(one[seed] for one in told) / min(one[seed] for one in told) for seed in seeds]
    # "very sensitive": twice as much and more
    check = Check.of("greatest loss of TCP packets over the least, of gains a decade up and down", spread, least=2)
    means = [sum(one.values()) / len(one) for one in told]
    falls = all(one >= other for one, other in pairwise(means))
    return Judgement(
        [check],
        f"{100 * means[0]:.1f} % of TCP's packets are lost at a = {points[0]:.3g}, {100 * means[-1]:.1f} % at "
        f"{points[-1]:.3g}: "
        + ("the larger the gains the fewer, since the sooner the probability is there." if falls else "not in order."),
    )


def jobs_loses_nothing(evidence: Evidence) -> Judgement:
    """Count JoBS's losses, and compare them with the others'."""
    runs, settled = evidence["schemes"], evidence["settled"]
    dropped = polars.col("drops_overflow") + polars.col("drops_early")
    later = _named(dropped, settled, settled.hero)
    beaten = [measures.less(runs, measures.LOST_OF_ALL, other, runs.hero) for other in runs.others]
    checks = [
        Check.of("packets dropped in 20 s", measures.each(runs, dropped, runs.hero).values(), unit="packets", most=0),
        # half a hundredth is the width of a line on the axis of Fig. 2c
        Check.of(
            f"loss of TCP packets, {START}", measures.each(settled, measures.LOST, runs.hero).values(), most=0.005
        ),
        *(
            Check.of(
                f"loss of TCP packets, {other} less {runs.hero}",
                measures.less(runs, measures.LOST, other, runs.hero),
                least=0,
            )
            for other in runs.others
        ),
        Check.of(
            f"loss of all packets, the least of the others less {runs.hero}",
            [min(column) for column in zip(*beaten, strict=True)],
            least=0,
        ),
    ]
    return Judgement(
        checks,
        f"Of the {checks[0].value:.0f} packets {100 * (1 - later / max(checks[0].value, 1.0)):.0f} % are lost in the "
        "first 5 s: the projection needs two flights of a flow to know its round trip, and until then slow start is "
        "unseen. A mark takes a round trip to be obeyed, and bursts of UDP in that time are not foreseen. Our JoBS "
        "is a reconstruction.",
    )


def jobs_shortest(evidence: Evidence) -> Judgement:
    """Compare JoBS's mean wait with the others'."""
    runs = evidence["schemes"]
    checks = [
        Check.of(
            f"mean wait, {other} less {runs.hero}",
            measures.less(runs, measures.WAIT * 1e3, other, runs.hero),
            unit="ms",
            least=0,
        )
        for other in runs.others
    ]
    shorter = [check.effect.removeprefix("mean wait, ").split(" less")[0] for check in checks if check.value < 0]
    own = _named(measures.WAIT * 1e3, runs, runs.hero)
    return Judgement(
        checks,
        f"JoBS waits {own:.1f} ms on average: it lets the queue grow to wherever the projection stays within the "
        "buffer. " + (f"{' and '.join(shorter)} steer lower." if shorter else "No other has less."),
    )


def jobs_utilisation(evidence: Evidence) -> Judgement:
    """Compare JoBS's utilisation with the others'."""
    runs = evidence["schemes"]
    used = polars.col("utilisation")
    flows = _named(polars.col("classes.ftp.flows"), runs, runs.hero)
    checks = [
        Check.of(f"utilisation, {other} less {runs.hero}", measures.less(runs, used, other, runs.hero), least=0)
        for other in runs.others
    ]
    return Judgement(
        checks,
        f"JoBS uses {100 * _named(used, runs, runs.hero):.1f} % of the link, which has {theory.CAPACITY / flows:.0f} "
        f"packets a second for each of {flows:.0f} flows. The more flows, the less it takes to keep it busy, as the "
        "figure over the nodes has it.",
    )


def avoidance(evidence: Evidence) -> Judgement:
    """Count what each discipline drops or marks while there is room."""
    runs = evidence["schemes"]
    acts = polars.col("drops_early") + polars.col("marks")
    checks = []
    for label in runs.labels:
        found = measures.each(runs, acts, label).values()
        bound = {"most": 0.0} if label == "DropTail" else {"least": 1.0}
        checks.append(
            Check.of(f"packets that {label} drops or marks while there is room", found, unit="packets", **bound)
        )
    return Judgement(checks, "Drop tail acts only when its buffer is full; every other tells some senders before.")


def red_synchronisation(evidence: Evidence) -> Judgement:
    """Compare the share of flows that lose packets together, and fairness, of RED and drop tail."""
    runs = evidence["settled"]
    together = polars.col("links.bottleneck.loss_synchronisation")
    checks = [
        Check.of(
            f"share of the flows in a loss event, DropTail less RED, {START}",
            measures.less(runs, together, "DropTail", "RED"),
            least=0,
        ),
        Check.of(
            f"Jain's index of TCP flows, RED less DropTail, {START}",
            measures.less(runs, polars.col("classes.ftp.jain"), "RED", "DropTail"),
            least=0,
        ),
    ]
    return Judgement(
        checks,
        f"In a loss event of 0.1 s {100 * _named(together, runs, 'DropTail'):.1f} % of the flows lose packets with "
        f"drop tail, {100 * _named(together, runs, 'RED'):.1f} % with RED, which marks most of TCP's and drops UDP's "
        "(a mark is no loss). With so many flows of so small windows there is little to synchronise.",
    )


def red_proportional(evidence: Evidence) -> Judgement:
    """Compare how often RED drops or marks packets of TCP and of UDP."""
    runs = evidence["settled"]
    tcp, udp = (
        polars.col(f"classes.{name}.loss_ratio") + polars.col(f"classes.{name}.mark_ratio") for name in ("ftp", "udp")
    )
    found = list(measures.each(runs, tcp / udp, "RED").values())
    check = Check.of(
        f"share of TCP's packets dropped or marked over that of UDP's, {START}", found, least=0.8, most=1.25
    )
    return Judgement(
        [check],
        "RED asks no packet whose it is: what is dropped or marked of a flow is in proportion to its packets. In "
        "bytes it is not in proportion, for small packets are dropped as often as large ones.",
    )


def gains_hot(_: Evidence) -> Judgement:
    """Compare PI's printed gains with its own rule, and the margins of both."""
    a, b = theory.rule_gains()
    origin = theory.rule_gains(theory.GAINS_FOR)
    checks = [
        Check.exact("printed a over that of PI's rule for 60 flows, 180 ms, 45 Mbit/s", theory.A / a, least=2),
        Check.exact("phase margin there with the printed gains", theory.margin(theory.A, theory.B), unit="°", most=0),
        Check.exact("phase margin there with the rule's", theory.margin(a, b), unit="°", least=0),
    ]
    return Judgement(
        checks,
        f"The printed gains are the rule's for 2500 packets a second ({origin[0]:.4g}, {origin[1]:.4g}); the link "
        f"carries 5625 of 1000 bytes, for which it has {a:.3g} and {b:.3g}.",
    )


def gains_slow(evidence: Evidence) -> Judgement:
    """Compare how long PI must take to reach its probability with the run, and see it on the way."""
    runs = evidence["schemes"]
    # REM's backlog is near PI's target: what it tells TCP is what holds the queue there
    needed = list(measures.each(runs, TOLD, "REM").values())
    kept = _named(measures.BACKLOG, runs, "REM") / 1e3
    room = measures.BUFFER / measures.TCP_SIZE
    bound = [float(pi.response_bound(p, theory.A, theory.B, theory.FREQUENCY, theory.TARGET, room)) for p in needed]
    growth = []
    for told in measures.over_time(runs, "PI", runs.duration / 4, polars.col("p.mean").mean()).values():
        growth.append(told[3] / told[1])
    gains = evidence["gains"]
    rule, printed = gains.points("aqm.a")[0], min(gains.points("aqm.a"), key=lambda one: abs(one - theory.A))
    slow = measures.each(gains, measures.LOST, "PI", {"aqm.a": rule})
    own = measures.each(gains, measures.LOST, "PI", {"aqm.a": printed})
    checks = [
        Check.of(
            "least time that PI takes to its probability over the run's", [t / runs.duration for t in bound], least=1
        ),
        Check.of("PI's probability in the last quarter over that in the second", growth, least=1.2),
        Check.of(
            "loss of TCP packets with the rule's gains less that with the printed",
            [slow[seed] - loss for seed, loss in own.items() if seed in slow],
            least=0,
        ),
    ]
    return Judgement(
        checks,
        f"REM, which keeps {kept:.0f} kB, marks or drops {100 * needed[0]:.0f} % of TCP's packets. From 0 to there PI "
        f"takes p / ((a - b)(Q - q_ref) f) = {bound[0]:.0f} s even if its buffer is full all the time, and with its "
        "rule's gains twelve times as long: too large for a stable loop, the printed ones are too small for 20 s.",
    )


def plant(_: Evidence) -> Judgement:
    """Compare the plant (1) with Hollot's."""
    where = (theory.FLOWS_MIN, theory.RTT_MAX, theory.CAPACITY)
    printed, own = theory.printed_plant(2j, *where), theory.hollot(*where)(2j)
    checks = [
        Check.exact(
            "gain of (1) over that of Hollot's plant, at 2 rad/s", abs(printed) / abs(own), least=0.999, most=1.001
        ),
        Check.exact(
            "delay that (1) leaves out, at 2 rad/s over the round trip",
            cmath.phase(printed / own) / (2.0 * theory.RTT_MAX),
            least=-0.001,
            most=0.001,
        ),
    ]
    return Judgement(
        checks,
        "The glyphs of (1) are garbled; put together they are the plant of Hollot et al. but for e^(-s R0), without "
        "which continuous PI's loop is stable with any gain.",
    )


def fewer_nodes(evidence: Evidence) -> Judgement:
    """Compare JoBS with the others at 40 nodes."""
    runs = evidence["load"]
    at = {"dumbbell.hosts": 40}
    wait, used = ({label: runs.values(metric, label, at) for label in runs.labels} for metric in METRICS)

    def gaps(told: Mapping[str, list[float | None]], label: str) -> list[float]:
        pairs = zip(told[label], told["JoBS"], strict=True)
        return [one - own for one, own in pairs if one is not None and own is not None]

    checks = [
        Check.of(f"mean wait, {label} less JoBS", [1e3 * gap for gap in gaps(wait, label)], unit="ms", least=0)
        for label in runs.labels
        if label != "JoBS"
    ]
    # a lower utilisation that one sees in Fig. 2a: by a fiftieth
    checks.append(Check.of("utilisation, DropTail less JoBS", gaps(used, "DropTail"), least=0.02))
    lost = runs.mean("classes.ftp.loss_ratio", "DropTail", at).mean or 0.0
    return Judgement(
        checks,
        f"JoBS uses {100 * (Summary.of(used['JoBS']).mean or 0.0):.1f} % of the link there and drop tail loses "
        f"{100 * lost:.1f} % of TCP's packets. A flow of larger windows has gaps between its flights that JoBS can "
        "measure; with windows of two packets its estimates are worth little, and the figure over the nodes shows "
        "its advantage fade.",
    )


def untested(_: Evidence) -> Judgement:
    """Say why it is not tested."""
    return Judgement(
        [],
        "The survey runs nothing with classes of service. PI as published has one queue and one probability; JoBS's "
        "scheduler is `jobs`, which this experiment leaves out.",
    )

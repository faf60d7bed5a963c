"""The survey's claims on its six disciplines, and their judges."""

from __future__ import annotations

import cmath
from collections.abc import Mapping, Sequence
from itertools import pairwise

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.papers import Check, Evidence, Judgement, Runs
from aqmlab.theory import pi

TOLD = polars.col("classes.ftp.loss_ratio") + polars.col("classes.ftp.mark_ratio")
"""The fraction of TCP's packets that are marked or dropped."""
START = "after the first 5 s"
VISIBLE_LOSS = 0.005
"""Line width on the axis of Fig. 2c: smaller losses are not visible there."""
VISIBLE = 0.02
"""A visible fraction of the link in Fig. 2a, used for every claim of low utilisation."""


def _named(value: polars.Expr, runs: Runs, label: str, at: Mapping[str, float | str] | None = None) -> float:
    found = list(runs.each(value, label, at).values())
    return sum(found) / len(found)


def almost_full(evidence: Evidence) -> Judgement:
    """Check how full drop tail's buffer is."""
    runs = evidence["schemes"]
    full = list(runs.each(measures.BACKLOG / measures.BUFFER, "DropTail").values())
    median = list(runs.each(polars.col("queue_delay_p50") / measures.FULL, "DropTail").values())
    # "almost always full": nine tenths, on average and for at least half of the packets
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
    found = list(runs.each(measures.BACKLOG / 80_000, "RED").values())
    settled = list(evidence["settled"].each(measures.BACKLOG / 80_000, "RED").values())
    told = _named(TOLD, runs, "RED")
    flows = _named(polars.col("classes.ftp.flows"), runs, "RED")
    least = flows / (theory.PROPAGATION + 0.8 * measures.FULL) / (theory.CAPACITY - measures.NODES * theory.UDP)
    # "around": within a fifth of it
    checks = [
        Check.of("mean backlog of RED over maxth", found, least=0.8, most=1.2),
        Check.of(f"the same, {START}", settled, least=0.8, most=1.2),
    ]
    return Judgement(
        checks,
        f"RED keeps {checks[0].value * 80:.0f} kB. With maxp = 1 everything is marked at maxth; TCP rests where "
        f"{100 * told:.0f} % of its packets are marked or dropped, which RED's line and spacing give at "
        f"{20 + 60 * 1.5 * told:.0f} kB if the queue stayed at its average. At maxth every packet is marked: "
        f"{flows:.0f} windows of one packet are {100 * least:.0f} % of what UDP leaves of the link, so that it would "
        f"take {flows / least:.0f} flows to rest there.",
    )


def red_incipient(evidence: Evidence) -> Judgement:
    """Check that RED's average misses bursts: it drops packets it could have marked, and its queue swings."""
    runs = evidence["settled"]
    lost = list(runs.each(measures.LOST, "RED").values())
    full = _named(polars.col("classes.ftp.drops_overflow"), runs, "RED")
    spread = list(runs.each(polars.col("queue_std") / polars.col("queue_mean"), "RED").values())
    rate = _named(polars.col("arrivals"), runs, "RED") / 15
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
    own = values[-1]
    lost = [_named(measures.LOST_OF_ALL, runs, "RED", {"aqm.max_p": value}) for value in (values[0], own)]
    checks = []
    measured = (("mean wait, ms", measures.WAIT * 1e3), ("loss of TCP packets", measures.LOST))
    for name, value in (*measured, ("loss of all packets", measures.LOST_OF_ALL)):
        at_one = runs.each(value, "RED", {"aqm.max_p": own})
        for other in values[:-1]:
            told = runs.each(value, "RED", {"aqm.max_p": other})
            found = [told[seed] - number for seed, number in at_one.items() if seed in told]
            checks.append(Check.of(f"{name}: at maxp = {other:g} less that at {own:g}", found, least=0))
    return Judgement(
        checks,
        "A steeper slope keeps a shorter queue, and what TCP loses less by overflow it is told by marks. UDP cannot "
        f"be marked and is dropped instead: at maxp = {own:g} "
        f"{100 * lost[1]:.1f} % of all packets are lost, at {values[0]:g} {100 * lost[0]:.1f} %.",
    )


def only_if_full(_: Evidence) -> Judgement:
    """Compare the threshold above which RED drops every packet with the buffer, both as printed."""
    return Judgement(
        [Check.exact("maxth over the buffer", 80_000 / measures.BUFFER, least=1)],
        "RED's probability is maxp at an average of maxth, and maxp is 1: gentle or not, from 80 000 bytes on it takes "
        "every packet, when a fifth of the buffer is free.",
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
        for name, value in (
            ("TCP packets", measures.LOST),
            ("all packets", measures.LOST_OF_ALL),
            ("bytes", measures.LOST_BYTES),
        )
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
        f"wants it the buffer overflows as drop tail's does; PI keeps {kept:.0f} kB instead of 70. UDP, which cannot "
        "be marked and for which drop tail's buffer mostly has room, PI drops as often as it would mark TCP.",
    )


def pi_sensitive(evidence: Evidence) -> Judgement:
    """Compare PI's loss at gains from a twelfth to ten times the printed ones."""
    runs = evidence["gains"]
    points = runs.points("aqm.a")
    told = [runs.each(measures.LOST, "PI", {"aqm.a": point}) for point in points]
    seeds = sorted(set.intersection(*(set(one) for one in told)))
    spread = [max(one[seed] for one in told) / min(one[seed] for one in told) for seed in seeds]
    # "very sensitive": at least twice as much
    check = Check.of(
        "greatest loss of TCP packets over the least, of gains from a twelfth to ten times the printed", spread, least=2
    )
    means = [sum(one.values()) / len(one) for one in told]
    falls = all(one >= other for one, other in pairwise(means))
    return Judgement(
        [check],
        f"{100 * means[0]:.1f} % of TCP's packets are lost at a = {points[0]:.3g}, {100 * means[-1]:.1f} % at "
        f"{points[-1]:.3g}: "
        + ("the larger the gains the fewer, since the sooner the probability is there." if falls else "not in order."),
    )


def jobs_loses_nothing(evidence: Evidence) -> Judgement:
    """Count JoBS's losses, and compare them with those of the other disciplines."""
    runs, settled = evidence["schemes"], evidence["settled"]
    dropped = polars.col("drops_overflow") + polars.col("drops_early")
    later = _named(dropped, settled, settled.hero)
    beaten = [measures.less(runs, measures.LOST_OF_ALL, other, runs.hero) for other in runs.others]
    checks = [
        Check.of("packets dropped in 20 s", runs.each(dropped, runs.hero).values(), unit="packets", most=0),
        Check.of(
            f"loss of TCP packets, {START}",
            settled.each(measures.LOST, runs.hero).values(),
            most=VISIBLE_LOSS,
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
    """Compare JoBS's mean wait with those of the other disciplines."""
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
    """Compare JoBS's utilisation with those of the other disciplines."""
    runs = evidence["schemes"]
    used = polars.col("utilisation")
    flows = _named(polars.col("classes.ftp.flows"), runs, runs.hero)
    checks = [
        # "relatively low": a visible difference; otherwise a ten-thousandth of the link would count
        Check.of(f"utilisation, {other} less {runs.hero}", measures.less(runs, used, other, runs.hero), least=VISIBLE)
        for other in runs.others
    ]
    return Judgement(
        checks,
        f"JoBS uses {100 * _named(used, runs, runs.hero):.1f} % of the link, which has {theory.CAPACITY / flows:.0f} "
        f"packets a second for each of {flows:.0f} flows. The more flows, the less it takes to keep it busy, as the "
        "figure over the nodes has it.",
    )


def avoidance(evidence: Evidence) -> Judgement:
    """Count the packets that each discipline drops or marks while the buffer has room."""
    runs = evidence["schemes"]
    acts = polars.col("drops_early") + polars.col("marks")
    checks = []
    for label in runs.labels:
        found = runs.each(acts, label).values()
        bound = {"most": 0.0} if label == "DropTail" else {"least": 1.0}
        checks.append(
            Check.of(f"packets that {label} drops or marks while there is room", found, unit="packets", **bound)
        )
    return Judgement(checks, "Drop tail acts only when its buffer is full; every other tells some senders before.")


def red_synchronisation(evidence: Evidence) -> Judgement:
    """Compare the common swing of TCP's arrivals, and fairness, between RED and drop tail."""
    runs, settled = evidence["schemes"], evidence["settled"]
    swings = {label: swing(runs, label, 5.0) for label in ("DropTail", "RED")}
    checks = [
        Check.of(
            f"coefficient of variation of TCP's arrivals in {TOGETHER:g} s, DropTail less RED, {START}",
            [one - swings["RED"][seed] for seed, one in swings["DropTail"].items() if seed in swings["RED"]],
            least=0,
        ),
        Check.of(
            f"Jain's index of TCP flows, RED less DropTail, {START}",
            measures.less(settled, polars.col("classes.ftp.jain"), "RED", "DropTail"),
            least=0,
        ),
    ]
    means = {label: sum(one.values()) / len(one) for label, one in swings.items()}
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
    for seed, told in measures.over_time(runs, label, TOGETHER, polars.col("ftp.arrivals").sum()).items():
        late = told.cast(polars.Float64).to_numpy()[round(start / TOGETHER) :]
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
    needed = list(runs.each(TOLD, "REM").values())
    kept = _named(measures.BACKLOG, runs, "REM") / 1e3
    bound = [_climb(p) for p in needed]
    quarter = runs.duration / 4
    growth, last = [], []
    for told in measures.over_time(runs, "PI", quarter, polars.col("p.mean").mean()).values():
        growth.append(told[3] / told[1])
        last.append(told[3])
    waits = measures.over_time(runs, "PI", quarter, polars.col("ftp.delay").mean()).values()
    late = [measures.RATE / 8e3 * wait[3] for wait in waits]
    gains = evidence["gains"]
    rule, printed = gains.points("aqm.a")[0], min(gains.points("aqm.a"), key=lambda one: abs(one - theory.A))
    slow = gains.each(measures.LOST, "PI", {"aqm.a": rule})
    own = gains.each(measures.LOST, "PI", {"aqm.a": printed})
    a, b = theory.rule_gains()
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
    padhye = theory.predicted_loss(measures.NODES, 1.0, 1e3 * theory.TARGET)
    return Judgement(
        checks,
        f"REM, which keeps {kept:.0f} kB, marks or drops {100 * _average(needed):.0f} % of TCP's packets. From 0 to "
        f"there PI takes p / ((a - b)(Q - q_ref) f) = {_average(bound):.0f} s even if its buffer is full all the time, "
        f"and {(theory.A - theory.B) / (a - b):.0f} times as long with its rule's gains. In the last quarter of the "
        f"run its mean is {100 * _average(last):.1f} %, at a backlog of {_average(late):.0f} kB. By Padhye's losses "
        f"alone, {100 * padhye:.0f} % at 70 kB, it would take {_climb(padhye):.0f} s: but a mark costs no time-out, "
        "and more are needed.",
    )


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _climb(p: float) -> float:
    """Return the least time that PI needs from 0 to a probability, s."""
    room = measures.BUFFER / measures.TCP_SIZE
    return float(pi.response_bound(p, theory.A, theory.B, theory.FREQUENCY, theory.TARGET, room))


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
    """Compare JoBS with the others at all numbers of nodes below the scenario's."""
    runs = evidence["load"]
    checks, means = [], []
    for nodes in runs.points("dumbbell.hosts"):
        if nodes >= measures.NODES:
            continue
        at = {"dumbbell.hosts": nodes}
        wait, used = (
            {label: runs.each(value, label, at) for label in runs.labels}
            for value in (1e3 * measures.WAIT, polars.col("utilisation"))
        )

        def gaps(told: Mapping[str, Mapping[int, float]], label: str) -> list[float]:
            return [one - told["JoBS"][seed] for seed, one in told[label].items() if seed in told["JoBS"]]

        checks += [
            Check.of(f"mean wait, {label} less JoBS, {nodes} nodes", gaps(wait, label), unit="ms", least=0)
            for label in runs.labels
            if label != "JoBS"
        ]
        effect = f"utilisation, DropTail less JoBS, {nodes} nodes"
        checks.append(Check.of(effect, gaps(used, "DropTail"), least=VISIBLE))
        lost = _named(measures.LOST, runs, "DropTail", at)
        own = _named(polars.col("utilisation"), runs, "JoBS", at)
        means.append(
            f"with {nodes:g} nodes JoBS uses {100 * own:.1f} % of the link and drop tail loses {100 * lost:.1f} % of "
            "TCP's packets"
        )
    return Judgement(
        checks,
        f"Exploratory: that 40 nodes would suit the paper was seen in the runs first. In them, {'; '.join(means)}. "
        "A flow of larger windows has gaps between its flights that JoBS can measure; with windows of two packets its "
        "estimates are worth little.",
    )


def untested(_: Evidence) -> Judgement:
    """State why the claim is not tested."""
    return Judgement(
        [],
        "The survey runs nothing with classes of service. PI as published has one queue and one probability; JoBS's "
        "scheduler is `jobs`, which this experiment leaves out.",
    )

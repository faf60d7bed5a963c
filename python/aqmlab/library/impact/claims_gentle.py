"""Judges of the study's claims on gentle RED and GRED-I."""

from __future__ import annotations

from aqmlab.library.impact.claims import MOST, SAME
from aqmlab.library.impact.curves import LOAD, in_model
from aqmlab.library.impact.losses import LENGTHS, counted, longest, mean_run, orders
from aqmlab.library.impact.measures import (
    APPROXIMATED,
    EVENT,
    GREDS,
    GREEDY,
    HERO,
    MIXED,
    RED,
    TD,
    Each,
    Measure,
    averaged,
    delay,
    excess,
    gap,
    hit,
    less,
    lost,
    mean,
    over,
    present,
    swing,
    tcp_goodput,
    udp_loss,
)
from aqmlab.papers import At, Check, Evidence, Judgement, Runs

# A queue swings heavily if two standard deviations reach half its mean.
HEAVY = 0.25
# Far fewer: less than half as many, in orders of magnitude.
FAR = 0.3
SPACED = {
    "1993": "GRED spaces its drops as RED of 1993 does, which makes runs short; GRED-I has no such rule.",
    "wait": "GRED spaces its drops as in ns-2, which makes runs short; GRED-I has no such rule.",
    "none": "GRED's drops are as independent as GRED-I's: what differs is how far its average swings up.",
}


def gred_loses_less(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP with the testbed's GRED and with RED."""
    runs = evidence["mixed"]
    more = excess(runs, present(runs, MIXED).values(), udp_loss, APPROXIMATED, RED)
    queue = {label: mean(runs.values("queue_mean", label)) for label in (APPROXIMATED, RED)}
    return Judgement(
        [
            Check.of("UDP loss of GRED (testbed) over RED's", more, unit="%", most=0),
            # "About 10 %": 5 to 15 %.
            Check.of("the same: about as claimed", more, unit="%", least=-15, most=-5),
        ],
        f"GRED reaches the drops that TCP needs at {queue[APPROXIMATED]:.0f} packets, RED at {queue[RED]:.0f}; the "
        "shorter queue makes round trips shorter and TCP's loss higher, and UDP, drawn from the same lot, shares it.",
    )


def gred_delivers_less(evidence: Evidence) -> Judgement:
    """Compare the goodput of TCP with the testbed's GRED and with RED."""
    runs = evidence["mixed"]
    gain = excess(runs, present(runs, MIXED).values(), tcp_goodput, RED, APPROXIMATED)
    use = {label: 100 * mean(runs.values("utilisation", label)) for label in (APPROXIMATED, RED)}
    return Judgement(
        [
            Check.of("TCP goodput of RED over that of GRED (testbed)", gain, unit="%", least=0),
            # "About 3 %": 2 to 4.
            Check.of("the same: about as claimed", gain, unit="%", least=2, most=4),
        ],
        f"The link is {use[RED]:.1f} % busy with RED and {use[APPROXIMATED]:.1f} % with GRED: a discipline takes much "
        "from TCP only by letting the queue run empty.",
    )


def gred_swings(evidence: Evidence) -> Judgement:
    """Judge how much the queue of gentle RED swings."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = [
        Check.of(
            f"standard deviation of {label}'s queue over its mean", averaged(runs, points, _unrest, label), least=HEAVY
        )
        for label in GREDS
    ]
    each = ", ".join(f"{mean(swing(runs, label)):.0f} ({label})" for label in runs.labels)
    return Judgement(
        checks,
        "An average over 500 packets, 0.4 s, lags behind the queue by a round trip and more, and what is controlled by "
        f"a late signal overshoots. Standard deviations in packets: {each}.",
    )


def _unrest(runs: Runs, label: str, at: At | None) -> Each:
    return over(swing(runs, label, at), runs.values("queue_mean", label, at))


def gred_synchronises(evidence: Evidence) -> Judgement:
    """Compare how many flows a loss event hits."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = [
        Check.of(
            f"flows that a loss event hits, for their loss: {label} over tail drop",
            excess(runs, points, _together, label, TD),
            unit="%",
            least=0,
        )
        for label in GREDS
    ]
    checks += [
        Check.of(f"flows that a loss event hits, {label}", averaged(runs, points, hit, label), unit="%", least=MOST)
        for label in GREDS
    ]
    told = ", ".join(f"{mean(hit(runs, label)):.0f} % ({label})" for label in (TD, RED, *GREDS))
    return Judgement(
        checks,
        f"An event of {EVENT:g} s, a round trip with its queue, hits so many of the flows: {told}. That more are hit "
        "where more is lost is no synchrony, so that the first numbers are divided by the loss: a full buffer drops "
        "bursts of the same flow, chance packets of different ones.",
    )


def _together(runs: Runs, label: str, at: At | None) -> Each:
    return over(hit(runs, label, at), lost(runs, label, at))


def gred_multiple(evidence: Evidence) -> Judgement:
    """Compare loss runs with gentle RED and with tail drop."""
    runs = evidence["simulation"]
    at = GREEDY["Exp6"]
    checks = [
        orders(
            f"{title}: P(> {n - 1} in a row) of {label} over tail drop's",
            counted(runs, label, at, owner),
            counted(runs, TD, at, owner),
            n,
            least=0,
        )
        for label in GREDS
        for title, owner in (("all packets", "bottleneck"), ("a UDP flow", "udp"))
        for n in LENGTHS
    ]
    checks += [
        in_model(
            f"all packets, open-loop model, load {LOAD}: P(> {n - 1} in a row) of GRED (testbed) over tail drop's",
            APPROXIMATED,
            TD,
            n,
            1,
            evidence.quick,
            least=0,
        )
        for n in LENGTHS
    ]
    return Judgement(
        checks,
        "At a full buffer an arrival is lost too if it comes before a packet has left, while chance spares most of the "
        "next ones; long runs come from the phases in which the average has swung far up. Of one UDP flow, whose "
        "packets are far apart, losses are nearly independent, and whoever loses more UDP has more of them in a row.",
    )


def gred_fewer_runs(evidence: Evidence) -> Judgement:
    """Compare loss runs with gentle RED and with RED."""
    runs = evidence["simulation"]
    at = GREEDY["Exp6"]
    checks = [
        orders(
            f"{title}: P(> {n - 1} in a row) of {label} over RED's",
            counted(runs, label, at, owner),
            counted(runs, RED, at, owner),
            n,
            most=0,
        )
        for label in GREDS
        for title, owner in (("all packets", "bottleneck"), ("a UDP flow", "udp"))
        for n in LENGTHS
    ]
    checks += [
        in_model(
            f"all packets, open-loop model, load {LOAD}: P(> {n - 1} in a row) of GRED (testbed) over RED's",
            APPROXIMATED,
            RED,
            n,
            1,
            evidence.quick,
            most=0,
        )
        for n in LENGTHS
    ]
    most = {label: longest(runs, label, at, "bottleneck") for label in (RED, *GREDS)}
    told = ", ".join(f"{count:.0f} ({label})" for label, count in most.items())
    return Judgement(
        checks,
        "Without a step there is no time in which all is dropped; what is left of long runs is chance, the more the "
        f"higher the function is. The longest run of all packets, of which 100 are counted, is {told}.",
    )


def gred_gains_nothing(evidence: Evidence) -> Judgement:
    """Compare goodput and loss with the testbed's GRED, with tail drop and with RED."""
    runs = evidence["mixed"]
    points = present(runs, MIXED).values()
    checks = []
    for other in (TD, RED):
        goodput, loss = (gap(runs, points, measure, APPROXIMATED, other) for measure in (tcp_goodput, udp_loss))
        checks += [
            Check.of(f"TCP goodput of GRED (testbed) less that of {other}", goodput, unit="Mbit/s", most=0),
            Check.of(f"UDP loss of GRED (testbed) less that of {other}", loss, unit="points", least=0),
        ]
    return Judgement(
        checks,
        "Of UDP's loss the paper's own Fig. 8 says the contrary, a tenth less with GRED than with RED. Goodput is that "
        "of a full link, less what is sent in vain.",
    )


def gred_no_better(evidence: Evidence) -> Judgement:
    """Compare gentle RED with RED in all metrics."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = []
    at = GREEDY["Exp6"]
    for label in GREDS:
        goodput, loss, unrest = (gap(runs, points, measure, RED, label) for measure in (tcp_goodput, udp_loss, swing))
        checks += [
            Check.of(f"TCP goodput of RED less that of {label}", goodput, unit="Mbit/s", least=0),
            Check.of(f"UDP loss of RED less that of {label}", loss, unit="points", most=0),
            Check.of(f"standard deviation of RED's queue less that of {label}'s", unrest, unit="packets", most=0),
        ]
        checks += [
            orders(
                f"all packets, Exp6: P(> {n - 1} in a row) of RED over that of {label}",
                counted(runs, RED, at, "bottleneck"),
                counted(runs, label, at, "bottleneck"),
                n,
                most=0,
            )
            for n in LENGTHS
        ]
    return Judgement(
        checks,
        "The paper is at odds with its own Fig. 8 here, in which GRED loses a tenth less of UDP than RED, and with its "
        "introduction, which finds GRED better in consecutive losses. A late signal and a steep function make a queue "
        f"swing, and goodput is lost while it is empty: {_idle(runs)}.",
    )


def best_goodput(evidence: Evidence) -> Judgement:
    """Compare the goodput of TCP with GRED-I and with every other discipline."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    hero = runs.hero
    checks = [
        Check.of(
            f"TCP goodput of {hero} less that of {other}",
            gap(runs, points, tcp_goodput, hero, other),
            unit="Mbit/s",
            least=0,
        )
        for other in runs.others
    ]
    told = [mean(averaged(runs, points, tcp_goodput, label)) for label in runs.labels]
    return Judgement(
        checks,
        f"Best and worst are {max(told) - min(told):.2f} Mbit/s apart. On a link that is never idle TCP gets what UDP "
        f"loses, less what is sent in vain; the share of time in which the queue is empty: {_idle(runs)}.",
    )


def _idle(runs: Runs) -> str:
    """Return the time that each queue is empty, in words."""
    return ", ".join(f"{100 * mean(runs.values('queue_empty', label)):.1f} % ({label})" for label in runs.labels)


def better_than_gred(evidence: Evidence) -> Judgement:
    """Compare GRED-I with gentle RED in goodput and loss."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = []
    for label in GREDS:
        goodput, loss = (gap(runs, points, measure, HERO, label) for measure in (tcp_goodput, udp_loss))
        checks += [
            Check.of(f"TCP goodput of GRED-I less that of {label}", goodput, unit="Mbit/s", least=0),
            Check.of(f"UDP loss of GRED-I less that of {label}", loss, unit="points", most=0),
        ]
    queue = ", ".join(f"{mean(runs.values('queue_mean', label)):.0f} ({label})" for label in (HERO, *GREDS))
    return Judgement(
        checks,
        f"Loss goes by the length of the round trip, hence of the queue, whose mean packets are {queue}; goodput is "
        f"lost where the queue is empty: {_idle(runs)} of the time.",
    )


def tail_drop_spares_udp(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP with tail drop and with every other discipline."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = [
        Check.of(
            f"UDP loss of {other} less tail drop's", gap(runs, points, udp_loss, other, TD), unit="points", least=0
        )
        for other in runs.labels
        if other != TD
    ]
    return Judgement(
        checks,
        "The longest queue makes the longest round trips and so the least loss, and a full buffer hits bursts of TCP "
        "before it hits packets that come singly.",
    )


def steady(evidence: Evidence) -> Judgement:
    """Compare how much the queue swings with GRED-I and with other disciplines."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    hero = runs.hero
    checks = [
        Check.of(
            f"standard deviation of the queue, {other} less {hero}",
            gap(runs, points, swing, other, hero),
            unit="packets",
            least=0,
        )
        # Tail drop's queue cannot swing: the end of the buffer limits it.
        for other in runs.others
        if other != TD
    ]
    return Judgement(checks, "GRED-I judges every arrival by the queue that it finds: its signal is never late.")


def half_the_delay(evidence: Evidence) -> Judgement:
    """Compare the delay with GRED-I and with tail drop."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    saved = [None if one is None else -one for one in excess(runs, points, delay, HERO, TD)]
    queue = {label: mean(runs.values("queue_mean", label)) for label in (HERO, TD)}
    return Judgement(
        [
            Check.of("delay saved by GRED-I", saved, unit="%", least=50),
            # "50 %", read off a curve: within ten points.
            Check.of("delay saved by GRED-I: about as claimed", saved, unit="%", least=40, most=60),
        ],
        f"Tail drop holds {queue[TD]:.0f} packets, a full buffer; GRED-I {queue[HERO]:.0f}, where its function gives "
        "the loss that TCP needs. The saving grows with the buffer and shrinks with the load, as the paper warns.",
    )


def gredi_runs(evidence: Evidence) -> Judgement:
    """Compare loss runs with GRED-I, tail drop and gentle RED."""
    runs = evidence["simulation"]
    at = GREEDY["Exp6"]
    every = {label: counted(runs, label, at, "bottleneck") for label in (HERO, TD, *GREDS)}
    checks = []
    for n in LENGTHS:
        simulated, model = (
            f"{title}: P(> {n - 1} in a row) of GRED-I over" for title in ("simulated", f"open-loop model, load {LOAD}")
        )
        # "A dramatic improvement" over GRED concerns long runs; for more than one in a row, fewer suffices.
        below = -FAR if n == max(LENGTHS) else 0.0
        checks.append(orders(f"{simulated} tail drop's", every[HERO], every[TD], n, least=0))
        checks += [orders(f"{simulated} that of {label}", every[HERO], every[label], n, most=below) for label in GREDS]
        checks += [
            in_model(f"{model} tail drop's", HERO, TD, n, 1, evidence.quick, least=0),
            in_model(f"{model} that of GRED (testbed)", HERO, APPROXIMATED, n, 1, evidence.quick, most=below),
        ]
    return Judgement(
        checks,
        "Drawn by chance, a loss is followed by another about as often as any packet is lost, GRED-I's. At a full "
        "buffer the next arrival is lost if it comes before a packet has left, which with bursts is often. "
        f"{SPACED[str(runs.study.variants[APPROXIMATED].resolved['aqm']['spacing'])]}",
    )


def small_gain(evidence: Evidence) -> Judgement:
    """Judge how much TCP gains from GRED-I."""
    runs = evidence["simulation"]
    gain = excess(runs, present(runs, GREEDY).values(), tcp_goodput, HERO, TD)
    fair = {label: mean(runs.values("classes.tcp.jain", label)) for label in (HERO, TD)}
    return Judgement(
        [Check.of("TCP goodput of GRED-I over tail drop's", gain, unit="%", least=0, most=SAME)],
        "The link is full with both, so that there is little to gain in sum. What the paper did not measure is who "
        f"gets it: Jain's index of the TCP flows is {fair[HERO]:.2f} with GRED-I and {fair[TD]:.2f} with tail drop.",
    )


def recommended(evidence: Evidence) -> Judgement:
    """Compare GRED-I with all disciplines but tail drop, in all metrics."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    hero = runs.hero

    def gain(measure: Measure, most: bool) -> Each:
        """Return the hero's value minus the best other one, for each seed."""
        others = [averaged(runs, points, measure, other) for other in runs.others if other != TD]
        known = [[one for one in seed if one is not None] for seed in zip(*others, strict=True)]
        return less(
            averaged(runs, points, measure, hero), [(max if most else min)(seed, default=None) for seed in known]
        )

    checks = [
        Check.of(f"TCP goodput of {hero} less the best other's", gain(tcp_goodput, True), unit="Mbit/s", least=0),
        Check.of(f"UDP loss of {hero} less the best other's", gain(udp_loss, False), unit="points", most=0),
        Check.of(f"delay of {hero} less the best other's", gain(delay, False), unit="ms", most=0),
        Check.of(
            f"standard deviation of {hero}'s queue less the best other's", gain(swing, False), unit="packets", most=0
        ),
        Check.of(
            f"mean run of losses of all packets, {hero} less the best other's",
            gain(mean_run, False),
            unit="packets",
            most=0,
        ),
    ]
    return Judgement(
        checks,
        "Delay and UDP's loss go by the length of the queue that a discipline holds, short for the one and long for "
        "the other; how steady it is goes by the design.",
    )

"""Claims on GRED-I: sections V and VI (Figs. 10 and 11)."""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    APPROXIMATED,
    GREDS,
    GREEDY,
    HERO,
    LENGTHS,
    RED,
    SAME,
    SURGE_BEGIN,
    TD,
    Measure,
    counted,
    delay,
    dropped,
    empty_text,
    mean_difference,
    mean_excess,
    mean_over,
    mean_run,
    orders,
    present,
    swing,
    tcp_goodput,
    udp_loss,
)
from aqmlab.library.impact.theory import LOAD, in_model
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import Values, difference, mean

# Far fewer: less than half as many, in orders of magnitude.
FAR = 0.3

SPACED = {
    "1993": "GRED spaces its drops as RED of 1993 does, which makes runs short; GRED-I has no such rule.",
    "wait": "GRED spaces its drops as in ns-2, which makes runs short; GRED-I has no such rule.",
    "none": "GRED's drops are as independent as GRED-I's: what differs is how far its average swings up.",
}


def best_goodput(evidence: Evidence) -> Judgement:
    """Compare the goodput of TCP with GRED-I and with every other discipline."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    hero = runs.hero
    checks = [
        Check.of(
            f"TCP goodput of {hero} minus that of {other}",
            mean_difference(runs, points, tcp_goodput, hero, other),
            unit="Mbit/s",
            least=0,
        )
        for other in runs.others
    ]
    means = [mean(mean_over(runs, points, tcp_goodput, label)) for label in runs.labels]
    return Judgement(
        checks,
        f"Best and worst are {max(means) - min(means):.2f} Mbit/s apart. On a link that is never idle TCP gets what "
        f"UDP loses, minus what is sent in vain; the share of time in which the queue is empty: {empty_text(runs)}.",
    )


def better_than_gred(evidence: Evidence) -> Judgement:
    """Compare GRED-I with gentle RED in goodput and loss."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = []
    for label in GREDS:
        goodput, loss = (mean_difference(runs, points, measure, HERO, label) for measure in (tcp_goodput, udp_loss))
        checks += [
            Check.of(f"TCP goodput of GRED-I minus that of {label}", goodput, unit="Mbit/s", least=0),
            Check.of(f"UDP loss of GRED-I minus that of {label}", loss, unit="points", most=0),
        ]
    queue = ", ".join(f"{mean(runs.values('queue_mean', label)):.0f} ({label})" for label in (HERO, *GREDS))
    return Judgement(
        checks,
        f"Loss goes by the length of the round trip, hence of the queue, whose mean packets are {queue}; goodput is "
        f"lost where the queue is empty: {empty_text(runs)} of the time.",
    )


def tail_drop_spares_udp(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP with tail drop and with every other discipline."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = [
        Check.of(
            f"UDP loss of {other} minus tail drop's",
            mean_difference(runs, points, udp_loss, other, TD),
            unit="points",
            least=0,
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
            f"standard deviation of the queue, {other} minus {hero}",
            mean_difference(runs, points, swing, other, hero),
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
    saved = [None if one is None else -one for one in mean_excess(runs, points, delay, HERO, TD)]
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
    gain = mean_excess(runs, present(runs, GREEDY).values(), tcp_goodput, HERO, TD)
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

    def gain(measure: Measure, most: bool) -> Values:
        """Return the hero's value minus the best other one, for each seed."""
        others = [mean_over(runs, points, measure, other) for other in runs.others if other != TD]
        known = [[one for one in seed if one is not None] for seed in zip(*others, strict=True)]
        return difference(
            mean_over(runs, points, measure, hero), [(max if most else min)(seed, default=None) for seed in known]
        )

    checks = [
        Check.of(f"TCP goodput of {hero} minus the best other's", gain(tcp_goodput, True), unit="Mbit/s", least=0),
        Check.of(f"UDP loss of {hero} minus the best other's", gain(udp_loss, False), unit="points", most=0),
        Check.of(f"delay of {hero} minus the best other's", gain(delay, False), unit="ms", most=0),
        Check.of(
            f"standard deviation of {hero}'s queue minus the best other's", gain(swing, False), unit="packets", most=0
        ),
        Check.of(
            f"mean run of losses of all packets, {hero} minus the best other's",
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


# Approximate time in which RED's average follows the queue, 500 packets (s).
REACTION = 0.5


def reacts_faster(evidence: Evidence) -> Judgement:
    """Compare the drops at the start of a surge."""
    runs = evidence["surge"]
    early = [
        dropped(runs, HERO, seed, SURGE_BEGIN, SURGE_BEGIN + REACTION)
        - dropped(runs, RED, seed, SURGE_BEGIN, SURGE_BEGIN + REACTION)
        for seed in runs.study.seeds
    ]
    return Judgement(
        [
            Check.of(
                f"packets dropped in the first {REACTION:g} s of the surge, GRED-I minus RED",
                early,
                unit="packets",
                least=0,
            )
        ],
        "GRED-I's probability follows the queue at once, RED's its average, which takes 0.4 s to follow by two "
        "thirds; but RED's average is near its step before the surge, past which it drops everything.",
    )


CLAIMS = (
    Claim(
        name="gred-i-best-goodput",
        text="GRED-I gives the best TCP goodput.",
        where="Section V, Fig. 10",
        judge=best_goodput,
        needs=["simulation"],
        shown=["fig10", "metrics"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="gred-i-over-gred",
        text="GRED-I gives more TCP goodput and less UDP loss than GRED.",
        where="Section V, Fig. 10",
        judge=better_than_gred,
        needs=["simulation"],
        shown=["fig10", "metrics"],
        sensitive=True,
    ),
    Claim(
        name="tail-drop-spares-udp",
        text="Tail drop has the lowest UDP loss; GRED-I's is higher.",
        where="Section V, Fig. 10; VI",
        judge=tail_drop_spares_udp,
        needs=["simulation"],
        shown=["fig10", "metrics"],
        sensitive=True,
    ),
    Claim(
        name="gred-i-steady",
        text="To look at the queue itself reduces its oscillation.",
        where="Section V, Fig. 11 left",
        judge=steady,
        needs=["simulation"],
        shown=["fig11", "metrics"],
        comparative=True,
    ),
    Claim(
        name="gred-i-half-the-delay",
        text="The mean delay with GRED-I is 50 % shorter than with tail drop.",
        where="Section V, Fig. 11 left",
        judge=half_the_delay,
        needs=["simulation"],
        shown=["fig11", "metrics"],
        sensitive=True,
    ),
    Claim(
        name="gred-i-runs",
        text="GRED-I makes slightly more consecutive losses than tail drop, and far fewer than GRED.",
        where="Section V, Fig. 11 right",
        judge=gredi_runs,
        needs=["simulation"],
        shown=["fig11", "runs"],
        sensitive=True,
    ),
    Claim(
        name="small-gain",
        text="What TCP gains from GRED-I is small.",
        where="Section VI",
        judge=small_gain,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
    Claim(
        name="recommended",
        text="If not tail drop, GRED-I is the discipline with the best performance.",
        where="Section VI",
        judge=recommended,
        needs=["simulation"],
        shown=["fig10", "fig11", "metrics"],
        comparative=True,
    ),
    Claim(
        name="reacts-faster",
        text="GRED-I reacts faster to congestion than RED.",
        where="Section VI",
        judge=reacts_faster,
        needs=["surge"],
        shown=["surge"],
    ),
)

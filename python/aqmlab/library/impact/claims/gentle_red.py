"""Claims on gentle RED: section IV (Figs. 8 and 9)."""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    APPROXIMATED,
    EVENT,
    GREDS,
    GREEDY,
    LENGTHS,
    MIXED,
    MOST,
    RED,
    TD,
    counted,
    empty_text,
    hit,
    longest,
    lost,
    mean_difference,
    mean_excess,
    mean_over,
    orders,
    present,
    swing,
    tcp_goodput,
    udp_loss,
)
from aqmlab.library.impact.theory import LOAD, in_model
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, mean, ratio

# A queue swings heavily if two standard deviations reach half its mean.
HEAVY = 0.25


def gred_loses_less(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP with the testbed's GRED and with RED."""
    runs = evidence["mixed"]
    more = mean_excess(runs, present(runs, MIXED).values(), udp_loss, APPROXIMATED, RED)
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
    gain = mean_excess(runs, present(runs, MIXED).values(), tcp_goodput, RED, APPROXIMATED)
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
            f"standard deviation of {label}'s queue over its mean", mean_over(runs, points, _unrest, label), least=HEAVY
        )
        for label in GREDS
    ]
    each = ", ".join(f"{mean(swing(runs, label)):.0f} ({label})" for label in runs.labels)
    return Judgement(
        checks,
        "An average over 500 packets, 0.4 s, lags behind the queue by a round trip and more, and what is controlled by "
        f"a late signal overshoots. Standard deviations in packets: {each}.",
    )


def _unrest(runs: Runs, label: str, at: At | None) -> Values:
    return ratio(swing(runs, label, at), runs.values("queue_mean", label, at))


def gred_synchronises(evidence: Evidence) -> Judgement:
    """Compare how many flows a loss event hits."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = [
        Check.of(
            f"flows that a loss event hits, for their loss: {label} over tail drop",
            mean_excess(runs, points, _together, label, TD),
            unit="%",
            least=0,
        )
        for label in GREDS
    ]
    checks += [
        Check.of(f"flows that a loss event hits, {label}", mean_over(runs, points, hit, label), unit="%", least=MOST)
        for label in GREDS
    ]
    shares = ", ".join(f"{mean(hit(runs, label)):.0f} % ({label})" for label in (TD, RED, *GREDS))
    return Judgement(
        checks,
        f"An event of {EVENT:g} s, a round trip with its queue, hits so many of the flows: {shares}. That more are hit "
        "where more is lost is no synchrony, so that the first numbers are divided by the loss: a full buffer drops "
        "bursts of the same flow, chance packets of different ones.",
    )


def _together(runs: Runs, label: str, at: At | None) -> Values:
    return ratio(hit(runs, label, at), lost(runs, label, at))


def _loss_runs(evidence: Evidence, other: str, name: str, **bounds: float) -> list[Check]:
    """Compare loss runs with gentle RED and with another discipline, simulated and by the model."""
    runs = evidence["simulation"]
    at = GREEDY["Exp6"]
    simulated = [
        orders(
            f"{title}: P(> {n - 1} in a row) of {label} over {name}",
            counted(runs, label, at, owner),
            counted(runs, other, at, owner),
            n,
            **bounds,
        )
        for label in GREDS
        for title, owner in (("all packets", "bottleneck"), ("a UDP flow", "udp"))
        for n in LENGTHS
    ]
    modelled = [
        in_model(
            f"all packets, open-loop model, load {LOAD}: P(> {n - 1} in a row) of GRED (testbed) over {name}",
            APPROXIMATED,
            other,
            n,
            1,
            evidence.quick,
            **bounds,
        )
        for n in LENGTHS
    ]
    return simulated + modelled


def gred_multiple(evidence: Evidence) -> Judgement:
    """Compare loss runs with gentle RED and with tail drop."""
    checks = _loss_runs(evidence, TD, "tail drop's", least=0)
    return Judgement(
        checks,
        "At a full buffer an arrival is lost too if it comes before a packet has left, while chance spares most of the "
        "next ones; long runs come from the phases in which the average has swung far up. Of one UDP flow, whose "
        "packets are far apart, losses are nearly independent, and a discipline that loses more UDP has more of them "
        "in a row.",
    )


def gred_fewer_runs(evidence: Evidence) -> Judgement:
    """Compare loss runs with gentle RED and with RED."""
    runs = evidence["simulation"]
    at = GREEDY["Exp6"]
    checks = _loss_runs(evidence, RED, "RED's", most=0)
    most = {label: longest(runs, label, at, "bottleneck") for label in (RED, *GREDS)}
    lengths = ", ".join(f"{count:.0f} ({label})" for label, count in most.items())
    return Judgement(
        checks,
        "Without a step there is no time in which all is dropped; what is left of long runs is chance, the more the "
        f"higher the function is. The longest run of all packets, of which 100 are counted, is {lengths}.",
    )


def gred_gains_nothing(evidence: Evidence) -> Judgement:
    """Compare goodput and loss with the testbed's GRED, with tail drop and with RED."""
    runs = evidence["mixed"]
    points = present(runs, MIXED).values()
    checks = []
    for other in (TD, RED):
        goodput, loss = (
            mean_difference(runs, points, measure, APPROXIMATED, other) for measure in (tcp_goodput, udp_loss)
        )
        checks += [
            Check.of(f"TCP goodput of GRED (testbed) minus that of {other}", goodput, unit="Mbit/s", most=0),
            Check.of(f"UDP loss of GRED (testbed) minus that of {other}", loss, unit="points", least=0),
        ]
    return Judgement(
        checks,
        "Of UDP's loss the paper's own Fig. 8 shows the contrary, a tenth less with GRED than with RED. Goodput is "
        "that of a full link, minus what is sent in vain.",
    )


def gred_no_better(evidence: Evidence) -> Judgement:
    """Compare gentle RED with RED in all metrics."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY).values()
    checks = []
    at = GREEDY["Exp6"]
    for label in GREDS:
        goodput, loss, unrest = (
            mean_difference(runs, points, measure, RED, label) for measure in (tcp_goodput, udp_loss, swing)
        )
        checks += [
            Check.of(f"TCP goodput of RED minus that of {label}", goodput, unit="Mbit/s", least=0),
            Check.of(f"UDP loss of RED minus that of {label}", loss, unit="points", most=0),
            Check.of(f"standard deviation of RED's queue minus that of {label}'s", unrest, unit="packets", most=0),
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
        f"swing, and goodput is lost while it is empty: {empty_text(runs)}.",
    )


CLAIMS = (
    Claim(
        name="gred-spares-udp",
        text="UDP loses about 10 % less with GRED than with RED.",
        where="Section IV, Fig. 8",
        judge=gred_loses_less,
        needs=["mixed"],
        shown=["fig8"],
        sensitive=True,
    ),
    Claim(
        name="gred-costs-tcp",
        text="TCP's goodput is about 3 % higher with RED than with GRED.",
        where="Section IV, Fig. 8",
        judge=gred_delivers_less,
        needs=["mixed"],
        shown=["fig8"],
    ),
    Claim(
        name="gred-oscillates",
        text="The queue oscillates heavily with GRED, in spite of different round trips.",
        where="Section IV, Fig. 9 left",
        judge=gred_swings,
        needs=["simulation"],
        shown=["fig9", "metrics"],
        sensitive=True,
    ),
    Claim(
        name="gred-synchronises",
        text="GRED synchronises TCP flows.",
        where="Section IV",
        judge=gred_synchronises,
        needs=["simulation"],
        shown=["fig9"],
    ),
    Claim(
        name="gred-multiple-drops",
        text="GRED makes more multiple drops than tail drop.",
        where="Section IV, Fig. 9 right",
        judge=gred_multiple,
        needs=["simulation"],
        shown=["fig9", "runs"],
        sensitive=True,
    ),
    Claim(
        name="gred-fewer-runs",
        text="GRED loses fewer packets in a row than RED.",
        where="Section I",
        judge=gred_fewer_runs,
        needs=["simulation"],
        shown=["fig9", "runs"],
        sensitive=True,
    ),
    Claim(
        name="gred-gains-nothing",
        text="GRED is no better end to end than tail drop and RED.",
        where="Section IV",
        judge=gred_gains_nothing,
        needs=["mixed"],
        shown=["fig8"],
    ),
    Claim(
        name="gred-no-better",
        text="GRED is no improvement on RED, which is better in all metrics.",
        where="Section VI",
        judge=gred_no_better,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
)

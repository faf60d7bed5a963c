"""Claims on gentle RED: sections I, IV (Figs. 8 and 9) and VI."""

from dataclasses import replace

from aqmlab_papers import Check, Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DEVIATION, GOODPUT
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import FLOWS, LOAD, LOADS, in_model


@claim(
    "the UDP loss probability with GRED is significantly lower than with RED (about 10% lower)",
    "Section IV, Fig. 8",
    "fig8",
)
@tolerance(5, "% of it", '"about 10 %" is read as 5 to 15 %')
def gred_spares_udp(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP loses about 10 % less with GRED than with RED."""
    checks = [
        Effect(f"{name}: UDP loss, GRED (testbed) over RED").of((one / other - 1) * 100, unit="%", least=-15, most=-5)
        for name, at in m.MIXED.items()
        for one, other in [[mixed.per_seed(**m.UDP_LOSS, label=label, at=at) for label in (m.APPROXIMATED, m.RED)]]
    ]
    return Judgement(
        checks,
        "Both drop UDP with the same probability as TCP, and TCP must lose the more, the shorter the round trips are. "
        "The testbed's GRED keeps no longer queue than RED: mean delays are "
        f"{m.mean_of(mixed, m.DELAY, (m.RED, m.APPROXIMATED))}.",
        m.versus(mixed, m.MIXED, m.UDP_LOSS, m.GENTLE, [m.RED], "lower", m.SIGNIFICANT),
    )


@claim("the TCP performance is better with RED than with GRED (about 3% higher with RED)", "Section IV, Fig. 8", "fig8")
@tolerance(1, "% of it", '"about 3 %" is read as 2 to 4 %')
def gred_costs_tcp(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """TCP's goodput is about 3 % higher with RED than with GRED."""
    quantity = m.tcp_goodput(mixed)
    checks = [
        Effect(f"{name}: TCP goodput, RED over GRED (testbed)").of((one / other - 1) * 100, unit="%", least=2, most=4)
        for name, at in m.MIXED.items()
        for one, other in [[mixed.per_seed(**quantity, label=label, at=at) for label in (m.RED, m.APPROXIMATED)]]
    ]
    return Judgement(
        checks,
        f"The link is full with both ({m.mean_of(mixed, m.BUSY, (m.RED, m.APPROXIMATED))}), so that they differ only "
        f"in what is sent in vain: {m.mean_of(mixed, m.in_vain(), (m.RED, m.APPROXIMATED))}. Beside: whether RED has "
        "more at all.",
        m.versus(mixed, m.MIXED, quantity, m.RED, [m.APPROXIMATED], "higher", GOODPUT),
    )


@claim(
    "We observe heavy oscillation of the actual queue size with GRED", "Section IV, Fig. 9 left", "fig9 metrics short"
)
@tolerance(m.HEAVY)
def gred_oscillates(simulation: Runs, short: Runs, *, tolerance: Tolerance) -> Judgement:
    """The queue oscillates heavily with GRED, in spite of different round trips."""
    against_td, against_red = (
        [
            check
            for label in m.GREDS
            for check in m.versus(simulation, {"Exp7": m.GREEDY["Exp7"]}, m.SWING, label, [other], "higher", tolerance)
        ]
        for other in (m.TD, m.RED)
    )
    swings = m.mean_of(simulation, m.SWING, (m.TD, m.RED, *m.GREDS, m.HERO), m.GREEDY["Exp7"])
    late = short.per_seed(**m.SWING, label=m.SLOPE_ALONE)
    return Judgement(
        against_td,
        f"Standard deviations are {swings}. A control whose signal is late overshoots, and GRED's average is (see "
        f"average-lags): GRED-I with such an average has {late:.3g} packets. Compared is tail drop, whose queue the "
        "paper calls steady; RED is beside, and with thresholds of 5 and 15 true gentle RED is not twice tail drop.",
        against_red,
    )


@claim('the "gentle" RED function leads obviously to a synchronization of the TCP flows', "Section IV", "fig9 metrics")
@tolerance(m.HALF)
def gred_synchronises(simulation: Runs) -> Judgement:
    """GRED synchronises TCP flows."""
    at = m.GREEDY["Exp7"]
    checks = [
        Effect(f"{m.HIT['name']}, {label}").of(simulation.per_seed(**m.HIT, label=label, at=at), least=m.HALF.value)
        for label in m.GREDS
    ]
    return Judgement(
        checks,
        f"A loss event of 0.3 s hits {m.mean_of(simulation, m.HIT, (*m.GREDS, m.RED), at)} of the flows. The queue "
        "swings with the sum of their windows, though most flows lose at different times.",
        m.versus(simulation, {"Exp7": at}, m.HIT, m.APPROXIMATED, [m.TD, m.RED], "higher", DEVIATION),
    )


@claim("GRED increases the probability to encounter multiple drops", "Section IV, Fig. 9 right", "fig9 runs")
@tolerance(m.MORE_OFTEN)
def gred_multiple_drops(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED makes more multiple drops than tail drop."""

    def modelled(load: float, flows: float, whose: str) -> list[Check]:
        return [
            in_model(
                f"P(> {n - 1} in a row) {whose}, {label} over tail drop",
                label,
                m.TD,
                n,
                flows,
                "higher",
                tolerance,
                load=load,
            )
            for label in m.GREDS
            for n in (m.TWO, m.SIX)
        ]

    return Judgement(
        [check for load in LOADS for check in modelled(load, 1, "of all packets")],
        "After a loss at a full buffer the next arrival is lost too unless a packet has left before, while GRED draws "
        "each drop anew and spares most of the next ones. The model's load is lost in our copy: four are tried. "
        "Beside are simulated TCP, and one flow of fifty in the model.",
        [
            check
            for label in m.GREDS
            for n in (m.TWO, m.SIX)
            for check in m.in_a_row(corners, label, [m.TD], "higher", tolerance, n=n)
        ]
        + modelled(LOAD, FLOWS, f"of a flow of {FLOWS}"),
    )


@claim(
    "This indeed can explain the oscillating behavior of the GRED queue",
    "Section IV",
    "fig9 metrics corners runs",
    sensitive=False,
)
@tolerance(DEVIATION)
def drops_explain(simulation: Runs, corners: Runs, queue: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED's multiple drops in a row explain why its queue oscillates: without them it oscillates less."""
    multiple, single = (
        {label: runs.per_seed(**m.SWING, label=label, at=at) for label in m.GREDS}
        for runs, at in ((corners, None), (simulation, m.GREEDY["Exp6"]))
    )
    answers = {label: queue.from_series(label, m.answer) for label in m.GREDS}
    return Judgement(
        [
            Effect(f"Exp6: {m.SWING['name']}, {label}, independent drops over ns-2's, never two in a row").better(
                multiple[label], single[label], "higher", tolerance
            )
            for label in m.GREDS
        ],
        "Multiple drops are those in a row, of which Fig. 9 has the distribution; with ns-2's spacing there are none, "
        "and the queue oscillates no less. What moves it is how many packets are dropped in a round trip, in a row or "
        f"not: beside, the correlation of drops with the queue's change is {m.extremes(answers.values())}.",
        [
            Effect(f"correlation of drops and the queue's change, {label}").of(answer, most=-0.71)
            for label, answer in answers.items()
        ],
    )


@claim("but is an improvement over RED performance with regard to consecutive losses", "Section I", "fig9 runs")
@tolerance(m.MORE_OFTEN)
def gred_fewer_runs(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED loses fewer packets in a row than RED."""

    def compared(n: int) -> list[Check]:
        return [check for label in m.GREDS for check in m.in_a_row(corners, label, [m.RED], "lower", tolerance, n=n)]

    return Judgement(
        compared(m.SIX),
        "Without a step in the drop function there is no time in which all is dropped, and long runs come only by "
        "chance. Most of RED's losses are single drops below max_th: beside, fewer of them than of GRED's are followed "
        "by another at all.",
        compared(m.TWO)
        + [
            in_model(f"P(> {n - 1} in a row), {label} over RED", label, m.RED, n, 1, "lower", tolerance)
            for label in m.GREDS
            for n in (m.TWO, m.SIX)
        ],
    )


@claim("does not improve the end to end performance compared to Tail Drop and RED", "Section IV", "fig8")
@tolerance(replace(GOODPUT, reason=f"{GOODPUT.reason}; of UDP's loss {m.SIGNIFICANT.value:g} %"))
def gred_gains_nothing(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED is no better end to end than tail drop and RED."""
    return Judgement(
        m.versus(mixed, m.MIXED, m.tcp_goodput(mixed), m.APPROXIMATED, [m.TD, m.RED], "not higher", tolerance)
        + m.versus(mixed, m.MIXED, m.UDP_LOSS, m.APPROXIMATED, [m.TD], "not lower", m.SIGNIFICANT),
        "The link is full with all, so that goodput differs only by what is sent in vain, of which tail drop has most. "
        "UDP's loss is compared with tail drop's alone, as the section has just found GRED better than RED.",
    )


@claim(
    "GRED is definitely not an improvement compared to RED (RED showed better results for all the metrics)",
    "Section VI",
    "fig8 fig9 metrics runs",
)
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; of goodput 0.3 %, of UDP's loss 5 %, of runs a tenth"))
def gred_no_better(mixed: Runs, simulation: Runs, corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED is no improvement on RED, which is better in all metrics."""
    whole = {"": None}
    return Judgement(
        m.versus(mixed, whole, m.tcp_goodput(mixed), m.RED, m.GREDS, "higher", GOODPUT)
        + m.versus(simulation, {"Exp7": m.GREEDY["Exp7"]}, m.SWING, m.RED, m.GREDS, "lower", tolerance)
        + m.versus(mixed, whole, m.UDP_LOSS, m.RED, m.GREDS, "lower", m.SIGNIFICANT)
        + m.in_a_row(corners, m.RED, m.GREDS, "lower", m.MORE_OFTEN),
        "RED's edge keeps the queue from swinging as far as GRED's, and RED sends less in vain. But without an edge "
        "GRED has fewer long runs of losses. The paper itself has GRED better in two of the metrics: UDP's loss, in "
        "Fig. 8, and consecutive losses, in its introduction.",
        m.versus(simulation, whole, m.tcp_goodput(simulation), m.RED, m.GREDS, "higher", GOODPUT)
        + m.versus(simulation, whole, m.UDP_LOSS, m.RED, m.GREDS, "lower", m.SIGNIFICANT),
    )

"""Claims on gentle RED: sections I, IV (Figs. 8 and 9) and VI."""

from aqmlab_papers import Check, Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import FLOWS, LOAD, LOADS, in_model

ABOUT_3 = Tolerance(2, "% of it", '"about 3 %", which the paper calls better, is 2 % at least')


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
        "The testbed's GRED reaches the drops that TCP needs with a shorter queue; with it round trips are shorter and "
        "TCP's loss is higher, and UDP, drawn from the same lot, shares it.",
        m.versus(mixed, m.MIXED, m.UDP_LOSS, m.GENTLE, [m.RED], "lower", tolerance),
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
        f"The link is full with both ({m.mean_of(mixed, m.BUSY, (m.RED, m.APPROXIMATED))}), so that only what is sent "
        f"in vain tells them apart: {m.mean_of(mixed, m.in_vain(), (m.RED, m.APPROXIMATED))}.",
        m.versus(mixed, m.MIXED, quantity, m.RED, [m.APPROXIMATED], "not lower", m.SAME),
    )


@claim("We observe heavy oscillation of the actual queue size with GRED", "Section IV, Fig. 9 left", "fig9 metrics")
@tolerance(m.TENTH)
def gred_oscillates(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """The queue oscillates heavily with GRED, in spite of different round trips."""
    at = {"Exp7": m.GREEDY["Exp7"]}
    return Judgement(
        [
            check
            for label in m.GREDS
            for check in m.versus(simulation, at, m.SWING, label, [m.TD, m.RED], "higher", tolerance)
        ],
        "An average over 500 packets lags behind the queue by a good part of a round trip, and what is controlled by a "
        "late signal overshoots; RED's edge cuts the swing off.",
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
        f"A loss event of 0.3 s hits {m.mean_of(simulation, m.HIT, (*m.GREDS, m.RED), at)} of the flows: the queue can "
        "swing with their sum, though each loses at another time.",
        m.versus(simulation, {"Exp7": at}, m.HIT, m.APPROXIMATED, [m.TD, m.RED], "higher", m.SIGNIFICANT),
    )


@claim("GRED increases the probability to encounter multiple drops", "Section IV, Fig. 9 right", "fig9 runs")
@tolerance(m.BY_LENGTH)
def gred_multiple_drops(corners: Runs) -> Judgement:
    """GRED makes more multiple drops than tail drop."""

    def modelled(load: float, flows: float, whose: str) -> list[Check]:
        return [
            in_model(
                f"P(> {n - 1} in a row) {whose}, open-loop model, load {load}: {label} over tail drop",
                label,
                m.TD,
                n,
                flows,
                load=load,
                least=bound.value,
            )
            for label in m.GREDS
            for n, bound in m.LENGTHS.items()
        ]

    return Judgement(
        [check for load in LOADS for check in modelled(load, 1, "of all packets")],
        "The load is lost in our copy. At a full buffer an arrival is lost too if it comes before a packet has left, "
        "while chance spares most of the next ones. Beside are simulated TCP, and one flow of fifty in the model.",
        [check for label in m.GREDS for check in m.of_any_length(corners, label, [m.TD], "higher")]
        + modelled(LOAD, FLOWS, f"of a flow of {FLOWS}"),
    )


@claim(
    "This indeed can explain the oscillating behavior of the GRED queue",
    "Section IV",
    "fig9 metrics corners runs",
    sensitive=False,
)
@tolerance(m.TENTH)
def drops_explain(simulation: Runs, corners: Runs, queue: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED's multiple drops explain why its queue oscillates: without them it oscillates less."""
    multiple, single = (
        {label: runs.per_seed(**m.SWING, label=label, at=at) for label in m.GREDS}
        for runs, at in ((corners, None), (simulation, m.GREEDY["Exp6"]))
    )
    return Judgement(
        [
            Effect(f"Exp6: {m.SWING['name']}, {label}, independent drops over ns-2's, never two in a row").better(
                multiple[label], single[label], "higher", tolerance
            )
            for label in m.GREDS
        ],
        "The queue falls within a round trip where more is dropped, and grows where less is. So do single drops: it is "
        "how many they are in a round trip that counts, not whether they follow each other. Beside is how the queue's "
        "change goes with the drops.",
        [
            Effect(f"correlation of drops and the queue's change, {label}").of(
                queue.from_series(label, m.answer), most=-0.71
            )
            for label in m.GREDS
        ],
    )


@claim("but is an improvement over RED performance with regard to consecutive losses", "Section I", "fig9 runs")
@tolerance(m.BY_LENGTH)
def gred_fewer_runs(corners: Runs) -> Judgement:
    """GRED loses fewer packets in a row than RED."""
    return Judgement(
        [check for label in m.GREDS for check in m.of_any_length(corners, label, [m.RED], "lower")],
        "Without a step there is no time in which all is dropped; what is left of long runs is chance. But RED, which "
        "drops what is left below max_th one by one, has fewer losses that are followed by another at all.",
        [
            in_model(
                f"P(> {n - 1} in a row), open-loop model, load {LOAD}: {label} over RED",
                label,
                m.RED,
                n,
                1,
                most=-bound.value,
            )
            for label in m.GREDS
            for n, bound in m.LENGTHS.items()
        ],
    )


@claim("does not improve the end to end performance compared to Tail Drop and RED", "Section IV", "fig8")
@tolerance(m.SAME)
def gred_gains_nothing(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED is no better end to end than tail drop and RED."""
    return Judgement(
        m.versus(mixed, m.MIXED, m.tcp_goodput(mixed), m.APPROXIMATED, [m.TD, m.RED], "not higher", tolerance)
        + m.versus(mixed, m.MIXED, m.UDP_LOSS, m.APPROXIMATED, [m.TD, m.RED], "not lower", m.SIGNIFICANT),
        "Goodput is that of a full link, minus what is sent in vain. In UDP's loss the paper's own Fig. 8 has GRED "
        "better than RED.",
    )


@claim(
    "GRED is definitely not an improvement compared to RED (RED showed better results for all the metrics)",
    "Section VI",
    "fig8 fig9 metrics runs",
)
@tolerance(10, "% of it", "a tenth; of goodput 2 %, of loss 5 %, of runs as elsewhere")
def gred_no_better(mixed: Runs, simulation: Runs, corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED is no improvement on RED, which is better in all metrics."""
    whole = {"": None}
    return Judgement(
        [
            *m.versus(mixed, whole, m.tcp_goodput(mixed), m.RED, m.GREDS, "higher", ABOUT_3),
            *m.versus(mixed, whole, m.UDP_LOSS, m.RED, m.GREDS, "lower", m.SIGNIFICANT),
            *m.versus(simulation, {"Exp7": m.GREEDY["Exp7"]}, m.SWING, m.RED, m.GREDS, "lower", tolerance),
            *m.of_any_length(corners, m.RED, m.GREDS, "lower"),
        ],
        "The paper itself has GRED better in UDP's loss, in Fig. 8, and in consecutive losses, in its introduction.",
        [
            *m.versus(simulation, whole, m.tcp_goodput(simulation), m.RED, m.GREDS, "higher", ABOUT_3),
            *m.versus(simulation, whole, m.UDP_LOSS, m.RED, m.GREDS, "lower", m.SIGNIFICANT),
        ],
    )

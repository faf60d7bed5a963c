"""Claims on goodput and loss with tail drop and RED: sections I to III-A.2, and III-C."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.impact import measures as m

TICK = Tolerance(0.05, "Mbit/s", "the distance of two ticks of Fig. 4's axis")
MANY = {name: at for name, at in m.TCP_ONLY.items() if name != "Exp5"}
FEW = {"Exp5": m.TCP_ONLY["Exp5"]}


@claim(
    "the 2% drop probability was not enough to force multiple TCP sources to sufficiently reduce", "Section I", "flows"
)
@tolerance(m.TENTH)
def two_percent(flows: Runs, *, tolerance: Tolerance) -> Judgement:
    """A max_p of 2 % was too little to make many TCP sources slow down."""
    edge = 1 - tolerance.value / 100
    checks, beside = (
        [
            Effect(f"mean queue over max_th, {label}, {count:g} sources").of(
                m.queue_over(flows, m.max_th(flows, label), label, at), least=least, most=most
            )
            for count in flows.points("traffic.tcp.count")
            for at in [{"traffic.tcp.count": count}]
        ]
        for label, least, most in (("max_p = 2 %", edge, math.inf), ("max_p = 10 %", -math.inf, edge))
    )
    return Judgement(
        checks,
        "The link is shared only if TCP loses more than the line gives below max_th, with ns-2's spacing two thirds of "
        "max_p: then the average is pushed against the edge. Beside: whether 10 % is enough.",
        beside,
    )


@claim(
    "a few packet discards could not regulate the traffic sources since at least one discard is needed per flow",
    "Section I",
    "flows",
)
@tolerance(0, "%", "the loss that max_p allows is an exact bound")
def thousands(flows: Runs) -> Judgement:
    """With thousands of flows a few drops regulate nothing."""
    each = {count: {"traffic.tcp.count": count} for count in flows.points("traffic.tcp.count") if count >= 1000}
    found = {count: flows.per_seed("loss_ratio", "max_p = 10 %", at) for count, at in each.items()}
    checks = [Effect(f"loss with max_p = 10 %, {count:g} sources").of(loss, least=10) for count, loss in found.items()]
    shares = ", ".join(f"{1250 * loss.mean / (100 - loss.mean) / count:.2g}" for count, loss in found.items())
    return Judgement(
        checks,
        f"What thousands of flows must lose is beyond any early drop probability: {shares} drops a flow and second.",
    )


@claim("we measured a router load larger than one during our experiments", "Section III-A.4, footnote", "levels")
@tolerance(0, "", "an exact statement")
def load_above_one(tcp: Runs, mixed: Runs) -> Judgement:
    """The router's load was above one, though TCP reacts."""
    checks = [
        Effect(f"{name}: offered load, {label}").of(runs.per_seed(**m.load(runs), label=label, at=at), least=1)
        for runs, points in ((tcp, m.TCP_ONLY), (mixed, m.MIXED))
        for name, at in points.items()
        for label in (m.TD, m.RED)
    ]
    return Judgement(checks, "What is lost arrives again: with a loss p a full link has a load of 1 / (1 - p).")


@claim(
    "our simulation has been designed to reproduce the behavior of RED observed in our experimental evaluation",
    "Section II",
    "fig5 fig10",
)
@tolerance(m.SIGNIFICANT)
def simulation_like_testbed(mixed: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED behaves in simulation as it does on the testbed."""
    checks = []
    for quantity, same in ((lambda _: m.UDP_LOSS, tolerance), (m.tcp_goodput, m.SAME)):
        for name, at in m.MIXED.items():
            testbed, ours = (
                runs.per_seed(**quantity(runs), label=m.RED, at=point)
                / runs.per_seed(**quantity(runs), label=m.TD, at=point)
                for runs, point in ((mixed, at), (simulation, m.GREEDY[name]))
            )
            effect = f"{name}: {quantity(mixed)['name']} of RED over tail drop's, simulation over testbed"
            checks.append(Effect(effect).better(ours, testbed, "equal", same))
    return Judgement(
        checks,
        "In both, RED drops UDP as it drops all, and a full buffer less, since what comes singly slips in. How much "
        "less goes by the bursts of TCP.",
    )


@claim(
    "For all experiments except Exp5, Tail Drop provides a better goodput than RED",
    "Section III-A.1, Fig. 4, Exp1 to Exp4",
    "fig4",
)
@tolerance(TICK)
def tail_drop_for_many(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With 32 and more TCP sources tail drop gives more goodput than RED."""
    return Judgement(
        m.versus(tcp, MANY, m.tcp_goodput(tcp), m.TD, [m.RED], "higher", tolerance),
        f"The link is busy with either ({m.mean_of(tcp, m.BUSY, (m.TD, m.RED), MANY['Exp1'])} in Exp1), so that "
        f"goodput is what is not sent in vain: {m.mean_of(tcp, m.in_vain(), (m.TD, m.RED), MANY['Exp1'])}.",
    )


@claim(
    "RED performs better than Tail Drop when used with few TCP sources. Our experiments … support this",
    "Section III-A.1, Fig. 4, Exp5",
    "fig4",
)
@tolerance(TICK)
def red_for_few(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With 16 TCP sources RED gives more goodput than tail drop."""
    return Judgement(
        m.versus(tcp, FEW, m.tcp_goodput(tcp), m.RED, [m.TD], "higher", tolerance),
        f"Goodput is what keeps the link busy, {m.mean_of(tcp, m.BUSY, (m.TD, m.RED), FEW['Exp5'])}, and is not sent "
        f"in vain: {m.mean_of(tcp, m.in_vain(), (m.TD, m.RED), FEW['Exp5'])}.",
    )


@claim(
    'the "random drops" with RED forced individual sources to back off early and allowed a better utilization '
    "of the buffer resources",
    "Section III-A.1",
    "fig4",
)
@tolerance(0.1, "%", "a thousandth of the time")
def better_use(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With few sources RED makes better use of the buffer."""
    empty: m.Quantity = {"metric": "queue_empty", "unit": "%", "name": "time in which nothing waits"}
    return Judgement(
        m.versus(tcp, FEW, empty, m.RED, [m.TD], "lower", tolerance),
        f"RED's queue is shorter, and the nearer to empty: {m.mean_of(tcp, empty, (m.TD, m.RED), FEW['Exp5'])}. What "
        "is sent in vain is judged with the goodput.",
    )


@claim("with a sharp dropping function has a limited influence on the TCP goodput", "Section III", "presets")
@tolerance(m.SAME)
def thresholds_matter_little(presets: Runs, *, tolerance: Tolerance) -> Judgement:
    """Thresholds and max_p have little influence on TCP's goodput, as long as the function has an edge."""
    quantity, (ours, *others) = m.tcp_goodput(presets), presets.labels
    checks = [
        check
        for other in others
        for check in m.versus(presets, m.TCP_ONLY, quantity, other, [ours], "equal", tolerance)
    ]
    return Judgement(
        checks,
        "While the queue outlasts the cuts of the windows, thresholds move only what is sent in vain. With few "
        "sources a max_th of 15 packets, a tenth of the path, lets it run empty.",
    )


@claim("right axis of Fig. 5, from 29 to 38", "Section III-A.2, Fig. 5", "fig5 levels")
@tolerance(0, "%", "the printed axis, within which all bars are")
def testbed_levels(mixed: Runs) -> Judgement:
    """On the testbed UDP loses 29 to 38 %."""

    def within(quantity: m.Quantity, least: float, most: float) -> list[Check]:
        return [
            Effect(f"{name}: {quantity['name']}, {label}").of(
                mixed.per_seed(**quantity, label=label, at=at), least=least, most=most
            )
            for name, at in m.MIXED.items()
            for label in (m.TD, m.RED)
        ]

    losses = [mixed.per_seed(**m.UDP_LOSS, label=label, at=at) for label in (m.TD, m.RED) for at in m.MIXED.values()]
    return Judgement(
        [],
        f"UDP loses {m.extremes(losses)} %. The sources are fitted to the middle of the axes, as no bar has a number: "
        "how near they come says nothing of RED, and is no verdict. "
        'Beside: TCP\'s goodput on the left axis too, and the "about 8.7" of the text as that of all.',
        within(m.UDP_LOSS, 29, 38) + within(m.tcp_goodput(mixed), 7, 8.4) + within(m.GOODPUT, 8.7 * 0.97, 8.7 * 1.03),
    )


@claim(
    "the aggregate TCP performance with RED is comparable with the one realized with Tail Drop",
    "Section III-A.2, Fig. 5",
    "fig5",
)
@tolerance(m.SAME)
def tcp_as_good(mixed: Runs, simulation: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """Beside UDP, TCP's goodput with RED is comparable with that with tail drop."""
    return Judgement(
        m.versus(mixed, m.MIXED, m.tcp_goodput(mixed), m.RED, [m.TD], "equal", tolerance),
        "The link is full with both; TCP has what UDP and useless retransmissions leave of it.",
        m.versus(simulation, m.SIMULATED, m.tcp_goodput(simulation), m.RED, [m.TD], "equal", tolerance)
        if simulation
        else [],
    )


@claim(
    "the drop probability of the UDP flows is significantly higher with RED than with Tail Drop",
    "Section III-A.2, Fig. 5; III-C",
    "fig5 fig10",
)
@tolerance(m.SIGNIFICANT)
def red_drops_udp(mixed: Runs, simulation: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """UDP loses significantly more with RED than with tail drop."""
    share = {
        label: (mixed.per_seed(**m.UDP_LOSS, label=label) / mixed.per_seed(**m.LOSS, label=label))
        for label in (m.TD, m.RED)
    }
    return Judgement(
        m.versus(mixed, m.MIXED, m.UDP_LOSS, m.RED, [m.TD], "higher", tolerance),
        f"UDP loses {share[m.TD]:.2f} times what all lose with tail drop and {share[m.RED]:.2f} times with RED: a full "
        "buffer cuts off bursts of TCP and lets packets that come singly slip in, while RED drops any packet.",
        m.versus(simulation, m.SIMULATED, m.UDP_LOSS, m.RED, [m.TD], "higher", tolerance) if simulation else [],
    )


@claim("5% to 12% higher", "Section III-A.2, Fig. 5", "fig5")
@tolerance(0, "%", "the printed range")
def red_drops_udp_by(mixed: Runs) -> Judgement:
    """UDP loses 5 to 12 % more with RED than with tail drop."""
    both = {
        name: [mixed.per_seed(**m.UDP_LOSS, label=label, at=at) for label in (m.RED, m.TD)]
        for name, at in m.MIXED.items()
    }
    return Judgement(
        [
            Effect(f"{name}: UDP loss, RED over tail drop").of((red / td - 1) * 100, unit="%", least=5, most=12)
            for name, (red, td) in both.items()
        ],
        f"The printed axis spans 9 points; ours are {m.extremes(red - td for red, td in both.values())} points apart. "
        "A full buffer spares packets that come singly: UDP in bursts is in the sensitivity table.",
        [
            Effect(f"{name}: UDP loss, RED minus tail drop").of((red - td).called("", "points"), least=0, most=9)
            for name, (red, td) in both.items()
        ],
    )


@claim(
    "the loss rate suffered by UDP/IP telephony applications (whether they are rate adaptive or not) will "
    "increase significantly",
    "Section III-A.2",
    "voice",
)
@tolerance(m.SIGNIFICANT)
def telephony(voice: Runs, *, tolerance: Tolerance) -> Judgement:
    """Telephony loses more with RED than with tail drop."""
    calls: m.Quantity = {"metric": "classes.voice.loss_ratio", "unit": "%", "name": "loss of calls"}
    return Judgement(
        m.versus(voice, {"Exp6": None}, calls, m.RED, [m.TD], "higher", tolerance),
        "A call is smooth traffic as UDP is here. It does not adapt its rate: adaptive ones stay out, as there is no "
        "rate control of TCP's friends among our traffic.",
    )


@claim(
    "the aggregate loss rate suffered by TCP connections when going from Tail Drop to RED does not change much",
    "Section III-A.2",
    "levels",
)
@tolerance(m.SIGNIFICANT)
def tcp_loses_as_much(mixed: Runs, simulation: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """TCP loses about as much with RED as with tail drop."""
    return Judgement(
        m.versus(mixed, m.MIXED, m.tcp_loss(mixed), m.RED, [m.TD], "equal", tolerance),
        "At these losses TCP lives on time-outs, to which the length of the queue adds little. Greedy flows "
        "(beside) lose by the round trip, which RED's shorter queue shortens.",
        m.versus(simulation, m.SIMULATED, m.tcp_loss(simulation), m.RED, [m.TD], "equal", tolerance)
        if simulation
        else [],
    )


@claim("does not increase the goodput of the router interface", "Section III-C", "fig4 fig5 fig10")
@tolerance(m.SAME)
def red_gains_nothing(tcp: Runs, mixed: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED does not increase the goodput of the router's interface."""
    return Judgement(
        m.versus(tcp, m.TCP_ONLY, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance)
        + m.versus(mixed, m.MIXED, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance)
        + m.versus(simulation, m.SIMULATED, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance),
        "Both keep the link full, so that only what is sent in vain tells them apart.",
    )


@claim("the higher the aggregate goodput, the better the goodput of individual user", "Section II-A", "links")
@tolerance(0.71, "", "a correlation that explains half of the variance")
def single_user(links: Runs, *, tolerance: Tolerance) -> Judgement:
    """The more goodput in sum, the more for the single user, on links of any round trip."""
    trips = (10, 74, 136, 200)
    goodputs = [
        [links.per_seed(metric, label) for label in m.PAPERS]
        for metric in ("goodput", *(f"classes.rtt{trip}.goodput" for trip in trips))
    ]
    found: dict[int, m.Array] = {
        seed: np.corrcoef([[one.values[seed] or 0.0 for one in each] for each in goodputs])[0, 1:]
        for seed in links.study.seeds
    }
    return Judgement(
        [
            Effect(f"correlation of the goodput at {trip} ms with that of all").of(
                PerSeed.of({seed: float(one[place]) for seed, one in found.items()}), least=tolerance.value
            )
            for place, trip in enumerate(trips)
        ],
        f"The sums are {m.mean_of(links, m.GOODPUT, m.PAPERS)}: a full link leaves little to tell them apart, and how "
        "a discipline shares it goes by the round trip. A long queue evens the round trips out.",
    )


@claim("The standard deviation was smaller than", "Sections III-A.1 and IV, footnotes to Figs. 4 and 8", "fig4 fig8")
def small_deviations(tcp: Runs, mixed: Runs) -> Judgement:
    """The standard deviation over the repetitions was small."""

    def most(runs: Runs, quantity: m.Quantity, labels: Iterable[str], places: Mapping[str, At]) -> str:
        each = (runs.per_seed(**quantity, label=label, at=at).summary.std for label in labels for at in places.values())
        found = max((std for std in each if std is not None), default=None)
        return "unknown" if found is None else f"at most {found:.2g} {quantity['unit']}"

    bars = (m.TD, m.RED, m.APPROXIMATED)
    return Judgement(
        [],
        f"The bounds are lost in our copy. The paper has 10 runs or more of a point. Our {len(tcp.study.seeds)} of "
        f"Fig. 4 deviate by {most(tcp, m.tcp_goodput(tcp), (m.TD, m.RED), m.TCP_ONLY)}; our {len(mixed.study.seeds)} "
        f"of Fig. 8 by {most(mixed, m.tcp_goodput(mixed), bars, m.MIXED)}, and in UDP's loss by "
        f"{most(mixed, m.UDP_LOSS, bars, m.MIXED)} of its packets.",
    )

"""Claims on goodput and loss with tail drop and RED: sections I to III-A.2, and III-C."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import permutations

from aqmlab_papers import At, Check, Effect, Judgement, Outcome, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.describe.thresholds import GOODPUT
from aqmlab_papers.impact import measures as m

MANY = {name: at for name, at in m.TCP_ONLY.items() if name != "Exp5"}
FEW = {"Exp5": m.TCP_ONLY["Exp5"]}
SPACED = Tolerance(100, "% of it", "spaced as in its text of 1993, RED drops up to twice max_p below max_th")


@claim(
    "the 2% drop probability was not enough to force multiple TCP sources to sufficiently reduce", "Section I", "flows"
)
@tolerance(SPACED)
def two_percent(flows: Runs) -> Judgement:
    """A max_p of 2 % was too little to make many TCP sources slow down."""
    label = "max_p = 2 %"
    each = {count: {"traffic.tcp.count": count} for count in flows.points("traffic.tcp.count")}
    return Judgement(
        [
            Effect(f"loss with {label}, {count:g} sources").of(flows.per_seed("loss_ratio", label, at), least=4)
            for count, at in each.items()
        ],
        "Sources that share the link must lose a certain part of their packets. Where this is more than max_p, the "
        "average queue rises to max_th, and RED drops all that comes until it falls. Beside: with 10 % only the fewest "
        "sources lose no more than max_p.",
        [
            Effect(f"loss with max_p = 10 %, {count:g} sources").of(
                flows.per_seed("loss_ratio", "max_p = 10 %", at), most=10
            )
            for count, at in each.items()
        ],
    )


@claim(
    "a few packet discards could not regulate the traffic sources since at least one discard is needed per flow",
    "Section I",
    "flows",
)
@tolerance(SPACED)
def thousands(flows: Runs) -> Judgement:
    """With thousands of flows the few drops of max_p = 10 % regulate nothing."""
    each = {count: {"traffic.tcp.count": count} for count in flows.points("traffic.tcp.count") if count >= 1000}
    found = {count: flows.per_seed("loss_ratio", "max_p = 10 %", at) for count, at in each.items()}
    checks = [Effect(f"loss with max_p = 10 %, {count:g} sources").of(loss, least=20) for count, loss in found.items()]
    shares = ", ".join(f"{1250 * loss.mean / (100 - loss.mean) / count:.2g}" for count, loss in found.items())
    return Judgement(
        checks,
        f"Each flow needs a drop every few seconds to slow down: here {shares} drops a flow and second. With "
        "thousands of flows these are more packets than max_p allows, and the average rises to max_th.",
    )


@claim("we measured a router load larger than one during our experiments", "Section III-A.4, footnote", "levels")
@tolerance(0, "", "an exact statement")
def load_above_one(tcp: Runs, mixed: Runs) -> Judgement:
    """The router's load was above one, though TCP reacts."""

    def loads(runs: Runs, points: Mapping[str, At]) -> list[Check]:
        return [
            Effect(f"{name}: offered load, {label}").of(runs.per_seed(**m.load(runs), label=label, at=at), least=1)
            for name, at in points.items()
            for label in (m.TD, m.RED)
        ]

    return Judgement(
        loads(mixed, {"Exp6": m.MIXED["Exp6"]}),
        "The section measures Exp6. What is lost arrives again: a full link that loses a part p has a load of "
        "1 / (1 - p). Beside: the other experiments.",
        loads(mixed, {name: m.MIXED[name] for name in ("Exp7", "Exp8")}) + loads(tcp, m.TCP_ONLY),
    )


@claim(
    "our simulation has been designed to reproduce the behavior of RED observed in our experimental evaluation",
    "Section II",
    "fig5 fig10",
)
@tolerance(replace(m.SIGNIFICANT, reason=f"{m.SIGNIFICANT.reason}; of TCP's goodput {m.SAME.value:g} %"))
def simulation_like_testbed(mixed: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED leaves TCP's goodput about as it is and raises UDP's loss, in simulation as on the testbed."""
    observed = [
        check
        for runs, points in ((mixed, m.MIXED), (simulation, m.SIMULATED))
        for check in (
            *m.versus(runs, points, m.tcp_goodput(runs), m.RED, [m.TD], "equal", m.SAME),
            *m.versus(runs, points, m.UDP_LOSS, m.RED, [m.TD], "higher", tolerance),
        )
    ]
    levels = []
    for quantity, same in ((lambda _: m.UDP_LOSS, tolerance), (m.tcp_goodput, m.SAME)):
        for name, at in m.MIXED.items():
            testbed, ours = (
                runs.per_seed(**quantity(runs), label=m.RED, at=point)
                / runs.per_seed(**quantity(runs), label=m.TD, at=point)
                for runs, point in ((mixed, at), (simulation, m.GREEDY[name]))
            )
            effect = f"{name}: {quantity(mixed)['name']} of RED over tail drop's, simulation over testbed"
            levels.append(Effect(effect).better(ours, testbed, "equal", same))
    return Judgement(
        observed,
        "In both, RED keeps the link full and drops UDP like all other packets, while a full buffer drops fewer of the "
        "packets that come one at a time. How many fewer depends on the bursts of TCP, which differ: by how much UDP's "
        "loss grows, beside, is not the same, and Section V says itself that the numbers of the two differ.",
        levels,
    )


@claim(
    "For all experiments except Exp5, Tail Drop provides a better goodput than RED",
    "Section III-A.1, Fig. 4, Exp1 to Exp4",
    "fig4",
)
@tolerance(GOODPUT)
def tail_drop_for_many(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With 32 and more TCP sources tail drop gives more goodput than RED."""
    return Judgement(
        m.versus(tcp, MANY, m.tcp_goodput(tcp), m.TD, [m.RED], "higher", tolerance),
        "With both the link is always busy, so that goodput is what it does not send in vain, such as repetitions of "
        f"data that had arrived. In Exp1 it is busy for {m.mean_of(tcp, m.BUSY, (m.TD, m.RED), MANY['Exp1'])} of the "
        f"time, and sends {m.mean_of(tcp, m.in_vain(), (m.TD, m.RED), MANY['Exp1'])} in vain.",
    )


@claim(
    "RED performs better than Tail Drop when used with few TCP sources. Our experiments … support this",
    "Section III-A.1, Fig. 4, Exp5",
    "fig4",
)
@tolerance(GOODPUT)
def red_for_few(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With 16 TCP sources RED gives more goodput than tail drop."""
    return Judgement(
        m.versus(tcp, FEW, m.tcp_goodput(tcp), m.RED, [m.TD], "higher", tolerance),
        "RED's shorter queue runs empty more often when few flows halve their windows: the link is busy for "
        f"{m.mean_of(tcp, m.BUSY, (m.TD, m.RED), FEW['Exp5'])} of the time. Of what it sends, "
        f"{m.mean_of(tcp, m.in_vain(), (m.TD, m.RED), FEW['Exp5'])} are in vain.",
    )


@claim(
    'the "random drops" with RED forced individual sources to back off early and allowed a better utilization '
    "of the buffer resources",
    "Section III-A.1",
    "fig4",
)
@tolerance(0.1, "%", "a thousandth of the time, as percent of a share near 0 mean nothing")
def better_use(tcp: Runs, *, tolerance: Tolerance) -> Judgement:
    """With few sources RED makes better use of the buffer."""
    empty: m.Quantity = {"metric": "queue_empty", "unit": "%", "name": "time in which nothing waits"}
    return Judgement(
        m.versus(tcp, FEW, empty, m.RED, [m.TD], "lower", tolerance),
        "A buffer is used well if something always waits in it. RED keeps the queue shorter, so that it runs empty "
        f"more often: {m.mean_of(tcp, empty, (m.TD, m.RED), FEW['Exp5'])} of the time.",
    )


@claim(
    "varying [min_th, max_th, or max_p] with a sharp dropping function has a limited influence on the TCP goodput",
    "Section III",
    "presets",
)
@tolerance(10, RELATIVE, 'a tenth: "limited" is more than the 3 % that the paper calls little (Section IV)')
def thresholds_matter_little(presets: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a sharp drop function, varying its thresholds or max_p has a limited influence on TCP's goodput."""
    varied = (("5, 15", "30, 90"), ("20, 40", "30, 90"), ("30, 90, 2 %", "30, 90"), ("5, 15, 2 %", "5, 15"))
    return Judgement(
        [
            check
            for one, other in varied
            for check in m.versus(presets, m.TCP_ONLY, m.tcp_goodput(presets), one, [other], "equal", tolerance)
        ],
        "With many sources something is left in the queue when one of them halves its window, so that the link stays "
        "busy whatever the thresholds are. With 16 sources and a max_th of 15 packets the queue is much shorter than "
        "what is on the way, and runs empty.",
    )


@claim("right axis of Fig. 5, from 29 to 38", "Section III-A.2, Fig. 5", "fig5 levels")
@tolerance(0, "", "the printed axis, within which all bars are")
def testbed_levels(mixed: Runs) -> Judgement:
    """On the testbed UDP loses 29 to 38 %: in no bar more than 1.31 times what it loses in another."""

    def within(quantity: m.Quantity, least: float, most: float) -> list[Check]:
        return [
            Effect(f"{name}: {quantity['name']}, {label}").of(
                mixed.per_seed(**quantity, label=label, at=at), least=least, most=most
            )
            for name, at in m.MIXED.items()
            for label in (m.TD, m.RED)
        ]

    losses = [mixed.per_seed(**m.UDP_LOSS, label=label, at=at) for label in (m.TD, m.RED) for at in m.MIXED.values()]
    ratio = PerSeed.most(losses) / PerSeed.least(losses)
    return Judgement(
        [Effect("UDP loss, the largest of six bars over the smallest").of(ratio.called("", ""), most=38 / 29)],
        f"UDP loses {m.extremes(losses)} %. The sources are fitted to the middle of the axis, so that single levels "
        "are no test and stand beside. How far the bars are apart is one, as no setting of the calibration has them "
        "so close: RED makes UDP lose more than tail drop, and 400 sources more than 200.",
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
        "The link is full with both; TCP has what UDP and needless retransmissions leave of it.",
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
        "A full buffer cuts off bursts of TCP, and packets of UDP, which come one at a time, slip in; RED drops any "
        f"packet with the same probability. UDP's loss is {share[m.TD]:.2f} of that of all packets with tail drop, and "
        f"{share[m.RED]:.2f} with RED.",
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
        "A full buffer spares packets that come one at a time, as UDP's do here, by more than the paper found. How UDP "
        "is sent, which is not stated, decides: in bursts of 8, which meet the printed levels better, it gains much "
        "less, and the claim is undecided (see the sensitivity table). The 5 to 12 % are read as parts of tail drop's "
        "loss; beside are percentage points, of which the printed axis has 9 in all.",
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
    """Telephony, whether it adapts its rate or not, loses more with RED than with tail drop."""
    parts = [
        check
        for name in ("voice", "adaptive")
        for check in m.versus(voice, {"Exp6": None}, m.loss_of(name), m.RED, [m.TD], "higher", tolerance)
    ]
    return Judgement(
        parts,
        "A call sends its packets one at a time, and a full buffer spares such packets. The calls that adapt send as "
        "fast as TFRC (RFC 5348) allows, up to the rate of the others.",
    )


@claim("Even TCP-friendly traffic sources will suffer more losses compared to TCP sources", "Section III-A.2", "voice")
@tolerance(m.SIGNIFICANT)
def friendly_loses_more(voice: Runs, *, tolerance: Tolerance) -> Judgement:
    """From tail drop to RED the loss of TCP-friendly sources grows by more than TCP's."""
    friendly, tcp = (
        {label: voice.per_seed(one["metric"], label, unit=one["unit"]) for label in (m.RED, m.TD)}
        for one in (m.loss_of("friendly"), m.tcp_loss(voice))
    )
    level = Effect("RED, Exp6: loss of TCP-friendly sources, above TCP's")
    grows = Effect("Exp6: how much more TCP-friendly sources lose with RED than with tail drop, above TCP's")
    return Judgement(
        [grows.better(friendly[m.RED] / friendly[m.TD], tcp[m.RED] / tcp[m.TD], "higher", tolerance)],
        "The sentence ends a paragraph on the change from tail drop to RED, and is read of that change, our choice; "
        f"Section III-B agrees. Tail drop spares packets that come singly: with it TFRC loses {friendly[m.TD]} and TCP "
        f"{tcp[m.TD]}. RED drops both alike, and with it (beside) they lose {friendly[m.RED]} and {tcp[m.RED]}.",
        [level.better(friendly[m.RED], tcp[m.RED], "higher", tolerance)],
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
        "RED's shorter queue makes round trips shorter, so that TCP must lose more to take no more than the link has: "
        f"mean delays are {m.mean_of(mixed, m.DELAY, (m.RED, m.TD))}. Beside: greedy flows.",
        m.versus(simulation, m.SIMULATED, m.tcp_loss(simulation), m.RED, [m.TD], "equal", tolerance)
        if simulation
        else [],
    )


@claim("does not increase the goodput of the router interface", "Section III-C", "fig4 fig5 fig10")
@tolerance(GOODPUT)
def red_gains_nothing(tcp: Runs, mixed: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED does not increase the goodput of the router's interface."""
    return Judgement(
        m.versus(tcp, MANY, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance)
        + m.versus(mixed, m.MIXED, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance),
        "Both keep the link full, so that they differ only in what is sent in vain, of which RED mostly has less: in "
        "all but Exp6 its goodput is higher, if by a few percent at most. In Exp6 alone UDP loses more than TCP gains. "
        "Exp5, which the paper excepts, is a claim of its own; greedy flows, which the section does not have, stand "
        "beside.",
        m.versus(simulation, m.SIMULATED, m.GOODPUT, m.RED, [m.TD], "not higher", tolerance),
    )


@claim("the higher the aggregate goodput, the better the goodput of individual user", "Section II-A", "links")
@tolerance(GOODPUT)
def single_user(links: Runs, *, tolerance: Tolerance) -> Judgement:
    """The more goodput in sum, the more for the single user, on links of any round trip."""
    more = [
        (one, other)
        for one, other in permutations(m.PAPERS, 2)
        for (check,) in [m.versus(links, {"": None}, m.GOODPUT, one, [other], "higher", tolerance)]
        if check.outcome == Outcome.HOLDS
    ]
    trips: list[m.Quantity] = [
        {"metric": f"classes.rtt{trip}.goodput", "unit": "Mbit/s", "name": f"goodput at {trip} ms"}
        for trip in (10, 74, 136, 200)
    ]
    return Judgement(
        [
            check
            for one, other in more
            for trip in trips
            for check in m.versus(links, {"": None}, trip, one, [other], "higher", tolerance)
        ],
        "A shorter queue helps the flows with short round trips, and they take more from those with long ones than the "
        f"goodput in sum grows. In sum are {m.mean_of(links, m.GOODPUT, m.PAPERS)}, at 200 ms "
        f"{m.mean_of(links, trips[-1], m.PAPERS)}. Compared are the disciplines of which one has more in sum.",
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

"""Claims on losses in a row with tail drop and RED: the abstract, sections II-A and III-A.4 (Fig. 6, right)."""

import math

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.describe.thresholds import LOSS
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import FLOWS, LOAD, bias, in_model

ORDER = Tolerance(
    0.7, "orders of magnitude", "ten times less a factor of two; more shows the same, of which the number is an example"
)
BIAS = Tolerance(10, RELATIVE, "a bias of less than a tenth is none")
AT_ALL = Tolerance(0, "packets", "an exact statement")
BURSTY: m.Quantity = {"metric": "classes.bursty.loss_ratio", "unit": "%", "name": "loss of bursty UDP"}


@claim("the Tail Drop bias against bursty traffic", "Section II-A", "bursts")
@tolerance(BIAS)
def tail_drop_against_bursts(bursts: Runs, *, tolerance: Tolerance) -> Judgement:
    """Tail drop is biased against bursts."""
    bursty, smooth = (bursts.per_seed(**one, label=m.TD) for one in (BURSTY, m.UDP_LOSS))
    return Judgement(
        [Effect("loss with tail drop, bursty over smooth UDP").better(bursty, smooth, "higher", tolerance)],
        "Ten packets that come at once find room for a few; a single one needs room for itself alone. The model's "
        "batches lose more for the same reason.",
        [
            Effect(f"the same in the open-loop model, load {LOAD}: one over the other").exact(
                bias(m.TD, 10, 0.05), least=1 + BIAS.value / 100
            )
        ],
    )


@claim(
    "the probability of loosing more than 5 packets in a row is one order of magnitude higher with RED",
    "Section III-A.4, Fig. 6 right",
    "fig6 split",
)
@tolerance(ORDER)
def red_runs(split: Runs, *, tolerance: Tolerance) -> Judgement:
    """A UDP flow loses more than 5 packets in a row some ten times as often with RED as with tail drop, or more."""
    points = split.points("traffic.udp.count")
    red, td = (
        split.per_seed(**m.UDP_LOSS, label=label, at={"traffic.udp.count": points[-1]}) for label in (m.RED, m.TD)
    )
    checks = [
        check
        for flows in points
        for at in [{"traffic.udp.count": flows}]
        for check in m.in_a_row(
            split, m.RED, [m.TD], "higher", tolerance, at=at, place=f"UDP flows: {flows:g}", owner="udp"
        )
    ]
    return Judgement(
        checks,
        "The paper does not state into how many flows its UDP is split, so that five numbers are tried; a factor of "
        "five or more counts as its ten. A flow of 1 Mbit/s has a packet every 8 ms, of which many fall into a time in "
        "which RED drops all; of one of ten flows, as in our Exp6, hardly two do, and there the factor is "
        f"{10 ** checks[points.index(10)].value:.1f}. With {points[-1]:g} flows losses come as if independent, and RED "
        "has more in a row mostly because UDP loses more (beside).",
        [
            Effect(f"UDP flows: {points[-1]:g}: the same if losses are independent").exact(
                5 * math.log10(red.mean / td.mean), unit=tolerance.unit, least=tolerance.value
            ),
            *(
                in_model(f"the same of one of {flows} flows", m.RED, m.TD, m.SIX, flows, "higher", tolerance)
                for flows in (10, FLOWS, 100)
            ),
        ],
    )


@claim(
    "While we measured more than 15 consecutive losses in one individual flow with RED, we never observed more "
    "than 7 consecutive drops with Tail Drop",
    "Section III-A.4",
    "fig6 split",
)
@tolerance(AT_ALL)
def longest_runs(split: Runs) -> Judgement:
    """More than 15 losses in a row occur with RED, never more than 7 with tail drop."""
    minutes = len(split.study.seeds) * (split.duration - 60) / 60
    chance = split.per_seed("classes.udp.loss_ratio", m.TD)
    return Judgement(
        [
            Effect(f"UDP flows: {flows:g}; longest run, {label}").exact(
                max(m.longest(split, label, {"traffic.udp.count": flows}).known), unit="packets", **bound
            )
            for flows in split.points("traffic.udp.count")
            for label, bound in ((m.RED, {"least": 16.0}), (m.TD, {"most": 7.0}))
        ],
        "The fewer, and so the faster, its flows are, the longer are the runs; the paper does not state how many it "
        "has. Only RED's half holds, and only for the fewest flows, which then lose more than 7 in a row with tail "
        f"drop too: UDP loses {chance} there, so that eight in a row also come by chance, and the sooner the longer "
        f"one looks, here for {minutes:.0f} minutes at each number of flows, in the paper for 100 or more.",
    )


@claim(
    "every flow (TCP and UDP) will encounter a similar distribution of the consecutive losses",
    "Section III-A.4",
    "fig6",
)
@tolerance(m.CLOSE)
def flows_alike(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """TCP and UDP flows lose in runs of the same lengths."""
    at = m.MIXED["Exp6"]
    checks = []
    for label in (m.TD, m.RED):
        udp = mixed.per_seed("classes.udp.loss_run_mean", label, at)
        for entry in ("ftp", "gif", "text"):
            tcp = mixed.per_seed(f"classes.{entry}.loss_run_mean", label, at)
            checks.append(Effect(f"{label}: mean run of losses, {entry} over UDP").better(tcp, udp, "equal", tolerance))
    return Judgement(
        checks,
        "TCP often sends several packets at once, which meet the same full buffer, or the same average above max_th, "
        "and are lost together; UDP sends them one at a time. Distributions are compared by their means.",
    )


@claim(
    "we find higher probabilities of consecutive losses when we examine the loss process of all aggregate flows",
    "Section III-A.4",
    "runs",
)
@tolerance(m.MORE_OFTEN)
def longer_of_all(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """More than 5 packets in a row are lost more often of all packets than of a flow's."""
    at = m.MIXED["Exp6"]

    def compared(n: int) -> list[Check]:
        return [
            m.more_often(
                f"P(> {n - 1} in a row), {label}: of all packets over that of a UDP flow",
                m.orders(m.by_length(mixed, label, at, "bottleneck"), m.by_length(mixed, label, at), n),
                "higher",
                tolerance,
            )
            for label in mixed.labels
        ]

    return Judgement(
        compared(m.SIX),
        "Packets that arrive one after the other meet the same full buffer, or the same average above RED's edge, and "
        "are lost together; a flow's next packet comes later. With both GREDs it is the reverse: they have no edge, "
        "and space drops from each other among all packets, but not among those of a flow; the spacing is our choice. "
        "Beside: more than one in a row, and the model of Figs. 9 and 11, which draws each drop by itself.",
        compared(m.TWO)
        + [
            in_model(
                f"P(> {n - 1} in a row), {label}: of all packets over that of a flow",
                label,
                label,
                n,
                1,
                "higher",
                tolerance,
                other_flows=FLOWS,
            )
            for label in (m.TD, m.APPROXIMATED, m.HERO)
            for n in (m.TWO, m.SIX)
        ],
    )


@claim("a RED gateway drops more packets than a Tail Drop gateway", "Section III-A.4", "levels metrics short")
@tolerance(LOSS)
def red_drops_more(mixed: Runs, simulation: Runs, short: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED drops more packets than tail drop, due to its averaging."""
    return Judgement(
        m.versus(mixed, m.MIXED, m.LOSS, m.RED, [m.TD], "higher", tolerance)
        + m.versus(simulation, m.SIMULATED, m.LOSS, m.RED, [m.TD], "higher", tolerance)
        + m.versus(short, {"its averaging, Exp7": None}, m.LOSS, m.RED, [m.AVERAGE_GONE], "higher", tolerance),
        "A queue drops what TCP must lose to share the link, which is more if the queue, and so the round trip, is "
        "shorter. That RED's is shorter makes most of the difference: tail drop with a buffer of max_th, beside, loses "
        "nearly as much as RED, and the averaging, the cause that the sentence names, adds little. With the other "
        "least time-out RED loses no more in Exp7 and Exp8 of the testbed (see the sensitivity table).",
        m.versus(short, {"a shorter buffer, Exp7": None}, m.LOSS, m.SHORT, [m.RED], "equal", m.SIGNIFICANT),
    )


@claim(
    "the average function in coexistence with the sharp dropping function will always perform badly in terms of "
    "the number of consecutive losses",
    "Section III-A.4; abstract",
    "corners runs",
)
@tolerance(m.MORE_OFTEN)
def averaging_lengthens(corners: Runs, mixed: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """Averaging together with an edge always makes many consecutive losses."""
    others = [m.AVERAGE_GONE, m.SLOPE_ALONE, m.TD, m.HERO]
    always = [
        check
        for runs, points, whose, owner in (
            (mixed, m.MIXED, "testbed", "udp"),
            (mixed, m.MIXED, "testbed", "bottleneck"),
            (simulation, m.GREEDY, "simulation", "bottleneck"),
        )
        for name, at in points.items()
        for check in m.in_a_row(runs, m.RED, [m.TD], "higher", tolerance, at=at, place=f"{name}, {whose}", owner=owner)
    ]
    return Judgement(
        m.in_a_row(corners, m.RED, others, "higher", tolerance) + always,
        "When its average is above max_th, RED drops all that comes until the average has fallen; without an average, "
        "only until one packet has left. The parts that fail are of all packets on the testbed, and rest on two "
        "choices of ours: with independent drops, or thresholds of 5 and 15, they hold (see the sensitivity table). "
        "Beside is more than one in a row, which RED has less often than any other.",
        m.in_a_row(corners, m.RED, others, "higher", tolerance, n=m.TWO),
    )


@claim(
    "queue size averaging and the slope of the dropping function as the two major parameters influencing "
    "consecutive drops",
    "Abstract",
    "corners runs",
)
@tolerance(m.TWICE)
def two_influences(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """Averaging and the slope are the two major influences on consecutive drops."""
    influences = {
        "the average": ((m.RED, m.AVERAGE_GONE), (m.SLOPE_ALONE, m.HERO)),
        "the edge in place of a slope": ((m.RED, m.SLOPE_ALONE), (m.AVERAGE_GONE, m.HERO)),
    }
    counts = {label: m.by_length(corners, label, owner="bottleneck") for label in corners.labels}
    return Judgement(
        [
            m.more_often(
                f"P(> 5 in a row) of all packets, what {influence} adds on average",
                PerSeed.average(m.orders(counts[one], counts[other], m.SIX) for one, other in pairs),
                "higher",
                tolerance,
            )
            for influence, pairs in influences.items()
        ],
        "Above its edge RED drops all until the average has fallen; with a slope the average adds little. Each "
        "influence is averaged over both settings of the other, which are beside. The spacing of drops, which the "
        "paper does not mention, matters too (see the table of runs).",
        [
            check
            for pairs in influences.values()
            for one, other in pairs
            for check in m.in_a_row(corners, one, [other], "higher", tolerance)
        ],
    )

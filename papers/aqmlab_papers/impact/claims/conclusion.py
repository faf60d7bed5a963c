"""Claims of the introduction and the conclusion on complexity, fairness and isolation; then ours."""

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import DELAY, DEVIATION
from aqmlab_papers.impact import measures as m
from aqmlab_papers.run.complexity import complexity

FAIR_QUEUES = "Fair queues"
JAIN: m.Quantity = {"metric": "jain", "unit": "", "name": "Jain's index of all flows"}
MISBEHAVED: m.Quantity = {"metric": "classes.udp.goodput", "unit": "Mbit/s", "name": "goodput of the flow of 5 Mbit/s"}
SHARE = 9.6 / 51
"""The fair share of the flow that does not slow down (Mbit/s of payload)."""


@claim("should be easier to implement than the schemes relying on the average queue size", "Section VI; I")
@tolerance(5, "% of it", "a twentieth of the instructions; of how easy a discipline is they are what has a number")
def easier(*, tolerance: Tolerance) -> Judgement:
    """GRED-I is easier to implement than what relies on the average: it takes fewer instructions a packet."""
    costs = complexity()
    hero, rivals = costs["gredi"], {m.RED: costs["red"], m.GENTLE: costs["gred"]}
    parts = [
        Effect(f"instructions a packet of GRED-I over those of {name}, {flows} flows").exact(
            count / other.instructions[flows], most=1 - tolerance.value / 100
        )
        for name, other in rivals.items()
        for flows, count in hero.instructions.items()
    ]
    beside = [
        Effect(f"bytes of state of GRED-I over those of {name}").exact(
            hero.bytes / other.bytes, most=1 - tolerance.value / 100
        )
        for name, other in rivals.items()
    ]
    return Judgement(
        parts,
        "Without an average GRED-I has nothing to update at each packet, nor to age after idle time. Counted are the "
        "instructions beyond those of tail drop; the state, beside, is the same, as RED, GRED and GRED-I are one "
        "discipline here.",
        beside,
    )


@claim(
    "We do not believe that any AQM scheme can efficiently match the requirements of a fair network",
    "Section VI",
    "links",
)
@tolerance(0.05, "", "a twentieth of Jain's index, which is a share")
def no_fairness(links: Runs, *, tolerance: Tolerance) -> Judgement:
    """No discipline of one queue makes a fair network."""
    fair = links.per_seed(**JAIN, label=FAIR_QUEUES)
    checks = [
        Effect(f"Jain's index, {label} minus fair queues").better(
            links.per_seed(**JAIN, label=label), fair, "lower", tolerance
        )
        for label in m.PAPERS
    ]
    return Judgement(
        checks,
        "TCP gives more to flows with short round trips, and a discipline that drops without regard to flows leaves it "
        f"at that. Jain's index is {m.mean_of(links, JAIN, (*m.PAPERS, FAIR_QUEUES))}.",
    )


@claim("AQM also does not provide flow isolation and protection from misbehaving flows", "Section VI", "isolation")
@tolerance(2, "fair shares", "twice its fair share, which would be isolation of a kind")
def no_isolation(isolation: Runs, *, tolerance: Tolerance) -> Judgement:
    """No discipline of one queue isolates flows from one that misbehaves."""

    def shares(label: str) -> Check:
        got = (isolation.per_seed(**MISBEHAVED, label=label) / SHARE).called("", "fair shares")
        return Effect(f"{MISBEHAVED['name']}, {label}").of(got, least=tolerance.value)

    return Judgement(
        [shares(label) for label in m.PAPERS],
        "All flows lose about the same part of their packets, and the one that does not slow down keeps its rate. "
        "Beside are disciplines that tell flows apart.",
        [shares(label) for label in isolation.labels if label not in m.PAPERS],
    )


@ours("Beyond Section III-A.4", "split")
@tolerance(m.TWICE)
def runs_by_rate(split: Runs, *, tolerance: Tolerance) -> Judgement:
    """With RED, how long runs of losses are depends on how fast a flow is."""
    numbers = split.points("traffic.udp.count")

    def compared(label: str) -> Check:
        fast, slow = (m.by_length(split, label, {"traffic.udp.count": number}) for number in (numbers[0], numbers[-1]))
        effect = f"P(> 5 in a row), {label}: one of {numbers[0]:g} flows over one of {numbers[-1]:g}"
        return m.more_often(effect, m.orders(fast, slow, m.SIX), "higher", tolerance)

    return Judgement(
        [compared(m.RED)],
        "A flow of 1 Mbit/s has a packet every 8 ms, of which several fall into a time in which RED drops everything; "
        "a full buffer has no such times. Beside: tail drop.",
        [compared(m.TD)],
    )


@ours("Beyond Section V, which leaves it to later work", "line")
@tolerance(DELAY)
def line_moves_delay(line: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I's line moves its delay, and neither TCP's goodput nor UDP's loss."""
    places = [
        {"aqm.min_th": low, "aqm.max_th": high}
        for low in line.points("aqm.min_th")
        for high in line.points("aqm.max_th")
    ]

    def span(quantity: m.Quantity) -> tuple[PerSeed, PerSeed]:
        found = [line.per_seed(**quantity, label=m.HERO, at=at) for at in places]
        return PerSeed.most(found), PerSeed.least(found)

    checks = [
        Effect(f"{one['name']}, largest over smallest").better(*span(one), "not higher", bound)
        for one, bound in ((m.tcp_goodput(line), m.SAME), (m.UDP_LOSS, m.SIGNIFICANT))
    ]
    delays = Effect(f"{m.DELAY['name']}, largest over smallest").better(*span(m.DELAY), "higher", tolerance)
    swings = Effect(f"{m.SWING['name']}, largest over smallest").better(*span(m.SWING), "higher", DEVIATION)
    return Judgement(
        [delays, *checks],
        "The queue stays where the line drops as much as TCP needs, which itself depends on the round trip and so on "
        "the queue. Beside: the line also moves the swing.",
        [swings],
    )

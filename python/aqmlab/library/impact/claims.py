"""Judges of the study's claims on tail drop and RED: goodput, loss, queue.

`claims_losses` has those on loss runs and averaging, `claims_gentle` those on gentle RED and GRED-I.
"""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    BUFFER,
    EVENT,
    GREEDY,
    MIXED,
    POINTS,
    RED,
    TCP_ONLY,
    TD,
    Each,
    delay,
    dropped_at,
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
    tcp_loss,
    udp_loss,
)
from aqmlab.papers import At, Check, Evidence, Judgement, Runs

# The paper calls a difference of 3 % of the goodput little (Section IV): smaller differences count as equal.
SAME = 3.0
# "Close to" a threshold: within a tenth of it.
CLOSE = 0.1
# The paper calls 5 to 12 % significantly more loss (Section III-A.2).
MUCH = 5.0
# Flows are synchronised if a loss event hits most of them.
MOST = 50.0

TITLES = {"mixed": "testbed's traffic", "simulation": "greedy TCP"}


def many_sources(evidence: Evidence) -> Judgement:
    """Compare the goodput of tail drop with RED's at 32 and more sources."""
    runs = evidence["tcp"]
    points = {name: at for name, at in present(runs, TCP_ONLY).items() if name != "Exp5"}
    checks = [
        Check.of(
            f"{name}: goodput of tail drop less RED's", gap(runs, [at], tcp_goodput, TD, RED), unit="Mbit/s", least=0
        )
        for name, at in points.items()
    ]
    sent = {
        label: 100
        * mean(
            over(tcp_goodput(runs, label, points["Exp1"]), runs.values("throughput", label, points["Exp1"], scale=1e-6))
        )
        for label in (TD, RED)
    }
    use = {label: 100 * mean(runs.values("utilisation", label, list(points.values())[-1])) for label in (TD, RED)}
    return Judgement(
        checks,
        f"256 sources keep the link busy with either, and goodput is what is not sent in vain ({sent[TD]:.1f} % of the "
        f"bits with tail drop, {sent[RED]:.1f} % with RED, 96 % if nothing comes twice); with 32 the link is busy for "
        f"{use[TD]:.1f} and {use[RED]:.1f} %: a queue that runs empty costs more than that.",
    )


def few_sources(evidence: Evidence) -> Judgement:
    """Compare the goodput of RED with tail drop's at 16 sources."""
    runs = evidence["tcp"]
    at = TCP_ONLY["Exp5"]
    use = {label: 100 * mean(runs.values("utilisation", label, at)) for label in (TD, RED)}
    return Judgement(
        [
            Check.of(
                "Exp5: goodput of RED less tail drop's", gap(runs, [at], tcp_goodput, RED, TD), unit="Mbit/s", least=0
            )
        ],
        f"The link is {use[RED]:.1f} % busy with RED and {use[TD]:.1f} % with tail drop: what 16 sources reach depends "
        "on whether the queue outlasts the windows' cuts, for which RED keeps fewer packets in store.",
    )


def tcp_comparable(evidence: Evidence) -> Judgement:
    """Compare the goodput of TCP beside UDP."""
    runs = evidence["mixed"]
    checks = [
        Check.of(
            f"{name}: TCP goodput of RED over tail drop's",
            excess(runs, [at], tcp_goodput, RED, TD),
            unit="%",
            least=-SAME,
            most=SAME,
        )
        for name, at in present(runs, MIXED).items()
    ]
    return Judgement(checks, "The link is full with both; TCP has what UDP and useless retransmissions leave of it.")


def udp_loses_more(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = excess(runs, present(runs, POINTS[experiment]).values(), udp_loss, RED, TD)
        checks.append(Check.of(f"UDP loss of RED over tail drop's, {title}", each, unit="%", least=0))
        if experiment == "mixed":
            checks.append(Check.of(f"the same, {title}: as much as claimed", each, unit="%", least=5, most=12))
    runs = evidence["simulation"]
    ratio = {
        label: mean(over(udp_loss(runs, label), runs.values("loss_ratio", label, scale=100))) for label in (TD, RED)
    }
    return Judgement(
        checks,
        f"UDP loses {ratio[TD]:.2f} times what all lose with tail drop and {ratio[RED]:.2f} times with RED (greedy "
        "TCP): a full buffer cuts off bursts of TCP and lets packets that come singly slip in, while RED drops whoever "
        "comes; and its shorter round trips make TCP lose more.",
    )


def no_gain(evidence: Evidence) -> Judgement:
    """Compare the total goodput."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = excess(runs, present(runs, POINTS[experiment]).values(), _goodput, RED, TD)
        checks.append(Check.of(f"goodput of all with RED over tail drop's, {title}", each, unit="%", most=0))
    return Judgement(
        checks, "Both keep the link full, so that only what is sent in vain tells them apart, one way or the other."
    )


def _goodput(runs: Runs, label: str, at: At | None) -> Each:
    return runs.values("goodput", label, at)


def tcp_loses_as_much(evidence: Evidence) -> Judgement:
    """Compare the loss of TCP."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = excess(runs, present(runs, POINTS[experiment]).values(), tcp_loss, RED, TD)
        checks.append(Check.of(f"TCP loss of RED over tail drop's, {title}", each, unit="%", least=-MUCH, most=MUCH))
    return Judgement(
        checks,
        f"The paper calls {MUCH:g} % more loss of UDP significant. TCP's loss and its round trip fix its rate: with a "
        f"queue of {_waits(evidence, TD)} with tail drop and {_waits(evidence, RED)} with RED (testbed's traffic and "
        "greedy TCP) the same sources share the same link at another loss.",
    )


def _waits(evidence: Evidence, label: str) -> str:
    """Return the queueing delay in words."""
    return " and ".join(f"{mean(delay(evidence[experiment], label)):.0f} ms" for experiment in TITLES)


def red_drops_more(evidence: Evidence) -> Judgement:
    """Compare the loss of all packets."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = gap(runs, present(runs, POINTS[experiment]).values(), lost, RED, TD)
        checks.append(Check.of(f"loss of all with RED less tail drop's, {title}", each, unit="points", least=0))
    return Judgement(
        checks,
        "The paper blames the average, which is slow. What a queue drops in the long run is what TCP must lose to "
        f"share the link, which is more if the queue is shorter: {_waits(evidence, TD)} with tail drop, "
        f"{_waits(evidence, RED)} with RED (testbed's traffic and greedy TCP).",
    )


def tail_drop_full(evidence: Evidence) -> Judgement:
    """Judge how full tail drop's buffer is."""
    runs = evidence["simulation"]
    at = GREEDY["Exp7"]
    full = [None if one is None else one / BUFFER for one in runs.values("queue_mean", TD, at)]
    waits = mean(delay(runs, TD, at))
    return Judgement(
        [Check.of("mean queue of tail drop over the buffer", full, least=1 - CLOSE)],
        f"200 greedy flows fill any buffer (a packet waits {waits:.0f} ms): what one takes back others use at once.",
    )


def tail_drop_unsynchronised(evidence: Evidence) -> Judgement:
    """Judge how many flows a loss event hits with tail drop."""
    runs = evidence["simulation"]
    at = GREEDY["Exp7"]
    return Judgement(
        [
            Check.of(
                "flows that a loss event hits with tail drop, 200 TCP sources", hit(runs, TD, at), unit="%", most=MOST
            )
        ],
        f"An event is {EVENT:g} s, a round trip with its queue; in that time {mean(lost(runs, TD, at)):.0f} % of the "
        "packets are lost, and a full buffer drops several of one flow's burst and none of many others.",
    )


def at_max_threshold(evidence: Evidence) -> Judgement:
    """Judge at what length RED's queue stays."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY)
    threshold = float(runs.study.variants[RED].resolved["aqm"]["max_th"])
    checks = []
    for name, at in points.items():
        place = [None if one is None else one / threshold for one in runs.values("queue_mean", RED, at)]
        checks.append(Check.of(f"{name}: mean queue of RED over max_th", place, least=1 - CLOSE, most=1 + CLOSE))
    loss = {name: f"{100 * mean(runs.values('loss_ratio', RED, at)):.0f} % ({name})" for name, at in points.items()}
    settings = runs.study.variants[RED].resolved["aqm"]
    edge = 100 * dropped_at(float(settings["max_p"]), str(settings["spacing"]))
    return Judgement(
        checks,
        f"To share the link TCP loses {', '.join(loss.values())}. Just below max_th RED drops {edge:.0f} %, with its "
        "drops spaced as they are here: only where TCP must lose more is the average pushed against the step.",
    )


def red_oscillates(evidence: Evidence) -> Judgement:
    """Compare the variation of the queue."""
    runs = evidence["simulation"]
    checks = [
        Check.of(
            f"{name}: standard deviation of RED's queue over that of tail drop's",
            over(swing(runs, RED, at), swing(runs, TD, at)),
            least=1,
        )
        for name, at in present(runs, GREEDY).items()
    ]
    return Judgement(checks, "A full buffer cuts off what tail drop's queue could vary; RED's has room on both sides.")


def as_short_tail_drop(evidence: Evidence) -> Judgement:
    """Compare RED with tail drop at a buffer of max_th packets."""
    runs = evidence["short"]
    short = next(label for label in runs.labels if label != RED)
    pairs = (
        ("TCP goodput", tcp_goodput(runs, RED), tcp_goodput(runs, short)),
        ("mean delay", delay(runs, RED), delay(runs, short)),
        ("UDP loss", udp_loss(runs, RED), udp_loss(runs, short)),
    )
    checks = [
        Check.of(f"{name} of RED over that of {short}", over(one, other), least=1 - CLOSE, most=1 + CLOSE)
        for name, one, other in pairs
    ]
    return Judgement(
        checks,
        "Goodput is that of a full link for both. The delay tells where RED's average stays, and UDP's loss whether a "
        "full buffer, which spares packets that come singly, or chance decides who is dropped.",
    )


def flat_goodput(evidence: Evidence) -> Judgement:
    """Judge the dependence of TCP's goodput on the averaging."""
    runs = evidence["averaging"]
    each = [tcp_goodput(runs, RED, {"aqm.w_q": w}) for w in runs.points("aqm.w_q")]
    span = [
        100 * (max(seed) - min(seed)) / mean(seed)
        for seed in ([one for one in found if one is not None] for found in zip(*each, strict=True))
    ]
    return Judgement(
        [Check.of("largest less smallest TCP goodput over all w, of their mean", span, unit="%", most=SAME)],
        "The queue is never empty for long, whatever the weight, and the link full.",
    )


def falling_loss(evidence: Evidence) -> Judgement:
    """Judge the dependence of UDP's loss on the averaging."""
    runs = evidence["averaging"]
    weights = runs.points("aqm.w_q")
    loss = {w: udp_loss(runs, RED, {"aqm.w_q": w}) for w in weights}
    checks = [
        Check.of(
            f"UDP loss with w = {w:g} less that of w = 1", less(loss[w], loss[weights[-1]]), unit="points", least=0
        )
        for w in weights[:-1]
    ]
    first, last = weights[0], weights[-1]
    unrest, losses = (
        {w: mean(measure(runs, RED, {"aqm.w_q": w})) for w in (first, last)} for measure in (swing, udp_loss)
    )
    return Judgement(
        checks,
        f"From w = {first:g} to {last:g} the queue's standard deviation goes from {unrest[first]:.0f} to "
        f"{unrest[last]:.0f} packets and UDP's loss from {losses[first]:.1f} to {losses[last]:.1f} %: TCP settles at "
        "the loss that it needs whatever the average does, and UDP gets about the same.",
    )


def levels(evidence: Evidence) -> Judgement:
    """Leave the testbed's level of loss unjudged: it requires a testbed."""
    runs = evidence["mixed"]
    lose, have = (
        [mean(measure(runs, label, at)) for label in (TD, RED) for at in present(runs, MIXED).values()]
        for measure in (udp_loss, tcp_goodput)
    )
    return Judgement(
        [],
        "These levels are of Chariot's scripts on those PCs, which are not described. Our copy of them loses "
        f"{min(lose):.0f} to {max(lose):.0f} % of UDP and delivers {min(have):.1f} to {max(have):.1f} Mbit/s of TCP: "
        "only differences between disciplines are to be compared.",
    )

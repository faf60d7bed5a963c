"""The judges of what the study claims of tail drop and RED; `claims_gentle` has those of gentle RED and of GRED-I."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.papers import At, Check, Evidence, Judgement, Runs
from aqmlab.scenarios.impact.curves import FLOWS, LOAD, in_model, present_splits
from aqmlab.scenarios.impact.measures import (
    BUFFER,
    GREEDY,
    HERO,
    MIN_TH,
    MIXED,
    PACKET_TIME,
    POINTS,
    RED,
    SURGE_END,
    TCP_ONLY,
    TD,
    Each,
    at_least,
    counted,
    delay,
    excess,
    gap,
    less,
    longest,
    mean,
    orders,
    over,
    present,
    swing,
    tcp_goodput,
    udp_loss,
)

# The paper calls a difference of 3 % of the goodput little (Section IV): closer than that is the same.
SAME = 3.0
# "Close to" a threshold: within a tenth of it.
CLOSE = 0.1
# An order of magnitude, rounded: from 10^0.5 on.
ORDER = 0.5


TITLES = {"mixed": "testbed's traffic", "simulation": "greedy TCP"}


def many_sources(evidence: Evidence) -> Judgement:
    """Compare the goodput of tail drop with RED's, of 32 sources and more."""
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
    """Compare the goodput of RED with tail drop's, of 16 sources."""
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
        "TCP): a full buffer cuts off bursts of TCP and lets evenly spaced packets slip in, while RED drops whoever "
        "comes; and its shorter round trips make TCP lose more.",
    )


def no_gain(evidence: Evidence) -> Judgement:
    """Compare what all flows deliver."""
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


def tail_drop_full(evidence: Evidence) -> Judgement:
    """Tell how full tail drop's buffer is."""
    runs = evidence["simulation"]
    at = GREEDY["Exp7"]
    full = [None if one is None else one / BUFFER for one in runs.values("queue_mean", TD, at)]
    sync = 100 * mean(runs.values("links.bottleneck.loss_synchronisation", TD, at))
    return Judgement(
        [Check.of("mean queue of tail drop over the buffer", full, least=1 - CLOSE)],
        f"200 greedy flows fill any buffer; a loss event hits {sync:.0f} % of the flows, far from all at once.",
    )


def at_max_threshold(evidence: Evidence) -> Judgement:
    """Tell where RED's queue stays."""
    runs = evidence["simulation"]
    points = present(runs, GREEDY)
    threshold = float(runs.study.variants[RED].resolved["aqm"]["max_th"])
    checks = []
    for name, at in points.items():
        place = [None if one is None else one / threshold for one in runs.values("queue_mean", RED, at)]
        checks.append(Check.of(f"{name}: mean queue of RED over max_th", place, least=1 - CLOSE, most=1 + CLOSE))
    loss = {name: f"{100 * mean(runs.values('loss_ratio', RED, at)):.0f} % ({name})" for name, at in points.items()}
    return Judgement(
        checks,
        f"To share the link TCP must lose {', '.join(loss.values())}. What RED can drop below max_th, 10 % if drops "
        "are independent and up to 18 % if spaced as in 1993, decides whether the average is pushed against the step.",
    )


def red_oscillates(evidence: Evidence) -> Judgement:
    """Compare how much the queue varies."""
    runs = evidence["simulation"]
    checks = [
        Check.of(
            f"{name}: standard deviation of the queue, RED less tail drop",
            gap(runs, [at], swing, RED, TD),
            unit="packets",
            least=0,
        )
        for name, at in present(runs, GREEDY).items()
    ]
    return Judgement(checks, "A full buffer cuts off what tail drop's queue could vary; RED's has room on both sides.")


def as_short_tail_drop(evidence: Evidence) -> Judgement:
    """Compare RED with tail drop of a buffer of max_th packets."""
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
        "full buffer, which spares evenly spaced packets, or chance decides who is dropped.",
    )


def more_than_five(evidence: Evidence) -> Judgement:
    """Compare how often a UDP flow loses more than 5 in a row."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    own = {label: counted(runs, label, at) for label in (RED, TD)}
    simulated = orders("simulated, Exp6: P(> 5 in a row) of RED over tail drop's", own[RED], own[TD], 6, least=ORDER)
    modelled = in_model(
        f"open-loop model, load {LOAD}, a flow of {FLOWS}: the same", RED, TD, 6, FLOWS, evidence.quick, least=ORDER
    )
    loss = {label: mean(udp_loss(runs, label, at)) for label in (RED, TD)}
    alone = 5 * math.log10(loss[RED] / loss[TD])
    whole = 100 * float(np.nan_to_num(at_least(counted(runs, RED, at, "bottleneck"))[14]))
    seen = (
        "shorter than the 80 ms between two packets of this flow"
        if simulated.value < ORDER
        else "as long as several packets of this flow"
    )
    return Judgement(
        [simulated, modelled],
        f"RED drops everything at times: {whole:.1f} % of the runs of all packets are of 15 and more; but where TCP "
        f"reacts such times are {seen}. Losses of {loss[RED]:.0f} and {loss[TD]:.0f} % that knew nothing of each other "
        f"would make {alone:.1f} orders of magnitude; the model's sources never slow down.",
    )


def longest_runs(evidence: Evidence) -> Judgement:
    """Tell the longest runs of losses of a UDP flow."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    found = {label: max(longest(runs, label, at)) for label in (RED, TD)}
    return Judgement(
        [
            Check.exact("longest run of a UDP flow with RED", found[RED], unit="packets", least=16),
            Check.exact("longest run of a UDP flow with tail drop", found[TD], unit="packets", most=7),
        ],
        "The longest of all runs simulated. A flow of 12.5 packets a second sees a second of full drops as 12 losses; "
        f"RED's longest of {found[RED]:.0f} tells how long its average stays above the step.",
    )


def alike(evidence: Evidence) -> Judgement:
    """Compare the losses in a row of UDP with TCP's."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    checks = [
        Check.of(
            f"{label}: mean run of losses of FTP over UDP's",
            over(
                runs.values("classes.ftp.loss_run_mean", label, at), runs.values("classes.udp.loss_run_mean", label, at)
            ),
            least=1 - CLOSE,
            most=1 + CLOSE,
        )
        for label in (TD, RED)
    ]
    return Judgement(
        checks,
        "Of TCP's bursts a full buffer, or RED above max_th, takes several packets at once; UDP's come singly.",
    )


def flat_goodput(evidence: Evidence) -> Judgement:
    """Tell how TCP's goodput depends on the averaging."""
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
    """Tell how UDP's loss depends on the averaging."""
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
    unrest, lost = (
        {w: mean(measure(runs, RED, {"aqm.w_q": w})) for w in (first, last)} for measure in (swing, udp_loss)
    )
    return Judgement(
        checks,
        f"From w = {first:g} to {last:g} the queue's standard deviation goes from {unrest[first]:.0f} to "
        f"{unrest[last]:.0f} packets and UDP's loss from {lost[first]:.1f} to {lost[last]:.1f} %: TCP settles at the "
        "loss that it needs whatever the average does, and UDP gets about the same.",
    )


def after_the_peak(evidence: Evidence) -> Judgement:
    """Count what is dropped from a short queue after a surge of UDP has ended."""
    runs = evidence["surge"]
    checks = []
    for label, bound in ((RED, {"least": 1.0}), (HERO, {"most": 0.0})):
        checks.append(
            Check.of(
                f"{label}: packets dropped in the 2 s after the surge while fewer than {MIN_TH} wait",
                [_spared(runs, label, seed) for seed in runs.study.seeds],
                unit="packets",
                **bound,
            )
        )
    lag = math.log(3) / 0.002 * PACKET_TIME
    return Judgement(
        checks,
        f"RED's average takes {lag:.2f} s of full load from max_th to min_th after the queue has gone, longer if fewer "
        "packets come, and drops until then; GRED-I looks at the queue and drops nothing below min_th.",
    )


def _spared(runs: Runs, label: str, seed: int) -> float:
    """Count drops in the bins in which the queue was never as long as min_th."""
    import polars

    begin, end = SURGE_END, SURGE_END + 2
    short = polars.col("t").is_between(begin, end, closed="left") & (polars.col("bottleneck.queue.max") < MIN_TH)
    return float(runs.series(label, seed=seed).filter(short)["bottleneck.drops"].sum())


def levels(evidence: Evidence) -> Judgement:
    """Leave the testbed's level of loss to a testbed."""
    del evidence
    return Judgement(
        [],
        "UDP losses of 29 to 38 % at 10 Mbit/s come from Chariot's scripts on those PCs, which are not described; "
        "greedy TCP cannot push the loss so far, so that only differences between disciplines are to be compared.",
    )


def split_matters(evidence: Evidence) -> Judgement:
    """Tell how the longest runs depend on how fast a UDP flow is."""
    runs = evidence["split"]
    points = present_splits(runs)
    few, many = min(points), max(points)
    fast, slow = ({label: counted(runs, label, points[flows]) for label in (RED, TD)} for flows in (few, many))
    top = {label: max(longest(runs, label, points[few])) for label in (RED, TD)}
    return Judgement(
        [
            orders(f"RED: P(> 5 in a row) in {few} flow over that in {many}", fast[RED], slow[RED], 6, least=ORDER),
            orders(f"{few} flow: P(> 5 in a row) of RED over tail drop's", fast[RED], fast[TD], 6, least=ORDER),
        ],
        "The paper does not say into how many flows its UDP is split. A flow of 1 Mbit/s has a packet every 8 ms, of "
        f"which several fall into the time in which RED drops everything: its longest run is {top[RED]:.0f} packets, "
        f"and {top[TD]:.0f} with tail drop.",
    )

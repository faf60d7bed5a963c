"""Claims on the queue with tail drop and RED: section III-A part 3 (Fig. 6, left)."""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    BUFFER,
    CLOSE,
    EVENT,
    GREEDY,
    MOST,
    RED,
    TD,
    delay,
    dropped_at,
    hit,
    lost,
    present,
    swing,
    tcp_goodput,
    udp_loss,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean, ratio


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
            ratio(swing(runs, RED, at), swing(runs, TD, at)),
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
        Check.of(f"{name} of RED over that of {short}", ratio(one, other), least=1 - CLOSE, most=1 + CLOSE)
        for name, one, other in pairs
    ]
    return Judgement(
        checks,
        "Goodput is that of a full link for both. The delay tells where RED's average stays, and UDP's loss whether a "
        "full buffer, which spares packets that come singly, or chance decides who is dropped.",
    )


CLAIMS = (
    Claim(
        name="tail-drop-full",
        text="Tail drop's buffer stays close to full.",
        where="Section III-A.3, Fig. 6 left",
        judge=tail_drop_full,
        needs=["simulation"],
        shown=["fig6"],
    ),
    Claim(
        name="tail-drop-not-synchronised",
        text="With tail drop 200 flows of different round trips are not synchronised.",
        where="Section III-A.3",
        judge=tail_drop_unsynchronised,
        needs=["simulation"],
        shown=["fig6"],
    ),
    Claim(
        name="red-at-max-th",
        text="RED's average queue stays close to max_th.",
        where="Section III-A.3, Fig. 6 left",
        judge=at_max_threshold,
        needs=["simulation"],
        shown=["fig6"],
        sensitive=True,
    ),
    Claim(
        name="red-oscillates",
        text="The queue varies more with RED than with tail drop.",
        where="Section III-A.3, Fig. 6 left; III-C",
        judge=red_oscillates,
        needs=["simulation"],
        shown=["fig6"],
        sensitive=True,
    ),
    Claim(
        name="red-as-short-tail-drop",
        text="RED behaves like tail drop with a buffer of max_th packets.",
        where="Section III-A.3",
        judge=as_short_tail_drop,
        needs=["short"],
        shown=["fig6"],
        sensitive=True,
    ),
)

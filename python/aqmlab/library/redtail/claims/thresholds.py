"""Claims on moving thresholds, alone and in RED+Tail's long queue: section V (Figs. 10 to 14, Table IV)."""

from __future__ import annotations

from functools import partial
from operator import sub
from typing import TYPE_CHECKING

from aqmlab.library.redtail.measures import (
    ALONE_BAND,
    BAND,
    BESIDE_BAND,
    DELAY,
    DYNAMIC,
    FIXED,
    FREE,
    FULL,
    HERO,
    LONG,
    LOSS,
    PRINTED_TABLE_3,
    PRINTED_TABLE_4,
    RATE,
    between,
    of,
    over_series,
    per_seed,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean, paired
from aqmlab.theory import tcp

if TYPE_CHECKING:
    import polars

PROPAGATION = 0.064
"""Round trip of FTP without queues (s)."""
SETTLED = 20.0
"""Time at which the first flows have left slow start (s)."""
BOUNDS = {DYNAMIC: "max_th at most 0.8 of the buffer", FREE: "no bound"}
"""Limits of moving thresholds in RED+Tail: our bound, and none, as the paper prints none."""


def average_p(frame: polars.DataFrame) -> float:
    """Average the drop probability over time."""
    return float(between(frame, SETTLED, float("inf"))["p.mean"].mean())  # type: ignore[arg-type]


def _over(start: float, end: float, frame: polars.DataFrame) -> float:
    return float(between(frame, start, end)["p.mean"].mean())  # type: ignore[arg-type]


def low_drop_probability(evidence: Evidence) -> Judgement:
    """Judge the drop probabilities of fixed and of moving thresholds."""
    runs = evidence["dynamic"]
    fixed, moving = (over_series(runs, label, average_p) for label in (FIXED, DYNAMIC))
    checks = [
        # 0.05 as read off a figure: within a quarter.
        Check.of("mean drop probability, fixed thresholds", fixed.values(), least=0.0375, most=0.0625),
        Check.of(
            "mean drop probability, thresholds that move", moving.values(), least=ALONE_BAND[0], most=ALONE_BAND[1]
        ),
        # "Much lower": at most half.
        Check.of(
            "that of moving thresholds minus half of fixed ones", paired(lambda a, b: a - b / 2, moving, fixed), most=0
        ),
    ]
    phases = [mean(over_series(runs, FIXED, partial(_over, start, end))) for start, end in ((SETTLED, 100), (120, 300))]
    lost = {label: mean(per_seed(runs, of("more", LOSS), label, scale=100)) for label in (FIXED, DYNAMIC)}
    rtt = mean(per_seed(runs, of("ftp", DELAY), FIXED)) + PROPAGATION
    law = [100 * tcp.equilibrium_loss(40, rtt, 750.0, partial(tcp.padhye, T0=T0)) for T0 in (1.0, 0.2)]
    why = (
        f"{mean(fixed):.3f} ({phases[0]:.3f} with 20 flows, {phases[1]:.3f} with 40) and {mean(moving):.3f} before "
        "drops are spaced; the paper does not state the number of flows for its 0.05. 40 flows then lose "
        f"{lost[FIXED]:.1f} and {lost[DYNAMIC]:.1f} %. By Padhye's law 40 flows that share this link with a round trip "
        f"of {1000 * rtt:.0f} ms lose {law[0]:.1f} % with time-outs of 1 s, {law[1]:.1f} % with 0.2 s."
    )
    return Judgement(checks, why)


def fixed_is_steady(evidence: Evidence) -> Judgement:
    """Compare the variation and the length of the queues."""
    runs = evidence["dynamic"]
    deviation = [per_seed(runs, "queue_std", label) for label in (FIXED, DYNAMIC)]
    delay = [per_seed(runs, of("ftp", DELAY), label, scale=1000) for label in (FIXED, DYNAMIC)]
    checks = [
        Check.of(
            "standard deviation of the queue, fixed minus moving",
            paired(sub, *deviation),
            unit="packets",
            most=0,
        ),
        Check.of("delay with moving thresholds minus fixed", paired(lambda a, b: b - a, *delay), unit="ms", least=0),
    ]
    why = (
        f"{mean(deviation[0]):.0f} and {mean(deviation[1]):.0f} packets, {mean(delay[0]):.0f} and {mean(delay[1]):.0f} "
        "ms: with moving thresholds the queue takes up the load, and is long while there are 40 flows."
    )
    return Judgement(checks, why)


def higher_goodput(evidence: Evidence) -> Judgement:
    """Compare goodput with fixed and with moving thresholds."""
    runs = evidence["dynamic"]
    goodput = [per_seed(runs, "goodput", label) for label in (DYNAMIC, FIXED)]
    loss = [per_seed(runs, "loss_ratio", label, scale=100) for label in (DYNAMIC, FIXED)]
    gain = paired(lambda a, b: 100 * (a / b - 1), *goodput)
    beside = paired(lambda a, b, p, q: 100 * (a / b - 1) - (q - p) / 2, *goodput, *loss)
    checks = [
        Check.of("goodput with moving thresholds, change from fixed", gain, unit="%", least=0),
        # The paper reasons with equal throughput and fewer losses: goodput then differs by the losses; here, by half of
        # it.
        Check.of("that minus half of what the loss ratio falls by", beside, unit="%", least=0),
    ]
    again = [mean(per_seed(runs, "timeouts", label)) for label in (FIXED, DYNAMIC)]
    why = (
        "A packet that is dropped in front of the bottleneck takes none of its time: a lower loss ratio as such adds "
        "no goodput to a full link. What it saves is packets that are sent again though they arrived, after time-outs "
        f"({again[0]:.0f} of them with fixed thresholds, {again[1]:.0f} with moving ones)."
    )
    return Judgement(checks, why)


def equal_shares(evidence: Evidence) -> Judgement:
    """Judge whether connections share the link equally."""
    runs = evidence["dynamic"]
    checks = [
        # The same throughput, within the randomness of equal flows.
        Check.of(
            f"Jain's index of the 20 flows that stay, {label}",
            per_seed(runs, of("ftp", "jain"), label).values(),
            least=0.98,
        )
        for label in runs.labels
    ]
    rates = [per_seed(runs, of("ftp", RATE), label) for label in (DYNAMIC, FIXED)]
    change = paired(lambda a, b: 100 * (a / b - 1), *rates)
    # As with web traffic: within 2 %.
    checks.append(
        Check.of("their throughput with moving thresholds, change from fixed", change, unit="%", least=-2, most=2)
    )
    return Judgement(
        checks,
        "Equal flows have one round-trip time and see one drop probability, and the link is full, however "
        "drops are made.",
    )


def printed_law() -> float:
    """Return the loss of each of ten flows by Padhye's law at the printed rate and delay of Table IV (%)."""
    _, wait, rate = PRINTED_TABLE_4["FTP"]
    return 100 * float(tcp.loss(rate * 1000 / FULL / 10, wait + PROPAGATION))


def long_loses_less(evidence: Evidence) -> Judgement:
    """Compare FTP's loss and delay with moving and with fixed thresholds in RED+Tail."""
    runs = evidence["dynamic-web"]
    checks, texts = [], []
    fixed = [per_seed(runs, of("FTP", LOSS), HERO, scale=100), per_seed(runs, of("FTP", DELAY), HERO, scale=1000)]
    for label, bound in BOUNDS.items():
        loss, delay = (per_seed(runs, of("FTP", metric), label) for metric in (LOSS, DELAY))
        # A third in print; at most half.
        checks += [
            Check.of(
                f"loss of FTP with moving thresholds minus half of that with fixed ones, {bound}",
                paired(lambda a, b: 100 * a - b / 2, loss, fixed[0]),
                unit="%",
                most=0,
            ),
            Check.of(
                f"delay of FTP with moving thresholds minus that with fixed ones, {bound}",
                paired(lambda a, b: 1000 * a - b, delay, fixed[1]),
                unit="ms",
                least=0,
            ),
        ]
        texts.append(f"{100 * mean(loss):.2f} % and {1000 * mean(delay):.0f} ms with {bound}")
    why = (
        f"{' and '.join(texts)}, instead of {mean(fixed[0]):.2f} % and {mean(fixed[1]):.0f} ms. What ten flows "
        f"lose follows from their rate and round trip: by Padhye's law {printed_law():.1f} % with those that Table IV "
        "prints."
    )
    return Judgement(checks, why)


def printed_loss(evidence: Evidence) -> Judgement:
    """Judge the text's number for FTP's loss by the table's and by ours."""
    loss = per_seed(evidence["dynamic-web"], of("FTP", LOSS), DYNAMIC, scale=100)
    table = PRINTED_TABLE_4["FTP"][0]
    checks = [
        Check.exact("loss of FTP in Table IV", table, unit="%", least=0.9875, most=0.9885),
        Check.of("loss of FTP", loss.values(), unit="%", least=0.8 * 0.988, most=1.2 * 0.988),
    ]
    return Judgement(
        checks, f"The text has 0.988 %, Table IV {table} %: one of them is a slip. We find {mean(loss):.2f} %."
    )


def queue_lengths(evidence: Evidence) -> Judgement:
    """Judge the mean lengths of the long queue."""
    runs = evidence["dynamic-web"]
    fixed, moving = (per_seed(runs, LONG + "queue_mean", label) for label in (HERO, DYNAMIC))
    _, delay, rate = PRINTED_TABLE_3[HERO]["FTP"]
    _, slow, other = PRINTED_TABLE_4["FTP"]
    checks = [
        # "About" 60 and 80 kB: within a fifth.
        Check.of("mean of the long queue, fixed thresholds", fixed.values(), unit="packets", least=48, most=72),
        Check.of("mean of the long queue, moving thresholds", moving.values(), unit="packets", least=64, most=96),
        Check.exact("delay times rate of FTP in Table III", delay * rate, unit="kB", least=48, most=72),
        Check.exact("delay times rate of FTP in Table IV", slow * other, unit="kB", least=64, most=96),
    ]
    why = (
        f"By Little's law the printed delay and rate make {delay * rate:.1f} kB, not 60: FTP's part of the queue, if "
        f"web files have the rest. Ours are {mean(fixed):.0f} and {mean(moving):.0f} packets, fixed thresholds keep "
        f"theirs near their middle, {sum(BAND) / 2:.0f}."
    )
    return Judgement(checks, why)


def short_loses_more(evidence: Evidence) -> Judgement:
    """Compare losses of web and CBR with moving and with fixed thresholds."""
    runs = evidence["dynamic-web"]
    checks, texts = [], []
    for owner in ("WEB", "CBR"):
        fixed = per_seed(runs, of(owner, LOSS), HERO, scale=100)
        lost = []
        for label, bound in BOUNDS.items():
            moving = per_seed(runs, of(owner, LOSS), label, scale=100)
            lost.append(f"{mean(moving):.2f} % with {bound}")
            effect = f"loss of {owner}, moving thresholds minus fixed ones, {bound}"
            checks.append(Check.of(effect, paired(sub, moving, fixed), unit="%", least=0))
        texts.append(f"{owner} {' and '.join(lost)} instead of {mean(fixed):.2f} %")
    return Judgement(checks, f"{'; '.join(texts)}. A longer long queue leaves less of the shared buffer for bursts.")


def short_waits_less(evidence: Evidence) -> Judgement:
    """Compare delays of web and CBR with moving and with fixed thresholds."""
    runs = evidence["dynamic-web"]
    checks, texts = [], []
    for owner in ("WEB", "CBR"):
        moving, fixed = (per_seed(runs, of(owner, DELAY), label, scale=1000) for label in (DYNAMIC, HERO))
        texts.append(f"{owner} {mean(moving):.1f} instead of {mean(fixed):.1f} ms")
        effect = f"delay of {owner}, moving thresholds minus fixed ones"
        checks.append(Check.of(effect, paired(sub, moving, fixed), unit="ms", most=0))
    why = (
        f"{', '.join(texts)}. CBR sees the short queue only, which a smaller room hardly shortens; web's mean has the "
        "packets of its long files, which wait in the longer long queue."
    )
    return Judgement(checks, why)


def same_rates(evidence: Evidence) -> Judgement:
    """Compare throughputs with moving and with fixed thresholds."""
    runs = evidence["dynamic-web"]
    checks = []
    for owner in ("FTP", "WEB", "CBR"):
        moving, fixed = (per_seed(runs, of(owner, RATE), label) for label in (DYNAMIC, HERO))
        change = paired(lambda a, b: 100 * (a / b - 1), moving, fixed)
        # Almost the same: within 2 %.
        checks.append(
            Check.of(f"throughput of {owner}, change from fixed thresholds", change, unit="%", least=-2, most=2)
        )
    why = "Web and CBR bring what they bring, whatever little they lose, and FTP has the rest of a full link."
    return Judgement(checks, why)


def smoothed_in_band(frame: polars.DataFrame) -> float:
    """Return the share of time that the drop probability, averaged over 5 s, is in the band (%)."""
    import polars

    groups = (
        between(frame, SETTLED, float("inf")).group_by((polars.col("t") / 5).floor()).agg(polars.col("p.mean").mean())
    )
    return 100 * float(groups["p.mean"].is_between(*BESIDE_BAND).mean())  # type: ignore[arg-type]


def stays_in_band(evidence: Evidence) -> Judgement:
    """Judge whether the drop probability of the long queue stays in its band, with and without our bound of max_th."""
    runs = evidence["time"]
    checks, texts = [], []
    for label, bound in BOUNDS.items():
        share = over_series(runs, label, smoothed_in_band)
        average = over_series(runs, label, average_p)
        queue = per_seed(runs, LONG + "queue_mean", label)
        texts.append(f"with {bound} its mean is {mean(average):.4f} at {mean(queue):.0f} packets of queue")
        checks += [
            Check.of(
                f"time that the drop probability (means of 5 s) is in 0.005 to 0.01, {bound}",
                share.values(),
                unit="%",
                least=50,
            ),
            Check.of(f"its mean over time, {bound}", average.values(), least=BESIDE_BAND[0], most=BESIDE_BAND[1]),
        ]
    why = (
        f"The paper prints no bound of the thresholds: {' and '.join(texts)}. By Padhye's law ten flows lose "
        f"{printed_law():.1f} % at the delay and rate that Table IV prints itself: for less the queue must be longer, "
        "which takes the buffer from the short flows."
    )
    return Judgement(checks, why)


def _step(name: str) -> tuple[float, float]:
    return (SETTLED, 100.0) if name == "before" else (100.0, 500.0)


def _part(column: str, name: str, frame: polars.DataFrame) -> float:
    return float(between(frame, *_step(name))[column].mean())  # type: ignore[arg-type]


def calm_step(evidence: Evidence) -> Judgement:
    """Judge the effect of arriving web traffic on the long queue with moving thresholds."""
    runs = evidence["time"]
    checks, texts = [], []
    for label, bound in BOUNDS.items():
        queue, p = (
            [over_series(runs, label, partial(_part, column, name)) for name in ("before", "after")]
            for column in ("lane.long.queue.mean", "p.mean")
        )
        checks += [
            # "Dramatically": by half.
            Check.of(
                f"mean of the long queue after web traffic came / before, {bound}",
                paired(lambda a, b: b / a, *queue),
                most=1.5,
            ),
            Check.of(f"mean drop probability after / before, {bound}", paired(lambda a, b: b / a, *p), most=1.5),
        ]
        texts.append(
            f"with {bound} the queue goes from {mean(queue[0]):.0f} to {mean(queue[1]):.0f} packets, the drop "
            f"probability from {mean(p[0]):.4f} to {mean(p[1]):.4f}"
        )
    why = (
        f"The rate that is left is smaller, and the same queue a longer round trip, which makes up for a part: "
        f"{'; '.join(texts)}."
    )
    return Judgement(checks, why)


NEEDS = ("dynamic",)
BESIDE = ("dynamic-web",)

CLAIMS = (
    Claim(
        name="low-drop-probability",
        text="Thresholds that move keep the drop probability at 0.014, in (0.01, 0.02); with fixed ones it is 0.05.",
        where="Section V, Fig. 11",
        judge=low_drop_probability,
        needs=NEEDS,
        shown=["fig11"],
    ),
    Claim(
        name="fixed-is-steady",
        text="With fixed thresholds the queue varies little; moving ones cost a higher delay.",
        where="Section V, Fig. 10",
        judge=fixed_is_steady,
        needs=NEEDS,
        shown=["fig10"],
        sensitive=True,
    ),
    Claim(
        name="equal-shares",
        text="With a full link each FTP connection has the same throughput by fixed and by moving thresholds.",
        where="Section V",
        judge=equal_shares,
        needs=NEEDS,
        shown=["fig10"],
    ),
    Claim(
        name="higher-goodput",
        text="Thresholds that move make a higher goodput.",
        where="Section V",
        judge=higher_goodput,
        needs=NEEDS,
        shown=["fig10"],
        sensitive=True,
    ),
    Claim(
        name="stays-in-band",
        text="In RED+Tail moving thresholds keep the drop probability in (0.005, 0.010) most of the time.",
        where="Section V, Fig. 12",
        judge=stays_in_band,
        needs=["time"],
        shown=["fig12"],
    ),
    Claim(
        name="calm-step",
        text="When web traffic comes, neither the long queue nor its drop probability rises dramatically.",
        where="Section V, Fig. 12",
        judge=calm_step,
        needs=["time"],
        shown=["fig12"],
    ),
    Claim(
        name="long-loses-less",
        text="FTP loses 0.9 instead of 2.7 % with moving thresholds, and waits longer (0.318 instead of 0.184 s).",
        where="Section V, Table IV",
        judge=long_loses_less,
        needs=BESIDE,
        shown=["table4", "fig13", "fig14"],
    ),
    Claim(
        name="printed-loss",
        text="FTP then loses 0.988 %.",
        where="Section V (Table IV has 0.899)",
        judge=printed_loss,
        needs=BESIDE,
        shown=["table4"],
    ),
    Claim(
        name="queue-lengths",
        text="The long queue's mean is about 80 kB with moving thresholds and 60 kB with fixed ones.",
        where="Section V",
        judge=queue_lengths,
        needs=BESIDE,
        shown=["fig12", "fig4"],
    ),
    Claim(
        name="short-loses-more",
        text="Web and CBR lose more with moving thresholds: 2.3 instead of 1.3 %, 0.52 instead of 0.30 %.",
        where="Section V, Table IV",
        judge=short_loses_more,
        needs=BESIDE,
        shown=["table4", "fig13"],
    ),
    Claim(
        name="short-waits-slightly-less",
        text="Web and CBR wait slightly less with moving thresholds: 93 and 91 ms.",
        where="Section V, Table IV",
        judge=short_waits_less,
        needs=BESIDE,
        shown=["table4", "fig14"],
    ),
    Claim(
        name="same-rates",
        text="Throughputs are almost the same with both.",
        where="Section V, Tables III and IV",
        judge=same_rates,
        needs=BESIDE,
        shown=["table4"],
    ),
)

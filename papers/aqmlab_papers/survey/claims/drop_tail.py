"""Claims on drop tail: sections 2.1 and 4.2."""

from aqmlab_papers import Check, Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.survey import measures, theory
from aqmlab_papers.survey.measures import (
    BIN,
    BUFFER,
    HOSTS,
    LOSS,
    LOST,
    NODES,
    NOTHING,
    backlog,
    intervals,
    locked_out,
    lost,
)


@claim("without AQM, one can expect loss rates in the order of 12%", "Section 4.2, Fig. 2c", "fig2 calibration")
@tolerance(2, "", "an order: up to a factor of two")
def droptail_loss(calibration: Runs, drop_tail: Runs, *, tolerance: Tolerance) -> Judgement:
    """Without AQM one can expect loss rates in the order of 12 %."""
    least, most = LOSS / tolerance.value, LOSS * tolerance.value
    tcp = lost(drop_tail, "TCP packets", "DropTail")
    beside = [Effect("loss of TCP's packets, calibrated").of(tcp, least=least, most=most)]
    for reading in ("all packets", "bytes"):
        losses = {count: lost(calibration, reading, "DropTail", {HOSTS: count}) for count in calibration.points(HOSTS)}
        count = min(losses, key=lambda one: abs(losses[one].mean - LOSS))
        beside.append(
            Effect(f"loss of {reading}, nearest at {count:g} nodes").of(losses[count], least=least, most=most)
        )
    return Judgement(
        [],
        "The number of nodes is not stated, and ours is fitted to this number, so that it is no test: 70 nodes lose "
        "12 % of TCP's packets. In a buffer of bytes, as the survey has it, some number of nodes also comes near 12 % "
        "of all bytes, but none near 12 % of all packets: most are UDP's of 100 bytes, for which a buffer without room "
        "for 1000 mostly has room. A buffer of 100 packets spares none, and comes near in each reading (see the "
        "sensitivity table).",
        beside,
    )


@claim("the Drop-Tail is almost always full", "Section 4.2, Fig. 2b", "fig2 schemes")
@tolerance(10, "%", "'almost always': nine tenths of the time; full: 80 000 bytes, as the paper calls it")
def droptail_full(schemes: Runs, *, tolerance: Tolerance) -> Judgement:
    """Drop tail's queue is almost always full."""
    least = 100 - tolerance.value

    def full(width: float) -> Check:
        part = schemes.from_series(
            "DropTail",
            lambda frame: 100 * (intervals(frame, measures.BACKLOG_NOW, width) >= 0.8 * BUFFER / 1e3).mean(),
            unit="%",
        )
        return Effect(f"intervals of {width:g} s with 80 000 bytes or more on average").of(part, least=least)

    fill = 100 * backlog(schemes, "DropTail") / (BUFFER / 1e3)
    return Judgement(
        [full(0.1)],
        f"The mean backlog is {fill.mean:.0f} % of the buffer: windows that halve leave some of it empty for a while, "
        f"and UDP's bursts of 20 ms come and go. Means of {BIN:g} s, beside, hide some of that.",
        beside=[
            full(BIN),
            Effect("mean backlog over the buffer").of(fill.called("", "%"), least=least),
            Effect("time in which no packet of 1000 bytes fits").of(
                schemes.per_seed("queue_full", "DropTail"), least=least
            ),
        ],
    )


@claim("two well-known drawbacks, the lock-out …", "Section 2.1", "lock-out")
@tolerance(Tolerance(2, "%", "a fiftieth of the flows, chosen when the runs were known", negligible=True))
def lock_out(flows: Runs, *, tolerance: Tolerance) -> Judgement:
    """Drop tail locks flows out: next to nothing is left to more of them than with any other scheme. Its other
    drawback, the full queue, is judged by `droptail-full`.
    """

    def more(share: float) -> list[Check]:
        return [
            Effect(f"flows below {share:g} of the mean goodput, DropTail minus {label}").better(
                locked_out(flows, "DropTail", share), locked_out(flows, label, share), "higher", tolerance
            )
            for label in flows.others_than("DropTail")
        ]

    return Judgement(
        more(NOTHING),
        f"Less than a tenth of the mean goodput is left to {locked_out(flows, 'DropTail'):.2g} % of the flows with "
        "drop tail: a loss in a window of a few packets costs a time-out, and time-outs double. With RED it is left to "
        f"{locked_out(flows, 'RED'):.2g} %, which send nothing: SYNs cannot be marked, and a flow that loses three has "
        "no fourth within 20 s. Flows with less than half of the mean stand beside.",
        more(0.5),
    )


@ours("ours", "calibration")
@tolerance(25, "% of it", "the accuracy that the model's authors show")
def padhye(calibration: Runs, calibration_fast: Runs) -> Judgement:
    """Padhye's model predicts drop tail's loss at each number of nodes."""
    # Below 40 nodes a few seconds of slow start cause much of the loss; above 100 it is too high for the formula.
    checks = [
        Effect(f"loss over Padhye's, {count:g} nodes, time-out {rto:g} s").of(
            runs.per_seed(LOST, "DropTail", {HOSTS: count}) / (100 * theory.predicted_loss(count, rto)),
            unit="",
            least=0.8,
            most=1.25,
        )
        for runs, rto in ((calibration, 1.0), (calibration_fast, 0.2))
        for count in runs.points(HOSTS)
        if 40 <= count <= 100
    ]
    run = calibration.per_seed("classes.ftp.loss_run_mean", "DropTail", {HOSTS: NODES})
    return Judgement(
        checks,
        f"The model counts the first loss of a round alone, and drop tail takes {run:.2g} packets of a flow in a row. "
        f"It predicts 12 % for {theory.predicted_nodes(1.0):.0f} nodes with a time-out of 1 s, and for "
        f"{theory.predicted_nodes(0.2):.0f} with 0.2 s.",
    )

"""Claims on drop tail: its queue, its loss, and the number of nodes that makes it 12 % (Fig. 2)."""

from __future__ import annotations

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.library.survey.measures import ALL, BYTES, HOSTS, MIN_RTO, READINGS, losses, reached
from aqmlab.library.survey.theory import predicted_nodes
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import average
from aqmlab.results.summary import Summary


def of_the_order(evidence: Evidence) -> Judgement:
    """Check the 12 % in every reading: TCP's packets at the frozen count, all packets and bytes at any count."""
    runs = evidence["calibration"]
    low, high = measures.LOSS / 2, 2 * measures.LOSS  # "of the order of": within a factor of two
    tcp = losses(runs, measures.LOST)[measures.NODES]
    checks = [Check.of(f"loss of TCP packets at {measures.NODES} nodes", tcp, least=low, most=high)]
    for reading in (ALL, BYTES):
        by_count = losses(runs, READINGS[reading])
        count = max(by_count, key=lambda one: Summary.of(by_count[one]).mean or 0.0)
        checks.append(Check.of(f"greatest loss of {reading}, at {count} nodes", by_count[count], least=low, most=high))
    share = checks[1].value
    return Judgement(
        checks,
        "The number of nodes was chosen for TCP's 12 %, so the first check tells only that some number gives it. "
        f"Counted in all packets the loss is at most {100 * share:.1f} % at any number of nodes: where a buffer of "
        "bytes has no room for 1000 it mostly has room for a UDP packet of 100, and these are the majority.",
    )


def almost_full(evidence: Evidence) -> Judgement:
    """Check how full drop tail's buffer is."""
    runs = evidence["schemes"]
    full = list(runs.each(measures.BACKLOG / measures.BUFFER, "DropTail").values())
    median = list(runs.each(polars.col("queue_delay_p50") / measures.FULL, "DropTail").values())
    # "almost always full": nine tenths, on average and for at least half of the packets
    checks = [
        Check.of("mean backlog over the buffer", full, least=0.9),
        Check.of("median wait over that in a full buffer", median, least=0.9),
    ]
    for other in runs.labels:
        if other != "DropTail":
            found = measures.difference(runs, measures.WAIT * 1e3, "DropTail", other)
            checks.append(Check.of(f"mean wait of DropTail minus that of {other}", found, unit="ms", least=0))
    return Judgement(
        checks,
        f"The mean backlog is {100 * checks[0].value:.0f} % of the buffer: windows that halve leave some of it, and "
        "UDP's bursts of 20 ms come and go. Nothing but the buffer bounds drop tail's queue.",
    )


def frozen(evidence: Evidence) -> Judgement:
    """Check that the calibration yields the scenario's number of nodes."""
    found = reached(evidence["calibration"], measures.LOST)
    fast = Summary.of(reached(evidence["calibration-fast"], measures.LOST)).mean
    # The calibration's numbers of nodes are ten apart there.
    check = Check.of(
        "nodes at which TCP loses 12 %, time-out 1 s",
        found,
        unit="nodes",
        least=measures.NODES - 5,
        most=measures.NODES + 5,
    )
    other = "and with one of 0.2 s no number between" if fast is None else f"and with one of 0.2 s {fast:.0f} do"
    return Judgement(
        [check],
        f"With a least time-out of 1 s, {check.value:.0f} nodes make drop tail lose 12 % of TCP's packets, {other}. "
        f"The scenario has {measures.NODES}.",
    )


def as_padhye(evidence: Evidence) -> Judgement:
    """Compare drop tail's loss with Padhye's prediction, over the number of nodes."""
    runs = evidence["calibration"].mean("classes.ftp.loss_run_mean", "DropTail", {HOSTS: measures.NODES}).mean or 1.0
    checks = []
    for experiment in ("calibration", "calibration-fast"):
        by_count = losses(evidence[experiment], measures.LOST)
        # From 40 nodes on: below, a few seconds of slow start cause a large part of the loss.
        of = [
            [loss / theory.predicted_loss(count, MIN_RTO[experiment]) for loss in column]
            for count, column in by_count.items()
            if count >= 40
        ]
        effect = f"loss over Padhye's, mean over the nodes, time-out {MIN_RTO[experiment]:g} s"
        checks.append(Check.of(effect, average(of), least=0.8, most=1.25))
    return Judgement(
        checks,
        "Padhye's full model, three flows a node, the mean round trip with a full buffer, and the capacity that UDP "
        f"leaves: {theory.predicted_loss(measures.NODES, 1.0):.3f} at {measures.NODES} nodes and 1 s, "
        f"{theory.predicted_loss(measures.NODES, 0.2):.3f} at 0.2 s; 12 % are at {predicted_nodes(1.0):.0f} and "
        f"{predicted_nodes(0.2):.0f} nodes. It counts the first loss of a round: of a flow drop tail takes {runs:.1f} "
        "packets in a row.",
    )


CLAIMS = (
    Claim(
        name="droptail-loss",
        text="Without AQM one can expect loss rates in the order of 12 %.",
        where="Section 4.2, Fig. 2c",
        judge=of_the_order,
        needs=["calibration"],
        shown=["fig2", "calibration", "nodes"],
    ),
    Claim(
        name="droptail-full",
        text="Drop tail's queue is almost always full.",
        where="Section 4.2, Fig. 2b",
        judge=almost_full,
        needs=["schemes"],
        shown=["fig2", "schemes"],
        sensitive=True,
    ),
)

BEYOND = (
    Claim(
        name="nodes",
        text="70 edge nodes make drop tail lose 12 %.",
        where="ours",
        judge=frozen,
        needs=["calibration", "calibration-fast"],
        shown=["calibration", "nodes"],
        beyond=True,
    ),
    Claim(
        name="padhye",
        text="Padhye's model predicts that loss.",
        where="ours",
        judge=as_padhye,
        needs=["calibration", "calibration-fast"],
        shown=["calibration"],
        beyond=True,
    ),
)

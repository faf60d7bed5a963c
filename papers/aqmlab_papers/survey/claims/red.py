"""Claims on RED: sections 2.2 and 4.2."""

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, Evidence, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE, Better
from aqmlab_papers.describe.thresholds import DELAY, GOODPUT, LOSS
from aqmlab_papers.survey import measures, theory
from aqmlab_papers.survey.experiments import POINTS
from aqmlab_papers.survey.measures import HOSTS, LOST, WAIT, backlog, between, suiting

HARM = ((WAIT, "wait", DELAY), (LOST, "loss of TCP packets", LOSS), ("loss_ratio", "loss of all packets", LOSS))
"""What RED is to keep low, with the difference that counts."""
BOTH = Tolerance(LOSS.value, RELATIVE, f"of a loss; {DELAY.value:g} % of a delay", negligible=True)


def _delay_and_loss(runs: Runs, others: list[str], better: Better) -> list[Check]:
    """Compare RED's wait, TCP's loss and the loss of all packets with those of others."""
    return [
        check
        for metric, name, line in HARM
        for check in runs.compare(metric, "RED", others, better=better, tolerance=line, name=name)
    ]


@claim("minimize packet loss and queueing delay", "Section 2.2", "schemes")
@tolerance(BOTH)
def red_loss_and_delay(schemes: Runs) -> Judgement:
    """RED minimises loss and delay: it loses less than drop tail, and delays less."""
    return Judgement(
        _delay_and_loss(schemes, ["DropTail"], "lower"),
        "TCP's packets are marked and spared. UDP's cannot be marked: RED drops them as often as it marks TCP's, where "
        "drop tail's buffer mostly has room for their 100 bytes.",
    )


@claim("maintain high link utilization", "Section 2.2", "fig2 schemes")
@tolerance(GOODPUT)
def red_utilisation(schemes: Runs, evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """RED keeps the link as busy as drop tail does, whichever number of nodes suits drop tail's loss."""
    checks = schemes.compare("utilisation", "RED", ["DropTail"], better="not lower", tolerance=tolerance)
    for load, at in suiting(evidence):
        name = f"utilisation, {at[HOSTS]} nodes,"
        checks += load.compare(
            "utilisation", "RED", ["DropTail"], better="not lower", tolerance=tolerance, at=at, name=name
        )
    return Judgement(
        checks,
        f"RED keeps {backlog(schemes, 'RED'):.0f} kB, at times too few to bridge a round trip. The number of nodes is "
        "not stated: those are judged with which drop tail loses half to twice 12 % of TCP's packets. The more flows, "
        "the smaller each window, and the less a link idles when some are halved.",
    )


@claim("avoid global synchronization of sources", "Section 2.2; issue 3 of Section 3", "synchronisation")
@tolerance(2, "%", "a fiftieth of the flows")
def red_synchronisation(synchronisation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED avoids the synchronisation of flows that drop tail causes."""
    metric = "links.bottleneck.loss_synchronisation"
    checks = synchronisation.compare(
        metric, "RED", better="lower", tolerance=tolerance, each=(HOSTS, "{:g} nodes"), name="flows hit by an event"
    )
    return Judgement(
        checks,
        "Judged by RFC 7928's measure, with TCP alone and without ECN, where every signal is a loss: UDP's many "
        "packets would count as flows that lose, and marks would not count. In an event of 0.1 s, a round trip, "
        "RED's average takes from all that send while it is high, a full buffer takes runs from a few.",
    )


@claim("remove biases against bursty sources", "Section 2.2")
@tolerance(10, "% of it", "a bias of less than a tenth is none")
def red_bursty(bursts: Runs, *, tolerance: Tolerance) -> Judgement:
    """Drop tail is biased against bursty sources; RED is not."""
    loss = {
        (label, name): bursts.per_seed(f"classes.{name}.loss_ratio", label)
        for label in ("DropTail", "RED")
        for name in ("udp", "smooth")
    }
    wanted: dict[str, Better] = {"DropTail": "higher", "RED": "equal"}
    checks = [
        Effect(f"loss of bursty over smooth UDP, {label}").better(
            loss[label, "udp"], loss[label, "smooth"], how, tolerance
        )
        for label, how in wanted.items()
    ]
    return Judgement(
        checks,
        f"Drop tail loses {loss['DropTail', 'udp']:.2g} % of the bursty packets and {loss['DropTail', 'smooth']:.2g} "
        "% of the smooth ones: a burst of 1 Mbit/s is a packet in 0.8 ms, too thin by itself to fill a buffer that "
        "drains 45, so that there is little bias to remove.",
    )


@claim(
    "For a constant average queue length, all incoming packets have the same probability to get dropped", "Section 2.2"
)
@tolerance(5, "% of it", "a probability that some thousands of drops tell")
def red_same_probability(no_ecn: Runs, *, tolerance: Tolerance) -> Judgement:
    """At a constant average all packets have the same probability of being dropped."""
    found = 100 * (no_ecn.from_series("RED", at_equal_average) - 1)
    return Judgement(
        [
            Effect("probability of a drop at the same average, TCP over UDP").of(
                found, unit="%", least=-tolerance.value, most=tolerance.value
            )
        ],
        "RED asks no packet whose it is. Without ECN both kinds are dropped; packets are compared whose averages are "
        "the same to a quarter of a packet. From one packet to the next it does differ: the counter spares "
        "the first 1 / p after a drop, and is certain to take one of the next 1 / p.",
    )


def at_equal_average(frame: polars.DataFrame) -> float:
    """Return TCP's probability of a drop over UDP's, compared where averages are the same to a quarter of a packet."""
    groups = frame.group_by((polars.col("avg.mean") * 4).floor()).agg(
        polars.col("ftp.arrivals", "ftp.drops", "udp.arrivals", "udp.drops").sum()
    )
    drops, arrivals = (
        groups.select(f"ftp.{one}", f"udp.{one}").to_numpy().astype(float) for one in ("drops", "arrivals")
    )
    tcp, udp = (drops * arrivals[:, ::-1] / np.maximum(arrivals.sum(axis=1, keepdims=True), 1.0)).sum(axis=0)
    return float(tcp / udp)


@claim("drops packets in proportion to the connections' share of the bandwidth", "Section 2.2")
@tolerance(20, "% of it", "'in proportion', to a fifth")
def red_proportional(shares: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED drops packets in proportion to the connections' share of the bandwidth."""
    tcp = ("second", "third", "fourth")
    sent = {name: polars.col(f"classes.{name}.throughput") for name in ("first", *tcp)}
    taken = {
        name: polars.col(f"classes.{name}.arrivals")
        * (polars.col(f"classes.{name}.loss_ratio") + polars.col(f"classes.{name}.mark_ratio"))
        for name in sent
    }

    def part(effect: str, name: str, among: tuple[str, ...]) -> Check:
        found, bandwidth = (
            shares.per_seed(100 * one[name] / sum((one[other] for other in among), polars.lit(0.0)), "RED", unit="%")
            for one in (taken, sent)
        )
        return Effect(f"share of what is taken over that of the bandwidth, {effect}").better(
            found, bandwidth, "equal", tolerance
        )

    windows = zip(("TCP with windows of 2", "TCP with windows of 4", "TCP with any window"), tcp, strict=True)
    return Judgement(
        [*(part(effect, name, tcp) for effect, name in windows), part("UDP among all", "first", ("first", *tcp))],
        "RED takes in proportion to packets, which is to bandwidth among connections of packets of one size. UDP's are "
        "a tenth of TCP's.",
    )


@claim("stabilize the queue length around max_th = 80,000 bytes", "Section 4.2, Fig. 2b", "fig2 schemes")
@tolerance(measures.FIFTH)
def red_at_maxth(settled: Runs, schemes: Runs, evidence: Evidence) -> Judgement:
    """RED stabilises the queue around `maxth`, 80 000 bytes, whichever number of nodes suits drop tail's loss."""
    checks = [Effect("backlog after 5 s").near(backlog(settled, "RED"), 80, measures.FIFTH)]
    checks += [
        Effect(f"backlog in 20 s with {at[HOSTS]} nodes").near(backlog(load, "RED", at), 80, measures.FIFTH)
        for load, at in suiting(evidence)
    ]
    signalled = schemes.per_seed(measures.SIGNALLED, "RED")
    flows = schemes.per_seed("classes.ftp.flows", "RED").mean
    least = flows / (theory.PROPAGATION + 0.8 * measures.FULL) / (theory.CAPACITY - flows / 3 * theory.UDP)
    return Judgement(
        checks,
        "The number of nodes is not stated: those are judged with which drop tail loses half to twice 12 % of TCP's "
        f"packets. {flows:.0f} flows rest where {signalled:.0f} % of their packets are marked or dropped, which RED's "
        f"line and spacing give at {20 + 0.6 * 1.5 * signalled.mean:.0f} kB. At maxth all would be: as many windows of "
        f"one packet are {100 * least:.0f} % of what UDP leaves of the link, so that it takes {flows / least:.0f} "
        "flows to rest there.",
    )


@claim("unable to detect incipient congestion caused by short-term traffic load changes", "Section 4.2", "change")
@tolerance(50, "% of it", "'unable': less than half of the change that RED sees that reads the queue itself")
def red_late(change: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED does not detect incipient congestion by load changes of short term."""
    checks: list[Check] = []
    beside: list[Check] = []
    for end in change.points("traffic.more.stop"):
        at = {"traffic.more.stop": end}
        rise = {
            label: change.from_series(label, between(10, end, measures.P), at)
            - change.from_series(label, between(8, 10, measures.P), at)
            for label in change.labels
        }
        effect = f"rise of p in {end - 10:.3g} s over that with W_q = 1"
        # 2 s, some thirty round trips, are no short term.
        (checks if end < 11 else beside).append(
            Effect(effect).better(rise["RED"], rise["RED, W_q = 1"], "lower", tolerance)
        )
    return Judgement(
        checks,
        "20 nodes with windows of 5 packets leave the queue short; 20 more sources of 1 Mbit/s overload the link. A "
        "weight of 0.002 averages over 500 packets, which at this rate are some hundredths of a second: RED is late "
        "for what is over by then, and sees what lasts: 2 s stand beside.",
        beside=beside,
    )


@claim(
    "the ideal setting of max_p since it minimizes both the queueing delay and packet loss rates",
    "Section 4.2",
    "configuration",
)
@tolerance(BOTH)
def red_maxp(configuration: Runs) -> Judgement:
    """maxp = 1 is ideal: it minimises both delay and loss of RED."""
    others = [label for label in configuration.labels if label.startswith("RED, max_p")]
    return Judgement(
        _delay_and_loss(configuration, others, "not higher"),
        "A steeper slope keeps a shorter queue, and spares TCP its losses by overflow. UDP is dropped instead, the "
        "more the steeper.",
    )


@claim("dropped with a probability of one only if the queue is full", "Section 4.2")
@tolerance(5, "%", "'only': 19 of 20 times, as with 'at all times'; full: 80 000 bytes, max_th")
def red_full(fine: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's thresholds are such that it drops with a probability of one only if the queue is full."""
    full = fine.from_series("RED", full_at_certainty, unit="%")
    certain = fine.from_series("RED", lambda frame: 100 * float((frame["p.max"].to_numpy() >= 1.0).mean()))
    return Judgement(
        [Effect("steps with p = 1 in which 80 000 bytes or more wait").of(full, least=100 - tolerance.value)],
        f"p is 1 from an average of 80 000 bytes on, in {certain:.2g} % of the time. The queue may then be below its "
        "average, and a fifth of the buffer free.",
    )


def full_at_certainty(frame: polars.DataFrame) -> float | None:
    """Return the part of the steps with p = 1 in which 80 % of the buffer waits, by the wait of what arrives (%)."""
    wait = frame.select(polars.mean_horizontal("ftp.delay", "udp.delay"))["ftp.delay"].to_numpy()
    leaves = frame["t"].to_numpy() + 0.5 * (frame["t"][1] - frame["t"][0])
    known = ~np.isnan(wait)
    came, waited = (leaves - wait)[known], wait[known]
    at = frame.filter(polars.col("p.max") >= 1.0)["t"].to_numpy()
    return float(100 * np.mean(np.interp(at, came, waited) >= 0.8 * measures.FULL)) if at.size else None


@claim(
    "other parameters are the default RED parameters in ns-2, and are therefore expected to cover a large range "
    "of operating conditions",
    "Section 4.2",
    "load conditions",
    sensitive=False,
)
@tolerance(GOODPUT.value, RELATIVE, f"of a utilisation; {LOSS.value:g} % of a loss, {DELAY.value:g} % of a delay")
def red_range(load: Runs, conditions: Runs) -> Judgement:
    """RED's defaults cover a large range of operating conditions: it is no worse than drop tail in the paper's three
    measures.
    """
    cases: list[tuple[str, Runs, At]] = [(f"{count:g} nodes", load, {HOSTS: count}) for count in load.points(HOSTS)]
    cases += [(name, conditions, at) for name, at in POINTS.items()]
    metrics: list[tuple[str, str, Tolerance, Better]] = [("utilisation", "utilisation", GOODPUT, "not lower")]
    metrics += [(metric, name, line, "not higher") for metric, name, line in HARM]
    checks = [
        check
        for metric, name, line, better in metrics
        for where, runs, at in cases
        for check in runs.compare(
            metric, "RED", ["DropTail"], better=better, tolerance=line, at=at, name=f"{name}, {where},"
        )
    ]
    return Judgement(
        checks,
        "The thresholds are the paper's own throughout. In bytes they suit one product of rate and round trip: with "
        "fewer flows or longer round trips windows are larger, and marks from 20 kB on may come too early to keep the "
        "link busy. UDP is dropped where TCP is marked, so that all packets lose more.",
    )

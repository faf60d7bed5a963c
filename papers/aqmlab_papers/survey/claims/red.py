"""Claims on RED: sections 2.2 and 4.2."""

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, Evidence, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE, Better
from aqmlab_papers.describe.thresholds import DELAY, GOODPUT, LOSS
from aqmlab_papers.survey import measures, theory
from aqmlab_papers.survey.experiments import POINTS
from aqmlab_papers.survey.measures import HOSTS, WAIT, backlog, between, suiting

HARM: tuple[tuple[str | polars.Expr, str, Tolerance, str], ...] = (
    (WAIT, "wait", DELAY, "ms"),
    *((metric, f"loss of {reading}", LOSS, "%") for reading, metric in measures.READINGS.items()),
)
"""What RED is to keep low, with the difference that counts; a loss in three readings."""
BOTH = Tolerance(LOSS.value, RELATIVE, f"of a loss; {DELAY.value:g} % of a delay", negligible=True)
HIGH = Tolerance(5, "%", "'high': the link idles for a twentieth of the time at most")


def _delay_and_loss(runs: Runs, others: list[str], better: Better) -> list[Check]:
    """Compare RED's wait, and its loss in each reading, with those of others."""
    return [
        check
        for metric, name, line, unit in HARM
        for check in runs.compare(metric, "RED", others, better=better, tolerance=line, name=name, unit=unit)
    ]


@claim("minimize packet loss and queueing delay", "Section 2.2", "schemes")
@tolerance(BOTH)
def red_loss_and_delay(schemes: Runs) -> Judgement:
    """RED meets its objective of less loss and delay: it loses less than drop tail, and delays less."""
    return Judgement(
        _delay_and_loss(schemes, ["DropTail"], "lower"),
        "RED keeps a short queue, and marks TCP's packets instead of losing them. Of all packets alone it loses more, "
        f"{measures.lost(schemes, 'all packets', 'RED'):.1f} instead of "
        f"{measures.lost(schemes, 'all packets', 'DropTail'):.1f} %: most are UDP's, which cannot be marked, and which "
        "drop tail's buffer mostly has room for. The survey does not say what it counts: TCP's packets, our choice, "
        "or bytes.",
    )


@claim("maintain high link utilization", "Section 2.2", "fig2 schemes")
@tolerance(HIGH)
def red_utilisation(schemes: Runs, evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """RED meets its objective of a high utilisation."""
    least = 100 - tolerance.value
    return Judgement(
        [Effect("utilisation").of(schemes.per_seed("utilisation", "RED"), least=least)],
        f"RED keeps {backlog(schemes, 'RED'):.0f} kB in the queue, which are at times too few to bridge a round trip, "
        "so that the link idles a little more than with drop tail. The number of nodes is not stated; beside are "
        "others with which drop tail loses half to twice 12 % of TCP's packets. The fewer flows, the larger each "
        "window, and the more a link idles when some are halved.",
        [
            *schemes.compare("utilisation", "RED", ["DropTail"], better="not lower", tolerance=GOODPUT),
            *(
                Effect(f"utilisation, {at[HOSTS]} nodes").of(load.per_seed("utilisation", "RED", at), least=least)
                for load, at in suiting(evidence)
            ),
        ],
    )


@claim("avoid global synchronization of sources", "Section 2.2; issue 3 of Section 3", "synchronisation")
@tolerance(2, "%", "a fiftieth of the flows")
def red_synchronisation(synchronisation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED meets its objective of avoiding synchronisation: fewer flows lose in the same event than with drop tail."""
    metric = "links.bottleneck.loss_synchronisation"
    checks = synchronisation.compare(
        metric, "RED", better="lower", tolerance=tolerance, each=(HOSTS, "{:g} nodes"), name="flows hit by an event"
    )
    return Judgement(
        checks,
        "Counted are the flows that lose a packet in the same event of 0.1 s, about a round trip, as in RFC 7928; TCP "
        "runs alone and without ECN, so that every signal is a loss of TCP's. While RED's average is high, it takes "
        "packets from all flows that send; a full buffer takes runs of packets from a few.",
    )


@claim("remove biases against bursty sources", "Section 2.2")
@tolerance(10, "% of it", "a bias of less than a tenth is none")
def red_bursty(bursts: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED meets its objective of removing biases against bursty sources."""
    loss = {
        (label, name): bursts.per_seed(f"classes.{name}.loss_ratio", label)
        for label in ("DropTail", "RED")
        for name in ("udp", "smooth")
    }
    wanted: dict[str, Better] = {"RED": "equal", "DropTail": "higher"}
    own, plain = (
        Effect(f"loss of bursty over smooth UDP, {label}").better(
            loss[label, "udp"], loss[label, "smooth"], how, tolerance
        )
        for label, how in wanted.items()
    )
    return Judgement(
        [own],
        "RED decides by an average queue, which a burst of one source hardly moves. There is little bias to remove "
        f"here, though: drop tail, beside, loses {loss['DropTail', 'udp']:.2g} % of the bursty packets and "
        f"{loss['DropTail', 'smooth']:.2g} % of the smooth ones, as a burst of 1 Mbit/s does not fill a buffer that "
        "drains at 45.",
        [plain],
    )


@claim(
    "For a constant average queue length, all incoming packets have the same probability to get dropped", "Section 2.2"
)
@tolerance(5, "% of it", "a probability that some thousands of drops tell")
def red_same_probability(no_ecn: Runs, *, tolerance: Tolerance) -> Judgement:
    """At a constant average all packets, TCP's and UDP's, have the same probability of being dropped."""
    found = 100 * (no_ecn.from_series("RED", at_equal_average) - 1)
    return Judgement(
        [
            Effect("probability of a drop at the same average, TCP over UDP").of(
                found, unit="%", least=-tolerance.value, most=tolerance.value
            )
        ],
        "RED does not look at whose packet it is. TCP and UDP, both dropped without ECN, are compared where RED's "
        "average is the same to a quarter of a packet. From one packet to the next the probability does differ: the "
        "counter spares the first 1 / p packets after a drop, and is certain to take one of the next 1 / p.",
        [
            Effect("drops of a run that are compared").of(
                no_ecn.per_seed("drops_early", "RED", unit="packets"), least=1000
            )
        ],
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
        "RED marks and drops in proportion to packets. Among TCP's connections, whose packets have one size, that is "
        "in proportion to bandwidth; UDP's have a tenth of that size, so that RED takes more of them than their share.",
    )


@claim("stabilize the queue length around max_th = 80,000 bytes", "Section 4.2, Fig. 2b", "fig2 schemes")
@tolerance(measures.FIFTH)
def red_at_maxth(settled: Runs, schemes: Runs, evidence: Evidence) -> Judgement:
    """RED stabilises the queue around `maxth`, 80 000 bytes."""
    beside = [
        Effect(f"backlog in 20 s with {at[HOSTS]} nodes").near(backlog(load, "RED", at), 80, measures.FIFTH)
        for load, at in suiting(evidence)
    ]
    signalled = schemes.per_seed(measures.SIGNALLED, "RED")
    flows = schemes.per_seed("classes.ftp.flows", "RED").mean
    least = flows / (theory.PROPAGATION + 0.8 * measures.FULL) / (theory.CAPACITY - flows / 3 * theory.UDP)
    return Judgement(
        [Effect("backlog after 5 s").near(backlog(settled, "RED"), 80, measures.FIFTH)],
        f"{flows:.0f} flows fill the link where {signalled:.0f} % of their packets are marked or dropped, and RED does "
        "so far below maxth. At maxth every packet would be signalled and windows would be one packet: as many flows "
        f"would fill {100 * least:.0f} % of what UDP leaves of the link, so that a queue rests there only with "
        f"{flows / least:.0f} flows or more. Beside are other numbers of nodes with which drop tail loses half to "
        "twice 12 % of TCP's packets.",
        beside,
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
        peak = {
            label: change.from_series(label, between(10, 10.4, polars.col("p.mean").max()), at)
            for label in change.labels
        }
        length = f"{end - 10:.3g} s"
        # 2 s, some thirty round trips, are no short term.
        (checks if end < 11 else beside).extend(
            Effect(effect).better(found["RED"], found["RED, W_q = 1"], "lower", tolerance)
            for effect, found in (
                (f"rise of p in an overload of {length} over that with W_q = 1", rise),
                (f"greatest p within 0.4 s, an overload of {length}, over that with W_q = 1", peak),
            )
        )
    return Judgement(
        checks,
        "20 nodes with windows of 5 packets leave the queue short, until 20 more sources of 1 Mbit/s overload the "
        "link for less than a round trip, or for some; 2 s, beside, are no short term. A weight of 0.002 averages over "
        "500 packets, some hundredths of a second: RED sees an overload late, and hardly does before the shorter one "
        "is over. But then its p is as high as without an average.",
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
        "A steeper slope keeps a shorter queue, and spares TCP most of the losses by overflow that it has with a max_p "
        "of 0.1; with 0.5 they are fewest. But RED drops UDP wherever it would mark TCP, and the more the steeper it "
        "is, so that more of all packets and of bytes are lost.",
    )


@claim("dropped with a probability of one only if the queue is full", "Section 4.2")
@tolerance(5, "%", "'only': 19 of 20 times, as with 'at all times'; full: 80 000 bytes, max_th")
def red_full(fine: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's thresholds are such that it drops with a probability of one only if the queue is full."""
    full = fine.from_series("RED", full_at_certainty, unit="%")
    certain = fine.from_series("RED", lambda frame: 100 * float((frame["p.max"].to_numpy() >= 1.0).mean()))
    return Judgement(
        [Effect("steps with p = 1 in which 80 000 bytes or more wait").of(full, least=100 - tolerance.value)],
        "p is 1 while RED's average is 80 000 bytes or more. The average lags behind the queue, which has fallen below "
        f"80 000 bytes in {100 - full.mean:.0f} % of these steps. How rare they are is beside.",
        [Effect("time in which p = 1").of(certain, unit="%", most=tolerance.value)],
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
    checks = [
        check
        for metric, name, line, unit in (("utilisation", "utilisation", GOODPUT, "%"), *HARM)
        for where, runs, at in cases
        for check in runs.compare(
            metric,
            "RED",
            ["DropTail"],
            better="not lower" if name == "utilisation" else "not higher",
            tolerance=line,
            at=at,
            name=f"{name}, {where},",
            unit=unit,
        )
    ]
    return Judgement(
        checks,
        "The thresholds are the paper's own throughout, and in bytes they suit one product of rate and round trip. "
        "With fewer flows or longer round trips windows are larger, and marks from 20 kB on come too early to keep the "
        "link busy. RED drops UDP where it marks TCP, so that more of all packets are lost than with drop tail, and "
        "with many flows or much UDP more bytes too.",
    )

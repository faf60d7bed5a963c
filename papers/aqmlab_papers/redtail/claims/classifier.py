"""Claims on the distinction of short and long flows: section III."""

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.check import Better
from aqmlab_papers.redtail.measures import (
    CHOSEN,
    HERO,
    LONG,
    LOSS,
    PAYLOAD,
    RATE,
    TABLE_3,
    TABLE_4,
    Rows,
    T,
    of,
    over_n,
)
from aqmlab_papers.redtail.measures import N as AFTER
from aqmlab_papers.theory import redtail

THINK = 50.0
"""The mean time between the sessions of a client (s)."""
SMALLEST, SHAPE = 2300.0, 1.3
"""Minimum (bytes) and shape of the Pareto distribution of file sizes."""
FTPS = 10
"""Long pairs that are no false alarms."""
REQUEST_ACKS = 2
"""Packets of a connection to the reader in addition to its file: the ACKs of the SYN and of the request."""


def taken_for_long(n: int, silence: float) -> float:
    """Compute the fraction of web connections with a packet that the pair's count classifies as long.

    The first ``n`` packets of a pair are short; after ``silence`` (s) a pair is new. A client that returns earlier
    finds the pair's counter unchanged, and the packets of several files add up. Retransmissions are not counted.
    """
    longer = redtail.longer_than(np.maximum(PAYLOAD * np.arange(n + 1), SMALLEST))
    file = np.zeros(n + 1)
    file[REQUEST_ACKS + 1 :] = -np.diff(longer)[: n - REQUEST_ACKS]
    again = -np.expm1(-silence / THINK)
    within, weight, share = file, 1 - again, 0.0
    while weight > 1e-12:
        share += weight * (1 - float(within.sum()))
        weight *= again
        within = np.convolve(within, file)[: n + 1]
    return share


def printed_room(table: Rows) -> float:
    """Return the share of web packets in the long queue according to the printed delays (%).

    At this share the web's delay is the weighted mean of CBR's in the short queue and FTP's in the long one.
    """
    ftp, web, cbr = (table[name][1] for name in ("FTP", "WEB", "CBR"))
    return 100 * (web - cbr) / (ftp - cbr)


@claim("The probability of false alarm is less than 0.02 in our scenario", "Section III", "alarms")
@tolerance(0, "%", "'less than' is a bound")
def false_alarms(time: Runs, n: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """Fewer than 2 % of the web's connections are taken for long ones."""
    most = 2.0 + tolerance.value

    def counted(runs: Runs, at: At, where: str) -> Check:
        return Effect(f"pairs that turn long, of the connections{where}").of(counted_long(runs, at), most=most)

    points = [CHOSEN[AFTER]] if n is None else n.points(AFTER)
    return Judgement(
        [counted(time, {}, "")],
        "Pairs of hosts that turn long are counted, also those with a file of more than N packets, which is no false "
        "alarm. A pair that is long keeps its count for T, so that its reader's next small files are false alarms that "
        "the count lacks; all of them are in the law of the sizes, beside.",
        [
            *over_n(n, counted),
            *(
                Effect(f"false alarms by the law, N = {after}").exact(
                    100 * falsely(int(after), 10.0), unit="%", most=most
                )
                for after in points
            ),
        ],
    )


def falsely(n: int, silence: float) -> float:
    """Compute the part of `taken_for_long` whose own file has no more than ``n`` packets."""
    return taken_for_long(n, silence) - float(redtail.longer_than(max(PAYLOAD * (n - REQUEST_ACKS), SMALLEST)))


def counted_long(runs: Runs, at: At) -> PerSeed:
    """Return the pairs of the web that turn long, as a share of the web's connections (%)."""
    turned = runs.from_series(HERO, lambda frame: float(frame["turned.max"].max()) - FTPS, at)  # type: ignore[arg-type]
    return (100 * turned / runs.per_seed(of("WEB", "started"), HERO, at)).called("connections", "%")


@claim(
    "there is no harm if the short-life connection packets are misdirected to the RED queue after time T",
    "Section III",
    "over-t",
)
@tolerance(10, "% of it", "harm: a time or a rate that is a tenth worse")
def misdirected_do_no_harm(silence: Runs, *, tolerance: Tolerance) -> Judgement:
    """Packets of short connections that come to the long queue harm neither the web nor FTP, being few."""
    points = silence.points(T)

    def against_least(name: str, metric: str, better: Better) -> list[Check]:
        values = {one: silence.per_seed(metric, HERO, {T: one}) for one in points}
        return [
            Effect(f"{name}, T = {one:g} s over T = {points[0]:g} s").better(
                values[one], values[points[0]], better, tolerance
            )
            for one in points[1:]
        ]

    shares = ", ".join(f"{web_in_long(silence, {T: one}).mean:.1f}" for one in points)
    return Judgement(
        against_least("time of a web file", of("WEB", "completion_time_mean"), "not higher")
        + against_least("throughput of FTP", of("FTP", RATE), "not lower"),
        "With a long T the packets of several files of a reader add up to N, and the later ones go to the long queue; "
        f"from the least T to the greatest {shares} % of the web's packets do. They are too few to change a file's "
        "time or FTP's rate by a tenth.",
        against_least("loss of web", of("WEB", LOSS), "not higher"),
    )


def web_in_long(runs: Runs, at: At) -> PerSeed:
    """Return the web's packets that come to the long queue, as a share of all of them (%)."""
    share = (polars.col(LONG + "arrivals") - polars.col(of("FTP", "arrivals"))) / polars.col(of("WEB", "arrivals"))
    return runs.per_seed(100 * share, HERO, at, unit="%")


@ours("ours", "table3 over-n")
@tolerance(0, "%", "the share that the delays of Table III allow")
def much_of_web_is_long(n: Runs, *, tolerance: Tolerance) -> Judgement:
    """A good part of the web's packets go through the queue of long flows if N is 64, more than the printed delays
    allow.
    """
    room = [printed_room(table) for table in (TABLE_3[HERO], TABLE_4)]
    first, *more = [
        Effect(f"packets of web that come to the long queue, N = {after}").of(
            web_in_long(n, {AFTER: after}), least=room[0] + tolerance.value
        )
        for after in n.points(AFTER)
    ]
    return Judgement(
        [first],
        f"If web differs from CBR by these packets alone, the printed delays have room for {room[0]:.0f} % of them in "
        f"Table III and for {room[1]:.0f} % in Table IV. Beside: larger N.",
        more,
    )

"""Claims on small files over a link that drops at random: section II (Fig. 2, Table I)."""

from itertools import combinations
from statistics import fmean

import numpy as np

from aqmlab_papers import Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.redtail import theory
from aqmlab_papers.redtail.measures import DRAMATIC, PAYLOAD
from aqmlab_papers.theory import redtail, transfers

SIZES = (30, 90, 150)
"""File sizes of Table I (KB)."""
FREE = 30
"""The size (KB) whose mean delays no TCP of the calibration meets together with the times without loss."""
LOSSY = [(size, p) for size, p in theory.TABLE_1 if p]


@claim("in the loss free case, the file can be delivered in 1.18s", "Table I", "table1 fig2")
@tolerance(0.005, "s", "half a unit of the last printed digit")
def files_without_loss(table1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Without loss files of 30, 90 and 150 KB take 0.88, 1.18 and 1.34 s."""
    return Judgement(
        [],
        "An ACK for every packet, and two round trips besides those of the data, are fitted to these three numbers, so "
        "that it is no test that all come out. Files with losses have the same transfers.",
        [
            Effect(f"{size} KB").near(theory.delivery(table1, size, 0.0), theory.TABLE_1[size, 0.0][0], tolerance)
            for size in SIZES
        ],
    )


@claim("Table I lists the mean and standard deviation of the delay", "Table I, Fig. 2", "table1 fig2")
@tolerance(25, "% of it", "the mean of some hundred transfers with such deviations is accurate to about a fifth")
def files_with_loss(table1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The mean delay of small files rises with the drop probability as Table I has it."""
    found = {at: theory.delivery(table1, *at) for at in LOSSY}
    part = {
        size: fmean(found[kb, p].mean / theory.TABLE_1[kb, p][0] for kb, p in LOSSY if kb == size) for size in SIZES
    }
    checks = [
        Effect(f"{size} KB, Pd = {p:g}").near(mean, theory.TABLE_1[size, p][0], tolerance)
        for (size, p), mean in found.items()
    ]
    free = sum(size == FREE for size, _ in LOSSY)
    return Judgement(
        checks[:free],
        f"TCP is chosen by these means among others, and is near at 90 and 150 KB (beside): {part[90]:.2f} and "
        f"{part[150]:.2f} of the printed ones. Those of {FREE} KB are judged, as no TCP of the calibration meets them "
        f"without missing the times without loss: they are {part[FREE]:.2f} of the printed ones, within a quarter at "
        "0.02 alone. There the first packets count most, whose loss costs the long first time-out; in trials, beside, "
        "a request can be lost too.",
        [
            *checks[free:],
            *(
                Effect(f"{size} KB, Pd = {p:g}, trials with a request").near(
                    PerSeed.of(list(theory.tried(size, p)[0].mean(axis=1)), "s"), theory.TABLE_1[size, p][0], tolerance
                )
                for size, p in LOSSY[:free]
            ),
        ],
    )


@claim("Table I lists the mean and standard deviation of the delay", "Table I", "table1")
@tolerance(50, "% of it", "the deviation of a heavy tail from a few hundred transfers is accurate to about a third")
def files_deviations(table1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The standard deviation of small files' delay rises with the drop probability as Table I has it."""
    beside = [
        Effect(f"{size} KB, Pd = {p:g}, trials").near(
            PerSeed.of(list(theory.tried(size, p)[0].std(axis=1, ddof=1)), "s"), theory.TABLE_1[size, p][1], tolerance
        )
        for size, p in LOSSY
    ]
    return Judgement(
        [
            Effect(f"{size} KB, Pd = {p:g}").near(
                theory.deviation(table1, size, p), theory.TABLE_1[size, p][1], tolerance
            )
            for size, p in LOSSY
        ],
        "Most of the deviation comes from time-outs. Those of a SYN, a request or the first packets are 6 s, doubled "
        "each time. Of 30 KB, where few such time-outs decide, the deviation at 0.04 and 0.08 is about half of the "
        "printed one, and open.",
        beside,
    )


@claim("TCP takes about 4.81s to complete transmission of a 90KB file if Pd = 0.04", "Section II", "table1 fig2")
@tolerance(25, "% of it", "as for Table I")
def files_several_times(table1: Runs, *, tolerance: Tolerance) -> Judgement:
    """At Pd = 0.04 a file of 90 KB takes 4.81 s, in comparison to 1.18 s without loss."""
    printed = theory.TABLE_1[90, 0.04][0] / theory.TABLE_1[90, 0.0][0]
    times = theory.delivery(table1, 90, 0.04) / theory.delivery(table1, 90, 0.0)
    return Judgement(
        [],
        "TCP and the extent of a transfer are fitted to these two numbers among others, so that it is no test how near "
        "they come. What the fit leaves free of Table I is judged by files-with-loss and files-deviations.",
        [Effect("delay of 90 KB at Pd = 0.04 over that without loss").near(times, round(printed, 2), tolerance)],
    )


@claim(
    "losing one packet in the slow start phase takes TCP a long time to complete a short message",
    "Section II",
    "one-loss",
)
@tolerance(50, "%", "long: half of the time without a loss")
def one_loss_is_long(_: object, *, tolerance: Tolerance) -> Judgement:
    """With a loss in the first round trips of slow start TCP takes a long time to complete a short message."""
    free = {size: float(transfers.loss_free(size, theory.RTT, theory.PACKET_TIME)) for size in SIZES}
    checks, beside = (
        [
            Effect(
                f"delay added by the loss of one of packets {first} to {min(last, size)} of {size} KB, {flavour}"
            ).exact(
                100
                * (
                    fmean(theory.lost({k}, flavour, size).duration for k in range(first, min(last, size) + 1))
                    / free[size]
                    - 1
                ),
                unit="%",
                least=tolerance.value,
            )
            for size in SIZES
            for flavour in ("tahoe", "reno")
        ]
        for first, last in ((2, 15), (1, 64))
    )
    return Judgement(
        checks,
        "The paper argues with a loss in the initial several round trips, and its example is the 15th packet, so that "
        "the mean over packets 2 to 15 is judged, with both TCPs that it explains: congestion avoidance then starts "
        "from a small window. The first packet's time-out of 6 s is a setting of ours, and is beside with all of slow "
        "start, where later losses add less.",
        beside,
    )


@claim(
    "ssthresh decreases from 64KB to 4KB and the new congestion window cwnd is decreased from 8KB to 1KB", "Section II"
)
@tolerance(0.5, "packets", "whole packets")
def fifteenth(_: object, *, tolerance: Tolerance) -> Judgement:
    """If the 15th packet is lost, the threshold goes from 64 to 4 KB, the window from 8 to 1 KB (Tahoe)."""
    found = theory.lost({15}, "tahoe")
    return Judgement(
        [
            Effect(f"{name} (printed: {value})").exact(
                got, unit="packets", least=value - tolerance.value, most=value + tolerance.value
            )
            for name, got, value in (
                ("window at the third duplicate ACK", found.window, 8),
                ("threshold after it", found.ssthresh, 4),
            )
        ],
        "The 15th packet is sent when the window is 8. But before the three duplicate ACKs that tell of its loss, the "
        "ACKs of the 14 packets before it arrive, and have raised the window to 15.",
    )


@claim(
    "the sender may not have enough data packets to trigger the receiver to generate three duplicate acknowledgements",
    "Section II",
    "one-loss",
)
@tolerance(0, "", "the print says 'may not': of each round trip's packets at least one")
def early_losses_time_out(_: object, *, tolerance: Tolerance) -> Judgement:
    """In each of the first three round trips there are packets whose loss brings too few duplicate ACKs: a time-out."""

    def timed_out(first: int, last: int) -> float:
        return float(sum(theory.lost({k}).timeouts > 0 for k in range(first, last + 1)))

    return Judgement(
        [
            Effect(f"packets of round trip {turn} whose loss is a time-out").exact(
                timed_out(2 ** (turn - 1), 2**turn - 1), least=1 + tolerance.value
            )
            for turn in (1, 2, 3)
        ],
        "The loss of one of the first three packets is a time-out: too few packets follow it for three duplicates. "
        "From the fourth on, the packets of the next round trip make enough of them.",
        [Effect("packets of the 8th to 63rd whose loss is a time-out").exact(timed_out(8, 63), most=0)],
    )


@claim(
    "the probability of losing two or more packets of the same congestion window in the slow start phase also "
    "cannot be ignored",
    "Section II",
    arithmetic=True,
)
def two_in_a_window(_: object) -> Judgement:
    """Two losses in a window are not rare."""
    windows = 2 ** np.arange(6)
    few = 0.96**windows + windows * 0.04 * 0.96 ** (windows - 1)
    return Judgement(
        [
            Effect("probability of two losses in a window of slow start up to 63 packets, at 0.04").exact(
                1 - float(np.prod(few)), least=0.05
            )
        ],
        "If losses are independent; more than a twentieth is not to be ignored.",
    )


@claim("These events lead to a high probability of TCP timeout and connection reset", "Section II", "one-loss")
@tolerance(50, "%", "high: more likely than not")
def two_losses_time_out(_: object, *, tolerance: Tolerance) -> Judgement:
    """Two losses in a window of slow start lead to a time-out with a high probability."""
    windows = [range(2**turn, 2 ** (turn + 1)) for turn in range(1, 6)]
    pairs = [pair for window in windows for pair in combinations(window, 2)]
    checks = [
        Effect(f"pairs of packets of one window, of 2 to 32 packets, whose loss is a time-out, {flavour}").exact(
            100 * fmean(theory.lost(pair, flavour).timeouts > 0 for pair in pairs), unit="%", least=tolerance.value
        )
        for flavour in ("reno", "tahoe")
    ]
    return Judgement(
        checks,
        "Reno leaves fast recovery at the first new ACK, and must then wait for its timer. Tahoe begins slow start "
        "anew, and so sends the second lost packet too. Resets are not judged, as in ns-2 no sender ever makes one.",
    )


@claim("the delivery delay could be increased dramatically by timeout events", "Section II", "table1")
@tolerance(DRAMATIC)
def timeouts_are_long(_: object, *, tolerance: Tolerance) -> Judgement:
    """Time-outs raise the delivery delay dramatically, as the timer is long."""
    times, timeouts = theory.tried(90, 0.04, 60)
    both = [
        PerSeed.of([float(one[keep].mean()) for one, keep in zip(times, which, strict=True)], "s")
        for which in (timeouts > 0, timeouts == 0)
    ]
    return Judgement(
        [
            Effect("delay of the transfers with a time-out / of those without, 90 KB at 0.04").of(
                both[0] / both[1], least=tolerance.value
            )
        ],
        f"Transfers with a time-out, {100 * float((timeouts > 0).mean()):.0f} % of all, take {both[0]}, those without "
        f"{both[1]}. A time-out is at least 1 s, and 6 s before a round trip is measured. Those of a lost SYN or "
        "request are not counted, and lengthen both means.",
    )


@claim("is equal to 1 - (1 - Pd)^64 = 0.9267", "Section II", arithmetic=True)
def lost_in_64(_: object) -> Judgement:
    """A loss in the slow start of 64 packets has the probability 0.9267 at Pd = 0.04."""
    p = float(transfers.any_lost(64, 0.04))
    return Judgement(
        [Effect("probability of a loss in 64 packets at 0.04").exact(p, least=0.92665, most=0.92675)],
        "If losses are independent.",
    )


@claim("most TCP connections have at least one packet dropped in their first slow start phase", "Section II")
@tolerance(50, "%", "most")
def most_lose(_: object, *, tolerance: Tolerance) -> Judgement:
    """With a drop probability of 0.04 most TCP connections lose a packet in their first slow start."""
    edges = np.arange(0, 100_001) * PAYLOAD
    share = -np.diff(redtail.longer_than(np.maximum(edges, 2300.0)))
    few = 100 * float(share @ transfers.any_lost(np.arange(1, edges.size), 0.04))
    return Judgement(
        [Effect("share of web files that lose a packet at 0.04").exact(few, unit="%", least=tolerance.value)],
        "The paper counts 64 packets, a file of 61 KB. By its own law of sizes only "
        f"{100 * float(redtail.longer_than(64 * PAYLOAD)):.1f} % of the web's files are longer, and half of them have "
        "four packets or fewer. The sentence is true of the files of 30 KB and more in Table I.",
    )


@claim("Since most web pages have sizes in the above range", "Section II")
@tolerance(50, "%", "most")
def page_sizes(_: object, *, tolerance: Tolerance) -> Judgement:
    """Most web pages have 30 to 210 KB."""
    pages = np.cumsum(2300.0 * (1 + np.random.default_rng(1).pareto(1.3, (100_000, 7))), axis=1)
    shares = 100 * ((pages >= 30e3) & (pages <= 210e3)).mean(axis=0)
    return Judgement(
        [],
        "The paper has a law of the sizes of files, and none of pages. A page has 'one or several very small files'; "
        "how many, it does not say, nor does it cite what pages of the time had. Beside are pages of one to seven "
        "files, by the law: most have such a size from six files on.",
        [
            Effect(f"pages of {count} file{'s' * (count > 1)} that have 30 to 210 kB").exact(
                float(share), unit="%", least=tolerance.value
            )
            for count, share in enumerate(shares, 1)
        ],
    )

"""The claims: those of the introduction, what authors and a co-worker of theirs measured elsewhere, and ours."""

import math

import polars

from aqmlab_papers import Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.cake.experiments import DELAY
from aqmlab_papers.cake.measures import (
    ENTRIES,
    FLOWS,
    PUBLISHED,
    SAME,
    TRIPLE,
    goodput,
    share,
    together,
    used,
)
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.describe.thresholds import GOODPUT

RATE = 10e6
"""The rate (bit/s) to which classes are shaped."""

BULLETS = "Section I"


@claim(
    "a high-precision rate-based bandwidth shaper that includes overhead and link layer compensation features for "
    "various link types",
    BULLETS,
)
@tolerance(1, "%", "'high-precision': a shaper that needs a hundredth less than the link is as good as the link")
def shaper(modem: Runs, *, tolerance: Tolerance) -> Judgement:
    """Shaped to the rate of a modem, by its cells, the modem is in use all the time and no packet waits in it."""
    return Judgement(
        [
            Effect("use of the modem").of(
                modem.per_seed("links.modem.utilisation", "cells", unit="%"), least=100 - tolerance.value
            ),
            Effect("mean wait in the modem").of(modem.per_seed("links.modem.queue_delay_mean", "cells"), most=1),
        ],
        "The next packet may leave when the last one's cells have passed at the modem's rate: packets come to the "
        "modem as it can send them. Of 1500 bytes 32 cells make 1696, which CAKE must know of.",
        beside=[
            Effect("mean wait in the modem, shaped by packets without cells").of(
                modem.per_seed("links.modem.queue_delay_mean", "packets"), least=100
            )
        ],
    )


@claim("fairness queueing scheme that simultaneously provides both host and flow isolation", BULLETS, "shares")
@tolerance(0.03, "", "as for the rows of cake-flowiso")
def isolation(sources: Runs, destinations: Runs, pairs: Runs, *, tolerance: Tolerance) -> Judgement:
    """A host with one flow and a host with two get the same, and so do the two flows."""
    cases = [
        (sources, "dual-srchost", "two sources"),
        (destinations, "dual-dsthost", "two destinations"),
        (pairs, "triple-isolate", "two pairs of hosts"),
        (sources, "triple-isolate", "two sources"),
        (destinations, "triple-isolate", "two destinations"),
    ]
    low, high = tolerance.around(0.5)
    return Judgement(
        [
            part
            for runs, mode, hosts in cases
            for part in (
                Effect(f"share of the one flow, {mode}, {hosts}").of(share(runs, mode), least=low, most=high),
                Effect(f"Jain's index of the two flows, {mode}, {hosts}").of(
                    runs.per_seed("classes.two.jain", mode), least=0.999
                ),
            )
        ],
        "A flow's turn is divided by the number of bulk flows of its source, or of its destination. The default, "
        "`triple-isolate`, divides by the greater of both: hosts that share the other end share its number, and get "
        "turns by flows.",
    )


@claim(
    "a DiffServ prioritisation scheme with rate limiting of high-priority flows and work-conserving bandwidth "
    "borrowing behaviour",
    BULLETS,
)
@tolerance(2, "%", "segments that are lost and sent again cost about as much")
def classes(calls: Runs, tins: Runs, bulk_alone: Runs, voice_alone: Runs, *, tolerance: Tolerance) -> Judgement:
    """Voice goes first up to its rate, and gets no more while others send; a class alone has the whole link."""

    def part(runs: Runs, name: str) -> PerSeed:
        return (used(runs, "diffserv3", RATE, name) * 100.0).called(f"part of {name}", "%")

    lost = "classes.video.path_loss_ratio"
    return Judgement(
        [
            Effect("lost of a video of 1 Mbit/s in the voice class, beside 32 flows").of(
                calls.per_seed(lost, "diffserv3"), most=1
            ),
            Effect("voice's part beside the other classes").of(part(tins, "voice"), most=25 + tolerance.value),
            *(
                Effect(f"part of {name} alone").of(part(runs, name), least=100 - tolerance.value)
                for name, runs in (("bulk", bulk_alone), ("voice", voice_alone))
            ),
        ],
        "A class within its threshold rate is served first, the highest of them; beyond it the one whose clock is the "
        "least ahead. No clock stops the only class that has packets.",
        beside=[
            Effect("lost of that video without classes").of(calls.per_seed(lost, "besteffort"), least=10),
        ],
    )


@claim(
    'low-priority "bulk" tier which is assigned 1/16 of the total rate; "latency sensitive" high-priority tier, which '
    "is assigned 1/4 rate",
    "The authors' patch for Linux, 83f8fd69af4f",
)
@tolerance(10, RELATIVE, "parts of TCP flows, which leave some to others")
def fractions(tins: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under load bulk gets a sixteenth and voice a quarter, and best effort the rest."""
    printed = {"bulk": 1 / 16, "voice": 1 / 4, "best": 11 / 16}
    return Judgement(
        [
            Effect(f"part of {name}").near(used(tins, "diffserv3", RATE, name), value, tolerance)
            for name, value in printed.items()
        ],
        "The clocks of bulk and voice advance by the time of a packet at their threshold rates.",
    )


@claim(
    "TCP ACK filtering that increases achievable throughput on highly asymmetrical links",
    f"{BULLETS}; the network of Fig. 6",
    "filtered",
)
@tolerance(GOODPUT)
def filtering(filter: Runs, *, tolerance: Tolerance) -> Judgement:
    """On 30 Mbit/s down and 1 up downloads and uploads get more with the filter, without and with a delay of 25 ms."""
    return Judgement(
        [
            Effect(f"goodput {way}, on over off, {delay:g} ms").better(
                filter.per_seed(goodput(way), "on", {DELAY: delay / 1e3}),
                filter.per_seed(goodput(way), "off", {DELAY: delay / 1e3}),
                "higher",
                tolerance,
            )
            for delay in (0, 25)
            for way in ("down", "up")
        ],
        "Acknowledgements have half of the uplink, by fairness of flows, and the filter makes a part of that free. "
        "They then wait for four segments of uploads at most, 48 ms, and no longer for each other. Downloads gain by "
        "that where the path has a delay. Where it has none, less is in flight, and the queue of the downlink, which "
        "COBALT holds at 5 ms, does not last from one acknowledgement to the next.",
    )


@claim(
    "twice the download throughput than the unfiltered stream! 791Mbit vs 410Mbits",
    "Täht, Adding ack-filtering to cake, 2017",
    "filtered",
)
@tolerance(10, RELATIVE, "read off a plot of one run")
def gigabit(gigabit: Runs, *, tolerance: Tolerance) -> Judgement:
    """On 1 Gbit/s down and 20 Mbit/s up, after 30 s, downloads get twice as much with the filter, uploads 1.5 times."""
    parts = {"down": 791 / 410, "up": 1.5}
    return Judgement(
        [
            Effect(f"goodput {way}, on over off").near(
                gigabit.per_seed(goodput(way), "on") / gigabit.per_seed(goodput(way), "off").mean, value, tolerance
            )
            for way, value in parts.items()
        ],
        "Here downloads fill the link with the filter, and most of it without. His ends and routers were one computer, "
        "and neither of his downloads filled the link. Why those without the filter get half of ours is not known.",
    )


@claim(
    "collision probability only start to rise around 500 simultaneous flows",
    "Fig. 1, in an answer by Høiland-Jørgensen, 30 September 2025",
    "shares",
)
@tolerance(1, "%", "the first mark of an axis of probabilities")
def collisions(collisions: Runs, *, tolerance: Tolerance) -> Judgement:
    """Up to 400 flows less than 1 % lack a queue of their own, from 600 on more."""
    return Judgement(
        [
            Effect(f"part without a queue of its own, {count} flows").of(
                together(collisions, "CAKE", count),
                least=tolerance.value if count > 500 else -math.inf,
                most=tolerance.value if count < 500 else math.inf,
            )
            for count in FLOWS
            if count != 500
        ],
        "A flow has eight queues to choose from; it shares one only if all eight are taken.",
    )


@claim("tests of all of Cake's flow isolation parameters", "Heist, cake-flowiso, 2021: Linux 5.10", "shares rows")
@tolerance(SAME)
def modes(sources: Runs, destinations: Runs, three_sources: Runs, *, tolerance: Tolerance) -> Judgement:
    """In each flow mode one flow of CUBIC and two of Reno share 50 Mbit/s as measured, and eight flows in one."""
    runs = {"sources": sources, "destinations": destinations}
    whole = polars.sum_horizontal(goodput(name) for name in ENTRIES)
    parts = {name: three_sources.per_seed(goodput(name) / whole, "triple-isolate") for name in ENTRIES}
    return Judgement(
        [
            *(
                Effect(row.name).near(share(runs[row.two], row.mode), round(row.share, 3), tolerance)
                for row in PUBLISHED
            ),
            *(
                Effect(f"triple-isolate, three sources, {name}").near(
                    parts[name], round(value / sum(TRIPLE), 3), tolerance
                )
                for name, value in zip(ENTRIES, TRIPLE, strict=True)
            ),
        ],
        "The mode is the law; where all three flows have one queue, TCP shares it. Of three sources and two "
        "destinations, the greater number of flows of a flow's two hosts is four for all eight.",
    )


@ours("A call beside 32 flows")
@tolerance(1, "ms", "less than the time of a packet, 1.2 ms")
def call(calls: Runs, *, tolerance: Tolerance) -> Judgement:
    """A call needs no class: with flows apart it waits no longer without."""
    delay = "classes.call.delay_p95"
    return Judgement(
        [
            Effect("one-way delay (p95) of a call, without classes minus with").better(
                calls.per_seed(delay, "besteffort"), calls.per_seed(delay, "diffserv3"), "not higher", tolerance
            )
        ],
        "A flow that sends less than its part is sparse, and sparse flows go first. A video of more than its part is "
        "not.",
    )


@ours("1 Gbit/s down, 20 Mbit/s up", "filtered")
@tolerance(GOODPUT)
def starved(gigabit: Runs, *, tolerance: Tolerance) -> Judgement:
    """The aggressive filter takes the uplink from uploads where downloads are fast."""
    return Judgement(
        [
            Effect("goodput up, aggressive over off").better(
                gigabit.per_seed(goodput("up"), "aggressive"),
                gigabit.per_seed(goodput("up"), "off"),
                "lower",
                tolerance,
            )
        ],
        "It leaves one acknowledgement in a queue. A queue that is soon empty is sparse again with the next one and "
        "goes before uploads, however many acknowledgements come.",
    )


CLAIMS = [shaper, isolation, classes, fractions, filtering, gigabit, collisions, modes, call, starved]

"""Claims of the abstract and of sections 1, 2 and 4 that the paper states of others' work, run on its dumb-bell."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from statistics import fmean

import polars

import aqmlab
from aqmlab_papers import Check, Claim, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import Better
from aqmlab_papers.describe.thresholds import DELAY, DEVIATION, GOODPUT, LOSS, SHORT_QUEUE
from aqmlab_papers.lred.measures import BAND, BUFFER, COUNT, Q0
from aqmlab_papers.lred.theory import C
from aqmlab_papers.run.complexity import complexity as costs

_REDS = ("RED", "ARED", "S-RED")
"""RED and its variants; BLUE, "another variation", is beside them: it fills the link, which AVQ by design does not."""


def _buffer(name: str, metric: str, sign: int, size: Tolerance, text: str, why: str) -> Claim:
    better: Better = "higher" if sign > 0 else "lower"

    @claim(
        "a small buffer generally achieves a low queuing delay, but suffers from excessive packet losses and low "
        "link utilization, and vice versa",
        "Section 1",
        "buffers",
        text=text,
        name=f"buffer-{name}",
    )
    @tolerance(size)
    def judge(buffers: Runs, *, tolerance: Tolerance) -> Judgement:
        """Compare larger drop-tail buffers with the smallest; neighbouring sizes, and LRED's, beside."""

        def change(label: str, pairs: Iterable[tuple[float, float]]) -> list[Check]:
            found = {size: buffers.per_seed(metric, label, {BUFFER: size}) for size in sizes}
            return [
                Effect(f"{found[less].name} of {label}, {more:g} over {less:g} packets").better(
                    found[more], found[less], better, tolerance
                )
                for less, more in pairs
            ]

        sizes = buffers.points(BUFFER)
        neighbours = list(pairwise(sizes))
        return Judgement(
            change("drop-tail", [(sizes[0], size) for size in sizes[1:]]),
            why,
            change("drop-tail", neighbours[1:]) + change("LRED", neighbours),
        )

    return judge


BUFFERS = [
    _buffer(
        "delay",
        "queue_delay_mean",
        1,
        DELAY,
        "A small drop-tail buffer has less delay than larger ones.",
        "Without early drops the flows raise their windows until the buffer overflows, however large it is.",
    ),
    _buffer(
        "loss",
        "loss_ratio",
        -1,
        LOSS,
        "A small drop-tail buffer has more loss than larger ones.",
        "TCP's rate falls with its round trip and with its losses: a longer queue makes longer round trips, so that "
        "fewer losses hold the flows to the link's rate.",
    ),
    _buffer(
        "use",
        "utilisation",
        1,
        GOODPUT,
        "With a small drop-tail buffer less of the link is used than with larger ones.",
        "A small buffer runs empty when flows halve their windows. The neighbouring sizes, beside, show from where "
        "on the link is never idle, so that more buffer gains nothing.",
    ),
]


@claim(
    'Tail-Drop often causes strong correlations among packet losses, resulting in the well-known "TCP synchronization" '
    "problem",
    "Section 1",
    "buffers",
)
@tolerance(0.5, "", "strong: half of a full correlation; synchronised: half of the flows")
def synchronisation(buffers: Runs, *, tolerance: Tolerance) -> Judgement:
    """Drop-tail's losses are often strongly correlated, and hit most flows together, with a hundred flows."""
    together = "loss_synchronisation"
    neighbours = 1 - 1 / (polars.col("loss_burst_mean") * (1 - polars.col("loss_ratio")))
    measures: dict[str, str | polars.Expr] = {
        "correlation of the losses of neighbouring arrivals": neighbours,
        "share of the flows that a loss event of half a second hits": together,
    }

    def found(label: str) -> list[Check]:
        return [
            Effect(f"{words}, {label}, {size:g} packets").of(
                buffers.per_seed(metric, label, {BUFFER: size}, unit=""), least=tolerance.value
            )
            for words, metric in measures.items()
            for size in buffers.points(BUFFER)
        ]

    (correlated, alone), (hit, drawn) = (
        [f"{buffers.per_seed(metric, label):.2g}" for label in ("drop-tail", "LRED")] for metric in measures.values()
    )
    return Judgement(
        found("drop-tail"),
        f"A full buffer drops bursts, so that losses are more correlated than LRED's ({correlated} against {alone} on "
        "average), but the bursts are short, and half is our bound for strong. In half a second, about the longest "
        f"round trip, {hit} % of the flows lose, and as many with LRED ({drawn} %), which draws each drop by itself. "
        "The paper names no load: ours, a hundred flows of five round trips, is a choice that may keep the flows out "
        "of step.",
        found("LRED"),
        need=0.5,
    )


def off(runs: Runs, label: str, count: float, expected: PerSeed | float = Q0) -> PerSeed:
    """Return a queue's deviation and the distance of its mean from an expected value together (packets)."""
    mean, spread = (runs.per_seed(metric, label, {COUNT: count}) for metric in ("queue_mean", "queue_mad"))
    return spread + abs(mean - expected)


def nearest(
    words: str, found: Mapping[float, Mapping[str, PerSeed]], best: Callable[..., str], tolerance: Tolerance
) -> Check:
    """Check that the setting which serves all loads best is worse than the best one of a load: where it is worst.

    ``found`` has a quantity by load and setting; ``best`` is `min` or `max`.
    """
    means = {load: {label: one.mean for label, one in each.items()} for load, each in found.items()}
    leaders = {load: best(each, key=each.__getitem__) for load, each in means.items()}

    def short(label: str, load: float) -> float:
        return abs(means[load][label] / means[load][leaders[load]] - 1)

    worst = {label: max(means, key=partial(short, label)) for label in means[next(iter(means))]}
    chosen = min(worst, key=lambda label: short(label, worst[label]))
    load = worst[chosen]
    return Effect(f"{words}, {chosen} over {leaders[load]}, {load:g} flows").better(
        found[load][chosen], found[load][leaders[load]], "higher" if best is min else "lower", tolerance
    )


@claim(
    "the optimal parameter configuration for RED remains a daunting task … adaptive settings in such a complex system "
    "are still difficult",
    "Section 2",
    "red-settings",
)
@tolerance(DEVIATION)
def red_hard(red_settings: Runs, *, tolerance: Tolerance) -> Judgement:
    """No setting of RED, and none of Adaptive RED, holds the queue nearly as well as the best one at every load."""

    def checks(
        words: str, read: Callable[[Runs, str, float], PerSeed], best: Callable[..., str], line: Tolerance
    ) -> list[Check]:
        return [
            nearest(
                words,
                {
                    load: {
                        label: read(red_settings, label, load)
                        for label in red_settings.labels
                        if label.startswith(f"{family},")
                    }
                    for load in red_settings.points(COUNT)
                },
                best,
                line,
            )
            for family in ("RED", "ARED")
        ]

    def metric(name: str) -> Callable[[Runs, str, float], PerSeed]:
        return lambda runs, label, load: runs.per_seed(name, label, {COUNT: load})

    few, *_, many = red_settings.points(COUNT)

    def packets(label: str, load: float, name: str = "queue_mean") -> str:
        return f"{red_settings.per_seed(name, label, {COUNT: load}):.3g}"

    flat, steep = "RED, 50 to 150, max_p = 0.02", "RED, 90 to 110, max_p = 0.1"
    return Judgement(
        checks("deviation and distance of the mean from 100 packets", off, min, tolerance),
        "RED's queue grows with the probability that a load needs: with thresholds of 50 and 150 and max_p = 0.02 it "
        f"has {packets(flat, few)} packets with {few:g} flows and {packets(flat, many)} with {many:g}. A steeper "
        f"line, 90 to 110 and 0.1, holds {packets(steep, many)} packets with many flows, but with few the queue "
        f"swings by {packets(steep, few, 'queue_mad')} around {packets(steep, few)}. Adaptive RED moves max_p to what "
        "the load needs, so that one of ours, 50 to 150, is the best of its kind at every load.",
        checks("goodput", metric("goodput"), max, GOODPUT) + checks("loss", metric("loss_ratio"), min, LOSS),
    )


@claim("BLUE can not well regulate the queue length to an expected value", "Section 2", "related")
@tolerance(BAND)
def blue_loose(related: Runs, *, tolerance: Tolerance) -> Judgement:
    """BLUE does not hold the queue well at an expected value: within the band by which a queue counts as settled."""
    loads = related.points(COUNT)
    usual = PerSeed.average(related.per_seed("queue_mean", "BLUE", {COUNT: count}) for count in loads)

    def away(label: str, expected: PerSeed | float) -> list[Check]:
        return [
            Effect(f"deviation and distance of the mean from the expected value, {count:g} flows, {label}").of(
                off(related, label, count, expected), least=tolerance.value
            )
            for count in loads
        ]

    return Judgement(
        away("BLUE", usual),
        f"BLUE has no target: what may be expected of it is its mean over the loads, {usual}. It reacts only to "
        "overflows and to an idle link, so that its queue moves between the two. LRED's queue, which is off its "
        "target by less, is beside.",
        away("LRED", Q0),
    )


def _avq(runs: Runs, metric: str, better: Better, tolerance: Tolerance) -> tuple[list[Check], list[Check]]:
    """Compare AVQ with RED and its variants, and with BLUE."""
    compared = partial(runs.compare, metric, "AVQ", better=better, tolerance=tolerance, each=(COUNT, "{:g} flows"))
    return compared(_REDS), compared(["BLUE"])


@claim("AVQ achieves lower average queue length", "Section 2", "related")
@tolerance(SHORT_QUEUE)
def avq_shorter(related: Runs, *, tolerance: Tolerance) -> Judgement:
    """AVQ has a shorter queue than RED and its variants."""
    parts, beside = _avq(related, "queue_mean", "lower", tolerance)
    loads = related.points(COUNT)
    means = "; ".join(
        f"{label} " + ", ".join(f"{related.per_seed('queue_mean', label, {COUNT: load}):.3g}" for load in loads)
        for label in ("AVQ", *_REDS)
    )
    return Judgement(
        parts,
        "AVQ holds the arrivals at 98 % of the link, whatever queue that takes, and so its queue shrinks with the "
        f"load, whereas RED's grows; beside S-RED's with 400 flows it is too near to decide. With "
        f"{', '.join(f'{load:g}' for load in loads)} flows they are {means} packets. The "
        "sentence cites AVQ's authors, who marked packets; here they are dropped.",
        beside,
    )


@claim("and higher link utility than RED and its variants", "Section 2", "related")
@tolerance(GOODPUT)
def avq_fuller(related: Runs, *, tolerance: Tolerance) -> Judgement:
    """AVQ uses the link better than RED and its variants."""
    parts, beside = _avq(related, "utilisation", "higher", tolerance)
    few, *_, many = related.points(COUNT)
    used = ", ".join(
        f"{label} {related.per_seed('utilisation', label, {COUNT: few}):.3g} and "
        f"{related.per_seed('utilisation', label, {COUNT: many}):.3g} %"
        for label in ("AVQ", *_REDS)
    )
    return Judgement(
        parts,
        "AVQ is made to leave 2 % of the link unused, at every load, while RED and its variants leave the less the "
        f"more flows there are. With {few:g} and with {many:g} flows the link is used by {used}. The sentence cites "
        "AVQ's authors, who marked packets; here they are dropped.",
        beside,
    )


@claim("this model offers a good approximation", "Section 4.1, (4) to (6)", "model")
@tolerance(20, "% of it", "good: a fifth")
def model_good(exp1: Runs, p0_light: Runs, p0_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """The model of section 4.1 approximates the loss of long flows."""
    loads: list[tuple[Runs, dict[str, float], str]] = [(p0_light, {}, "experiment 2, light")]
    loads += [(exp1, {COUNT: count}, f"{count:g} flows") for count in exp1.points(COUNT)]
    loads.append((p0_heavy, {}, "experiment 2, heavy"))

    def compared(name: str, loss: Callable[[Runs, Mapping[str, float]], float]) -> list[Check]:
        found = []
        for runs, at, words in loads:
            measured = runs.per_seed("loss_ratio", "LRED", at)
            effect = Effect(f"loss {name} over the measured, {words}")
            found.append(effect.better(measured * 0.0 + loss(runs, at), measured, "equal", tolerance))
        return found

    fitted, *parts = compared("by (6)", root_loss)
    return Judgement(
        parts,
        "(6) ignores that flows wait for time-outs, as they do from 100 flows on, where windows are a few packets; "
        "from 500 flows on its result is above 1, and so no probability. Where windows are long, under experiment 2's "
        "light load, it comes near, but to that loss the TCP is fitted: it is beside. The sentence is on existing "
        "studies; here it is judged at the paper's own loads.",
        [fitted, *compared("with time-outs", fluid_loss)],
    )


def root_loss(runs: Runs, at: Mapping[str, float]) -> float:
    """Return p0 (%) by (6), for flows of several round trips; b is the number of packets that an ACK is for."""
    scenario = runs.study.scenario.with_(dict(at)).resolved
    b = 2 if scenario["traffic"][0]["tcp"]["delayed_ack"] else 1
    # Of a delay that is drawn, "uniform(242.5 ms, 257.5 ms)", the mean.
    given = [re.findall(r"[\d.]+(?= ms)", delay) for delay in scenario["dumbbell"]["receiver_delay"]]
    delays = [fmean(map(float, delay)) / 1e3 for delay in given]
    count = scenario["traffic"][0]["count"]
    rate = sum(count / len(delays) / (2 * (0.005 + delay) + 100 / C) for delay in delays)
    return float(150 / b * (rate / C) ** 2)


def fluid_loss(runs: Runs, at: Mapping[str, float]) -> float:
    """Return the loss ratio (%) of the fluid equations with time-outs, from 20 s on."""
    scenario = runs.study.scenario.with_({"duration": "100 s", **at})
    return 100 * float(aqmlab.fluid(scenario).metrics["loss_ratio"] or 0.0)


@claim("with comparable complexities", "Abstract; section 1", "costs")
@tolerance(2, "", "comparable: at most twice as much")
def complexity(*, tolerance: Tolerance) -> Judgement:
    """LRED's complexity is comparable to that of PI, REM and AVQ."""
    found = costs()
    hero, rivals = found["lred"], {name.upper(): found[name] for name in ("pi", "rem", "avq")}
    parts = [
        Effect(f"instructions a packet of LRED over those of {name}, {flows} flows").exact(
            count / other.instructions[flows], most=tolerance.value
        )
        for name, other in rivals.items()
        for flows, count in hero.instructions.items()
    ]
    beside = [
        Effect(f"bytes of state of LRED over those of {name}").exact(hero.bytes / other.bytes, most=tolerance.value)
        for name, other in rivals.items()
    ]
    beside += [
        Effect(f"instructions a packet with those of drop-tail, LRED over {name}, {flows} flows").exact(
            (count + found.queue[flows]) / (other.instructions[flows] + found.queue[flows]), most=tolerance.value
        )
        for name, other in rivals.items()
        for flows, count in hero.instructions.items()
    ]
    queue = " and ".join(f"{count:.0f} with {flows} flows" for flows, count in found.queue.items())
    states, names = (
        f"{', '.join(listed[:-1])} and {listed[-1]}"
        for listed in ([f"{hero.bytes / other.bytes:.2g}" for other in rivals.values()], list(rivals))
    )
    return Judgement(
        parts,
        "Counted are the instructions a packet that each discipline, as we wrote and compiled it, adds to the "
        f"queue's own, which are {queue}; with those the ratios, beside, are near 1. LRED computes at each arrival, as "
        "AVQ does, but PI and REM only at their updates: with many flows more packets share an update, and PI's "
        f"is the one ratio above 2. LRED's state is {states} times as large as that of {names}, which is beside.",
        beside,
    )

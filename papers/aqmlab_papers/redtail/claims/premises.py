"""Claims on which the paper builds: what drops do to flows, in sections I, II and VI-A."""

import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import DEVIATION
from aqmlab_papers.redtail.measures import ARED, COUNT, FIXED, HERO, LOSS, RATE, TAIL, by_owner, deviation, of


@claim(
    "all connections sense packet loss and slow down the transfer rate simultaneously", "Section I", "synchronisation"
)
@tolerance(10, "%", "'all', but for one flow of ten")
def synchronised(ftp_alone: Runs, *, tolerance: Tolerance) -> Judgement:
    """A full drop-tail buffer makes the flows back off together."""
    checks = [
        Effect(f"flows that a loss event hits, drop-tail, {count:g} flows").of(
            ftp_alone.per_seed("loss_synchronisation", TAIL, {COUNT: count}), least=100 - tolerance.value
        )
        for count in ftp_alone.points(COUNT)
    ]
    return Judgement(
        checks,
        "A full buffer drops what comes until the flows notice, which is a round trip later. Losses within 500 ms, a "
        "round trip with a full queue, are one event.",
        ftp_alone.compare(
            "loss_synchronisation",
            TAIL,
            [f"{ARED}, max_p 0.1"],
            better="higher",
            tolerance=tolerance,
            each=(COUNT, "{:g} flows"),
        ),
    )


@claim("the performance of RED is very sensitive to parameter settings", "Section I (cited)", "synchronisation")
@tolerance(2, "", "very: the queue, and with it the delay, at least doubles from one setting to another")
def red_is_sensitive(ftp_alone: Runs, *, tolerance: Tolerance) -> Judgement:
    """The performance of RED is very sensitive to its setting: its queue, by max_p."""

    def ratio(name: str, count: int, most: float = 0.5, metric: str = "queue_mean") -> Check:
        found = [
            ftp_alone.per_seed(metric, label, {COUNT: count})
            for label in ftp_alone.labels
            if label.startswith(name + ",") and float(label.split()[-1]) <= most
        ]
        effect = f"greatest {found[0].name} of {name} over its least, max_p of 0.02 to {most:g}, {count} flows"
        return Effect(effect).of(PerSeed.most(found) / PerSeed.least(found), least=tolerance.value)

    counts = ftp_alone.points(COUNT)
    return Judgement(
        [ratio("RED", count) for count in counts],
        "Flows need a certain loss, and max_p decides at which queue RED drops as much. The range of 0.02 to 0.5 is "
        "our choice, and decides: from 0.02 to 0.1, beside, the queue does not double. Utilisation, beside too, hardly "
        "depends on max_p, nor does the queue of Adaptive RED, which moves it.",
        [
            *(ratio("RED", count, 0.1) for count in counts),
            *(ratio("RED", count, metric="utilisation") for count in counts),
            *(ratio("RED", count, metric="loss_ratio") for count in counts),
            *(ratio(ARED, count) for count in counts),
        ],
    )


@claim(
    "A TCP connection with a higher flow rate has a better chance to get packets dropped and reduce its rate "
    "more rapidly",
    "Section I",
    "mixed",
)
@tolerance(50, "% of it", "the faster flows are more than twice as fast")
def faster_loses_more(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """A faster flow has more packets dropped, and more often cause to reduce its rate."""

    def drops(name: str) -> PerSeed:
        return mixed.per_seed(
            polars.col(of(name, "arrivals")) * polars.col(of(name, LOSS)), FIXED, unit="packets", name="drops"
        )

    def losses(name: str) -> PerSeed:
        return PerSeed.of([sum(one) for one in mixed.distribution("loss_runs", FIXED, name)], "events")

    checks = [
        Effect(f"{text} flows of 16 ms over those of 240 ms, Adaptive RED").better(*pair, "higher", tolerance)
        for text, pair in (
            ("drops of", (drops("near"), drops("far"))),
            ("losses, of one packet or several in a row, of", (losses("near"), losses("far"))),
        )
    ]
    return Judgement(
        checks,
        f"The near flows have {drops('near'):.0f} packets dropped, the far ones {drops('far'):.0f}. RED drops the same "
        "share of every flow, so that a faster flow is hit, and halves its window, more often.",
    )


@claim(
    "Dropping web packets in this phase is not an effective way to control the traffic rate",
    "Sections I and II",
    "random-loss",
)
@tolerance(10, "%", "FTP's rate halves by its square-root law")
def drops_do_not_relieve(random_loss: Runs, *, tolerance: Tolerance) -> Judgement:
    """Dropping web packets does not control their traffic's rate: with more losses web sends hardly less."""

    def change(owner: str) -> PerSeed:
        light, heavy = (
            random_loss.per_seed(of(owner, RATE), random_loss.labels[0], {"dumbbell.loss": loss})
            for loss in (0.01, 0.04)
        )
        return (100 * (heavy / light - 1)).called("change", "%")

    return Judgement(
        [Effect("throughput of web with 4 % of losses over that with 1 %").of(change("WEB"), least=-tolerance.value)],
        "On a link of 1 Gbit/s random losses alone limit the rates. Lost packets of a file are sent again, and its "
        "reader only comes back a little later. FTP, whose rate does fall, is beside.",
        [Effect("throughput of FTP with 4 % of losses over that with 1 %").of(change("FTP"), most=-tolerance.value)],
    )


@ours("Beyond section VI-A, which names them and runs CBR", "voice", comparative=True)
@tolerance(DEVIATION)
def voice_and_video(voice: Runs, *, tolerance: Tolerance) -> Judgement:
    """Voice and video have less jitter in the short queue."""
    beside = [
        Effect(f"deviation of the delay of {owner} over that with {other}").better(
            deviation(voice, owner, HERO), deviation(voice, owner, other), "lower", tolerance
        )
        for owner in ("voice", "video")
        for other in voice.others
    ]
    checks = by_owner(voice, "jitter", "jitter", (HERO, voice.others), "lower", tolerance, owners=("voice", "video"))
    return Judgement(
        checks,
        "From packet to packet the delay varies more than in one queue, since the link turns from one queue to the "
        "other. Over seconds it follows the bursts, which get no more than C1max of the link.",
        beside,
    )

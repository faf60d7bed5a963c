"""Claims on the queue of short flows over max_th1: section VI-A (Fig. 16)."""

from __future__ import annotations

from operator import sub, truediv

from aqmlab.library.redtail.measures import BAND, DELAY, FULL, HERO, LONG, LOSS, RATE, RATE_BYTES, SHORT, of, per_seed
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import BySeed, mean, paired
from aqmlab.theory import redtail


def bound(evidence: Evidence) -> Judgement:
    """Compare the delays in the short queue with max_th1 / C."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    points = runs.points(path)
    read = {"CBR": of("CBR", DELAY), "all packets of the short queue": SHORT + DELAY, "WEB": of("WEB", DELAY)}

    def over(name: str) -> list[BySeed]:
        return [
            per_seed(runs, read[name], HERO, {path: size}, 1 / float(redtail.delay_bound(size, RATE_BYTES)))
            for size in points
        ]

    checks, texts = [], []
    for name in ("CBR", "all packets of the short queue"):
        ratios = over(name)
        texts.append(f"{name} from {min(map(mean, ratios)):.3f} to {max(map(mean, ratios)):.3f}")
        lowest = paired(min, *ratios)
        average = paired(lambda *values: sum(values) / len(values), *ratios)
        checks += [
            Check.of(f"delay of {name} / (max_th1/C), the least over max_th1", lowest, least=1),
            # "A good approximation", "slightly above": a quarter. Table III has 1.36 at 30 kB.
            Check.of(f"delay of {name} / (max_th1/C), mean over max_th1", average, most=1.25),
        ]
    web = over("WEB")
    why = (
        f"Delay over bound: {', '.join(texts)}. With C1 = C q1/max_th1 a queue of any length takes max_th1/C to empty. "
        "The bound is that of a fluid with C1min = 0: here a queue below min_th1 has C1min, which is more than its "
        "share, and an idle long queue leaves the whole link. All of the web's packets together, those in the long "
        f"queue too, wait {min(map(mean, web)):.2f} to {max(map(mean, web)):.2f} times as long as the bound."
    )
    return Judgement(checks, why)


def long_delay_flat(evidence: Evidence) -> Judgement:
    """Judge the delay of FTP over max_th1."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    points = runs.points(path)
    delays = [per_seed(runs, of("FTP", DELAY), HERO, {path: size}, 1000) for size in points]
    relative = paired(lambda *values: 100 * (max(values) - min(values)) / (sum(values) / len(values)), *delays)
    # The mean of C2 is the rate of the long queue, web packets included.
    rates = [per_seed(runs, LONG + RATE, HERO, {path: size}, 1 / 8000) for size in points]
    middle = sum(BAND) / 2 * FULL / 1000
    against = paired(
        lambda *values: (
            sum(
                delay * rate / middle / 1000
                for delay, rate in zip(values[: len(points)], values[len(points) :], strict=True)
            )
            / len(points)
        ),
        *delays,
        *rates,
    )
    checks = [
        # "Almost a constant": within 15 % over a factor of eight.
        Check.of("delay of FTP, greatest minus least over its mean", relative, unit="%", most=15),
        Check.of("delay of FTP / (50 kB / rate of the long queue), mean over max_th1", against, least=0.8, most=1.2),
    ]
    why = (
        f"From {min(map(mean, delays)):.0f} to {max(map(mean, delays)):.0f} ms. The long queue sends "
        f"{min(map(mean, rates)):.0f} to {max(map(mean, rates)):.0f} kB/s, FTP and the web's large files."
    )
    return Judgement(checks, why)


def short_varies_little(evidence: Evidence) -> Judgement:
    """Compare the spread of the delays."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    points = runs.points(path)

    def width(owner: str, size: float) -> BySeed:
        high, middle = (per_seed(runs, of(owner, f"queue_delay_{q}"), HERO, {path: size}, 1000) for q in ("p95", "p50"))
        return {seed: high[seed] - middle[seed] for seed in high}

    cbr, ftp = ([width(owner, size) for size in points] for owner in ("CBR", "FTP"))
    ratios = paired(
        lambda *values: (
            sum(a / b for a, b in zip(values[: len(points)], values[len(points) :], strict=True)) / len(points)
        ),
        *cbr,
        *ftp,
    )
    checks = [
        # "Very small": a quarter of the long queue's.
        Check.of("spread (95th percentile minus median) of CBR / of FTP, mean over max_th1", ratios, most=0.25),
        # "Slightly": less than half.
        Check.of(
            "spread of FTP at the least max_th1 / at the greatest", paired(truediv, ftp[0], ftp[-1]), least=1, most=1.5
        ),
    ]
    why = (
        f"CBR's delay spreads by {mean(cbr[0]):.0f} to {mean(cbr[-1]):.0f} ms, that of FTP by {mean(ftp[0]):.0f} to "
        f"{mean(ftp[-1]):.0f} ms: the long queue's rate is what the short one leaves, and a small max_th1 lets it take "
        "more at once."
    )
    return Judgement(checks, why)


def smaller_is_better(evidence: Evidence) -> Judgement:
    """Compare delay and loss of CBR and web at the least and the greatest max_th1."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    least, greatest = ({path: size} for size in (runs.points(path)[0], runs.points(path)[-1]))
    checks, texts = [], []
    for owner in ("CBR", "WEB"):
        for metric, quantity, unit, scale in ((DELAY, "delay", "ms", 1000), (LOSS, "loss", "%", 100)):
            low, high = (per_seed(runs, of(owner, metric), HERO, at, scale) for at in (least, greatest))
            effect = f"{quantity} of {owner}, least max_th1 minus greatest"
            checks.append(Check.of(effect, paired(sub, low, high), unit=unit, most=0))
            texts.append(f"{quantity} of {owner} {mean(low):.3g} instead of {mean(high):.3g} {unit}")
    why = (
        f"With {least[path] / 1000:.0f} instead of {greatest[path] / 1000:.0f} kB: {', '.join(texts)}. A short queue "
        "that is served sooner leaves room in the shared buffer. The paper's other means, a longer buffer, was not "
        "tried."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="bound",
        text="max_th1/C is a lower bound of the mean delay in the short queue, and close to it.",
        where="Section VI-A, Fig. 16",
        judge=bound,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="long-delay-flat",
        text="The delay of FTP hardly depends on max_th1, and is about the middle of the band over its rate.",
        where="Section VI-A, Fig. 16",
        judge=long_delay_flat,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="short-varies-little",
        text="Delay varies very little in the short queue, and in the long one slightly more with a smaller max_th1.",
        where="Section VI-A, Fig. 16",
        judge=short_varies_little,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="smaller-max-th1",
        text="A smaller max_th1 improves delay and loss of the short flows.",
        where="Section V",
        judge=smaller_is_better,
        needs=["maxth1"],
        shown=["fig16"],
    ),
)

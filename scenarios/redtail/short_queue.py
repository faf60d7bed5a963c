"""What the RED+Tail paper claims of the queue of short flows over max_th1: section VI-A."""

from __future__ import annotations

from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.scenarios.redtail.readings import (
    BAND,
    DELAY,
    FULL,
    HERO,
    RATE,
    RATE_BYTES,
    PerSeed,
    less,
    mean,
    of,
    per_seed,
    together,
)
from aqmlab.theory import redtail


def bound(evidence: Evidence) -> Judgement:
    """Compare the delays of the short queue's traffic with max_th1 / C."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    checks, told = [], []
    for owner in ("CBR", "WEB"):
        ratios = []
        for size in runs.points(path):
            least = float(redtail.delay_bound(size, RATE_BYTES))
            ratios.append(per_seed(runs, of(owner, DELAY), HERO, {path: size}, 1 / least))
        told.append(f"{owner} from {min(map(mean, ratios)):.2f} to {max(map(mean, ratios)):.2f}")
        lowest = together(min, *ratios)
        average = together(lambda *own: sum(own) / len(own), *ratios)
        checks += [
            Check.of(f"delay of {owner} / (max_th1/C), the least over max_th1", lowest, least=1),
            # A good approximation, slightly above: a quarter. Table III has 1.36 at 30 kB.
            Check.of(f"delay of {owner} / (max_th1/C), mean over max_th1", average, most=1.25),
        ]
    why = (
        f"Delay over bound: {', '.join(told)}. With C1 = C q1/max_th1 a queue of any length takes max_th1/C to empty; "
        "web adds the packets that wait in the long queue, which weigh most where the bound is small."
    )
    return Judgement(checks, why)


def long_delay_flat(evidence: Evidence) -> Judgement:
    """Judge the delay of FTP over max_th1."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    delays = [per_seed(runs, of("FTP", DELAY), HERO, {path: size}, 1000) for size in runs.points(path)]
    relative = together(lambda *own: 100 * (max(own) - min(own)) / (sum(own) / len(own)), *delays)
    predicted = [
        (BAND[0] + BAND[1]) / 2 * FULL / (mean(per_seed(runs, of("FTP", RATE), HERO, {path: size})) / 8)
        for size in runs.points(path)
    ]
    against = together(
        lambda *own: sum(one / 1000 / q for one, q in zip(own, predicted, strict=True)) / len(own), *delays
    )
    checks = [
        # Almost a constant: within 15 % over a factor of eight.
        Check.of("delay of FTP, greatest less least over its mean", relative, unit="%", most=15),
        Check.of("delay of FTP / (50 kB / its rate), mean over max_th1", against, least=0.8, most=1.2),
    ]
    why = (
        f"From {min(map(mean, delays)):.0f} to {max(map(mean, delays)):.0f} ms. The long queue also has web packets, "
        "so that its rate is more than that of FTP alone."
    )
    return Judgement(checks, why)


def short_varies_little(evidence: Evidence) -> Judgement:
    """Compare how much the delays spread."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    points = runs.points(path)

    def width(owner: str, size: float) -> PerSeed:
        high, middle = (per_seed(runs, of(owner, f"queue_delay_{q}"), HERO, {path: size}, 1000) for q in ("p95", "p50"))
        return {seed: high[seed] - middle[seed] for seed in high}

    cbr, ftp = ([width(owner, size) for size in points] for owner in ("CBR", "FTP"))
    ratios = together(
        lambda *own: sum(a / b for a, b in zip(own[: len(points)], own[len(points) :], strict=True)) / len(points),
        *cbr,
        *ftp,
    )
    checks = [
        # Very small: a quarter of the long queue's.
        Check.of("spread (95th percentile less median) of CBR / of FTP, mean over max_th1", ratios, most=0.25),
        Check.of(
            "spread of FTP at the least max_th1 less at the greatest",
            together(less, ftp[0], ftp[-1]),
            unit="ms",
            least=0,
        ),
    ]
    why = (
        f"CBR's delay spreads by {mean(cbr[0]):.0f} to {mean(cbr[-1]):.0f} ms, that of FTP by {mean(ftp[0]):.0f} to "
        f"{mean(ftp[-1]):.0f} ms: the long queue's rate is what the short one leaves, and a small max_th1 lets it take "
        "more at once."
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
)

"""Claims on small web files: section IV (Fig. 9)."""

from __future__ import annotations

from operator import truediv

from aqmlab.library.redtail.measures import (
    ARED,
    DEFAULT_N,
    DELAY,
    HERO,
    LOSS,
    PAYLOAD,
    PRINTED_TABLE_3,
    TAIL,
    of,
    per_seed,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import BySeed, Values, average, mean, paired


def _times(evidence: Evidence, label: str) -> dict[float, BySeed]:
    runs = evidence["files"]
    path = "traffic.file.size"
    return {size: per_seed(runs, of("file", "completion_time_mean"), label, {path: size}) for size in runs.points(path)}


def _alone(evidence: Evidence) -> dict[float, BySeed]:
    runs, path = evidence["alone"], "traffic.file.size"
    return {
        size: per_seed(runs, of("file", "completion_time_mean"), "No other traffic", {path: size})
        for size in runs.points(path)
    }


def _factor(slow: dict[float, BySeed], fast: dict[float, BySeed]) -> Values:
    """Return for each seed the ratio of the times, averaged over the sizes."""
    ratios = [paired(truediv, slow[size], fast[size]) for size in fast if size in slow]
    return average(ratios)


def files_as_alone(evidence: Evidence) -> Judgement:
    """Compare small files with RED+Tail to small files alone."""
    ours, alone = _times(evidence, HERO), _alone(evidence)
    first = min(ours)
    # "Almost equal": at most a fifth longer.
    short = {size: alone[size] for size in alone if size <= DEFAULT_N * PAYLOAD}
    checks = [
        Check.of("delivery time with RED+Tail / alone, mean over sizes", _factor(ours, alone), most=1.2),
        Check.of("the same of files that stay in the short queue", _factor(ours, short), most=1.2),
    ]
    rtt, wait = 0.128, PRINTED_TABLE_3[HERO]["WEB"][1]
    why = (
        f"With the delay that Table III prints a round trip is {1000 * (rtt + wait):.0f} ms instead of 128, and slow "
        f"start takes several: nearly the time without traffic is out of reach. {first / 1000:.0f} kB without a loss "
        f"take {mean(ours[first]):.2f} s instead of {mean(alone[first]):.2f} s; files above {DEFAULT_N:.0f} packets "
        "also go through the long queue."
    )
    return Judgement(checks, why)


def files_against_the_old(evidence: Evidence) -> Judgement:
    """Compare delivery times with Adaptive RED and drop-tail."""
    ours, ared, tail = (_times(evidence, label) for label in (HERO, ARED, TAIL))
    checks = [
        # "Three times", "about 2.5 times": within a third.
        Check.of("delivery time with Adaptive RED / RED+Tail, mean over sizes", _factor(ared, ours), least=2, most=4),
        Check.of(
            "delivery time with drop-tail / Adaptive RED, mean over sizes",
            _factor(tail, ared),
            least=5 / 3,
            most=10 / 3,
        ),
    ]
    runs, texts = evidence["files"], []
    for label in (HERO, ARED, TAIL):
        loss = mean(per_seed(runs, of("file", LOSS), label, scale=100))
        delay = mean(per_seed(runs, of("file", DELAY), label, scale=1000))
        texts.append(f"{loss:.1f} % and {delay:.0f} ms with {label}")
    why = (
        f"The files lose and wait {', '.join(texts)}. A packet lost early in a transfer is a time-out, or a small "
        "window; and every round trip takes the queue."
    )
    return Judgement(checks, why)


def files_sooner(evidence: Evidence) -> Judgement:
    """Compare small files with RED+Tail and with the others."""
    runs = evidence["files"]
    ours = _times(evidence, HERO)
    checks = [
        Check.of(
            f"delivery time with {other} / RED+Tail, mean over sizes", _factor(_times(evidence, other), ours), least=1
        )
        for other in runs.others
    ]
    why = (
        "RED+Tail spares files of up to 64 packets all early drops, at the price of some 80 ms a round trip; a later "
        "discipline is sooner where a shorter queue makes up for its losses."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="files-as-alone",
        text="Small files take almost as long with RED+Tail as on a link without loss.",
        where="Section IV, Fig. 9",
        judge=files_as_alone,
        needs=["files", "alone"],
        shown=["fig9"],
    ),
    Claim(
        name="files-against-the-old",
        text="They take three times longer with Adaptive RED, and about 2.5 times longer still with drop-tail.",
        where="Section IV, Fig. 9",
        judge=files_against_the_old,
        needs=["files"],
        shown=["fig9"],
    ),
    Claim(
        name="files-sooner",
        text="Small files are delivered sooner with RED+Tail than with the others.",
        where="Abstract, Section IV, Fig. 9",
        judge=files_sooner,
        needs=["files"],
        shown=["fig9"],
        sensitive=True,
        comparative=True,
    ),
)

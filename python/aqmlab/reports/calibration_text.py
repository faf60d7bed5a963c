"""A calibrated link in words."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.calibrate import Calibration, Interval

WIDTH = 100

NAMES = {
    "droptail": "a buffer that drops arrivals when it is full (drop tail)",
    "headdrop": "a buffer that drops from its head when it is full (head drop)",
    "red": "RED or one like it",
    "codel": "CoDel or one like it",
    "pie": "PIE or one like it",
}


UNLIKE = (
    "No simulated link is like the measurement, and the intervals mean little: the rate or the delay may vary, "
    "the path may lose packets elsewhere, or another queue may stand behind this one. Look at the figure (--out)."
)


def text(found: Calibration, columns: int = WIDTH) -> str:
    """Lay out a calibration in a number of columns: the link, the discipline, and its files."""
    rows = [
        ("Rate of IP packets", found.rate, 1e6, "Mbit/s"),
        ("Round trip without queue", found.base_rtt, 1e-3, "ms"),
        ("Buffer", found.buffer, 1e3, "kB"),
        ("Buffer, as time", found.buffer_time, 1e-3, "ms"),
    ]
    lines = [f"{name:<26}{_interval(value, unit)} {symbol}" for name, value, unit, symbol in rows]
    for name, words in (("Rate over time", _variation(found)), ("Burst of a shaper", _burst(found))):
        lines += _row(name, words, columns)
    lines += _row("Wait in another queue", _elsewhere(found), columns)
    ranked = sorted(found.families.items(), key=lambda each: -each[1])
    lines += ["", *textwrap.wrap(_discipline(found), columns), ""]
    lines += [f"  {name:<10}{100 * probability:5.1f} %" for name, probability in ranked]
    lines += ["", *textwrap.wrap(_basis(found), columns)]
    if not found.fits:
        lines += ["", *textwrap.wrap(UNLIKE, columns)]
    return "\n".join(lines)


def _interval(value: Interval, unit: float) -> str:
    middle, low, high = (f"{one / unit:.4g}" for one in (value.value, value.low, value.high))
    return f"{middle:>8}  (90 %: {low} to {high})"


def _row(name: str, words: str, columns: int) -> list[str]:
    return textwrap.wrap(f"{name:<26}  {words}", columns, subsequent_indent=" " * 28, break_on_hyphens=False)


def _variation(found: Calibration) -> str:
    one = found.variation
    if one.ratio is None or one.lowest is None or one.highest is None:
        return f"cannot tell: {one.because}"
    means = f"in means of {one.window:.2g} s"
    if one.varies is False:
        return f"constant: the highest is at most {one.ratio.high:.3g} times the lowest, {means}"
    factor = f"by a factor of {one.ratio.value:.3g} (90 %: {one.ratio.low:.3g} to {one.ratio.high:.3g}), {means}"
    span = f"from {one.lowest / 1e6:.3g} to {one.highest / 1e6:.3g} Mbit/s, {factor}"
    if one.varies is None:
        return f"{span}: cannot tell whether it is the link that varies: {one.because}"
    stays = one.every and f"; stays above or below the middle for {one.every.low:.2g} to {one.every.high:.2g} s"
    return f"varies {span}{stays or ''}"


def _burst(found: Calibration) -> str:
    one = found.burst.interval
    if one is None:
        return f"cannot tell: {found.burst.because}"
    if not one.low:
        return f"none, or at most {one.high / 1e3:.3g} kB"
    return f"{one.value / 1e3:.3g} kB (90 %: {one.low / 1e3:.3g} to {one.high / 1e3:.3g})"


def _elsewhere(found: Calibration) -> str:
    one = found.elsewhere.interval
    if one is None:
        return f"cannot tell: {found.elsewhere.because}"
    if not one.low:
        return (
            f"none is needed: your own queue explains the waits, of which one in ten is above {one.high * 1e3:.3g} ms"
        )
    return (
        f"{one.low * 1e3:.3g} to {one.high * 1e3:.3g} ms in one of ten packets, or more (90 %): not in your own queue"
    )


def _discipline(found: Calibration) -> str:
    if found.family is None:
        return (
            "The measurement cannot tell the queue discipline. `aqmlab probe-plan` says which measurement would: "
            "probabilities are"
        )
    kept = "each flow in a queue of its own" if found.fair > 0.5 else "all flows in one queue"
    return f"The queue is {NAMES[found.family]}, {kept}: probabilities are"


def _basis(found: Calibration) -> str:
    post = found.posterior
    names = ", ".join(printable(name) for name in found.recording.names)
    others = f"Other traffic that nobody reported: probability {100 * found.other:.0f} %. " if found.other > 0.5 else ""
    measured, other = ("upload", "download") if found.recording.up else ("download", "upload")
    return (
        f"{others}From {names}: {found.recording.seconds:.0f} s of {measured}, beside {len(post.points)} simulated "
        f"links (seed {post.seed}). Nothing measured the direction of the {other}: in calibrated.toml it has the same "
        "rate, buffer and discipline, a guess. The buffer of a queue that was never full is only known not to be "
        "smaller."
    )

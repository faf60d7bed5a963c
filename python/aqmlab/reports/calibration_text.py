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


def text(found: Calibration) -> str:
    """Lay out a calibration: the link, the discipline, and its files."""
    rows = [
        ("Rate of IP packets", found.rate, 1e6, "Mbit/s"),
        ("Round trip without queue", found.base_rtt, 1e-3, "ms"),
        ("Buffer", found.buffer, 1e3, "kB"),
        ("Buffer, as time", found.buffer_time, 1e-3, "ms"),
    ]
    lines = [f"{name:<26}{_interval(value, unit)} {symbol}" for name, value, unit, symbol in rows]
    ranked = sorted(found.families.items(), key=lambda each: -each[1])
    lines += ["", *textwrap.wrap(_discipline(found), WIDTH), ""]
    lines += [f"  {name:<10}{100 * probability:5.1f} %" for name, probability in ranked]
    lines += ["", *textwrap.wrap(_basis(found), WIDTH)]
    if not found.fits:
        lines += ["", *textwrap.wrap(UNLIKE, WIDTH)]
    return "\n".join(lines)


def _interval(value: Interval, unit: float) -> str:
    middle, low, high = (f"{one / unit:.4g}" for one in (value.value, value.low, value.high))
    return f"{middle:>8}  (90 %: {low} to {high})"


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

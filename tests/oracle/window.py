"""The sawtooth of one flow's congestion window."""

import itertools
from collections.abc import Sequence

Trace = Sequence[tuple[float, float]]
"""Times in seconds, windows in segments."""

SETTLED = 10.0
DEEP = 0.7


def period(trace: Trace) -> float | None:
    """The mean time between peaks: samples that the next one falls far below. None for fewer than three."""
    peaks = [t for (t, window), (_, after) in itertools.pairwise(trace) if t >= SETTLED and after < DEEP * window]
    return (peaks[-1] - peaks[0]) / (len(peaks) - 1) if len(peaks) > 2 else None

"""The law of cake-autorate: a shaper's rate that follows the delay of pings and the load.

Each answer of a ping gives a delay beyond the baseline, which falls at once and rises slowly. If three of the last six
are above a threshold, the rate is cut: by 1 % if their mean is at it, and by 25 % if it is at a second one or above.
Otherwise a load above 75 % of the rate raises it, by 4 % if the delays are short; with a smaller load it goes back to
the base rate by 1 % a second. After a cut nothing happens for 0.3 s.

# Departures from the source
The pingers are one, whose answers are shared by six baselines in turn. Without pauses for an idle connection, for
stalls, and for reflectors that misbehave. Numbers are real, not integers.

# Sources
cake-autorate 3: its defaults, its main script and its description.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

PACKET = 1514 * 8
"""Bits of the longest packet, whose time at the rate is added to each threshold."""

FIRST = 0.1
"""The baseline in s before the first answer."""


@dataclass(frozen=True)
class Law:
    """The parameters, with the defaults of cake-autorate: rates in bit/s, times in s.

    Parameters
    ----------
    least : float
        The lowest rate of the shaper (``min_dl_shaper_rate_kbps``).
    base : float
        The rate to which it returns without load (``base_…``).
    most : float
        Its highest rate (``max_…``).
    delay : float
        The delay beyond the baseline from which an answer counts as late (``owd_delta_delay_thr_ms``).
    short : float
        The mean delay up to which the rate rises fastest (``avg_owd_delta_max_adjust_up_thr_ms``).
    long : float
        The mean delay from which the rate is cut most (``avg_owd_delta_max_adjust_down_thr_ms``).
    window : int
        The answers that are remembered (``bufferbloat_detection_window``).
    late : int
        The late ones among them from which the rate is cut (``bufferbloat_detection_thr``).
    cuts : tuple of float
        The factors of the smallest and the greatest cut (``shaper_rate_…_adjust_down_bufferbloat``).
    rises : tuple of float
        Those of the smallest and the greatest rise (``shaper_rate_…_adjust_up_load_high``).
    returns : tuple of float
        Those of the return to the base rate, down and up (``shaper_rate_adjust_…_load_low``).
    baseline : tuple of float
        The weights of an answer in the baseline, above it and below it (``alpha_baseline_…``).
    high : float
        The part of the rate from which the load is high (``high_load_thr``).
    pause : float
        The time after a cut without another change (``bufferbloat_refractory_period_ms``).
    slow : float
        The time between two steps back to the base rate (``decay_refractory_period_ms``).
    """

    least: float
    base: float
    most: float
    delay: float = 0.030
    short: float = 0.010
    long: float = 0.060
    window: int = 6
    late: int = 3
    cuts: tuple[float, float] = (0.99, 0.75)
    rises: tuple[float, float] = (1.0, 1.04)
    returns: tuple[float, float] = (0.99, 1.01)
    baseline: tuple[float, float] = (0.001, 0.9)
    high: float = 0.75
    pause: float = 0.3
    slow: float = 1.0


@dataclass
class Autorate:
    """The state of one direction: the rate in bit/s, and what the law remembers."""

    law: Law
    rate: float = 0.0
    _delays: deque[tuple[float, bool]] = field(default_factory=deque)
    _baselines: deque[float] = field(default_factory=deque)
    _cut_at: float = 0.0
    _returned_at: float = 0.0
    _measured: bool = False
    _load: float = 0.0

    def __post_init__(self) -> None:
        self.rate = self.law.base
        self._delays.extend([(0.0, False)] * self.law.window)
        self._baselines.extend([FIRST] * self.law.window)

    def carries(self, rate: float) -> None:
        """Take in what the shaper has sent of late, in bit/s."""
        self._load, self._measured = rate / self.rate, True

    def answers(self, now: float, delay: float) -> float:
        """Take in the delay of an answer in one direction, in s, and return the rate from now on."""
        law = self.law
        beyond = self._beyond(delay)
        room = PACKET / self.rate
        self._delays.popleft()
        self._delays.append((beyond, beyond > law.delay + room))
        mean = sum(one for one, _ in self._delays) / law.window
        excess = mean - (law.delay + room)
        if sum(late for _, late in self._delays) >= law.late:
            if now > self._cut_at + law.pause:
                self.rate *= _between(law.cuts, excess / (law.long - law.delay))
                self._cut_at = self._returned_at = now
        elif self._load > law.high:
            if self._measured and now > self._cut_at + law.pause:
                self.rate *= _between(law.rises, -excess / (law.delay - law.short))
                self._measured, self._returned_at = False, now
        elif now > self._returned_at + law.slow:
            down, up = law.returns
            self.rate = max(self.rate * down, law.base) if self.rate > law.base else min(self.rate * up, law.base)
            self._returned_at = now
        self.rate = min(max(self.rate, law.least), law.most)
        return self.rate

    def _beyond(self, delay: float) -> float:
        """Return a delay beyond the baseline of its pinger, which learns of it first."""
        old = self._baselines.popleft()
        weight = self.law.baseline[0 if delay >= old else 1]
        self._baselines.append(weight * delay + (1 - weight) * old)
        return delay - self._baselines[-1]


def _between(ends: tuple[float, float], part: float) -> float:
    """Return the value at a part of the way between two ends, of which it is not beyond."""
    return ends[0] + (ends[1] - ends[0]) * min(max(part, 0.0), 1.0)

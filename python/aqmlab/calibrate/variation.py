"""Whether a link's rate varies: the spread of the rate while there is a queue, beside that of links that do not vary.

Where the queue is seldom empty, the rate at which data arrive is what the link leaves to them. Its windows differ even
if that is constant, by losses and by packets that come late. How much they do is seen in the links that were simulated
for the measurement and found to be like it, each of which has a constant rate: first without other traffic, which gives
the spread that has to be explained, and then with it, as other traffic that comes and goes may be the explanation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from aqmlab.calibrate.inference import Posterior
from aqmlab.calibrate.interval import Interval
from aqmlab.calibrate.view import PACKETS, View, queued
from aqmlab.runs.replication import compare_scenarios

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SHORTEST, TRIPS = 0.5, 8.0
"""The least seconds of a window, and the least round trips with a long queue: a lost segment delays others by one."""

NEVER_EMPTY = 0.9
"""The least part of a window in which there is a queue."""

ENDS = (0.1, 0.9)
"""The shares of the windows at which the rate counts as the lowest and the highest."""

LIKELY = (0.05, 0.95)
"""The quantiles of the simulated links between which 90 % of them are."""

FEWEST = 8
"""The least windows, each apart from the others, of which a spread is known."""

TOLERANCE, SHARE = 0.01, 0.05
"""A part of the rate, and one of its spread, by which the simulator and the tools may be wrong."""

CLEAR = 1.15
"""The ratio of the highest to the lowest rate below which a rate is called constant."""


ALIKE = 20
"""Links that are like the measurement, to be simulated again."""

OTHERS = 2
"""The place in a point of whether there is other traffic; below a half there is none."""


@dataclass(frozen=True)
class Variation:
    """How much the rate varies.

    ``ratio`` is that of the highest to the lowest rate, means over ``window`` seconds, ``every`` the seconds for which
    the rate stays above or below its middle. ``varies`` is None if the measurement cannot tell, for the reason in
    ``because``. Rates are in bit/s of IP packets.
    """

    window: float
    varies: bool | None = None
    ratio: Interval | None = None
    lowest: float | None = None
    highest: float | None = None
    every: Interval | None = None
    because: str = ""

    def document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "varies": self.varies,
            "ratio": self.ratio and self.ratio.document(),
            "lowest": self.lowest,
            "highest": self.highest,
            "every": self.every and self.every.document(),
            "window": self.window,
            "because": self.because,
        }


def alike(post: Posterior, jobs: int | None = None) -> tuple[list[View], list[View]]:
    """Simulate links, drawn by how like the measurement they are, without other traffic and with what they have."""
    rng = np.random.default_rng(post.seed)
    drawn = rng.choice(len(post.points), ALIKE, p=post.weights / post.weights.sum())
    scenarios = {}
    for number, place in enumerate(drawn):
        kind, point, alone = post.kinds[place], post.points[place], post.points[place].copy()
        alone[OTHERS] = 0.0
        scenarios[f"alone {number}"] = post.load.scenario(kind, alone, number + 1)
        if post.load.values(point)["other"]:
            scenarios[f"others {number}"] = post.load.scenario(kind, point, number + 1)
    views = {name: post.load.view(result) for name, result in compare_scenarios(scenarios, jobs=jobs).items()}
    alone_views = [views[f"alone {number}"] for number in range(ALIKE)]
    return alone_views, [views.get(f"others {number}", alone_views[number]) for number in range(ALIKE)]


@dataclass(frozen=True)
class Windows:
    """Windows of ``wide`` bins, one from each bin on; what follows a lost packet may count ``trip`` seconds later."""

    packet: float
    wide: int
    trip: float

    @classmethod
    def of(cls, view: View, base: float, packet: float) -> Windows:
        """Return those that suit a view: of some packets, and some round trips."""
        typical = max(float(np.quantile(view.rate, 0.75)), 1.0)
        trip = base + float(np.quantile(view.delay, 0.9))
        seconds = max(SHORTEST, PACKETS * packet * 8 / typical, TRIPS * trip)
        wide = max(1, min(math.ceil(seconds / view.step), len(view.rate) // 6))
        return cls(packet, wide, trip)

    def chosen(self, view: View) -> NDArray[np.bool_]:
        """Return in which windows the queue is seldom empty."""
        full = np.convolve(queued(view, self.packet), np.ones(self.wide) / self.wide, "valid") >= NEVER_EMPTY - 1e-9
        found: NDArray[np.bool_] = full & (self.means(view) > 0)
        return found

    def late(self, view: View) -> float:
        """Return the part of a window's data that may be counted in the next, where that is so in enough windows."""
        if np.isnan(view.repeated).any():
            return self.trip / (self.wide * view.step)
        reach = math.ceil(self.trip / view.step)
        near = np.convolve(view.repeated > 0, np.ones(2 * reach + 1), "same") > 0
        return self.trip / (self.wide * view.step) * min(1.0, float(near.mean()) / (2 * ENDS[0]))

    def means(self, view: View) -> Array:
        """Return the mean rate in each window."""
        found: Array = np.convolve(view.rate, np.ones(self.wide) / self.wide, "valid")
        return found

    def spread(self, view: View) -> float | None:
        """Return the spread of the rate, or None if there was a queue too seldom."""
        chosen = self.chosen(view)
        return spread(self.means(view)[chosen]) if self.apart(chosen) >= FEWEST else None

    def apart(self, chosen: NDArray[np.bool_]) -> float:
        """Return how many windows, each beside the other, the bins of these are."""
        return np.count_nonzero(np.convolve(chosen, np.ones(self.wide))) / self.wide


def variation(
    view: View, base: float, packet: float, in_order: bool, alone: Sequence[View], others: Sequence[View]
) -> Variation:
    """Compare the spread of the rate with that of links like the measurement, without and with other traffic.

    ``in_order`` says that the receiver counted data in their order, so that a lost packet held others up.
    """
    windows = Windows.of(view, base, packet)
    window, own = windows.wide * view.step, windows.spread(view)
    if own is None:
        seconds = windows.apart(windows.chosen(view)) * window
        return Variation(
            window,
            because=f"there was a queue for {seconds:.1f} s, and {FEWEST * window:.1f} s are needed: "
            "measure for longer, or as `probe-plan` says",
        )
    usual, with_others = ([one for one in map(windows.spread, each) if one is not None] for each in (alone, others))
    if len(usual) < len(alone) / 2 or not with_others:
        return Variation(window, because="links that are like the measurement have a queue less often: measure again")
    least, middle, most = (float(np.quantile(usual, share)) for share in (LIKELY[0], 0.5, LIKELY[1]))
    off = TOLERANCE + SHARE * own + (windows.late(view) if in_order else 0.0)
    low = np.sqrt(max(0.0, own**2 - most**2)) - off
    high = np.sqrt(max(0.0, own**2 - least**2)) + off
    value = np.clip(np.sqrt(max(0.0, own**2 - middle**2)), max(0.0, low), high)
    ratio = Interval(*(float(np.exp(max(0.0, one))) for one in (value, low, high)))
    varies, because = None, ""
    if ratio.high < CLEAR:
        varies = False
    elif low <= 0:
        because = "losses alone may do it: `probe-plan` has measurements of more connections"
    elif own > np.quantile(with_others, LIKELY[1]) + TOLERANCE:
        varies = True
    else:
        because = "other traffic may do it: measure with nothing else on the link, or for longer"
    rates = windows.means(view)[windows.chosen(view)]
    lowest, highest = (float(one) for one in np.quantile(rates, ENDS))
    return Variation(
        window, varies, ratio, lowest, highest, _every(rates, view.step, most) if varies else None, because
    )


def spread(rates: Array) -> float:
    """Return the difference of the logarithms of the highest and the lowest rate."""
    low, high = np.quantile(np.log(rates), ENDS)
    return float(high - low)


def _every(rates: Array, step: float, noise: float) -> Interval | None:
    """Return for how long the rate stays above or below its middle; differences as small as the noise are none."""
    logs = np.log(rates)
    off = logs - (logs.max() + logs.min()) / 2
    changes = int(np.count_nonzero(np.diff(np.sign(off[np.abs(off) > noise / 2]))))
    if not changes:
        return None
    # As many as a Poisson process may have.
    seconds, most, least = len(rates) * step, chi2.ppf(LIKELY[1], 2 * changes + 2), chi2.ppf(LIKELY[0], 2 * changes)
    return Interval(seconds / changes, float(2 * seconds / most), float(2 * seconds / least))

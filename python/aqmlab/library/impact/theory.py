"""The study's open-loop model of losses in a row."""

from __future__ import annotations

import math
from functools import lru_cache

from aqmlab.library.impact.measures import APPROXIMATED, HERO, LONGEST, RED, TD, Array
from aqmlab.papers import Check
from aqmlab.theory.drops.trials import figure

LOAD = 1.2
"""Offered load of the model: arrivals divided by the link's capacity; missing in print."""
FLOWS = 50
"""Number of flows in the model of a single flow's losses."""
MODELLED = {RED: (6, "RED"), APPROXIMATED: (9, "GRED"), HERO: (11, "GRED-I"), TD: (6, "Tail Drop")}
"""The theory figure that has the curve of a label, and the curve's name in it."""


@lru_cache
def model(number: int, flows: float, quick: bool) -> dict[str, tuple[Array, Array]]:
    """Return the open-loop model's curves of figure 6, 9 or 11: P(run >= n) and its standard error, by policy.

    ``flows`` is the number of flows among which packets are distributed; 1 counts losses of all flows. ``quick``
    simulates a quarter of the arrivals.
    """
    return figure(number, LOAD, longest=LONGEST, flows=flows, arrivals=100_000 if quick else 400_000)


def modelled(label: str, flows: float, quick: bool) -> tuple[Array, Array]:
    """Return P(run >= n) and its standard error by the open-loop model for a discipline, each of shape (`LONGEST`,).

    True gentle RED has no model. ``flows`` and ``quick`` as in `model`.
    """
    number, name = MODELLED[label]
    return model(number, flows, quick)[name]


def in_model(
    effect: str,
    one: str,
    other: str,
    n: int,
    flows: float,
    quick: bool,
    *,
    least: float = -math.inf,
    most: float = math.inf,
) -> Check:
    """Compare the frequency of loss runs of at least ``n`` packets in the open-loop model.

    The value is log10 of the ratio of P(run >= n), claimed to be within ``least`` and ``most``. Its 95 % interval is
    that of the model's simulation; None where the chain computes both. ``flows`` and ``quick`` as in `model`.
    """
    (p, error), (q, other_error) = (
        (float(curve[n - 1]) for curve in modelled(label, flows, quick)) for label in (one, other)
    )
    half = 1.96 * math.hypot(error / p, other_error / q) / math.log(10)
    value = math.log10(p / q)
    return Check(effect=effect, value=value, half=half, unit="orders of magnitude", least=least, most=most)

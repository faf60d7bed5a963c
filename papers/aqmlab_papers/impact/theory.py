"""The study's open-loop model of losses in a row."""

import math
from functools import lru_cache
from typing import Literal

from aqmlab_papers import Check, Tolerance
from aqmlab_papers.impact.measures import APPROXIMATED, BUFFER, GENTLE, HERO, LONGEST, RED, TD, Array
from aqmlab_papers.impact.trials import curve
from aqmlab_papers.theory.drops import POLICIES, batches

LOAD = 1.2
"""Offered load of the model, lost in our copy: that of our simulated experiment 6, in which 18 to 20 % are lost."""
LOADS = (1.1, LOAD, 1.5, 2.0)
"""Loads for a claim that must not hang on the one that is lost."""
FLOWS = 50
"""Number of flows in the model of a single flow's losses."""
NORMAL = 2.29
"""Half the interval of `Check` in standard errors, of many values."""
MODELLED = {RED: "RED", APPROXIMATED: "GRED", GENTLE: "gentle RED", HERO: "GRED-I", TD: "Tail Drop"}
"""The names of the disciplines in the model."""


@lru_cache
def modelled(label: str, flows: float, load: float = LOAD) -> tuple[Array, Array]:
    """Return P(run >= n) and its standard error by the open-loop model for a discipline, each of shape (`LONGEST`,).

    ``flows`` is the number of flows among which packets are distributed; 1 counts losses of all flows.
    """
    return curve(load, POLICIES[MODELLED[label]], BUFFER, LONGEST, flows)


def in_model(
    effect: str,
    one: str,
    other: str,
    n: int,
    flows: float,
    better: Literal["lower", "higher"],
    tolerance: Tolerance,
    *,
    other_flows: float | None = None,
    load: float = LOAD,
) -> Check:
    """Compare the frequency of loss runs of at least ``n`` packets in the open-loop model.

    The value is log10 of the ratio of P(run >= n), which is claimed to be ``lower`` or ``higher``. Its interval is that
    of the model's simulation. ``flows`` and ``load`` as in `modelled`; ``other_flows`` are those of the other, if not
    the same.
    """
    least, most = tolerance.bounds(better)
    pair = ((one, flows), (other, flows if other_flows is None else other_flows))
    (p, error), (q, other_error) = (
        (float(curve[n - 1]) for curve in modelled(label, count, load)) for label, count in pair
    )
    half = NORMAL * math.hypot(error / p, other_error / q) / math.log(10)
    return Check(
        effect=f"{effect}, open-loop model, load {load}",
        value=math.log10(p / q),
        half=half,
        unit=tolerance.unit,
        least=least,
        most=most,
        counts=tolerance.value,
    )


def bias(label: str, size: int, share: float) -> float:
    """Return what packets in batches of ``size`` lose over what single ones lose, by the model; no label that averages.

    ``share`` is the fraction of the packets that come in batches.
    """
    found = batches(LOAD, POLICIES[MODELLED[label]].of(BUFFER), size, share)
    return found.bursty / found.smooth

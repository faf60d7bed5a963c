"""Distributions: their means over the runs, and the curves that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.results.metrics import DISTRIBUTIONS

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def mean(name: str, runs: Sequence[Sequence[float]]) -> list[float]:
    """Average a distribution over the runs, number by number.

    A run without percentiles is left out; a bin that a run does not have counts as 0.

    Examples
    --------
    >>> mean("loss_runs", [[4, 2], [2]])
    [3.0, 1.0]
    >>> mean("completion_time", [[0.5, 1.5], []])
    [0.5, 1.5]
    """
    if DISTRIBUTIONS[name].counted:
        longest = max(map(len, runs))
        runs = [[*run, *[0] * (longest - len(run))] for run in runs]
    else:
        runs = [run for run in runs if run]
    return [sum(numbers) / len(runs) for numbers in zip(*runs, strict=True)]


def panels(results: Mapping[str, Result], name: str) -> dict[str, dict[str, list[float]]]:
    """Return the numbers to show of a distribution: by traffic entry and label, for each result that has any.

    If only links have the distribution, the observed link takes the place of the traffic entries. Raise KeyError if
    there is no such distribution.
    """
    if name not in DISTRIBUTIONS:
        raise KeyError(f"{name!r}: no such distribution; must be one of {', '.join(DISTRIBUTIONS)}")
    found: dict[str, dict[str, list[float]]] = {}
    for label, result in results.items():
        classes = result.distributions["classes"]
        owners = (
            classes
            if all(name in distributions for distributions in classes.values())
            else result.distributions["links"]
        )
        for owner, distributions in owners.items():
            if distributions[name] and (owners is classes or owner == result.link):
                found.setdefault(owner, {})[label] = distributions[name]
    return found


def curve(name: str, numbers: Sequence[float]) -> tuple[list[float], list[float]]:
    """Convert the numbers of a distribution to a curve, in the units that people read.

    For counts: each length, and the share in % of those at least as long. For percentiles: the value, and the share in
    % of those not greater.

    Examples
    --------
    >>> curve("loss_runs", [3, 1])
    ([1, 2], [100.0, 25.0])
    """
    distribution = DISTRIBUTIONS[name]
    if not distribution.counted:
        return [number * distribution.scale for number in numbers], [float(percent) for percent in range(101)]
    total = sum(numbers)
    return list(range(1, len(numbers) + 1)), [100 * sum(numbers[i:]) / total for i in range(len(numbers))]


def share(name: str) -> str:
    """Return the axis label of the share that `curve` returns."""
    return "At least as long (%)" if DISTRIBUTIONS[name].counted else "Not greater (%)"

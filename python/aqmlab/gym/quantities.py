"""The measurements of an interval, the observation that an agent gets of them, and the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box
from numpy.typing import NDArray

from aqmlab import _core


class Quantity(NamedTuple):
    """A quantity that is measured in each interval, or a component of an observation.

    Parameters
    ----------
    name : str
        Its name.
    unit : str
        Its unit, empty for none.
    doc : str
        Its definition.
    low : float
        Its lowest value.
    high : float
        Its highest value.
    """

    name: str
    unit: str
    doc: str
    low: float
    high: float


MEASURED = tuple(Quantity(*row) for row in _core.control_quantities()[0])
"""The measurements of an interval: the keys of ``info`` and of the mapping that a reward function takes."""

OBSERVED = tuple(Quantity(*row) for row in _core.control_quantities()[1])
"""The components of an observation, in their order; they are clipped to their ranges."""

NAMES = tuple(quantity.name for quantity in MEASURED)

Reward = Callable[[Mapping[str, Any]], Any]
"""A reward: a function of the measurements by name, numbers or, of many environments, arrays."""

DELAY_COST = 10.0
"""The utilisation that a second of delay costs in `score`: 100 ms cost as much as an idle link."""


def score(measured: Mapping[str, Any]) -> Any:
    """Return the score of intervals: utilisation minus delay over 100 ms.

    Parameters
    ----------
    measured : mapping
        ``utilisation``, a fraction, and ``delay``, in seconds, as numbers or arrays of one shape.

    Returns
    -------
    float or numpy.ndarray
        The score: 1 at most; 0 for an idle link and for a busy one with a delay of 100 ms.
    """
    return measured["utilisation"] - DELAY_COST * measured["delay"]


def observation_space() -> Space[NDArray[np.float32]]:
    """Return the space of one observation."""
    low, high = (np.array([getattr(one, end) for one in OBSERVED], np.float32) for end in ("low", "high"))
    return cast("Space[NDArray[np.float32]]", Box(low, high, dtype=np.float32))


def action_space() -> Space[NDArray[np.float32]]:
    """Return the space of one action, the square root of a probability."""
    return cast("Space[NDArray[np.float32]]", Box(0.0, 1.0, (1,), np.float32))


def probability(action: Any) -> float:
    """Return the probability of an action, its square; raise ValueError if it is not one number in [0, 1]."""
    array = np.asarray(action, np.float64)
    if array.size != 1:
        raise ValueError(f"action has shape {array.shape}: must be one number")
    number = float(array.item())
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"action = {number:g}: must be in [0, 1]; the probability is its square")
    return number * number


def probabilities(actions: Any, count: int) -> list[float]:
    """Return the probabilities of actions; raise ValueError if their shape is not (`count`, 1) or (`count`,)."""
    array = np.asarray(actions, np.float64)
    if array.shape not in ((count, 1), (count,)):
        raise ValueError(f"actions have shape {array.shape}: must be ({count}, 1)")
    inside = (array >= 0.0) & (array <= 1.0)
    if not inside.all():
        wrong = int(np.flatnonzero(~inside)[0])
        raise ValueError(f"actions[{wrong}] = {array.flat[wrong]:g}: must be in [0, 1]; the probability is its square")
    squares: list[float] = (array * array).ravel().tolist()
    return squares

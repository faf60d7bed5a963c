"""Domains of formulas: meaningless arguments raise errors, results outside a formula's validity cause warnings.

* values: values to check, keyed by the argument names that the caller uses.
* text: the condition of validity that fails, with its numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike, NDArray


class ValidityWarning(UserWarning):
    """Issued when a formula is evaluated outside the region for which it was derived."""


def positive(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is positive and finite."""
    _each(values, "positive and finite", lambda x: np.isfinite(x) & (x > 0))


def not_negative(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is finite and not negative."""
    _each(values, "finite and not negative", lambda x: np.isfinite(x) & (x >= 0))


def probability(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is in (0, 1)."""
    _each(values, "in (0, 1)", lambda x: (x > 0) & (x < 1))


def limit(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is positive; infinity means no limit."""
    _each(values, "positive, or infinite for no limit", lambda x: x > 0)


def whole(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is a positive integer."""
    positive(**values)
    _each(values, "whole", lambda x: x % 1 == 0)


def _each(values: dict[str, ArrayLike], what: str, holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> None:
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(holds(array)):
            raise ValueError(f"{name} = {_shown(value)}: must be {what}")


def window(N: float, R: float, C: float) -> float:
    """Return the window at which flows fill a link: R C/N (packets).

    Raises ValueError if the window is not in [1e-6, 1e6].
    """
    packets = R * C / N
    if not 1e-6 <= packets <= 1e6:
        raise ValueError(
            f"N = {N:g}, R = {R:g} s, C = {C:g} packets/s: a flow's window R C/N is {packets:.3g} packets; "
            "must be in [1e-6, 1e6]"
        )
    return packets


def caution(text: str) -> None:
    """Warn that a result lies outside a formula's validity."""
    warnings.warn(text, ValidityWarning, stacklevel=3)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect the warnings of formulas called inside the block, for the ``warnings`` of an `Answer`.

    The list is empty inside the block; afterwards it has each warning once.
    """
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ValidityWarning)
        yield texts
    for warning in caught:
        if not issubclass(warning.category, ValidityWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif str(warning.message) not in texts:
            texts.append(str(warning.message))


def _shown(value: ArrayLike) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

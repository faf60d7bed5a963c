"""Domains of formulas: meaningless arguments raise errors, results outside a formula's validity cause warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike


class ValidityWarning(UserWarning):
    """Issued when a formula is evaluated outside the region for which it was derived."""


def positive(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is positive and finite.

    Parameters
    ----------
    **values : array_like
        Values to check, keyed by the argument names that the caller uses.

    Raises
    ------
    ValueError
        With name, value and the allowed range.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(np.isfinite(array) & (array > 0)):
            raise ValueError(f"{name} = {_shown(value)}: must be positive and finite")


def not_negative(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is finite and not negative.

    Parameters
    ----------
    **values : array_like
        Values to check, keyed by the argument names that the caller uses.

    Raises
    ------
    ValueError
        With name, value and the allowed range.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(np.isfinite(array) & (array >= 0)):
            raise ValueError(f"{name} = {_shown(value)}: must be finite and not negative")


def probability(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is in (0, 1).

    Parameters
    ----------
    **values : array_like
        Values to check, keyed by the argument names that the caller uses.

    Raises
    ------
    ValueError
        With name, value and the allowed range.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all((array > 0) & (array < 1)):
            raise ValueError(f"{name} = {_shown(value)}: must be in (0, 1)")


def limit(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is positive; infinity is allowed.

    Parameters
    ----------
    **values : array_like
        Values to check, keyed by the argument names that the caller uses; infinite means no limit.

    Raises
    ------
    ValueError
        With name, value and the allowed range.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(array > 0):
            raise ValueError(f"{name} = {_shown(value)}: must be positive, or infinite for no limit")


def whole(**values: ArrayLike) -> None:
    """Raise ValueError unless every value is a positive integer.

    Parameters
    ----------
    **values : array_like
        Values to check, keyed by the argument names that the caller uses.

    Raises
    ------
    ValueError
        With name, value and the allowed range.
    """
    positive(**values)
    for name, value in values.items():
        if np.any(np.asarray(value, dtype=float) % 1):
            raise ValueError(f"{name} = {_shown(value)}: must be whole")


def window(N: float, R: float, C: float) -> float:
    """Return the window at which flows fill a link.

    Parameters
    ----------
    N : float
        Flows, positive.
    R : float
        Round-trip time (s), positive.
    C : float
        Capacity (packets/s), positive.

    Returns
    -------
    float
        R C/N (packets).

    Raises
    ------
    ValueError
        If the window is not in [1e-6, 1e6].
    """
    packets = R * C / N
    if not 1e-6 <= packets <= 1e6:
        raise ValueError(
            f"N = {N:g}, R = {R:g} s, C = {C:g} packets/s: a flow's window R C/N is {packets:.3g} packets; "
            "must be in [1e-6, 1e6]"
        )
    return packets


def caution(text: str) -> None:
    """Warn that a result lies outside a formula's validity.

    Parameters
    ----------
    text : str
        The condition that fails, with its numbers.
    """
    warnings.warn(text, ValidityWarning, stacklevel=3)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect the warnings of formulas called inside the block, for the ``warnings`` of an `Answer`.

    Yields
    ------
    list of str
        Empty inside the block; afterwards each warning once.
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

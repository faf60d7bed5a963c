"""Where formulas hold: arguments without meaning are refused, results outside a formula's validity are remarked on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike


class ValidityWarning(UserWarning):
    """Said of a number that a formula gives outside the region for which it was derived."""


def positive(**values: ArrayLike) -> None:
    """Refuse what is not positive and finite.

    Parameters
    ----------
    **values : array_like
        What to check, each by the name that the caller knows.

    Raises
    ------
    ValueError
        With name, value and what is allowed.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(np.isfinite(array) & (array > 0)):
            raise ValueError(f"{name} = {_shown(value)}: must be positive and finite")


def not_negative(**values: ArrayLike) -> None:
    """Refuse what is negative or not finite.

    Parameters
    ----------
    **values : array_like
        What to check, each by the name that the caller knows.

    Raises
    ------
    ValueError
        With name, value and what is allowed.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(np.isfinite(array) & (array >= 0)):
            raise ValueError(f"{name} = {_shown(value)}: must be finite and not negative")


def probability(**values: ArrayLike) -> None:
    """Refuse what is not in (0, 1).

    Parameters
    ----------
    **values : array_like
        What to check, each by the name that the caller knows.

    Raises
    ------
    ValueError
        With name, value and what is allowed.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all((array > 0) & (array < 1)):
            raise ValueError(f"{name} = {_shown(value)}: must be in (0, 1)")


def limit(**values: ArrayLike) -> None:
    """Refuse what is neither positive nor infinite.

    Parameters
    ----------
    **values : array_like
        What to check, each by the name that the caller knows; infinite where nothing limits.

    Raises
    ------
    ValueError
        With name, value and what is allowed.
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 0:
            raise ValueError(f"{name} is empty: give at least one value")
        if not np.all(array > 0):
            raise ValueError(f"{name} = {_shown(value)}: must be positive, or infinite for no limit")


def whole(**values: ArrayLike) -> None:
    """Refuse what is no whole number from 1 on.

    Parameters
    ----------
    **values : array_like
        What to check, each by the name that the caller knows.

    Raises
    ------
    ValueError
        With name, value and what is allowed.
    """
    positive(**values)
    for name, value in values.items():
        if np.any(np.asarray(value, dtype=float) % 1):
            raise ValueError(f"{name} = {_shown(value)}: must be whole")


def window(N: float, R: float, C: float) -> float:
    """Give the window at which flows fill a link; refuse one that nothing could have.

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
        If it is not in [1e-6, 1e6].
    """
    packets = R * C / N
    if not 1e-6 <= packets <= 1e6:
        raise ValueError(
            f"N = {N:g}, R = {R:g} s, C = {C:g} packets/s: a flow's window R C/N is {packets:.3g} packets; "
            "must be in [1e-6, 1e6]"
        )
    return packets


def caution(text: str) -> None:
    """Remark that a result lies outside a formula's validity.

    Parameters
    ----------
    text : str
        Which condition fails, with its numbers.
    """
    warnings.warn(text, ValidityWarning, stacklevel=3)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect the remarks of formulas that are called inside, for an `Answer` to carry.

    Yields
    ------
    list of str
        Empty inside; afterwards each remark once.
    """
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ValidityWarning)
        yield told
    for one in caught:
        if not issubclass(one.category, ValidityWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif str(one.message) not in told:
            told.append(str(one.message))


def _shown(value: ArrayLike) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)

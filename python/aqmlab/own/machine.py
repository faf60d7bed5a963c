"""What compiled code calls, and how the engine calls it; imported only where numba is installed."""
# numba reads the signatures of these functions, so they have no annotations.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-incomplete-defs=False, check-untyped-defs=False
# ruff: noqa: D103

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numba
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

from aqmlab import _core

_uniform = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(_core.uniform_address())


@numba.njit
def draw(source):
    if source == 0:
        raise RuntimeError("random() draws in on_enqueue and on_dequeue only")
    return _uniform(source)


@numba.njit
def ns(seconds):
    return int(seconds * 1e9 + 0.5)


def fraction(value):
    """Return a value for an attribute that starts as a number with a fraction."""
    raise NotImplementedError


def whole(value):
    """Return a value for an attribute that starts as a whole number."""
    raise NotImplementedError


def switch(value):
    """Return a value for an attribute that starts as true or false."""
    raise NotImplementedError


def verdict(given):
    """Return the number of a verdict, -1 for another value."""
    raise NotImplementedError


@overload(fraction)
def _fraction(value):
    if isinstance(value, types.Float | types.Integer | types.Boolean):
        return lambda value: float(value)
    raise TypingError(f"sets an attribute that starts as a number to a value of the type {value}")


@overload(whole)
def _whole(value):
    if isinstance(value, types.Integer | types.Boolean):
        return lambda value: int(value)
    raise TypingError(
        f"sets an attribute that starts as a whole number to a value of the type {value}: start it as 0.0 if it is "
        "a number with a fraction"
    )


@overload(switch)
def _switch(value):
    if isinstance(value, types.Boolean):
        return lambda value: value
    raise TypingError(f"sets an attribute that starts as true or false to a value of the type {value}")


@overload(verdict)
def _verdict(given):
    if isinstance(given, types.NoneType):
        return lambda given: 0
    if isinstance(given, types.Integer):
        return lambda given: given if 0 <= given <= 2 else -1
    if isinstance(given, types.Optional) and isinstance(given.type, types.Integer):

        def optional(given):
            if given is None:
                return 0
            return given if 0 <= given <= 2 else -1

        return optional
    raise TypingError(f"returns a value of the type {given}, which is no verdict")


NAMES = {"_draw": draw, "_ns": ns, "_set_f": fraction, "_set_i": whole, "_set_b": switch}
"""The names by which rewritten methods call these functions."""


def callback(method: str, function: Any, records: Sequence[Any]) -> Any:
    """Return a function for the engine that calls the compiled `function` for the event `method`.

    `records` are the layouts of the state, the packet and the queue. The function returns -1 if there was an exception.
    """
    pointers = [types.CPointer(numba.from_dtype(record)) for record in records]
    return numba.cfunc(types.int64(*pointers))(_CALLBACKS[method](function))


def _decides(function):
    def called(state, packet, queue):
        try:
            return verdict(function(numba.carray(state, 1)[0], numba.carray(packet, 1)[0], numba.carray(queue, 1)[0]))
        except Exception:
            return -1

    return called


def _notes(function):
    def called(state, packet, queue):
        try:
            function(numba.carray(state, 1)[0], numba.carray(queue, 1)[0])
        except Exception:
            return -1
        return 0

    return called


def _notes_overflow(function):
    def called(state, packet, queue):
        try:
            function(numba.carray(state, 1)[0])
        except Exception:
            return -1
        return 0

    return called


_CALLBACKS = {
    "on_enqueue": _decides,
    "on_dequeue": _decides,
    "on_overflow": _notes_overflow,
    "on_idle": _notes,
    "on_period": _notes,
}

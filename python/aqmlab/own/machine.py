"""What compiled code calls, and how the engine calls it; imported only where numba is installed."""
# numba reads the signatures of these functions, so they have no annotations.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-incomplete-defs=False, check-untyped-defs=False
# ruff: noqa: D103

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numba
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

from aqmlab import _core
from aqmlab.own.rewrite import MATH

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


def written(given):
    """Return a verdict as a method returns it."""
    raise NotImplementedError


@overload(written)
def _written(given):
    if isinstance(given, types.NoneType | types.Integer | types.Optional):
        return lambda given: given
    raise TypingError(f"returns a value of the type {given}, which is no verdict")


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


def add(a, b):
    """Return a + b."""
    raise NotImplementedError


def sub(a, b):
    """Return a - b."""
    raise NotImplementedError


def mul(a, b):
    """Return a * b."""
    raise NotImplementedError


def div(a, b):
    """Return a / b."""
    raise NotImplementedError


def shift(a, b):
    """Return a << b."""
    raise NotImplementedError


def power(a, b):
    """Return a ** b."""
    raise NotImplementedError


def integer(x):
    """Return int(x)."""
    raise NotImplementedError


def nearest(x):
    """Return round(x)."""
    raise NotImplementedError


_MOST = 9.2e18
"""Below 2**63: whole numbers up to here fit in 64 bits, and the float next to each does, too."""


_EXACT = 2.0**53
"""Whole numbers up to here are floats exactly."""


def _whole_numbers(*given):
    return all(isinstance(one, types.Integer | types.Boolean) for one in given)


@overload(add)
def _add(a, b):
    if not _whole_numbers(a, b):
        return lambda a, b: a + b

    def checked(a, b):
        if abs(float(int(a)) + float(int(b))) > _MOST:
            raise OverflowError
        return int(a) + int(b)

    return checked


@overload(sub)
def _sub(a, b):
    if not _whole_numbers(a, b):
        return lambda a, b: a - b

    def checked(a, b):
        if abs(float(int(a)) - float(int(b))) > _MOST:
            raise OverflowError
        return int(a) - int(b)

    return checked


@overload(mul)
def _mul(a, b):
    if not _whole_numbers(a, b):
        return lambda a, b: a * b

    def checked(a, b):
        if abs(float(int(a)) * float(int(b))) > _MOST:
            raise OverflowError
        return int(a) * int(b)

    return checked


@overload(div)
def _div(a, b):
    if not _whole_numbers(a, b):
        return lambda a, b: a / b

    def checked(a, b):
        # Python rounds the quotient once; here both numbers become floats first.
        if abs(float(int(a))) > _EXACT or abs(float(int(b))) > _EXACT:
            raise OverflowError
        return int(a) / int(b)

    return checked


@overload(shift)
def _shift(a, b):
    def checked(a, b):
        if b < 0 or b > 62 or abs(float(a)) * 2.0**b > _MOST:
            raise OverflowError
        return a << b

    return checked


@overload(power)
def _power(a, b):
    if _whole_numbers(a, b):

        def whole_power(a, b):
            if b < 0:
                raise ValueError
            found = 1
            for _ in range(b):
                if abs(float(found) * float(a)) > _MOST:
                    raise OverflowError
                found *= a
            return found

        return whole_power

    def real_power(a, b):
        # Python's, by the same function: numba would multiply for small exponents, and round differently.
        found = _pow(float(a), float(b))
        if not math.isfinite(found) or (found != found):
            raise ValueError
        return found

    return real_power


@overload(integer)
def _integer(x):
    if _whole_numbers(x):
        return lambda x: int(x)

    def checked(x):
        if not abs(x) < _MOST:
            raise OverflowError
        return int(x)

    return checked


@overload(nearest)
def _nearest(x):
    if _whole_numbers(x):
        return lambda x: int(x)

    def checked(x):
        if not abs(x) < _MOST:
            raise OverflowError
        return round(x)

    return checked


_pow = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(("pow", ctypes.CDLL(None)))


def _real(name):
    """Return a function of `math` that fails where Python's raises an exception."""
    function = getattr(math, name)

    @numba.njit
    def checked(x):
        if not math.isfinite(x):
            raise ValueError
        found = function(float(x))
        if not math.isfinite(found):
            raise ValueError
        return found

    return checked


def _to_whole(name):
    """Return a function of `math` from a number to a whole number; fails where it needs more than 64 bits."""
    function = getattr(math, name)

    @numba.njit
    def checked(x):
        if not abs(x) < _MOST:
            raise OverflowError
        return int(function(x))

    return checked


_ROUNDING = ("floor", "ceil", "trunc")

NAMES = {
    "_draw": draw,
    "_ns": ns,
    "_set_f": fraction,
    "_set_i": whole,
    "_set_b": switch,
    "_verdict": written,
    "_add": add,
    "_sub": sub,
    "_mul": mul,
    "_div": div,
    "_shift": shift,
    "_pow": power,
    "_int": integer,
    "_round": nearest,
    **{f"_math_{name}": (_to_whole if name in _ROUNDING else _real)(name) for name in MATH},
}
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

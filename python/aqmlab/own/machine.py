"""What compiled code calls, and how the engine calls it; imported only where numba is installed.

The ends of the names are the kinds of the numbers: ``_i`` for whole numbers of 64 bits, ``_f`` for floats. Each
function has the result of Python, or raises an exception, after which Python decides.
"""
# numba reads the signatures of these functions, so they have no annotations.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False
# mypy: disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numba
from numba.core import types

from aqmlab import _core
from aqmlab.own.body import LIBM
from aqmlab.own.kinds import ARGUMENTS
from aqmlab.own.rewrite import Translation

_MOST = 9.2e18
"""Below 2**63: whole numbers up to here fit in 64 bits, and the float next to each does, too."""

_EXACT = 2**53
"""Whole numbers up to here are floats exactly."""

_uniform = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(_core.uniform_address())
_of_two = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
_pow, _fmod = _of_two(("pow", ctypes.CDLL(None))), _of_two(("fmod", ctypes.CDLL(None)))


def draw(source):
    """Draw a number from a stream of random numbers."""
    if source == 0:
        raise RuntimeError("random() draws in on_enqueue and on_dequeue only")
    return _uniform(source)


def nothing(x):
    """Do nothing with a value."""
    return 0


@numba.njit
def exact_i(x):
    """Return a whole number as a float that is equal to it."""
    if not -_EXACT <= x <= _EXACT:
        raise OverflowError
    return float(x)


def near_i(x):
    """Return a bound of a range, if the range's length fits in 64 bits."""
    if not -_EXACT <= x <= _EXACT:
        raise OverflowError
    return x


def mixed(x):
    """Return a number that may be whole in Python, if it is then the same."""
    if not abs(x) < _EXACT or (x == 0 and math.copysign(1.0, x) < 0):
        raise OverflowError
    return x


def add_i(a, b):
    """Add whole numbers as Python does."""
    if abs(float(a) + float(b)) > _MOST:
        raise OverflowError
    return a + b


def sub_i(a, b):
    """Subtract whole numbers as Python does."""
    if abs(float(a) - float(b)) > _MOST:
        raise OverflowError
    return a - b


def mul_i(a, b):
    """Multiply whole numbers as Python does."""
    if abs(float(a) * float(b)) > _MOST:
        raise OverflowError
    return a * b


def div_i(a, b):
    """Divide whole numbers as Python does."""
    # Python rounds the quotient once; here both numbers become floats first.
    return exact_i(a) / exact_i(b)


def floordiv_i(a, b):
    """Divide whole numbers and round down as Python does."""
    # The quotient of the least number and -1 has more than 64 bits.
    if b == 0 or abs(float(a)) > _MOST:
        raise ZeroDivisionError
    return a // b


def mod_i(a, b):
    """Return the remainder of whole numbers with the divisor's sign."""
    if b == 0 or abs(float(a)) > _MOST:
        raise ZeroDivisionError
    return a % b


def pow_i(a, b):
    """Raise a whole number to a power as Python does."""
    if b < 0:
        raise ValueError
    found, base, left = 1, a, b
    while left > 0:  # by squaring: the exponent may be a time in nanoseconds
        if left & 1:
            if abs(float(found) * float(base)) > _MOST:
                raise OverflowError
            found *= base
        left >>= 1
        if left > 0:
            if abs(float(base) * float(base)) > _MOST:
                raise OverflowError
            base *= base
    return found


def lshift_i(a, b):
    """Shift a whole number to the left as Python does."""
    if b < 0 or b > 62 or abs(float(a)) * 2.0**b > _MOST:
        raise OverflowError
    return a << b


def rshift_i(a, b):
    """Shift a whole number to the right as Python does."""
    if b < 0:
        raise ValueError
    return a >> min(b, 63)  # a processor takes the shift modulo 64


def neg_i(a):
    """Negate a whole number."""
    if abs(float(a)) > _MOST:
        raise OverflowError
    return -a


def abs_i(a):
    """Return the absolute value of a whole number."""
    if abs(float(a)) > _MOST:
        raise OverflowError
    return abs(a)


def _to_whole(function):
    """Return a function that makes a float whole as this one does, if the result fits."""

    def checked(x):
        if not abs(x) < _MOST:
            raise OverflowError
        return function(x)

    return checked


def mod_f(a, b):
    """Return a % b as CPython has it (float_rem)."""
    if b == 0:
        raise ZeroDivisionError
    rest = _fmod(a, b)
    if rest == 0:
        return math.copysign(0.0, b)
    return rest + b if (b < 0) != (rest < 0) else rest


def floordiv_f(a, b):
    """Return a // b as CPython has it (_float_div_mod)."""
    if b == 0:
        raise ZeroDivisionError
    rest = _fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0 and (b < 0) != (rest < 0):
        quotient -= 1.0
    if quotient == 0:
        return math.copysign(0.0, a / b)
    # math.floor would return a whole number, which is not for every float.
    if abs(quotient) >= _EXACT or quotient != quotient:
        return quotient
    below = float(math.floor(quotient))
    return below + 1.0 if quotient - below > 0.5 else below


def pow_f(a, b):
    """Raise a float to a power as Python does."""
    found = _pow(a, b)
    if not math.isfinite(found):
        raise ValueError
    return found


def sqrt_f(x):
    """Return the square root of a float as Python does."""
    if not 0 <= x < math.inf:
        raise ValueError
    return math.sqrt(x)


def least(a, b):
    """Return the smaller number, the first of equal ones."""
    return b if b < a else a


def most(a, b):
    """Return the larger number, the first of equal ones."""
    return b if b > a else a


def _from_libm(name):
    """Return a function of the C library that fails where that of `math` raises an exception."""
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)((name, ctypes.CDLL(None)))

    def checked(x):
        found = function(x)
        if not math.isfinite(found):
            raise ValueError
        return found

    return checked


_FUNCTIONS = {
    "exact": exact_i,
    "min": least,
    "max": most,
    **{
        f"{name}_f": _to_whole(function)
        for name, function in (
            ("int", int), ("trunc", int), ("round", round), ("floor", math.floor), ("ceil", math.ceil),
        )
    },
    "copysign": math.copysign,
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    **{f"{name}_f": _from_libm(name) for name in LIBM},
    **{
        one.__name__: one
        for one in (
            draw, nothing, near_i, mixed, add_i, sub_i, mul_i, div_i, floordiv_i, mod_i, pow_i, lshift_i, rshift_i,
            neg_i, abs_i, mod_f, floordiv_f, pow_f, sqrt_f,
        )
    },
}  # fmt: skip

_AS_THEY_ARE = (exact_i, math.copysign, math.isfinite, math.isinf, math.isnan)

NAMES: dict[str, Any] = {"_inf": math.inf, "_nan": math.nan} | {
    f"_{name}": one if one in _AS_THEY_ARE else numba.njit(one) for name, one in _FUNCTIONS.items()
}
"""The names by which translated methods call these functions."""


def made(translation: Translation, records: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function for the engine for each event; it returns -1 after an exception.

    `records` are the layouts of the state and of what the events are about: the packet and the queue, or the flow.
    """
    space = dict(NAMES)
    for name, text in translation.functions.items():
        exec(compile(text, f"<{name}>", "exec"), space)
        space[name] = numba.njit(space[name], boundscheck=True)
    pointers = [types.CPointer(numba.from_dtype(records[one])) for one in records]
    wrap = numba.cfunc(types.int64(*pointers))
    return {event: wrap(_CALLS[ARGUMENTS[event]](space[name])) for event, name in translation.events.items()}


def _decides(function):
    def called(state, packet, queue):
        try:
            verdict = function(numba.carray(state, 1)[0], numba.carray(packet, 1)[0], numba.carray(queue, 1)[0])
        except Exception:
            return -1
        return verdict if 0 <= verdict <= 2 else -1

    return called


def _notes(function):
    def called(state, packet, queue):
        try:
            function(numba.carray(state, 1)[0], numba.carray(queue, 1)[0])
        except Exception:
            return -1
        return 0

    return called


def _notes_alone(function):
    def called(state, packet, queue):
        try:
            function(numba.carray(state, 1)[0])
        except Exception:
            return -1
        return 0

    return called


def _notes_flow(function):
    def called(state, flow):
        try:
            function(numba.carray(state, 1)[0], numba.carray(flow, 1)[0])
        except Exception:
            return -1
        return 0

    return called


_CALLS: Mapping[Sequence[str], Any] = {
    ("packet", "queue"): _decides,
    ("queue",): _notes,
    (): _notes_alone,
    ("flow",): _notes_flow,
}

"""Random expressions over odd numbers: what compiled code decides is what Python decides.

An input is a file with a class whose events each set an attribute to an expression, of any operation and function
and of any size. Each event is called with numbers at the edges of what 64 bits and floats hold, compiled and
in Python. Compiled code may leave a case to Python, and a class may be refused; another value, or one where Python
raises an exception, is a finding.
"""

import ctypes
import math
import random
import struct
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from aqmlab.own import compiled, source

SUFFIX = ".py"
TESTED = 8
LIMIT = 120.0
VECTORS = 150
"""The numbers with which each event is called."""

EVENTS = ("on_enqueue", "on_dequeue", "on_idle", "on_period")

WHOLES = (
    0, 1, -1, 2, 3, -7, 31, 32, 63, 64, 65, -64, 255, 10**6, 2**31, -(2**31), 2**32, 2**52 + 1, 2**53 - 1, 2**53,
    2**53 + 1, -(2**53) - 1, 3**33, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1,
)  # fmt: skip
REALS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1 / 3, -7.3, 64.0, 1e-9, 5e-324, -5e-324, 1e16, 2.0**53,
    -(2.0**53), 2.0**63, -(2.0**63), 1e19, 1e300, -1e308, math.inf, -math.inf, math.nan,
)  # fmt: skip

TERMS = (
    "self.n", "self.m", "self.n", "self.m", "self.f", "self.g", "self.f", "self.g", "self.on", "self.off",
    "self.w[1]", "self.u[2]", "LIMIT", "SCALE", "TABLE[1]", "self.cap", "queue.bytes", "queue.now",
)  # fmt: skip
CONSTANTS = (
    "0", "1", "-1", "2", "3", "7", "63", "64", "65", "-3", "1000003", "0xFFFFFFFF", "0x7FFFFFFFFFFFFFFF",
    "0xFFFFFFFFFFFFFFFF", "9007199254740993", "2**53", "0.0", "-0.0", "0.5", "2.0", "-2.0", "0.1", "1e18",
    "9007199254740992.0", "1e308", "True", "False", "math.inf", "math.pi",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
FORMS = (
    "abs({a})", "-{a}", "+{a}", "~{a}", "int({a})", "round({a})", "float({a})", "bool({a})", "min({a}, {b})",
    "max({a}, {b})", "min({a}, {b}, {c})", "max({a}, {b}, {c})", "pow({a}, {b})", "math.floor({a})", "math.ceil({a})",
    "math.trunc({a})", "math.sqrt({a})", "math.exp({a})", "math.log({a})", "math.log1p({a})", "math.log10({a})",
    "math.expm1({a})", "math.sin({a})", "math.cos({a})", "math.tan({a})", "math.atan({a})", "math.tanh({a})",
    "math.fabs({a})", "math.copysign({a}, {b})", "math.pow({a}, {b})", "math.isfinite({a})", "math.isnan({a})",
    "math.isinf({a})", "({a} if {b} else {c})", "({a} and {b})", "({a} or {b})", "(not {a})", "({a} in (0, 1, {b}))",
    "self.help({a}, {b})", "self.help(x={a})", "self.way({a})", "double({a})", "aqmlab.ns({a})", "round({a}, 2)",
    "sum(({a}, {b}))", "divmod({a}, {b})[0]", "self.w[{a}]", "self.u[{a}]", "TABLE[{a}]", "len(self.w)",
)  # fmt: skip

HEAD = """\
import math

import aqmlab

LIMIT = 3
SCALE = 0.75
TABLE = (2, 3, 5)


def double(x):
    return x + x


class Odd(aqmlab.AQM):
    '''Odd.'''

    period = 0.02
    cap = 40

    def start(self, port):
        import numpy as np

        self.n, self.m, self.f, self.g, self.on, self.off = 3, 5, 0.5, 1.25, True, False
        self.w, self.u = np.ones(4), np.arange(4)
        self.whole, self.real, self.switch = 0, 0.0, False

    def help(self, x, y=2):
        z = y
        for _ in range(3):
            z = z + x
            if z > 10:
                break
        return z

    def way(self, x):
        best = 0
        while best < x and best < 5:
            best += 0.5
        if x:
            best = x
        return best

"""


class _Writer:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def expression(self, depth: int) -> str:
        draw = self._draw
        if depth <= 0 or draw.random() < 0.1:
            return draw.choice(TERMS if draw.random() < 0.7 else CONSTANTS)
        kind = draw.random()
        a, b, c = (self.expression(depth - 1 - draw.randrange(2)) for _ in range(3))
        if kind < 0.5:
            return f"({a} {draw.choice(BINARY)} {b})"
        if kind < 0.65:
            chain = f" {draw.choice(COMPARISONS)} {c}" if draw.random() < 0.3 else ""
            return f"({a} {draw.choice(COMPARISONS)} {b}{chain})"
        return draw.choice(FORMS).format(a=a, b=b, c=c)

    def text(self) -> str:
        lines = []
        for event in EVENTS:
            given = "queue" if event in ("on_idle", "on_period") else "packet, queue"
            target = self._draw.choice(("whole", "real", "real", "switch"))
            if self._draw.random() < 0.3:
                sign = self._draw.choice(BINARY)
                change = f"self.{target} = self.n\n        self.{target} {sign}= {self.expression(1)}"
            else:
                change = f"self.{target} = {self.expression(self._draw.randrange(1, 4))}"
            lines += [f"    def {event}(self, {given}):", f"        {change}", ""]
        return HEAD + "\n".join(lines)


def case(seed: int) -> bytes:
    """Return the file that a seed makes."""
    return _Writer(seed).text().encode()


def judge(case: bytes, folder: Path) -> str:
    """Call the events of a class compiled and in Python; each is compiled alone, so that one refusal is one."""
    text, outcomes = case.decode(), []
    head, *events = text.split("    def on_")
    for number, event in enumerate(events):
        file = folder / f"odd{number}.py"
        file.write_text(f"{head}    def on_{event}", encoding="utf-8")
        outcomes.append(_event(source.declared(f"{file}:Odd")))
    return ", ".join(sorted(set(outcomes)))


def _event(of: source.Declared) -> str:
    [event] = of.methods
    code = compiled.compiled(of)
    if code is None:
        assert "Error: " not in compiled.reason(of), f"numba, not we, refused it: {compiled.reason(of)}"
        return "refused"
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(code.address(event))
    draw, decided = random.Random(of.text), 0
    for _ in range(VECTORS):
        decided += _same(of, code, event, call, draw)
    return "the same" if decided else "left to Python"


def _same(of: source.Declared, code: compiled.Code, event: str, call: Any, draw: random.Random) -> bool:
    """Call an event with numbers; return whether the compiled code decided."""
    made = compiled.sample(of)
    near = draw.random() < 0.4

    def whole() -> int:
        return draw.randrange(-9, 70) if near else draw.choice(WHOLES)

    def real() -> float:
        return draw.randrange(-40, 40) / 4 if near else draw.choice(REALS)

    given: dict[str, Any] = {"n": whole(), "m": whole(), "f": real(), "g": real()}
    given |= {"on": draw.random() < 0.5, "off": draw.random() < 0.5}
    vars(made).update(given)
    made.w[:] = [real() for _ in range(4)]  # type: ignore[attr-defined]
    made.u[:] = [whole() for _ in range(4)]  # type: ignore[attr-defined]
    state = bytearray(code.state(made) or b"")
    assert state, "its state has another layout"
    queue = SimpleNamespace(now_ns=5, packets=3, bytes=4500, now=5e-9, delay=0.01, full=False)
    # The records of the packet and the queue, of which 4500 bytes and 5e-9 s are read.
    numbers = struct.pack("qqqdd?7x", 5, 3, 4500, 5e-9, 0.01, False)
    records = [(ctypes.c_char * 72)(), (ctypes.c_char * len(numbers)).from_buffer_copy(numbers)]
    buffer = (ctypes.c_char * len(state)).from_buffer(state)
    verdict = call(ctypes.addressof(buffer), ctypes.addressof(records[0]), ctypes.addressof(records[1]))
    if verdict < 0:
        return False
    arguments = [queue] if event in ("on_idle", "on_period") else [None, queue]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            getattr(made, event)(*arguments)
    except Exception as error:
        raise AssertionError(f"Python raises {error!r}, compiled code does not: {given}") from None
    for name in ("whole", "real", "switch"):
        offset, kind = code.field(name)
        [found] = struct.unpack_from({"int64": "q", "float64": "d", "bool": "?"}[kind], state, offset)
        expected = vars(made)[name]
        assert _equal(found, expected), f"{name} is {found!r}, in Python {expected!r}: {vars(made)}"
    return True


def _equal(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float | np.floating):
        return struct.pack("d", found) == struct.pack("d", float(expected)) or (found != found and expected != expected)
    if isinstance(found, float):  # in place of a whole number
        return found == int(expected) and math.copysign(1.0, found) == (-1.0 if expected < 0 else 1.0)
    return bool(int(found) == int(expected)) and isinstance(found, bool) == isinstance(expected, bool | np.bool_)


def attack(seed: int, folder: Path) -> str:
    """Attack with the file that a seed makes."""
    return judge(case(seed), folder)

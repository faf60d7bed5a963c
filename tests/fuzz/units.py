"""Parsers of single values: each returns a finite value or nothing, in agreement with exact arithmetic."""

import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from aqmlab import ScenarioError, _core

SUFFIX = ".txt"
TESTED = 10_000

UNITS: dict[str, tuple[int | Fraction, str]] = {
    "s": (1, "s"), "ms": (Fraction(1, 10**3), "s"), "us": (Fraction(1, 10**6), "s"), "ns": (Fraction(1, 10**9), "s"),
    "min": (60, "s"), "h": (3600, "s"), "bit/s": (1, "bit/s"), "kbit/s": (10**3, "bit/s"), "Mbit/s": (10**6, "bit/s"),
    "Gbps": (10**9, "bit/s"), "B": (1, "bytes"), "kB": (10**3, "bytes"), "MiB": (1 << 20, "bytes"), "Hz": (1, "/s"),
    "kHz": (10**3, "/s"), "/s": (1, "/s"), "packets": (1, "packets"), "p": (1, "packets"), "Mb/s": (10**6, "bit/s"),
    "Mbps": (10**6, "bit/s"), "mbit": (10**6, "bit/s"), "MB/s": (8 * 10**6, "bit/s"), "KiB/s": (8 << 10, "bit/s"),
    "msec": (Fraction(1, 10**3), "s"), "KB": (10**3, "bytes"), "BDP": (1, "BDP"),
}  # fmt: skip
PIECES = (
    "1", "0", "-1", "+1", "1e400", "1e-400", "1e308", ".5", "5.", "1_0", "_", "e", "E5", "--1", "1e", "nan", "inf",
    "0x1", "\u0661", "1 2", "1,5", "", " ", "\t", "\0", "µs", "μs", "S", "Ms", "bits", "MBPS", "mB/s",
    "ps", "/", "%", "s s", "é", "\u2028",
    "uniform(", "pareto(", "exponential(", ")", ", ", ": ", "s)", "auto",
)  # fmt: skip

KEYS = ("duration", "dumbbell.rate", "dumbbell.buffer", "dumbbell.delay", "dumbbell.changes", "traffic.1.size", "seed")
BASE = '[dumbbell]\n[[traffic]]\nkind = "transfer"\nsize = "1 MB"\n'


def base_unit(text: str) -> str:
    """Check any quantity, as axes and tables read it."""
    read = _core.in_base_unit(text)
    if read is None:
        return "refused"
    value, unit = read
    number, _, name = text.strip().partition(" ")
    if name in UNITS and number.lstrip("-").replace(".", "", 1).isdecimal() and number.isascii():
        factor, base = UNITS[name]
        exact = Fraction(number) * factor
        assert unit == base, f"{text!r} is in {unit}"
        if abs(exact) > sys.float_info.max:
            assert math.isinf(value), f"{text!r} is {value!r}"
        else:
            assert math.isclose(value, exact, rel_tol=1e-15), f"{text!r} is {value!r}, not {float(exact)!r}"
    return "valid"


def key(text: str) -> str:
    """Check each key of a scenario that takes a quantity, a distribution or a change."""
    valid, scenario = False, _core.Scenario.parse(BASE, "case.toml")
    for path in KEYS:
        try:
            scenario.with_value(path, text).check()
            valid = True
        except ScenarioError as error:
            assert path.split(".")[-1] in str(error), f"{text!r}: the error does not name {path}: {error}"
    return "valid" if valid else "refused"


PARSERS: tuple[Callable[[str], str], ...] = (base_unit, key)
"""Functions from a text to an outcome. A further parser is one more entry."""


def case(seed: int) -> bytes:
    """Return a quantity, or something like it."""
    draw = random.Random(seed)
    numbers = (repr(draw.uniform(-10, 1e6)), str(draw.randrange(10 ** draw.randint(1, 25))), f"{draw.random():.30f}")
    one, other = (f"{draw.choice(numbers)} {draw.choice(list(UNITS))}" for _ in range(2))
    laws = (f"uniform({one}, {other})", f"pareto({one}, {draw.choice(numbers)})", f"exponential({one})")
    forms = (one, *laws, f"{one}: {other}")
    text = draw.choice(forms)
    for _ in range(draw.choice((0, 0, 1, 2, 4))):
        i = draw.randrange(len(text) + 1)
        text = text[:i] + draw.choice(PIECES) * draw.choice((1, 1, 1, 1000)) + text[i + draw.choice((0, 0, 1, 3)) :]
    return text.encode()


def judge(case: bytes, folder: Path) -> str:
    """Pass a text to every parser."""
    outcomes = {parser(case.decode()) for parser in PARSERS}
    return "valid" if "valid" in outcomes else "refused"


def attack(seed: int, folder: Path) -> str:
    """Try the text of a seed."""
    return judge(case(seed), folder)

"""Odd Python objects for every argument passed to the engine: accepted, or rejected with a clear exception.

The objects' texts use these imports.
"""

import ast
import random
from collections import UserDict, UserList  # noqa: F401
from collections.abc import Callable
from decimal import Decimal  # noqa: F401
from fractions import Fraction  # noqa: F401
from math import inf, nan  # noqa: F401
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401

import aqmlab
from aqmlab import ScenarioError, _core
from aqmlab.runs import memory, seeds

SUFFIX = ".txt"
TESTED = 4_000
LIMIT = 20.0

TEXT = """
[dumbbell]
[[traffic]]
name = "long"
[sweep]
seeds = 2
[sweep.vary]
"aqm.q0" = "10,20"
[aqm]
name = "pi"
"""
# Python itself raises the last one when showing deeply nested lists.
REFUSALS = (ScenarioError, TypeError, ValueError, OverflowError, RecursionError)


class Raising:
    """An object that raises on every access."""

    def __index__(self) -> int:
        raise ValueError("no index")

    def __float__(self) -> float:
        raise ValueError("no float")

    def __len__(self) -> int:
        raise ValueError("no length")

    def __iter__(self) -> Any:
        raise ValueError("no items")


class Lying:
    """A sequence that reports a length and is empty."""

    def __len__(self) -> int:
        return 1 << 62

    def __getitem__(self, at: int) -> int:
        raise IndexError(at)


class Text(str):
    """A subclass of str."""


def cycle() -> list[Any]:
    """Return a list that contains itself."""
    endless: list[Any] = []
    endless.append(endless)
    return endless


def deep(depth: int) -> list[Any]:
    """Return nested lists."""
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


def around() -> dict[str, Any]:
    """Return a mapping that contains itself."""
    mapping: dict[str, Any] = {}
    mapping["aqm"] = mapping
    return mapping


OBJECTS = (
    "None", "True", "0", "-1", "1", "7", "2**31", "2**32", "2**53 + 1", "2**63 - 1", "2**63", "-(2**63)", "2**64",
    "10**400", "-0.0", "1.5", "nan", "inf", "-inf", "1e308", "5e-324", "1e15", "2.0**63", "1 + 2j", "Decimal('1.5')",
    "Decimal('sNaN')", "Fraction(1, 3)", "''", "'x'", "'5 ms'", "'10 Mbit/s'", "'pi'", "'pi:q0=20'", "'droptail'",
    "'auto'", "'\\0'", "'\\ud800'", "'é' * 5000", "b'5 ms'", "bytearray(b'x')", "memoryview(b'x')", "Text('5 ms')",
    "Text('red')", "np.float64(1.5)", "np.float32('nan')", "np.int64(-3)", "np.uint64(2**64 - 1)", "np.bool_(True)",
    "np.str_('5 ms')", "np.arange(3)", "np.array([])", "np.array(5)", "np.zeros((2, 2))", "np.array(['1 s'])",
    "np.datetime64('2020')", "[]", "[1, 2]", "['1 s', '2 s']", "[None]", "[[1], [2]]", "(1, 2)", "()", "{1, 2}",
    "frozenset({1})", "range(5)", "[True, 1, 'x']", "{}", "{'q0': 5}", "{'': 1}", "{1: 2}", "{'a': {'b': {'c': 1}}}",
    "{'name': 'red'}", "UserDict({'name': 'pi'})", "cycle()", "around()", "[cycle()]", "deep(63)", "deep(65)",
    "deep(500)", "deep(20_000)", "Raising()", "Lying()", "object()", "UserList([1])", "iter([1])",
    "(x for x in (1, 2))", "print", "int", "Path('x')", "...", "NotImplemented", "slice(1)", "scenario()",
)  # fmt: skip
"""The objects: Python expressions as they appear in a case."""

PATHS = (
    "duration", "aqm", "aqm.q0", "dumbbell", "dumbbell.rate", "dumbbell.sender_delay", "traffic", "traffic.long.count",
    "traffic.long.tcp", "sweep.vary", "record.series", "seed", "title", "", ".", "x", "é", "\ud800", "\0",
)  # fmt: skip


def scenario() -> aqmlab.Scenario:
    return aqmlab.Scenario.parse(TEXT)


def _run(seed: Any, until: Any) -> None:
    """Run with this seed, in steps to these times."""
    run = _core.Simulation(_core.Scenario.parse('duration = "50 ms"\n' + TEXT, "text"), seed)
    run.advance(until)
    run.advance(0.01)
    assert 0 <= run.now <= 0.05, f"now is {run.now}"
    run.advance(inf)
    run.results()


def _fluid(options: Any) -> None:
    scenario = _core.Scenario.parse(
        'duration = "50 ms"\n' + TEXT + '[[traffic]]\nname = "b"\ntcp = "rfc5681"\n', "text"
    )
    _core.Fluid(scenario.with_value("traffic.long.tcp", "rfc5681"), options).advance(inf)


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "with_": lambda odd, path: scenario().with_({path: odd}).check(),
    "with_ nested": lambda odd, path: scenario().with_({"aqm": {path: odd}, "duration": "1 s"}).check(),
    "with_ all": lambda odd, path: scenario().with_(odd).check(),
    "with_ key": lambda odd, path: scenario().with_({odd: 1}).check(),
    "with_value": lambda odd, path: _core.Scenario.parse(TEXT, "text").with_value(path, odd).check(),
    "with_text": lambda odd, path: scenario()._with_text(path, odd).check(),
    "with_aqm": lambda odd, path: scenario().with_(aqm=odd).check(),
    "parse": lambda odd, path: aqmlab.Scenario.parse(odd),
    "parse name": lambda odd, path: aqmlab.Scenario.parse("x = ", odd),
    "run": lambda odd, path: _run(odd, 0.02),
    "advance": lambda odd, path: _run(1, odd),
    "fluid": lambda odd, path: _fluid(odd),
    "unit": lambda odd, path: _core.in_base_unit(odd),
    "seeds": lambda odd, path: seeds.chosen_seeds(scenario(), odd),
    "workers": lambda odd, path: memory.chosen_workers(odd, 1),
}
"""Calls with an odd object, and a path where they need one."""


def case(seed: int) -> bytes:
    """Return a call, a path and an object, one per line."""
    draw = random.Random(seed)
    return "\n".join((draw.choice(list(CALLS)), repr(draw.choice(PATHS)), draw.choice(OBJECTS))).encode()


def judge(case: bytes, folder: Path) -> str:
    """Make the call of a case."""
    name, path, expression = case.decode().splitlines()
    given = eval(expression)
    try:
        CALLS[name](given, ast.literal_eval(path))
    except REFUSALS as error:
        assert str(error), f"{name}: {type(error).__name__} without a word"
        return "refused"
    except Exception as error:
        raise AssertionError(f"{name} at {path} of {expression}: {type(error).__name__}: {error}") from error
    return "done"


def attack(seed: int, folder: Path) -> str:
    """Try the call of a seed."""
    return judge(case(seed), folder)

"""Random queue disciplines of the user's own: compiled, their verdicts and signals are those in Python.

An input is a file with a class, whose methods have random statements over attributes of each kind, with the arithmetic,
the functions and the random numbers that compiled code has.
"""

import json
import random
from functools import cache
from pathlib import Path

import polars

from aqmlab import Scenario, _core
from aqmlab.own import compiled, source

SUFFIX = ".py"
TESTED = 8
LIMIT = 120.0

SCENE = """\
duration = "3 s"
warmup = "0.5 s"
[dumbbell]
rate = "3 Mbit/s"
buffer = "120 packets"
[[traffic]]
count = 8
[[traffic]]
kind = "on-off"
rate = "2 Mbit/s"
packet_size = "200 B"
count = 2
"""
"""An overload, in packets of two sizes."""

HEAD = """\
import math

import aqmlab


class Odd(aqmlab.AQM):
    '''Odd.'''

    period = 0.02
    p = aqmlab.signal("", "A number")

    def start(self, port):
        import numpy as np

        self.f, self.g, self.n, self.m, self.on = 0.5, 1.25, 3, 5, True
        self.w, self.u = np.ones(4), np.arange(3)

    def help(self, x, y=0.25):
        z = x * y
        if z > 1:
            return z - 1.0
        return z

    def on_period(self, queue):
        self.f *= 0.9
        self.m += 1

"""

NUMBERS = ("self.f", "self.g", "queue.delay", "0.37", "2.5", "self.w[self.n % 4]", "packet.sojourn", "queue.now")
WHOLE = ("self.n", "self.m", "queue.packets", "packet.size", "3", "7", "self.u[self.m % 3]", "packet.flow % 1000")

REAL_FORMS = (
    "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / (abs({b}) + 1))", "min({a}, {b} + 0.5)", "max({a}, {b})",
    "abs({a})", "math.exp(-abs({a}) % 5)", "math.log(1 + abs({a}))", "math.sqrt(abs({a}))", "(abs({a}) % 3.0) ** 2",
    "(abs({a}) % 3.0) ** 1.7", "({a} if {c} else {b})", "({a} // (abs({b}) + 0.25))", "math.tanh({a})", "math.sin({a})",
    "self.help({a})",
)  # fmt: skip
WHOLE_FORMS = (
    "({i} + {j})", "({i} - {j})", "({i} * {j}) % 1009", "({i} // (abs({j}) + 1))", "({i} % (abs({j}) + 2))",
    "int({a} % 1000)", "round({a} % 50)", "math.floor({a} % 77)", "math.ceil({a} % 9)", "min({i}, {j})",
    "max({i}, {j})", "({i} << 2) % 997", "({i} >> 1)", "({i} & 255)", "({i} ^ {j}) % 4096", "({i} if {c} else {j})",
    "abs({i})", "-{i}", "round(({i}) / (abs({j}) + 1))",
)  # fmt: skip
CONDITIONS = (
    "{a} < {b}", "{i} % 3 == 1", "{i} > {j}", "self.on", "not self.on", "(self.on and {i} > 5)",
    "({a} > 0.1 or {i} % 2 == 0)", "1 < {i} % 10 <= 6", "self.random() < 0.5", "packet.ect",
)  # fmt: skip
STATEMENTS = (
    "self.f = ({a}) % 100.0", "self.g = ({a}) % 100.0", "self.n = ({i}) % 10007", "self.m = ({i}) % 10007",
    "self.w[({i}) % 4] = ({a}) % 50.0", "self.u[({i}) % 3] = ({j}) % 5000", "self.on = {c}",
    "self.f, self.g = self.g, ({a}) % 10.0", "self.f += ({a}) % 3.0", "self.n = abs(self.n - ({i}) % 11)",
    "self.w[self.m % 4] *= 0.5", "x = {a}; x = x * 0.5 + 1; self.g = x % 10.0",
)  # fmt: skip


class _Writer:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def _filled(self, form: str, depth: int) -> str:
        parts = {
            "a": self._term(depth, real=True),
            "b": self._term(depth, real=True),
            "i": self._term(depth, real=False),
            "j": self._term(depth, real=False),
        }
        condition = self._condition(depth - 1) if "{c}" in form else ""
        return form.format(**parts, c=condition)

    def _term(self, depth: int, real: bool) -> str:
        if depth <= 0:
            return self._draw.choice(NUMBERS if real else WHOLE)
        return self._filled(self._draw.choice(REAL_FORMS if real else WHOLE_FORMS), depth - 1)

    def _condition(self, depth: int) -> str:
        return self._filled(self._draw.choice(CONDITIONS), max(depth, 0))

    def _statement(self, indent: str, depth: int) -> list[str]:
        kind = self._draw.random() if depth else 1.0
        inner = f"{indent}    "
        if kind < 0.15:
            return [f"{indent}for _ in range(({self._term(1, real=False)}) % 4):", *self._statement(inner, depth - 1)]
        if kind < 0.4:
            return [
                f"{indent}if {self._condition(1)}:",
                *self._statement(inner, depth - 1),
                f"{indent}else:",
                *self._statement(inner, depth - 1),
            ]
        return [f"{indent}{self._filled(self._draw.choice(STATEMENTS), 2)}"]

    def text(self) -> str:
        lines = ["    def on_enqueue(self, packet, queue):"]
        for _ in range(4):
            lines += self._statement(" " * 8, 2)
        lines += [
            "        self.p = abs(self.f) % 1.0",
            f"        if {self._condition(2)} and abs(self.f * 1e3) % 1.0 < 0.15:",
            "            return aqmlab.DROP",
            "",
            "    def on_dequeue(self, packet, queue):",
            *self._statement(" " * 8, 1),
            f"        return aqmlab.DROP if (self.g * 1e3) % 1.0 < 0.03 and {self._condition(1)} else aqmlab.PASS",
        ]
        return HEAD + "\n".join(lines) + "\n"


def case(seed: int) -> bytes:
    """Return the file that a seed makes."""
    return _Writer(seed).text().encode()


@cache
def _scene() -> Scenario:
    return Scenario.parse(SCENE)


def judge(case: bytes, folder: Path) -> str:
    """Compare a class compiled with the same class in Python."""
    file = folder / "odd.py"
    file.write_bytes(case)
    of = source.declared(f"{file}:Odd")
    assert compiled.compiled(of), compiled.reason(of)
    python, other = (_ended(f"{file}:Odd", interpreted=interpreted) for interpreted in (True, False))
    if other == "left to Python":
        return other
    assert python == other, "compiled, the class decides otherwise"
    return "the same"


def _ended(reference: str, *, interpreted: bool) -> str:
    scenario = _scene().with_(aqm=reference)
    run = _core.Simulation(scenario._core, 1, True, None, interpreted)
    try:
        run.advance(scenario.duration)
    except _core.CompiledCodeError:
        return "left to Python"
    except RuntimeError as error:
        return str(error)
    found = json.loads(run.results())
    series = polars.DataFrame(run.series()).write_csv(float_precision=17)
    return json.dumps([found["links"], found["classes"], series], sort_keys=True)


def attack(seed: int, folder: Path) -> str:
    """Attack with the file that a seed makes."""
    return judge(case(seed), folder)

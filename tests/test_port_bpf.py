"""``aqmlab port --to bpf``: a class becomes a law of the kernel in C, which decides as the class does."""

import math
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import _core
from aqmlab.kernel.objects import headers
from aqmlab.own.compiled import defaults
from aqmlab.own.kinds import NotCompiled
from aqmlab.own.source import declared
from aqmlab.workshop import replay
from aqmlab.workshop.law import Law
from aqmlab.workshop.recording import LIMIT, RATE, USUAL

MINE = f"{ROOT / 'examples' / 'mine.py'}:Mine"
CODEL = f"{ROOT / 'examples' / 'codel.py'}:CoDel"

EVERYTHING = '''\
"""Everything that can be carried over."""

import math

import aqmlab
import numpy as np

HALF = 0.5


def lowered(x, by=1):
    """A function of the file."""
    return max(x - by, 0)


class Base(aqmlab.AQM):
    """Base."""

    period = 0.01
    step = 2

    def grown(self, x):
        self.calls += 1
        return x * 1.5


class Everything(Base):
    """Everything.

    */ A comment that ends early.
    """

    limit = aqmlab.param(8000, "bytes", "Bytes above which it drops", aliases=["mtu"])
    k = aqmlab.param(5, "", "Elements in use", low=1, high=8)
    least = aqmlab.param(1e6, "bit/s", "A rate")
    beat = aqmlab.param(2.5, "Hz", "A frequency")
    gain = aqmlab.param(0.3, "", "Gain of the average")
    span = aqmlab.param(0.05, "s", "A time that changes")
    hard = aqmlab.param(True, "", "Drop")
    mode = aqmlab.param("fast", "", "A choice", choices=["fast", "very-slow", "very slow"])
    average = aqmlab.signal("packets", "Average")
    calls = aqmlab.signal("", "Calls")
    busy = aqmlab.signal("", "Whether it is busy")

    def start(self, port):
        self.average, self.calls, self.idle_since, self.total = 0.0, 0, 0, 0.0
        self.short, self.sizes, self.grid = np.zeros(8), np.full(8, 40, dtype=int), np.ones((2, 3))
        self.rate_then, self.place, self.last = port.rate, 0, -1.0
        self.room = port.buffer * 0.01

    def on_enqueue(self, packet, queue):
        length = queue.packets if self.mode == "fast" else queue.bytes / 1000
        if self.mode in ("very-slow", "very slow") and not packet.udp:
            length += math.sqrt(length) / self.beat
        self.average += self.gain * (length - self.average)
        self.sizes[self.place % self.k] = packet.size
        self.place += 1
        self.short[packet.flow % 8] = self.short[packet.flow % 8] * 0.75 + 0.25
        self.grid[packet.flow % 2, 1] += HALF if packet.ect else -HALF
        total = 0
        for i in range(self.k):
            if self.sizes[i] > 1000:
                continue
            total += int(self.sizes[i])
        for x in self.short:
            self.total = min(self.total + x * x, 50.0)
        for i in range(7, -1, -2):
            total += i
        for _ in range(self.calls % 3):  # of which Python computes the end once
            self.calls += 1
        long = 3  # a word of C
        total = lowered(total, by=long) + self.step
        self.last = queue.now - self.span
        p = 1 - math.exp(-self.average / 20) * (self.average + 1) ** -0.25
        p *= 0.9 + 0.1 * abs(self.grid[0, 1] % 2 - 1) ** 2
        u = self.random()
        if 0 < total <= 30 or queue.full:
            return
        elif queue.bytes > self.limit and u < p:
            return aqmlab.DROP if self.hard or packet.size > 1000 else aqmlab.MARK
        elif round(u * 64) == 7 and queue.delay > 0.01:
            return 1
        return aqmlab.PASS

    def on_dequeue(self, packet, queue):
        self.busy = queue.packets > 2
        self.span = min(max(self.span, packet.sojourn / 2), 0.1)
        grown = self.grown(packet.sojourn)
        late = grown > 0.2 and self.random() < 0.5 * math.log(1 + grown)
        return aqmlab.DROP if late else None

    def on_idle(self, queue):
        self.idle_since = queue.now_ns + queue.packets
        self.average *= 0.5

    def on_period(self, queue):
        first = second = self.rate_then // 8
        if queue.now_ns - self.idle_since > aqmlab.ns(self.span) and not queue.packets:
            self.average *= 0.999
        self.total -= self.total * min(self.least / (first + second), 1) * 0.01

    def on_overflow(self):
        self.average = 0.0
'''


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("own") / "everything.py"
    file.write_text(EVERYTHING)
    return f"{file}:Everything"


@pytest.fixture
def cc() -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")


def law_of(reference: str, folder: Path) -> tuple[Law, Path]:
    law = Law(declared(reference), "law")
    (folder / "law.c").write_text(law.text)
    return law, folder / "law.c"


@pytest.mark.usefixtures("cc")
@pytest.mark.parametrize(("reference", "count", "switches"), [(MINE, 2000, 2), (CODEL, 1799, 1)])
def test_the_examples_decide_as_their_classes(reference: str, count: int, switches: int, tmp_path: Path) -> None:
    found, overflowing = replay.compared(*law_of(reference, tmp_path))
    assert [(one.verdicts, one.equal, one.saturated) for one in found.values()] == [(count, count, 0)] * switches
    assert all(far < 1e-7 for one in found.values() for far in one.signals.values())
    assert overflowing == []


@pytest.mark.usefixtures("cc")
def test_everything_that_can_be_carried_over_decides_as_in_python(everything: str, tmp_path: Path) -> None:
    found, _ = replay.compared(*law_of(everything, tmp_path))
    assert list(found) == ["by default", "hard=false", "mode=very-slow", "mode=very slow"]
    for setting, one in found.items():
        assert (one.first, one.saturated) == ("", 0), setting
        assert one.passed
        assert 2000 < one.verdicts < 4000
        assert set(one.signals) == {"average", "calls", "busy"}


def test_the_loader_gives_a_law_the_numbers_with_which_it_was_compared(everything: str) -> None:
    law, given = Law(declared(everything), "law"), {"k": 3, "gain": 0.7, "span": 0.02, "mode": "very-slow"}
    fields = " ".join(f"{name}:{bits}:" for name, bits in law.fields.items())
    link = {"rate": RATE, "packets": LIMIT, "packet_size": USUAL}
    found = _core.kernel_numbers(f"{everything}:k=3,gain=0.7,span=20ms,mode=very-slow", link, fields)
    assert found == replay.numbers(law, {**defaults(law.declared), **given})
    assert {"port_rate", "port_buffer"} < set(law.fields)


@pytest.mark.skipif(not shutil.which("clang-19"), reason="there is no clang-19")
@pytest.mark.parametrize("reference", [MINE, CODEL, "everything"])
def test_they_compile_for_the_kernel_without_warnings(reference: str, everything: str, tmp_path: Path) -> None:
    _, source = law_of(everything if reference == "everything" else reference, tmp_path)
    command = ["clang-19", "-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Wno-missing-declarations", "-Werror"]
    out = ["-c", str(source), "-o", str(tmp_path / "law.bpf.o")]
    done = subprocess.run([*command, f"-I{headers()}", *out], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Arithmetic.


@dataclass(frozen=True)
class Bound:
    """A number with the farthest that its fixed-point counterpart may be from it."""

    value: float
    error: float

    @property
    def most(self) -> float:
        return abs(self.value) + self.error


UNIT = 2.0**-32
"""The distance of two neighbours; each operation is rounded to the nearest."""


def bound(node: Any, given: dict[str, float]) -> Bound:
    """Evaluate an expression, `["op", …]`, with the error of each operation as fixed point has it."""
    if isinstance(node, str):
        return Bound(given[node], UNIT / 2 if given[node] != int(given[node]) else 0.0)
    if isinstance(node, float | int):
        return Bound(float(node), 0.0 if node == int(node) else UNIT / 2)
    op, *parts = node
    a, *rest = (bound(part, given) for part in parts)
    b = rest[0] if rest else a
    match op:
        case "+" | "-":
            return Bound(a.value + b.value if op == "+" else a.value - b.value, a.error + b.error)
        case "*":
            error = abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error
            return Bound(a.value * b.value, error + UNIT / 2)
        case "/":
            least = abs(b.value) - b.error
            assert least > 0.05
            return Bound(a.value / b.value, (a.error + abs(a.value / b.value) * b.error) / least + UNIT / 2)
        case "min" | "max":
            return Bound((min if op == "min" else max)(a.value, b.value), max(a.error, b.error))
        case "abs":
            return Bound(abs(a.value), a.error)
        case "square":
            return Bound(a.value**2, 2 * abs(a.value) * a.error + a.error**2 + UNIT / 2)
        case "sqrt":
            low = max(abs(a.value) - a.error, 0.0)
            spread = math.sqrt(abs(a.value) + a.error) - math.sqrt(low)
            return Bound(math.sqrt(abs(a.value)), spread + UNIT)
        case "exp":  # of -|a|: the power of two has 62 digits, and its exponent 32
            found = math.exp(-abs(a.value))
            return Bound(found, found * (math.expm1(a.error) + 3 * UNIT) + 2 * UNIT)
        case _:  # log(1 + |a|): the logarithm to base 2 has 32 digits, the last one cut off
            return Bound(math.log(1 + abs(a.value)), a.error + 3 * UNIT)


def python(node: Any) -> str:
    """Write an expression in Python."""
    if isinstance(node, str):
        return f"self.{node}"
    if isinstance(node, float | int):
        return repr(node)
    op, *parts = node
    a, *rest = map(python, parts)
    forms = {
        "abs": f"abs({a})",
        "square": f"({a}) ** 2",
        "sqrt": f"math.sqrt(abs({a}))",
        "exp": f"math.exp(-abs({a}))",
        "log": f"math.log(1 + abs({a}))",
    }
    if op in forms:
        return forms[op]
    return f"{op}({a}, {rest[0]})" if op in ("min", "max") else f"({a} {op} {rest[0]})"


NAMES = ("a", "b", "c", "n", "m")


def expression(draw: random.Random, depth: int) -> Any:
    """Draw an expression; a divisor is at least 0.1."""
    if depth == 0:
        return draw.choice([*NAMES, draw.randint(-50, 50), round(draw.uniform(-20, 20), draw.randint(0, 9)) or 1])
    op = draw.choice(["+", "-", "*", "/", "min", "max", "abs", "square", "sqrt", "exp", "log"])
    first, second = (expression(draw, depth - draw.randint(1, depth)) for _ in range(2))
    if op == "/":
        return op, first, ("+", ("abs", second), 0.1)
    return (op, first) if op in ("abs", "square", "sqrt", "exp", "log") else (op, first, second)


@pytest.mark.usefixtures("cc")
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_arithmetic_is_pythons_to_the_rounding_of_each_operation(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """A class sets a signal to each of 50 expressions; those beyond 2^20 are left out, where the range may end."""
    draw = random.Random(seed)
    numbers = {name: round(draw.uniform(-30, 30), 6) or 0.5 for name in "abc"}
    numbers |= {name: draw.randint(-1000, 1000) for name in "nm"}
    kept = []
    for one in (expression(draw, 4) for _ in range(50)):
        found = bound(one, numbers)
        if max(bound(part, numbers).most for part in _parts(one)) < 2**20 and found.error < 1e-3:
            kept.append((one, found))
    assert len(kept) > 25
    folder = tmp_path_factory.mktemp("arithmetic")
    signals = "\n".join(f'    r{i} = aqmlab.signal("", "A result")' for i in range(len(kept)))
    lines = "\n".join(f"        self.r{i} = {python(one)}" for i, (one, _) in enumerate(kept))
    start = "\n".join(f"        self.{name} = {value!r}" for name, value in numbers.items())
    (folder / "odd.py").write_text(
        f"import math\nimport aqmlab\n\n\nclass Odd(aqmlab.AQM):\n    '''Odd.'''\n\n{signals}\n\n"
        f"    def start(self, port):\n{start}\n\n    def on_enqueue(self, packet, queue):\n{lines}\n"
    )
    law, source = law_of(f"{folder / 'odd.py'}:Odd", folder)
    with replay.library(source) as loaded:
        link = replay.Link(loaded, law, replay.numbers(law, {}))
        link.judge("enqueue", 1, [1000, 0, 0, 0, 0, 0, 0], 0.5)
        for (one, found), own in zip(kept, link.signals, strict=True):
            # Python's own rounding is a part of the difference.
            assert abs(own - found.value) <= found.error * 1.001 + found.most * 1e-12, (
                python(one),
                own,
                found,
                numbers,
            )


def _parts(node: Any) -> list[Any]:
    return [node, *(part for one in node[1:] for part in _parts(one))] if isinstance(node, tuple) else [node]


@pytest.mark.usefixtures("cc")
def test_whole_numbers_divide_as_in_python(tmp_path: Path) -> None:
    pairs = [(a, b) for a in (7, -7, 0, 10**15, -(10**15) + 1) for b in (2, -2, 3, -3, 10**9)]
    reals = [(a, b) for a in (7.25, -7.25, 0.5) for b in (2, -2, 0.75, -0.75)]
    expected, lines = [], []
    for a, b in [*pairs, *reals]:
        for sign in ("//", "%"):
            expected.append(float(eval(f"a {sign} b")))
            lines.append(f"self.a, self.b = {a!r}, {b!r}\n        self.r{len(lines)} = self.a {sign} self.b")
    for x in (2.5, 3.5, -2.5, 0.5, 2.4999999, -0.2, -3.0):
        for name in ("round", "int", "math.floor", "math.ceil"):
            expected.append(float(eval(f"{name}(x)")))
            lines.append(f"self.a = {x!r}\n        self.r{len(lines)} = {name}(self.a)")
    signals = "\n".join(f'    r{i} = aqmlab.signal("", "A result")' for i in range(len(lines)))
    for kind in ("whole", "real"):
        # Attributes that are whole for all the pairs divide as whole numbers do, the others as numbers with a fraction.
        used = [i for i in range(len(lines)) if (i < 2 * len(pairs)) == (kind == "whole")]
        body = "\n".join(f"        {lines[i]}" for i in used)
        (tmp_path / f"{kind}.py").write_text(
            f"import math\nimport aqmlab\n\n\nclass Odd(aqmlab.AQM):\n    '''Odd.'''\n\n{signals}\n\n"
            f"    def start(self, port):\n        self.a, self.b = 0, 0\n\n"
            f"    def on_enqueue(self, packet, queue):\n{body}\n"
        )
        law, source = law_of(f"{tmp_path / f'{kind}.py'}:Odd", tmp_path)
        with replay.library(source) as loaded:
            link = replay.Link(loaded, law, replay.numbers(law, {}))
            link.judge("enqueue", 1, [1000, 0, 0, 0, 0, 0, 0], 0.5)
            assert [link.signals[i] for i in used] == [expected[i] for i in used]


# What is refused.

REFUSALS = {
    "self.seen = {}": ("self.seen is of the type dict", "numpy array"),
    "self.seen = []": ("self.seen is of the type list", "of a fixed size"),
    "self.seen = 'text'": ("self.seen is of the type str", "use a number"),
    "self.seen = None": ("self.seen is None", "start it as a number"),
    "self.seen = np.arange(5)": ("makes self.seen by np.arange(5)", "np.zeros"),
    "self.seen = np.zeros(int(port.buffer))": ("the same on every port", "np.zeros(64)"),
    "self.seen = np.zeros(100000)": ("100000 elements", "at most 4096"),
    "x = [1, 2]": ("makes a list", "numpy array"),
    "x = {}": ("makes a dictionary", "packet.flow % 1024"),
    "x = [i for i in range(3)]": ("makes a list", "loops"),
    "x = sum(i for i in range(3))": ("calls sum()", "add in a loop"),
    "x = lambda y: y": ("has a lambda", "make it a method"),
    "x = (y := 3)": ("has `:=`", "a line of its own"),
    "x = f'{self.n}'": ("makes a text", "leave it out"),
    "x = 'a'": ("keeps a text in x", "keep numbers"),
    "x = None": ("sets x to None", "use a number"),
    "print(self.n)": ("calls print()", "aqmlab.signal"),
    "super().on_enqueue(packet, queue)": ("calls super()", "copy the lines"),
    "x = getattr(self, 'n')": ("calls getattr()", "self.NAME"),
    "x = np.mean(self.w)": ("calls np.mean()", "write a loop"),
    "x = math.tan(self.n)": ("calls math.tan()", "use sqrt"),
    "x = sum(self.w)": ("calls sum()", "add in a loop"),
    "x = self.w[1:]": ("takes several elements at once", "write a loop"),
    "x = self.w[0.5]": ("is not one element", "whole numbers"),
    "x = self.n[0]": ("takes an element of a whole number", "numpy array"),
    "import time": ("imports inside a method", "at the top"),
    "try:\n    pass\nexcept ValueError:\n    pass": ("catches exceptions", "with `if` before"),
    "raise ValueError": ("raises an exception", "return a verdict"),
    "assert self.n": ("asserts", "leave it out"),
    "while self.n:\n    self.n -= 1": ("has a `while`", "for _ in range(64)"),
    "for i in range(self.n):\n    pass": ("have no bound", "min(…, 64)"),
    "for i in range(5000):\n    pass": ("has 5000 turns", "at most 1024"),
    "for i in self.n:\n    pass": ("loops over self.n", "for i in range(8)"),
    "def inner():\n    pass": ("defines a function", "make it a method"),
    "global N": ("has global names", "attributes of self"),
    "del self.n": ("deletes", "set it to 0"),
    "match self.n:\n    case 1:\n        pass": ("has `match`", "elif"),
    "with open('x') as f:\n    pass": ("has `with`", "leave it out"),
    "self.new = 3": ("sets self.new, which start() does not", "set it there"),
    "self.n = True": ("self.n is true or false, and elsewhere a whole number", "one type"),
    "x = 1\nx = self.n > 1": ("x is true or false, and elsewhere a whole number", "one type"),
    "self.seen = port.delay": ("uses port.delay", "declare a parameter in s"),
    "x = packet.l4s": ("uses packet.l4s", "size, ect, udp"),
    "x = queue.waiting": ("uses queue.waiting", "packets, bytes"),
    "x = packet": ("keeps a packet in x", "keep numbers"),
    "x = self.n or 1": ("is one of its parts", "a if a else b"),
    "if self.n:\n    x = 1\nself.n = x": ("x may have no value here", "give it one before"),
    "x = float('inf')": ("computes with a text", "must be a number"),
    "x = math.inf": ("inf is no number in fixed point", "1e9"),
    "x = self.n * 1e-9": ("less than ten binary digits", "divide by 1000000000"),
    "x = 4294967296.5": ("beyond the range of Q 32.32", "another unit"),
    "x = 2 ** 70": ("a whole number to the power", "below 64"),
    "x = 1 << self.n": ("shifts by a number that is not constant", "below 63"),
    "x = self.mode == 'fats'": ("'fats' is no choice of mode", "fast, slow"),
    "x = self.mode": ("keeps a text in x", "keep numbers"),
    "x = self.grow() + self.n": ("calls self.grow(), which sets attributes", "to a name first"),
    "x = self.endless(3)": ("endless calls itself", "as a loop, `for … in range(…)`"),
    "x = self.sum": ("uses self.sum, which start() does not set", "set it there"),
    "x = self.random() * self.random()": ("draws a second random number", "draw once"),
    "for i in range(2):\n    x = self.random()": ("draws a second random number", "draw once"),
    "return self.w[0]": ("returns a number with a fraction", "aqmlab.PASS"),
    "return True": ("returns true or false", "aqmlab.PASS"),
}
"""Statements that are refused: what is said of them, and of the cure."""


@pytest.mark.parametrize("statement", REFUSALS)
def test_what_cannot_be_carried_over_is_refused_with_the_line_and_the_cure(statement: str, tmp_path: Path) -> None:
    at_start = statement.startswith("self.seen")
    lines = {
        "start": ["self.n, self.w = 3, np.zeros(4)", *([statement] if at_start else [])],
        "on_enqueue": statement.splitlines() if not at_start else ["pass"],
    }
    start, event = ("\n".join(f"        {line}" for line in part) for part in lines.values())
    (tmp_path / "odd.py").write_text(
        "import math\n\nimport aqmlab\nimport numpy as np\n\n\nclass Odd(aqmlab.AQM):\n    '''Odd.'''\n\n"
        "    mode = aqmlab.param('fast', '', 'A choice', choices=['fast', 'slow'])\n\n"
        f"    def start(self, port):\n{start}\n\n    def on_enqueue(self, packet, queue):\n{event}\n\n"
        "    def grow(self):\n        self.n += 1\n        return self.n\n\n"
        "    def endless(self, x):\n        return self.endless(x)\n"
    )
    of = declared(f"{tmp_path / 'odd.py'}:Odd")
    with pytest.raises(NotCompiled) as refused:
        Law(of, "odd")
    found = re.fullmatch(r"[^:]*odd\.py:(\d+): (.+): (.+)", str(refused.value)) or pytest.fail(str(refused.value))
    what, cure = REFUSALS[statement]
    assert what in str(refused.value)
    assert cure in str(refused.value)
    first = of.text.splitlines().index(f"        {statement.splitlines()[0]}") + 1
    last = of.text.count("\n") if "endless" in statement else first + statement.count("\n")
    assert first <= int(found[1]) <= last


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("k = aqmlab.param(3e9, '', 'Too large')", "k = 3e+09 is beyond the range of Q 32.32, 2^30: declare it in"),
        ("k = aqmlab.param(1e-8, '', 'Too small')", "k = 1e-08 has less than ten binary digits in Q 32.32: declare"),
        ("k = aqmlab.param('x', '', 'A text')", "the parameter k is a text: declare its choices"),
        ("int = aqmlab.param(1, '', 'A word of C')", "int is a word of C or of the kernel's headers: give it another"),
    ],
)
def test_a_parameter_that_the_program_cannot_have_is_refused(declaration: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        f"import aqmlab\n\n\nclass Odd(aqmlab.AQM):\n    '''Odd.'''\n\n    {declaration}\n\n"
        "    def on_enqueue(self, packet, queue):\n        return 0\n"
    )
    with pytest.raises(NotCompiled, match=re.escape(f"odd.py:7: {message}")):
        Law(declared(f"{tmp_path / 'odd.py'}:Odd"), "odd")


# The command.


@pytest.mark.usefixtures("cc")
def test_the_command_writes_the_law_and_says_how_it_compares(quick_cli: Cli, tmp_path: Path) -> None:
    done = quick_cli("port", "--to", "bpf", MINE, "--out", "c")
    assert (done.returncode, done.stderr) == (0, "")
    assert "by default: 2000 of 2000 verdicts equal; p within" in done.stdout
    assert "ecn=true: 2000 of 2000 verdicts equal" in done.stdout
    assert "aqmlab kernel load" in done.stdout
    (tmp_path / "my laws").mkdir()
    (tmp_path / "my laws" / "mine.py").write_text(Path(MINE.partition(":")[0]).read_text())
    quoted = quick_cli("port", "--to", "bpf", "my laws/mine.py:Mine", "--out", "c")
    assert "1. aqmlab kernel load 'my laws/mine.py:Mine' dev eth0 --rate" in quoted.stdout
    assert (tmp_path / "c" / "mine.c").read_text() == Law(declared(MINE), "mine").text


ROUNDED = """\
import aqmlab


class Odd(aqmlab.AQM):
    '''A number that Python has exactly and fixed point has not decides.'''

    p = aqmlab.signal("", "A third")

    def start(self, port):
        self.c = port.rate * 1000.5

    def on_enqueue(self, packet, queue):
        self.p = 1 / 3
        return aqmlab.DROP if packet.size == 1500 and self.p * 3 == 1 else aqmlab.PASS
"""


@pytest.mark.usefixtures("cc")
def test_a_verdict_that_differs_by_rounding_is_counted_and_shown(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ROUNDED)
    done = quick_cli("port", "--to", "bpf", "odd.py:Odd")
    assert done.returncode == 1
    equal = re.search(r"by default: (\d+) of 2000 verdicts equal", done.stdout) or pytest.fail(done.stdout)
    assert 1500 < int(equal[1]) < 1900
    first = re.search(r"the first that differs: line \d+, enqueue at [0-9.]+ s: (.*)", done.stdout)
    assert first
    assert first[1] == "DROP in Python, PASS in C; p = 0.333333333333 in Python, 0.333333333256 in C"
    assert "bit/s, start() leaves the range of Q 32.32" in done.stdout
    assert "odd.c does not decide as Odd does" in done.stderr


def test_without_a_compiler_it_says_how_to_compare_later(
    quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = quick_cli("port", "--to", "bpf", MINE)
    assert done.returncode == 0
    assert "no C compiler is installed; with one (Debian: apt install gcc), repeat this command" in done.stdout
    assert "verdicts equal" not in done.stdout


def test_a_refusal_of_the_command_is_one_line(quick_cli: Cli, tmp_path: Path) -> None:
    text = Path(MINE.partition(":")[0]).read_text()
    (tmp_path / "mine.py").write_text(text.replace("self.p = min(max(p, 0.0), 1.0)", "print(p)"))
    done = quick_cli("port", "--to", "bpf", "mine.py:Mine")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"mine\.py:\d+: calls print\(\): leave it out; .*\n", done.stderr)
    long = quick_cli("port", "--to", "bpf", MINE, "--name", "much_too_long")
    assert long.returncode == 2
    assert "the kernel takes at most 11 letters" in " ".join(long.stderr.split())

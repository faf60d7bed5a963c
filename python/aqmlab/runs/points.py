"""The points of a sweep: the values of each parameter, and how they are combined."""

from __future__ import annotations

import itertools
import math
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any

from aqmlab import _core
from aqmlab.scenario import catalogue

Scalar = bool | int | float | str
Point = tuple[Scalar, ...]

METHODS = ("grid", "paired", "random", "latin")
"""How points are chosen; `crates/scenario/src/tables/sweep.rs` defines each."""

DRAWN = ("random", "latin")
"""The methods that draw points from distributions."""

MOST_POINTS = 1_000_000
"""The most points of a sweep."""

_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
_DISTRIBUTION = re.compile(r"\s*(uniform|log)\s*\(([^,]*),([^,]*)\)\s*")


@dataclass(frozen=True)
class Distribution:
    """A distribution that values are drawn from: uniform between `low` and `high`.

    `low` and `high` are in `unit`, a unit of the scenario's, empty for plain numbers. If `log` is true, the logarithm
    is uniform instead of the value. If `whole` is true, whole numbers are drawn.
    """

    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False

    def value(self, u: float) -> Scalar:
        """Return the value at `u` in [0, 1], from the lower to the upper end, as a scenario reads it."""
        # Each whole number stands for all numbers rounded to it; the ends are as probable as the others.
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        drawn = float(low * (high / low) ** u) if self.log else low + u * (high - low)
        if self.whole:
            return min(max(round(drawn), int(self.low)), int(self.high))
        # Nine digits are enough, and their text is the same everywhere.
        text = f"{drawn:.9g}"
        return f"{text} {self.unit}" if self.unit else float(text)


@dataclass(frozen=True)
class Design:
    """The points of a sweep.

    Each point has the values of `paths`, dotted paths of the scenario, in their order and as the scenario reads them.
    `sample_seed` is the seed with which points were drawn, otherwise None.
    """

    paths: tuple[str, ...]
    points: Sequence[Point]
    method: str = "grid"
    sample_seed: int | None = None

    def with_units(self, of: Mapping[str, str]) -> Design:
        """Return the design with the unit `of` each path, unless it is empty, behind the path's plain numbers."""
        units = [of[path] for path in self.paths]
        if not any(units):
            return self
        points = [tuple(map(_with_unit, point, units)) for point in self.points]
        _require_distinct(points)
        return replace(self, points=points)

    def label(self, point: Point) -> str:
        """Describe a point: ``aqm.q0 = 20, traffic.long.count = 100``."""
        return ", ".join(f"{path} = {_shown(value)}" for path, value in zip(self.paths, point, strict=True))


def _with_unit(value: Scalar, unit: str) -> Scalar:
    return value if not unit or isinstance(value, bool | str) else f"{value} {unit}"


def _shown(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def design(
    vary: Mapping[str, object],
    method: str = "grid",
    samples: int = 100,
    sample_seed: int = 1,
    origins: Mapping[str, str] | None = None,
) -> Design:
    """Choose the points of a sweep; a single point without values if nothing varies.

    `vary` has the values of each parameter, by its dotted path: a text like ``20,40..160``, ``10 ms,20..100 ms``,
    ``rfc,linux`` or, if points are drawn, ``uniform(20, 160)`` or ``log(1 ms, 1 s)``; or a list of values; or a single
    value. `samples` and `sample_seed` are for methods that draw points. `origins` has the place where each parameter
    was written, by path, for messages.

    Raise ValueError, with the correct form, if a value cannot be parsed.
    """
    if method not in METHODS:
        raise ValueError(f"method = {method!r}: must be one of {', '.join(METHODS)}")
    axes: dict[str, list[Scalar] | Distribution] = {}
    for path, written in vary.items():
        # A list may be endless, or contain itself.
        shown = written if isinstance(written, str) else reprlib.repr(written)
        where = (origins or {}).get(path, f"{path} = {shown}")
        try:
            _require_variable(path)
            axis = axes[path] = _axis(written, method)
            if method != "paired" and not isinstance(axis, Distribution):
                _require_distinct((value,) for value in axis)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    paths = tuple(axes)
    if method in DRAWN:
        drawn = _drawn(list(axes.values()), method, samples, sample_seed)
        # A point drawn twice would repeat the same runs.
        return Design(paths, list({_meaning(point): point for point in drawn}.values()), method, sample_seed)
    values = [axis for axis in axes.values() if not isinstance(axis, Distribution)]
    if method == "paired":
        lengths = {path: len(axis) for path, axis in zip(paths, values, strict=True)}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{path} has {length}" for path, length in lengths.items())
            raise ValueError(f"paired lists must have equal numbers of values: {counts}")
        points = list(zip(*values, strict=True)) if values else [()]
        _require_distinct(points)
    else:
        if math.prod(map(len, values)) > MOST_POINTS:
            raise ValueError(f"{math.prod(map(len, values))} points: must be at most {MOST_POINTS}")
        points = list(itertools.product(*values))
    return Design(paths, points, method)


def _require_variable(path: str) -> None:
    """Raise ValueError for a path that a sweep varies by another option, or not at all."""
    head = path.split(".")[0].strip()
    if path in ("aqm", "aqm.name"):
        raise ValueError('choose the queue disciplines with --aqm or, in a study, with [sweep] aqm = ["lred", "pi"]')
    if path in ("seed", "title"):
        raise ValueError(f"{path} is the same at all points; --seeds sets the number of seeds")
    if head in ("sweep", "record") and path != "record.loss_event":
        raise ValueError(f"results do not depend on {head}")


def _axis(written: object, method: str) -> list[Scalar] | Distribution:
    if isinstance(written, str):
        if found := _DISTRIBUTION.fullmatch(written):
            if method in DRAWN:
                return _distribution(found)
            raise ValueError(f"{written.strip()}: only method = random or latin (--method) draws from distributions")
        values = parsed(written)
    elif isinstance(written, Iterable):
        values = [_plain(value) for value in written]
        if not values:
            raise ValueError("no values")
    else:
        values = [_plain(written)]
    return values


def _plain(value: Any) -> Scalar:
    """Convert a value of any library, NumPy's included; raise ValueError for anything else."""
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, bool | int | float | str):
        raise ValueError(f"{reprlib.repr(value)}: must be a number, a text, or true or false")
    return plain


def _require_distinct(points: Iterable[Point]) -> None:
    """Raise ValueError if a point would be counted twice."""
    seen: dict[object, Point] = {}
    for point in points:
        first = seen.setdefault(_meaning(point), point)
        if first is not point:
            text, earlier = (", ".join(map(_shown, values)) for values in (point, first))
            raise ValueError(f"{text} is given twice" if text == earlier else f"{earlier} and {text} are equal")


def _meaning(point: Point) -> object:
    """Return the identity of a point, however its numbers are written."""
    return tuple((type(value) is bool, number(value) or value) for value in point)


@dataclass
class _Quantity:
    """A number as it was written, with its unit."""

    number: Decimal
    unit: str

    @property
    def value(self) -> Scalar:
        if self.unit:
            return f"{format(self.number.normalize(), 'f')} {self.unit}"
        # A scenario's whole numbers have 64 bits; a greater one is a number that the schema refuses.
        is_whole = abs(self.number) < 2**63 and self.number == self.number.to_integral_value()
        return int(self.number) if is_whole else float(self.number)


def parsed(text: str) -> list[Scalar]:
    """Parse the values of one parameter, separated by commas; ``20,40..160`` continues in steps of 20.

    A number without a unit takes that of the next number that has one, otherwise that of the last. Commas in brackets
    and in quotes do not separate values. Raise ValueError if the text is not of this form.

    Examples
    --------
    >>> parsed("20,40..100")
    [20, 40, 60, 80, 100]
    >>> parsed("10,20..40 ms")
    ['10 ms', '20 ms', '30 ms', '40 ms']
    >>> parsed("rfc,linux")
    ['rfc', 'linux']
    """
    tokens = [token.strip() for token in _split(text)]
    if not all(tokens):
        raise ValueError("a value is missing" if text.strip() else "no values")
    read = [_token(token) for token in tokens]
    _give_units([quantity for entry in read if isinstance(entry, tuple) for quantity in entry])
    values: list[Scalar] = []
    last: _Quantity | None = None
    for token, entry in zip(tokens, read, strict=True):
        if not isinstance(entry, tuple):
            values.append(entry)
            last = None
            continue
        if len(entry) == 2:
            values += [step.value for step in _steps(token, last, *entry)]
        else:
            values.append(entry[0].value)
        last = entry[-1]
    return values


def _split(text: str) -> Iterator[str]:
    """Split a text at commas outside brackets and quotes."""
    depth, quoted, start = 0, "", 0
    for place, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _token(token: str) -> Scalar | tuple[_Quantity, ...]:
    """Parse the text between two commas: a number, two numbers with dots between them, or a text."""
    if token[0] in "\"'" and token[-1] == token[0] and len(token) > 1:
        return token[1:-1]
    if token in ("true", "false"):
        return token == "true"
    if number := _quantity(token):
        return (number,)
    first, dots, last = token.partition("..")
    if dots:
        ends = [_quantity(first), _quantity(last)]
        if ends[0] and ends[1]:
            return (ends[0], ends[1])
        if any(ends):
            raise ValueError(f"{token}: must be two numbers with dots between them, like 40..160")
    return token


def _quantity(text: str) -> _Quantity | None:
    found = _NUMBER.fullmatch(text)
    if not found or (found[2] and _core.in_base_unit(f"1 {found[2]}") is None):
        return None
    return _Quantity(Decimal(found[1].replace("_", "")), found[2])


def _give_units(quantities: Sequence[_Quantity]) -> None:
    """Set the unit of numbers without one to that of the next number that has one, otherwise of the last."""
    for order in (reversed(quantities), quantities):
        unit = ""
        for quantity in order:
            unit = quantity.unit = quantity.unit or unit


def _steps(token: str, last: _Quantity | None, first: _Quantity, end: _Quantity) -> Iterator[_Quantity]:
    """Continue from the last value over `first` to `end`."""
    written = token.replace(" ", "")
    if last is None:
        raise ValueError(f"{token} has no step: write the first two values, like {first.value},NEXT..{end.value}")
    if not last.unit == first.unit == end.unit:
        raise ValueError(f"{last.value},{written}: all three must have the same unit")
    step = first.number - last.number
    if step == 0 or (end.number - first.number) * step < 0:
        raise ValueError(f"{last.value},{written}: steps of {step} do not reach {end.number}")
    if abs(end.number - first.number) >= MOST_POINTS * abs(step):
        raise ValueError(f"{last.value},{written}: more than {MOST_POINTS} values")
    count, rest = divmod(end.number - first.number, step)
    if rest:
        short = end.number - rest
        raise ValueError(f"{last.value},{written}: steps of {step} miss {end.number}; write {short} or {short + step}")
    return (_Quantity(first.number + index * step, first.unit) for index in range(int(count) + 1))


def _distribution(found: re.Match[str]) -> Distribution:
    ends = [_quantity(found[2]), _quantity(found[3])]
    if not (ends[0] and ends[1]):
        raise ValueError(f"{found[0].strip()}: must have two numbers, like {found[1]}(20, 160)")
    _give_units([ends[0], ends[1]])
    low, high = ((end.value, number(end.value)) for end in (ends[0], ends[1]))
    if low[1] is None or high[1] is None or low[1][1] != high[1][1]:
        raise ValueError(f"{found[0].strip()}: both ends must have the same kind of unit")
    log = found[1] == "log"
    if not low[1][0] < high[1][0] or (log and low[1][0] <= 0):
        need = "the first end must be less than the second" + (", and above 0" if log else "")
        raise ValueError(f"{found[0].strip()}: {need}")
    whole = isinstance(low[0], int) and isinstance(high[0], int) and "." not in found[2] + found[3]
    return Distribution(low[1][0], high[1][0], low[1][1], log, whole)


def _drawn(axes: Sequence[Sequence[Scalar] | Distribution], method: str, samples: int, seed: int) -> list[Point]:
    """Draw points from distributions; values of a list are drawn with equal probability."""
    if not 1 <= samples <= MOST_POINTS:
        raise ValueError(f"samples = {samples}: must be in [1, {MOST_POINTS}]")
    if not axes:
        raise ValueError(f"method = {method}: nothing to draw: vary at least one parameter")
    import numpy as np
    from scipy.stats import qmc

    generator = np.random.default_rng(seed)
    if method == "latin":
        places = qmc.LatinHypercube(len(axes), rng=generator).random(samples)
    else:
        places = generator.random((samples, len(axes)))
    return [
        tuple(
            axis.value(float(u)) if isinstance(axis, Distribution) else axis[min(int(u * len(axis)), len(axis) - 1)]
            for axis, u in zip(axes, row, strict=True)
        )
        for row in places
    ]


def number(value: Scalar) -> tuple[float, str] | None:
    """Return a value in its base unit, and that unit (empty if none was written); None if it is not a number.

    Examples
    --------
    >>> number("10 ms"), number(20), number("linux")
    ((0.01, 's'), (20, ''), None)
    """
    if isinstance(value, str):
        return _core.in_base_unit(value)
    return None if isinstance(value, bool) else (value, "")


@cache
def unit(path: str) -> str:
    """Return the unit of a parameter whose values are plain numbers; empty if there is none, or it is unknown.

    Examples
    --------
    >>> unit("aqm.q0"), unit("traffic.long.count")
    ('packets', 'flows')
    """
    *above, key = path.split(".")
    listed = catalogue()
    if any(name in ("aqm", "reverse_aqm") for name in above):
        candidates = [parameter for entry in listed["aqms"] for parameter in entry["parameters"]]
    else:
        tables = [name for name in reversed(above) if name in listed["tables"]] or ["general"]
        candidates = listed["tables"][tables[0]]
    units = {entry["unit"] for entry in candidates if key in (entry["name"], *entry["aliases"])}
    return units.pop() if len(units) == 1 else ""

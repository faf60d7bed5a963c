"""The parameters over which `aqmlab tune` searches, and the points that it tries."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab import _core
from aqmlab.scenario import Scenario, discipline

SPREAD = 10.0
"""Without a range, the search goes from the present value over this to the present value times this."""

DIGITS = 3
"""The significant digits of the values that are tried."""

_ALLOWED = re.compile(r"in [\[(]([^,]+), ([^\])]+)[\])]")
_SHOWN = {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s"), "bytes": (1.0, "B")}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a discipline, its path in a scenario, its unit, its present value, and the range of the search.

    Numbers are in the base unit.
    """

    name: str
    path: str
    unit: str
    present: float
    low: float
    high: float
    whole: bool

    def value(self, u: float) -> float:
        """Return the value at `u` in [0, 1]: equal steps are equal factors."""
        found = self.low * (self.high / self.low) ** u
        rounded = float(round(found)) if self.whole else float(f"{found:.{DIGITS}g}")
        return min(max(rounded, self.low), self.high)

    def text(self, value: float) -> str:
        """Write a value as a scenario reads it."""
        scale, unit = _SHOWN.get(self.unit, (1.0, self.unit if self.unit == "Hz" else ""))
        return f"{value * scale:.{DIGITS + 3}g} {unit}".strip()


Point = tuple[float, ...]


def parameters(scenario: Scenario, over: str) -> list[Parameter]:
    """Read ``target,t_update=1ms..50ms`` for the discipline of a scenario; raise ValueError for others.

    A parameter of the algorithm inside a discipline such as ``fq_codel`` goes by its own name.
    """
    found = [_parameter(scenario, part.strip()) for part in over.split(",") if part.strip()]
    if not found:
        raise ValueError(f"{over!r}: must name a parameter, as in target,t_update or target=1ms..50ms")
    names = [one.path for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice} is given twice")
    return found


def _parameter(scenario: Scenario, part: str) -> Parameter:
    name, equals, span = (text.strip() for text in part.partition("="))
    table = scenario.resolved["aqm"]
    inner = table.get("aqm")
    places = [("aqm", table), *([("aqm.aqm", inner)] if isinstance(inner, Mapping) else [])]
    declared: dict[str, tuple[str, Any, Mapping[str, Any]]] = {}
    for prefix, own in places:
        for entry in discipline(own["name"], scenario)["parameters"]:
            for alias in (entry["name"], *entry["aliases"]):
                declared.setdefault(alias, (f"{prefix}.{entry['name']}", own.get(entry["name"]), entry))
    if name not in declared:
        near = difflib.get_close_matches(name, declared, n=1)
        known = ", ".join(dict.fromkeys(entry["name"] for _, _, entry in declared.values()))
        hint = f"did you mean {near[0]!r}?" if near else f"known: {known}"
        raise ValueError(f"{name}: {scenario.aqm} has no such parameter; {hint}")
    path, value, entry = declared[name]
    bounds = _ALLOWED.search(entry["allowed"])
    if bounds is None:
        raise ValueError(f"{name}: {entry['allowed']}, not a number: compare its values with aqmlab sweep")
    least, most = (float(bound) for bound in bounds.groups())
    present = _number(value)
    if equals:
        low, high = _range(name, span, entry["unit"])
    elif present is None or present <= 0:
        raise ValueError(f"{name} = {value}: give a range, as in {name}={_example(entry['unit'])}")
    else:
        low, high = max(present / SPREAD, least), min(present * SPREAD, most)
    if not (least <= low < high <= most and low > 0):
        allowed = f"[{bounds[1]}, {bounds[2]}] {entry['unit']}".rstrip()
        raise ValueError(f"{part}: the range must be above 0, and in {allowed}")
    whole = entry["allowed"].startswith("a whole")
    return Parameter(name, path, entry["unit"], math.nan if present is None else present, low, high, whole)


def _number(value: object) -> float | None:
    if isinstance(value, str):
        converted = _core.in_base_unit(value)
        return converted[0] if converted else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _range(name: str, span: str, unit: str) -> tuple[float, float]:
    ends = [found for end in span.split("..") if (found := _end(end.strip(), unit)) is not None]
    if span.count("..") != 1 or len(ends) != 2:
        raise ValueError(f"{name}={span}: must be a range, as in {name}={_example(unit)}")
    return ends[0], ends[1]


def _end(text: str, unit: str) -> float | None:
    """Return the end of a range in the base unit; a number without a unit is in that."""
    converted = _core.in_base_unit(text)
    if converted:
        return converted[0] if converted[1] == unit else None
    try:
        return float(text)
    except ValueError:
        return None


def _example(unit: str) -> str:
    return {"s": "1ms..50ms", "Hz": "'0.1 Hz..10 Hz'", "bytes": "'1 kB..100 kB'"}.get(unit, "0.1..10")


def points(found: Sequence[Parameter], count: int) -> list[Point]:
    """Return `count` points, a power of two, that fill the space evenly: those of Sobol's sequence, each once."""
    from scipy.stats import qmc

    drawn = qmc.Sobol(len(found), scramble=False).random_base2(int(math.log2(count)))
    # The sequence begins with the corner; half a step moves its points to the middle of their cells.
    middle = drawn + 0.5 / count
    tried = [tuple(one.value(float(u)) for one, u in zip(found, row, strict=True)) for row in middle]
    return list(dict.fromkeys(tried))


def at(scenario: Scenario, found: Sequence[Parameter], point: Point) -> Scenario:
    """Return a scenario with the values of a point."""
    return scenario.with_({one.path: _value(one, value) for one, value in zip(found, point, strict=True)})


def _value(one: Parameter, value: float) -> str | float | int:
    if one.unit in _SHOWN or one.unit == "Hz":
        return one.text(value)
    return int(value) if one.whole else value


def spec(found: Sequence[Parameter], point: Point) -> str:
    """Return a point's values as ``target=12 ms,t_update=4 ms``."""
    return ",".join(f"{one.name}={one.text(value)}" for one, value in zip(found, point, strict=True))

"""The parameters of a discipline that are numbers, and the discipline with one of them scaled."""

import re
from collections.abc import Mapping
from typing import Any

from aqmlab.scenario import Settings
from aqmlab_papers.evaluation.describe.discipline import Discipline
from aqmlab_papers.evaluation.describe.subject import Placement

MOST_PARAMETERS = 12
"""The most parameters of a discipline that are varied."""

FACTORS = (0.5, 2.0)
"""The factors."""

_QUANTITY = re.compile(r"([0-9.eE+-]+) (\S+)")


def numbers(one: Discipline) -> dict[str, float | int | str]:
    """Return the paths of the parameters that are numbers or quantities above 0, and their values."""
    if one.foreign:
        return {}
    table, prefix = one.table, "aqm."
    if isinstance(inner := table.get("aqm"), Mapping):
        table, prefix = inner, "aqm.aqm."
    return {f"{prefix}{key}": value for key, value in table.items() if _is_number(value)}


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        found = _QUANTITY.fullmatch(value)
        return found is not None and float(found[1]) > 0
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def times(value: float | int | str, factor: float) -> float | int | str:
    """Return a parameter's value, times a factor; whole numbers stay whole.

    Examples
    --------
    >>> times("15 ms", 0.5), times(4, 2.0), times(0.25, 2.0)
    ('7.5 ms', 8, 0.5)
    """
    if isinstance(value, str):
        number, unit = value.split(" ")
        return f"{float(number) * factor:g} {unit}"
    if isinstance(value, int):
        return max(1, round(value * factor))
    return float(f"{value * factor:g}")


def scaled(number: int, factor: float) -> Placement[Discipline]:
    """Return the discipline with one of its parameters, by its place from 0, times a factor."""

    def settings(one: Discipline) -> Settings:
        path, value = list(numbers(one).items())[number]
        return {"aqm": one.spec, path: times(value, factor)}

    def lacks(one: Discipline) -> str:
        found = list(numbers(one).values())
        if number >= len(found):
            return "it has no further parameter that is a number"
        return "" if times(found[number], factor) != found[number] else "the parameter is 1 already"

    return Placement(settings, lacks)

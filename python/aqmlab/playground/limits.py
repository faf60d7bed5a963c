"""The parts of a scenario that the engine in a page does not have: it reads no file, and there is no Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aqmlab import _core
from aqmlab.scenario import Scenario


def require_playable(scenario: Scenario, name: str) -> None:
    """Check a scenario, and that a page can simulate it; `name` is its name in messages.

    Raise ScenarioError with a line for each problem: the name, the key, the value, the reason and what to do.
    """
    scenario.check()
    if problems := list(_problems("", scenario.resolved)):
        raise _core.ScenarioError("\n".join(f"{name}: {problem}" for problem in problems))


def _problems(path: str, value: Any) -> Iterator[str]:
    """Yield the problems at a path and below it."""
    if isinstance(value, list):
        for place, entry in enumerate(value, 1):
            below = entry.get("name", place) if isinstance(entry, dict) else place
            yield from _problems(f"{path}.{below}", entry)
    if not isinstance(value, dict):
        return
    if value.get("file"):
        yield (
            f"{path}.file = {_quoted(value['file'])}: the playground runs in a page, which reads no recordings: "
            "replace it by a kind of `aqmlab list traffic`, or by `changes` of the rate; `aqmlab run` simulates it"
        )
    if "source" in value:
        yield (
            f"{path}.name = {_quoted(value['name'])}: the playground runs in a page, which has no Python: choose one "
            "of `aqmlab list aqms`; `aqmlab run` simulates it"
        )
    for key, inner in value.items():
        yield from _problems(f"{path}.{key}".removeprefix("."), inner)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

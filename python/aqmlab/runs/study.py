"""The study that a call of `sweep` asks for: its disciplines, seeds and points, and the checks of what varies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

from aqmlab import _core
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.variants import chosen_variants
from aqmlab.runs.plan import Study
from aqmlab.runs.points import DRAWN, Design, Scalar, design
from aqmlab.runs.seeds import seeds_on
from aqmlab.scenario import Scenario, Settings, is_for, require_scenario

_DEFAULTS: dict[str, Any] = {"vary": [], "aqm": "auto", "seeds": 1, "method": "grid", "samples": 100, "sample_seed": 1}
"""The `[sweep]` of a scenario without one."""

_PLACE = re.compile(r"(?!--)(?P<file>.+):(?P<line>\d+)")
"""The place of a value in a file; the origin of a value from the command line begins with ``--``."""


def study(
    scenario: Scenario,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | Mapping[str, str | Settings] | None = None,
    seeds: int | Iterable[int] | None = None,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    series: bool = False,
    engine: Engine = PACKETS,
) -> Study:
    """Build a study from a scenario's `[sweep]` and the arguments of `sweep`, which take precedence.

    `aqms` may also map labels to disciplines, or to settings of any kind that distinguish them. Raise ScenarioError if
    the scenario is not valid, ValueError if the varying values cannot be parsed.
    """
    require_scenario(scenario)
    scenario.check()  # reports problems of the whole file, not of its [sweep] alone
    if unnamed := [path for path in vary or {} if not isinstance(path, str)]:
        raise ValueError(f"vary: {unnamed[0]!r:.40} must be the dotted path of a parameter, such as 'dumbbell.rate'")
    table = scenario._study or _DEFAULTS
    written = {entry["path"]: entry for entry in table["vary"]}
    chosen = {path: entry["value"] for path, entry in written.items()} | dict(vary or {})
    origins = {path: entry["origin"] for path, entry in written.items() if path not in (vary or {})}
    method = method or table["method"]
    if method not in DRAWN and (samples, sample_seed) != (None, None):
        raise ValueError(f"samples and sample_seed are for methods {' and '.join(DRAWN)}; the method is {method}")
    base = scenario._base
    labels = aqms if aqms is not None else ([] if table["aqm"] == "auto" else table["aqm"])
    variants = chosen_variants(base, labels)
    knowing = {path: [label for label, variant in variants.items() if is_for(path, variant)] for path in chosen}
    several = variants if len(chosen) > 1 else {}
    # Without the marks of what `--set` and the texts of disciplines have replaced.
    plain = {label: _core.Scenario.parse(variant.to_toml(), "<text>", {}) for label, variant in several.items()}
    chosen_seeds = seeds_on(engine, base, table["seeds"] if seeds is None else seeds)
    having = {path: [variants[label] for label in knowing[path]] or [base] for path in chosen}
    points = design(
        chosen,
        method,
        table["samples"] if samples is None else samples,
        table["sample_seed"] if sample_seed is None else sample_seed,
        {path: f"{origin}: sweep.vary.{path}" for path, origin in origins.items()},
    ).with_units({path: _unit({one._core.base_unit(path) for one in having[path]}) for path in chosen})
    for path, value in zip(points.paths, points.points[0], strict=True):
        _require_known(path, value, origins, having[path])
        if not knowing[path]:
            raise ValueError(f"{_where(path, origins)}: none of {', '.join(variants)} has {path.removeprefix('aqm.')}")
    for label, core in plain.items():
        _require_different(points, core, [path for path in points.paths if label in knowing[path]])
    named = tuple(labels) if isinstance(labels, Mapping) else ()
    found = Study(base, variants, points, chosen_seeds, series, engine, named)
    found.engines  # noqa: B018  raises an error if the engine lacks a discipline
    return found


def _where(path: str, origins: Mapping[str, str]) -> str:
    """Return the place where a varying parameter was written, for messages."""
    return f"{origins[path]}: sweep.vary.{path}" if path in origins else f"--vary {path:.200}"


def _unit(units: Set[str | None]) -> str:
    """Return the base unit of a parameter, if all disciplines that have it agree; otherwise it is empty."""
    return next(iter(units)) or "" if len(units) == 1 else ""


def _require_known(path: str, value: Scalar, origins: Mapping[str, str], knowing: Iterable[Scenario]) -> None:
    """Raise ScenarioError for an unknown path at once, instead of at each of a million points."""
    where, place = _where(path, origins), _PLACE.fullmatch(origins.get(path, ""))
    file, line = (place["file"], int(place["line"])) if place else (None, None)
    for variant in knowing:
        try:
            variant._core.with_value(path, value).check()
        except _core.ScenarioError as error:
            unknown = [problem for problem in error.problems if problem["kind"] == "path"]
            if unknown:
                located = _core.ScenarioError("\n".join(f"{where}: {problem['text']}" for problem in unknown))
                located.problems = tuple({**problem, "file": file, "line": line} for problem in unknown)
                located.kind, located.path, located.file, located.line = "path", unknown[0]["path"], file, line
                raise located from None


def require_unset(wanted: Study) -> None:
    """Raise ValueError for a parameter that varies although a setting or the text of a discipline sets it.

    That would have no effect, and a label would be wrong.
    """
    for label, variant in wanted.variants.items():
        for path in wanted.paths[label]:
            if earlier := variant._core.replaced(path):
                one = f"for one value at all points, vary it over that one: --vary {path}=VALUE"
                raise ValueError(f"{path} varies, but {earlier} sets it: omit one of them; {one}")


def _require_different(points: Design, core: _core.Scenario, paths: Sequence[str]) -> None:
    """Raise ValueError for two names of one parameter: the last would take effect, and labels would be wrong."""
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if any(one.replaced(path) for one in _with_values(core, points, other)):
                order = f", or put {path} before {other}" if other.startswith(f"{path}.") else ""
                raise ValueError(f"{other} and {path} are one parameter: let only one of them vary{order}")


def _with_values(core: _core.Scenario, points: Design, path: str) -> Iterator[_core.Scenario]:
    """Yield a scenario with the first value of a varying parameter, and with those that set several parameters."""
    index = points.paths.index(path)
    values = dict.fromkeys(point[index] for point in points.points)
    for place, value in enumerate(values):
        if place == 0 or (isinstance(value, str) and "=" in value):
            with suppress(_core.ScenarioError):
                yield core.with_value(path, value)

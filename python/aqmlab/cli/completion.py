"""The values that a shell completes, each function for an argument or option.

A function takes the text before the cursor and returns whole values that begin with it; a shell offers files where it
gets none. They run at each press of a key, so each imports what it needs alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer._click.shell_completion import CompletionItem, add_completion_class
from typer._completion_classes import BashComplete

from aqmlab.files import FIGURE_FORMATS

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario

_BREAKS = ":="
"""The characters at which bash divides a word, of those in our values."""


def scenario(incomplete: str) -> list[str]:
    """Complete the name of a shipped scenario or the path of a TOML file."""
    from aqmlab.scenario import shipped

    return sorted({*_beginning(incomplete, shipped()), *_files(incomplete, ".toml")})


def named(incomplete: str) -> list[str]:
    """Complete what ``aqmlab show`` describes."""
    from aqmlab.scenario import catalogue, disciplines, shipped

    listed = catalogue()
    traffic = [entry["name"] for entry in listed["traffic"]]
    tcps = [f"tcp:{entry['name']}" for entry in listed["tcps"]]
    return _beginning(incomplete, [*disciplines(), *traffic, *tcps, *shipped()])


def aqm(incomplete: str) -> list[str]:
    """Complete a queue discipline: its name, then its parameters and presets."""
    from aqmlab.scenario import catalogue, disciplines

    name, colon, _ = incomplete.partition(":")
    if not colon:
        return _beginning(incomplete, disciplines())
    listed = catalogue()
    of = {variant["name"]: variant["of"] for variant in listed["variants"]}
    known = {entry["name"]: entry for entry in listed["aqms"]}
    entry = known.get(of.get(name, name))
    if entry is None:
        return []
    keys = [*(f"{parameter['name']}=" for parameter in entry["parameters"])]
    return _keys(incomplete, [*keys, *(f"preset={preset['name']}" for preset in entry["presets"])])


def tcp(incomplete: str) -> list[str]:
    """Complete a sender: a preset or flavour of TCP, then its parameters."""
    from aqmlab.scenario import catalogue

    known = {entry["name"]: entry for entry in catalogue()["tcps"]}
    name, colon, _ = incomplete.partition(":")
    if not colon:
        return _beginning(incomplete, known)
    return _keys(
        incomplete, [f"{parameter['name']}=" for parameter in known[name]["parameters"]] if name in known else []
    )


def subject(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete what ``aqmlab evaluate`` compares by the RFC of the command line."""
    return (tcp if ctx.params.get("rfc") == "9743" else aqm)(incomplete)


def engine(incomplete: str) -> list[str]:
    """Complete an engine, then its options."""
    from aqmlab.execute.engine import ENGINES

    start = incomplete[: incomplete.rfind(",") + 1] if ":" not in incomplete else ""
    values = [start + name for name in ENGINES]
    if ":" in incomplete:
        name = incomplete.partition(":")[0]
        head = incomplete[: max(incomplete.rfind(","), incomplete.find(":")) + 1]
        for option in ENGINES[name].options if name in ENGINES else ():
            values += [f"{head}{option.name}={value}" for value in option.values or ("",)]
    return _beginning(incomplete, values)


def metric(incomplete: str) -> list[str]:
    """Complete the name of a metric."""
    from aqmlab.results.metrics import METRICS

    return _beginning(incomplete, METRICS)


def formats(incomplete: str) -> list[str]:
    """Complete a list of formats of figures."""
    *before, _ = incomplete.split(",")
    left = [form for form in FIGURE_FORMATS if form not in before]
    return _beginning(incomplete, [",".join([*before, form]) for form in left])


def setting(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the path of a value of the scenario in the command line."""
    return _beginning(incomplete, _in_scenario(ctx, lambda one: [f"{path}=" for path in _paths("", one.resolved)]))


def link(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a link of the scenario in the command line."""
    return _beginning(incomplete, _in_scenario(ctx, lambda one: one.managed_links))


def traffic(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a traffic entry of the scenario in the command line."""
    return _beginning(incomplete, _in_scenario(ctx, lambda one: [entry["name"] for entry in one.resolved["traffic"]]))


def _keys(incomplete: str, keys: Iterable[str]) -> list[str]:
    """Return the whole text of an algorithm with each of these keys at the end."""
    start = incomplete[: max(incomplete.rfind(","), incomplete.find(":")) + 1]
    return _beginning(incomplete, [start + key for key in keys])


def _beginning(incomplete: str, values: Iterable[str]) -> list[str]:
    return [value for value in values if value.startswith(incomplete)]


def _files(incomplete: str, ending: str) -> list[str]:
    """List the files with this ending in the folder to which the text leads, and in those in it."""
    folder, _, start = incomplete.rpartition("/")
    place = Path(f"{folder}/" if folder or incomplete.startswith("/") else ".")
    try:
        found = [file for pattern in ("*", "*/*") for file in place.glob(f"{pattern}{ending}")]
    except OSError:
        return []
    prefix = incomplete.removesuffix(start)
    return _beginning(incomplete, [f"{prefix}{os.path.relpath(file, place)}" for file in found])


def _in_scenario(ctx: typer.Context, names: Callable[[Scenario], Iterable[str]]) -> Iterable[str]:
    """Return names in the scenario in the command line, none if it does not load. No class in Python is executed."""
    from aqmlab import Scenario, ScenarioError
    from aqmlab.own.source import outlined

    try:
        with outlined():
            return names(Scenario.load(ctx.params.get("scenario") or ctx.params.get("found") or ""))
    except (OSError, ScenarioError):
        return []


def _paths(path: str, value: Any) -> Iterable[str]:
    """List the paths of all values in a part of a scenario."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _paths(f"{path}.{key}" if path else key, inside)
    elif isinstance(value, list) and value and all(isinstance(entry, dict) and "name" in entry for entry in value):
        for entry in value:
            yield from _paths(f"{path}.{entry['name']}", entry)
    else:
        yield path


class _Bash(BashComplete):
    """Completion in bash, which divides words at colons and equals signs, and replaces only the part after the last."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and that at the cursor as far as it goes, as they were typed."""
        words: list[str] = []
        joined = False
        for word in os.environ["COMP_WORDS"].split("\n")[1 : int(os.environ["COMP_CWORD"]) + 1]:
            breaks = bool(word) and not word.strip(_BREAKS)
            if words and (joined or breaks):
                words[-1] += word
            else:
                words.append(word)
            joined = breaks
        *before, last = words or [""]
        self._typed = last.partition("=")[2] if last.startswith("--") and "=" in last else last
        return before, last

    def format_completion(self, item: CompletionItem) -> str:
        """Return the part of a value that replaces what bash takes for the word."""
        kept = max(map(self._typed.rfind, _BREAKS)) + 1
        return str(item.value)[kept:]


def shells() -> None:
    """Let our class complete in bash, in place of typer's."""
    add_completion_class(_Bash, "bash")

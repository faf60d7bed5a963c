"""The precision that ``--until`` asks for, on the command line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from aqmlab.execute.engine import Engine
    from aqmlab.results.comparison import Comparison
    from aqmlab.runs.stages import Until
    from aqmlab.runs.until import Looks


def asked(
    until: str | None, seeds: int | None, most_seeds: int | None, within: str | None, long_run: bool
) -> Until | None:
    """Check the options; return None without ``--until``."""
    given = {"--most-seeds": most_seeds, "--within": within, "--long-run": long_run or None}
    if until is None:
        if alone := next((option for option, value in given.items() if value is not None), None):
            raise typer.BadParameter("applies only with --until: omit it", param_hint=alone)
        return None
    from aqmlab.runs.stages import Until

    try:
        return Until.of(until, seeds, most_seeds, within, long_run)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--until") from None


def require_seeded(seeds: int | None, engines: Sequence[Engine]) -> None:
    """Refuse several seeds for engines without randomness."""
    if seeds is not None and seeds > 1 and not any(engine.seeded for engine in engines):
        problem = f"{seeds}: the {engines[0]} engine has one run, without randomness: omit it"
        raise typer.BadParameter(problem, param_hint="--seeds")


def require_engines(until: Until, engines: Sequence[Engine]) -> None:
    """Refuse engines without randomness, and long runs of any but the packet engine."""
    from aqmlab.execute.engine import PACKETS

    if not any(engine.seeded for engine in engines):
        problem = f"the {engines[0]} engine has one run, without randomness: omit it"
        raise typer.BadParameter(problem, param_hint="--until")
    if until.long_run and (other := next((engine for engine in engines if engine != PACKETS), None)):
        raise typer.BadParameter(f"the {other} engine takes no batches: omit it", param_hint="--long-run")


def reached(until: Until, results: Comparison) -> Iterator[str]:
    """Yield a line for each result: its runs, and the intervals that were asked for."""
    from aqmlab.results.precision import precisions
    from aqmlab.text import printable

    for label, result in results.items():
        if result.seeded:
            whose = f"{printable(label)}: " if len(results) > 1 else ""
            length = f"a run of {result.scenario.duration:g} s" if until.long_run else f"{len(result.runs)} seeds"
            looks = precisions(until.asked, result)
            yield f"{whose}reached with {length}: {'; '.join(map(str, looks))}"
            if not until.long_run and any(one.summary.std == 0 for one in looks):
                yield f"{whose}all seeds have the same value: nothing in this scenario that matters here is random"


def remedy(stopped: object) -> str:
    """Return the option that would help where a limit came too early, in brackets."""
    from aqmlab.runs.seeds import MOST_SEEDS
    from aqmlab.runs.until import NotReached

    if not isinstance(stopped, NotReached) or stopped.needed is None:
        return ""
    if stopped.seconds is not None:
        return f" (--within {stopped.seconds:.0f}s)"
    return f" (--most-seeds {math.ceil(stopped.needed)})" if stopped.needed <= MOST_SEEDS else ""


class Bar:
    """The text of the progress bar."""

    def __init__(self) -> None:
        self._shown = "simulating"

    def text(self) -> str:
        """Return the widest interval so far."""
        return self._shown

    def look(self, looks: Looks) -> None:
        """Take in the intervals after a stage."""
        every = [one for look in looks.values() for one in look if not one.holds]
        if every:
            self._shown = str(max(every, key=lambda one: one.excess))

"""What stands behind a quantity over time: the warm-up and the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.figures.model import Guide, Shade, Shape

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def warmup(result: Result) -> list[Shape]:
    """Return the shaded warm-up of a result, if it has one."""
    return [Shade(start=0.0, end=result.scenario.warmup)] if result.scenario.warmup else []


def target(result: Result) -> list[Shape]:
    """Return the line of a result's target queue, if it has one."""
    return [] if result.scenario.target is None else [Guide(value=result.scenario.target)]

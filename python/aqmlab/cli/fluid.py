"""The command ``aqmlab fluid``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, replications, scenarios
from aqmlab.cli.terminal import progress_bar

if TYPE_CHECKING:
    from aqmlab.cli.replications import Simulated

_SOON = 2.0
"""Seconds that the integration may take before a progress bar is shown."""


def fluid(
    scenario: options.Scenario,
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    packet_seeds: Annotated[
        int | None,
        options.seeds(
            "Also simulate packets, in N runs with consecutive seeds, and draw both in one figure.", "--packet-seeds"
        ),
    ] = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: options.Out = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Integrate the fluid model of a scenario.

    The model describes the mean of the queue that `run` simulates. The integration takes milliseconds.
    """
    if jobs is not None and packet_seeds is None:
        raise typer.BadParameter("applies only with --packet-seeds", param_hint="--jobs")
    scenarios.refuse_idle(set_, "fluid", ["fluid"] if packet_seeds is None else ["fluid", "packet"])
    formats = options.chosen_formats(figure_format, out)
    chosen = scenarios.changed(scenarios.loaded(scenario), aqm, set_)

    def simulate() -> Simulated:
        from aqmlab.execute.fluid import fluid
        from aqmlab.results.comparison import Comparison

        with _late_bar() as show:
            model = fluid(chosen, progress=lambda now: show(now.fraction))
        if packet_seeds is None:
            return Comparison({"fluid": model}), None
        packets, stopped = replications.simulated({"packet": chosen}, packet_seeds, jobs)
        return Comparison({"fluid": model, **packets}), stopped

    labels = ["fluid"] if packet_seeds is None else ["fluid", "packet"]
    cases = dict.fromkeys(labels, chosen)
    replications.report(cases, packet_seeds, simulate, json, out, single=packet_seeds is None, formats=formats)


@contextmanager
def _late_bar() -> Iterator[Callable[[float], None]]:
    """Show a progress bar only if the integration takes long, which is rare."""
    began = time.monotonic()
    bar: Callable[[float], None] | None = None
    with ExitStack() as stack:

        def show(fraction: float) -> None:
            nonlocal bar, began
            if time.monotonic() - began > _SOON:
                bar, began = stack.enter_context(progress_bar(lambda: "integrating")), float("inf")
            if bar:
                bar(fraction)

        yield show

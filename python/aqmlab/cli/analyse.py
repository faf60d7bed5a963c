"""The command ``aqmlab analyse``: the control loop of a scenario, computed by `aqmlab.analysis.loop`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.delivery import deliver, require_writable_folder
from aqmlab.cli.scenarios import changed, loaded, refuse_idle
from aqmlab.cli.terminal import BAD_USAGE, stop, warn
from aqmlab.files import FIGURES, figure_files


def analyse(
    scenario: options.Scenario,
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="The time whose flows and load are analysed: '60 s'; default: half the duration.",
        ),
    ] = None,
    json: options.Json = False,
    out: Annotated[Path | None, options.out(help="Write the analysis and its figure to this folder.")] = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Find out whether the control loop of a scenario is stable.

    The output begins with the answer: stable or not, how far round trips, flows and gains are from the boundary, why,
    and what would make an unstable loop stable. Then it has the operating point, the gain, phase and delay margins, and
    the response time. The loop consists of the flows, the queue and the AQM of the observed link. It is linearised
    around the target of the queue, with and without the pole of the queue. No packet is simulated.
    """
    from aqmlab import ScenarioError
    from aqmlab.kinds import ANALYSIS

    refuse_idle(set_, "analyse", idle=["record", "response.band", "response.hold", "response.bin"])
    moment = None if at is None else _seconds(at)
    formats = options.chosen_formats(figure_format, out)
    figures = figure_files(FIGURES[:1], formats)
    chosen = changed(loaded(scenario), aqm, set_)
    chosen.check()
    if out:
        require_writable_folder(out, [ANALYSIS, *figures])
    from aqmlab.analysis import loop  # imports numpy and scipy; bad arguments are refused before that

    try:
        found = loop.analyse(chosen, moment)
    except ScenarioError:
        raise
    except ValueError as error:
        stop(BAD_USAGE, str(error))

    def save(folder: Path) -> list[str]:
        found.save(folder, formats)
        return [ANALYSIS, *figures]

    deliver(found, json, out, save)
    if json:
        warn(found.warnings)


def _seconds(text: str) -> float:
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    if found is None or found[1] != "s":
        raise typer.BadParameter(f"{text}: must be a quantity like '60 s'", param_hint="--at")
    return found[0]

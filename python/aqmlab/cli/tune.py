"""The command ``aqmlab tune``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, racing
from aqmlab.cli.delivery import deliver, require_writable_folder
from aqmlab.cli.scenarios import loaded, refuse_idle, with_settings

if TYPE_CHECKING:
    from aqmlab.advice.tune import Search
    from aqmlab.advice.tuned import Tuned


def tune(
    scenario: options.Scenario,
    over: Annotated[
        str,
        typer.Option(
            "--over",
            metavar="KEYS",
            help="The parameters to search, with or without a range: target,t_update=1ms..50ms. Without one, from a "
            "tenth of the present value to ten times it.",
        ),
    ],
    goals: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="GOALS",
            help="Limits, and one or two objectives: 'p95 delay < 20 ms, goodput'. Names as in results, or delay, p95 "
            "delay, loss, …; call.delay_p95 is of a traffic entry; min and max set the direction.",
        ),
    ],
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    points: Annotated[
        int, typer.Option("--points", metavar="N", min=8, max=1024, help="Points to try, a power of two.")
    ] = 32,
    within: racing.Within = racing.WITHIN,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: Annotated[
        Path | None, options.out(help="Write the answer, figure, tuned scenario and finished runs to this folder.")
    ] = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Search for the best parameters of a queue discipline.

    Points that fill the space run with two seeds each; the better half goes on with twice as many, until four are left.
    All have the same seeds. The answer has the best parameters with intervals, their difference from the present ones,
    whether the limits hold with certainty, the Pareto front, and the text to paste.

    With --out the finished runs are kept: after Ctrl-C, or with more time, the same command goes on.
    """
    from aqmlab.advice.tune import tune as searched
    from aqmlab.advice.tuned import SCENARIO
    from aqmlab.files import figure_files
    from aqmlab.kinds import TUNED
    from aqmlab.results.result import NoSuchMetric

    formats = options.chosen_formats(figure_format, out)
    refuse_idle(set_, "tune")
    search = _search(scenario, aqm, set_, over, goals, points)
    if figure_format and len(search.goals) < 2:
        problem = "one goal has no front to draw: omit it, or give two in --for"
        raise typer.BadParameter(problem, param_hint="--figure-format")
    if out:
        require_writable_folder(out, [TUNED, SCENARIO, *figure_files(["front"], formats)])
    try:
        racing.perform(
            lambda store, limit, progress: searched(search, store, limit, jobs, progress),
            out,
            within,
            lambda tuned: _deliver(tuned, json, out, formats),
        )
    except NoSuchMetric as error:
        raise typer.BadParameter(str(error), param_hint="--for") from None


def _search(name: str, aqm: str | None, settings: Sequence[str] | None, over: str, goals: str, points: int) -> Search:
    """Check the options, each with its name in messages."""
    from aqmlab.advice import goals as parsed
    from aqmlab.advice.space import parameters
    from aqmlab.advice.tune import Search
    from aqmlab.runs.cases import UNRECORDED

    base = loaded(name)
    chosen = with_settings(base if aqm is None else base.with_(aqm=aqm), settings)._base.with_(UNRECORDED)
    chosen.check()
    if points & (points - 1):
        raise typer.BadParameter(f"{points}: must be a power of two, such as 32 or 64", param_hint="--points")
    try:
        constraints, objectives = parsed.goals(goals)
        entries = [entry["name"] for entry in chosen.resolved["traffic"]]
        parsed.check([*objectives, *constraints], entries, chosen.managed_links)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--for") from None
    try:
        return Search(chosen, parameters(chosen, over), constraints, objectives, points)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--over") from None


def _deliver(tuned: Tuned, json: bool, out: Path | None, formats: Sequence[str]) -> None:
    from aqmlab.files import figure_files, json_text, write_text
    from aqmlab.kinds import TUNED

    def save(folder: Path) -> list[str]:
        from aqmlab.figures import matplotlib
        from aqmlab.figures import tune as figures

        names = []
        if len(tuned.goals) > 1:
            matplotlib.save(figures.figure(tuned), folder, formats, "front")
            names = figure_files(["front"], formats)
        names += tuned.save(folder)
        write_text(folder / TUNED, json_text(tuned.document()))
        return [TUNED, *names]

    deliver(tuned, json, out, save)

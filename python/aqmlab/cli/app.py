"""The command line: it parses, calls and prints; the decisions are made in other packages.

Only typer is imported at the start, to let ``aqmlab --help`` answer at once.
"""

from __future__ import annotations

import errno
import re
import signal
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from aqmlab.cli.analyse import analyse
from aqmlab.cli.command import Commands
from aqmlab.cli.design import design
from aqmlab.cli.fluid import fluid
from aqmlab.cli.reproduce import reproduce
from aqmlab.cli.sweep import sweep
from aqmlab.cli.terminal import (
    BAD_USAGE,
    FAILED,
    FIGURES,
    INTERRUPTED,
    command_line,
    complain,
    loaded,
    one_interrupt,
    open_streams,
    progress_bar,
    require_writable_folder,
    stop,
    with_settings,
)

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison
    from aqmlab.scenario import Scenario

_DISCIPLINE = re.compile(r"\s*(link\s*\.[^.]+\.\s*)?aqm\s*(\.\s*name\s*)?")
"""The paths of a scenario that select its queue discipline."""


class Listed(StrEnum):
    """The lists of ``aqmlab list``."""

    AQMS = "aqms"
    TCPS = "tcps"
    TRAFFIC = "traffic"
    SCENARIOS = "scenarios"


class Program(TyperGroup):
    """The group of commands; the single place that turns errors into messages and exit statuses."""

    def invoke(self, ctx: Any) -> Any:
        """Call the requested command."""
        from aqmlab import ScenarioError

        try:
            return super().invoke(ctx)
        except (ScenarioError, MemoryError) as error:
            stop(BAD_USAGE, str(error))
        except BrokenPipeError:
            raise  # the reader of the output has left; typer exits quietly
        except OSError as error:
            full = "the standard output" if error.errno == errno.ENOSPC else None  # errors in files carry a filename
            where = error.filename or full
            stop(FAILED, f"{where}: {error.strerror}" if where else str(error))
        except KeyboardInterrupt:
            stop(INTERRUPTED, "interrupted")


app = Commands(
    cls=Program,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0; 2 for bad usage or a bad scenario; 1 for a run that failed; "
    "3 for runs that were done and then not in the store; 130 after Ctrl-C.",
)

File = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO", help="A TOML file, - for the standard input, or the name of a shipped scenario."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a value: traffic.long.count=100. Repeatable."),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="One run with this seed.")]
Seeds = Annotated[
    int | None,
    typer.Option("--seeds", metavar="N", min=1, help="N runs, with the seeds s, s+1, …; s is the scenario's."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Runs at a time; default: all cores.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write results, series, figure and report there."),
]

Check = Annotated[
    bool,
    typer.Option("--check", help="Keep account of every packet, and fail if a run does not add up. Takes longer."),
]


@app.callback(invoke_without_command=True)
def program(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Simulate queues packet by packet: a laboratory for Active Queue Management."""
    if version:
        from aqmlab import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def run(
    scenario: File,
    aqm: Annotated[
        str | None,
        typer.Option(
            "--aqm",
            metavar="SPEC",
            help="NAME or NAME:KEY=VALUE,… instead of the file's; a target queue that the file sets stays.",
        ),
    ] = None,
    set_: Settings = None,
    seed: Seed = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    json: Json = False,
    out: Out = None,
    check: Check = False,
) -> None:
    """Simulate a scenario."""
    base = _scenario(scenario, seed, seeds)
    chosen = with_settings(base if aqm is None else base.with_aqm(aqm), set_)
    _simulate({chosen.aqm: chosen}, seeds, jobs, json, out, check, alone=True)


@app.command()
def compare(
    scenario: File,
    aqm: Annotated[
        list[str],
        typer.Option("--aqm", metavar="SPEC", help="NAME, NAME:KEY=VALUE,… or all; give it for each to compare."),
    ],
    set_: Settings = None,
    seed: Seed = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    json: Json = False,
    out: Out = None,
    check: Check = False,
) -> None:
    """Simulate a scenario with several queue disciplines.

    A target queue set in the file is kept for every discipline that has one, unless its SPEC sets another. --set
    aqm.KEY=VALUE applies to every discipline that has KEY.
    """
    from aqmlab.execute.replication import repeated, spelled_out

    for setting in set_ or ():
        if _DISCIPLINE.fullmatch(setting.partition("=")[0]):
            raise typer.BadParameter(f"{setting}: --aqm says that", param_hint="--set")
    base = _scenario(scenario, seed, seeds)
    try:
        specs = spelled_out(aqm)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--aqm") from None
    variants = {spec: base.with_aqm(spec) for spec in specs}
    if strange := [key for key in _aqm_keys(set_) if not any(_knows(one, key) for one in variants.values())]:
        raise typer.BadParameter(f"none of them has {', '.join(strange)}", param_hint="--set")
    chosen = {
        spec: with_settings(one, [s for s in set_ or () if all(_knows(one, key) for key in _aqm_keys([s]))])
        for spec, one in variants.items()
    }
    if same := repeated(chosen):
        raise typer.BadParameter(f"{same[0]} and {same[1]} are the same", param_hint="--aqm")
    _simulate(chosen, seeds, jobs, json, out, check, alone=False)


app.command()(fluid)
app.command()(sweep)
app.command()(reproduce)
app.command()(analyse)
app.add_typer(design)


@app.command("list")
def list_(
    what: Annotated[
        Listed | None,
        typer.Argument(help="Which list; by default all of them."),
    ] = None,
) -> None:
    """List queue disciplines, TCPs, kinds of traffic and shipped scenarios."""
    from aqmlab.reports import listing

    typer.echo(listing.overview([what.value] if what else [kind.value for kind in Listed]))


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A queue discipline, tcp:PRESET, a kind of traffic, or a scenario."),
    ],
) -> None:
    """Describe a discipline, TCP, kind of traffic or scenario: summary, parameters, signals."""
    from aqmlab.reports import listing

    try:
        typer.echo(listing.page(name))
    except KeyError as error:
        raise typer.BadParameter(error.args[0], param_hint="NAME") from None


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Scenarios to check; - is the standard input.")],
) -> None:
    """Check scenarios without running them."""
    sound = True
    for file in files:
        try:
            scenario = loaded(file)
            scenario.check()
            sweep = ""
            if scenario.study:
                from aqmlab.sweeps.runner import asked_for

                sweep = f"; a sweep of it has {asked_for(scenario)} runs"
            typer.echo(
                f"{file}: valid: {scenario.aqm}, {scenario.duration:g} s, "
                f"about {scenario.packets:.2g} packets and {scenario.memory / 1e6:.2g} MB{sweep}"
            )
        except ValueError as error:
            sound = False
            complain(str(error))
    if not sound:
        raise typer.Exit(BAD_USAGE)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario file."""
    from aqmlab import schema as of_scenario
    from aqmlab.files import json_text

    typer.echo(json_text(of_scenario()), nl=False)


def main() -> None:
    """Run the command line."""
    open_streams()
    app(prog_name="aqmlab")


def _scenario(name: str, seed: int | None, seeds: int | None) -> Scenario:
    from aqmlab.execute.replication import MOST_SEEDS

    if seed is not None and seeds is not None:
        raise typer.BadParameter("give --seed or --seeds, not both", param_hint="--seeds")
    if seeds is not None and seeds > MOST_SEEDS:
        raise typer.BadParameter(f"{seeds}: must be at most {MOST_SEEDS}", param_hint="--seeds")
    scenario = loaded(name)
    return scenario if seed is None else scenario.with_(seed=seed)


def _aqm_keys(settings: Sequence[str] | None) -> list[str]:
    """Return the KEY of each setting of the form aqm.KEY=VALUE."""
    paths = [setting.partition("=")[0].strip() for setting in settings or ()]
    return [path.removeprefix("aqm.") for path in paths if path.startswith("aqm.")]


def _knows(scenario: Scenario, key: str) -> bool:
    from aqmlab.scenario import parameter_names

    return key in parameter_names(scenario.aqm)


def _simulate(
    scenarios: Mapping[str, Scenario],
    seeds: int | None,
    jobs: int | None,
    json: bool,
    out: Path | None,
    check: bool,
    alone: bool,
) -> None:
    """Simulate, print and save; after Ctrl-C or a failure, with the runs that were finished."""
    from aqmlab.execute.replication import Interrupted, RunFailed, compare_scenarios

    if out:
        require_writable_folder(out, _names(scenarios, seeds, alone))
    stopped: Interrupted | RunFailed | None = None
    with one_interrupt():
        try:
            with progress_bar() as progress:
                results = compare_scenarios(scenarios, seeds, jobs, progress, check)
        except (Interrupted, RunFailed) as error:
            results, stopped = error.finished, error
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # keep the finished runs
        if results:
            _deliver(results, json, out, alone)
    if results and check:
        count = sum(len(result.runs) for result in results.values())
        runs = "the run" if count == 1 else f"each of the {count} runs"
        typer.echo(f"checked: every packet of {runs} is accounted for", err=json)
    if stopped:
        kept = f"; the runs that finished are reported{f' and saved in {out}' if out else ''}" if results else ""
        stop(INTERRUPTED if isinstance(stopped, Interrupted) else FAILED, f"{stopped}{kept}")


def _names(scenarios: Mapping[str, Scenario], seeds: int | None, alone: bool) -> list[str]:
    """List the files that `_deliver` writes."""
    from aqmlab.execute.replication import chosen_seeds
    from aqmlab.results.comparison import files

    own = chosen_seeds(next(iter(scenarios.values())), seeds)
    return [*files(scenarios, own, alone), *FIGURES, "report.html"]


def _deliver(results: Comparison, json: bool, out: Path | None, alone: bool) -> None:
    from aqmlab.files import json_text

    shown = next(iter(results.values())) if alone else results
    try:
        typer.echo(json_text(shown.document()) if json else repr(shown), nl=not json)
    finally:  # save even if the reader closes the pipe early
        if out:
            from aqmlab.figures import matplotlib, runs
            from aqmlab.reports import html

            shown.save(out)
            matplotlib.save(runs.comparison(results), out)
            html.save(results, out / "report.html", command_line())
    if out:
        written = f"written to {out}: {'result' if alone else 'comparison'}.json, figure.png, figure.svg, report.html"
        typer.echo(written if json else f"\n{written}", err=json)

"""The arguments and options that several commands have, each declared once.

A declaration includes the check of its value. An option of a single command is declared in that command.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli import completion
from aqmlab.files import DEFAULT_FORMATS, FIGURE_FORMATS

PACKET = "packet"
"""The default engine."""


def aqms(help: str) -> Any:
    """Declare ``--aqm`` for a command that takes several disciplines."""
    return typer.Option(
        "--aqm",
        metavar="SPEC",
        autocompletion=completion.aqm,
        help=f"{help}: NAME, NAME:KEY=VALUE,… or all; on the linux engine also kernel:WORDS, one of Linux. Parameters "
        "have their defaults, not those of the file. Repeatable.",
    )


def seeds(help: str, name: str = "--seeds") -> Any:
    """Declare ``--seeds``, or another option that is a number of seeds."""
    return typer.Option(name, metavar="N", min=1, callback=_at_most, help=help)


def out(help: str) -> Any:
    """Declare ``--out``."""
    return typer.Option("--out", metavar="DIR", help=help)


def store(help: str) -> Any:
    """Declare ``--store``."""
    return typer.Option("--store", metavar="DIR", callback=_folder, help=help)


def _at_most(count: int | None) -> int | None:
    """Refuse more seeds than a call may have."""
    if count is not None:
        from aqmlab.runs.seeds import MOST_SEEDS

        if count > MOST_SEEDS:
            raise typer.BadParameter(f"{count}: must be at most {MOST_SEEDS}")
    return count


def _engine(text: str) -> str:
    """Refuse an engine that there is not; return its text without defaults."""
    if text == PACKET:
        return text  # `aqmlab doctor` runs where the engine's module does not load
    from aqmlab.execute.engine import Engine

    try:
        return str(Engine.parse(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _engines(text: str) -> str:
    """Refuse a list with an engine that there is not, or with one twice."""
    from aqmlab.execute.engine import different, listed

    try:
        different(listed(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


def time(text: str | None) -> str | None:
    """Refuse anything but a time."""
    if text is not None:
        from aqmlab.runs.stages import seconds

        try:
            seconds(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return text


def _auto(text: str | None) -> str | None:
    """Refuse anything but auto."""
    if text not in (None, "auto"):
        raise typer.BadParameter(f"{text}: must be auto; set a time with --set warmup={text!r}")
    return text


def _formats(text: str | None) -> str | None:
    """Refuse a list with a format that there is not, or with one twice."""
    formats = [] if text is None else text.split(",")
    for place, form in enumerate(formats):
        if form not in FIGURE_FORMATS:
            raise typer.BadParameter(f"{text}: {form!r}: must be one of {', '.join(FIGURE_FORMATS)}")
        if form in formats[:place]:
            raise typer.BadParameter(f"{text}: {form} is given twice; give it once")
    return text


_MODEMS = {
    r"vdsl\d?": "pppoe-ptm, or bridged-ptm for VDSL without PPPoE",
    r"adsl(2\+?)?": "pppoe-llcsnap, or bridged-llcsnap for ADSL without PPPoE",
    r"docsis.*|cable|coax": "docsis",
    r"fib(re|er)|ft+[hbp]|.?pon|ethernet": "ethernet",
    r"pppoe": "pppoe-ptm for VDSL, pppoe-llcsnap for ADSL, 'ethernet overhead 46' for fibre",
    r"dsl": "pppoe-ptm for VDSL, pppoe-llcsnap for ADSL",
}
"""What people call a link, as regular expressions, and tc's words for it."""


def _layer(text: str | None) -> str | None:
    """Refuse a name of a link that tc does not know, with the words that it has."""
    from aqmlab import _core

    known = [words for name, words in _MODEMS.items() if text and re.fullmatch(name, text.strip().lower())]
    if text and known and _core.framing(text) is None:
        raise typer.BadParameter(f"{text}: must be tc's words for CAKE: {known[0]}", param_hint="--link-layer")
    return text


def _folder(path: Path | None) -> Path | None:
    """Refuse a path that exists and is not a folder."""
    if path and os.path.lexists(path) and not path.is_dir():
        raise typer.BadParameter(f"{path}: not a folder")
    return path


Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        autocompletion=completion.scenario,
        help="A TOML file, the name of a shipped scenario, or - for standard input.",
    ),
]
Aqm = Annotated[
    str | None,
    typer.Option(
        "--aqm",
        metavar="SPEC",
        autocompletion=completion.aqm,
        help="Replace the queue discipline of the file, also that of the reverse direction if it has one; beside a "
        "dumbbell, that of the link that the file observes: NAME or NAME:KEY=VALUE,…. --set reverse_aqm.name=NAME sets "
        "that alone. Parameters have their defaults, also if the file's discipline has this NAME; only a target queue "
        "set in the file (q0) is kept, unless SPEC sets another. With --engine linux also kernel:WORDS, a discipline "
        "of Linux in tc's words.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        autocompletion=completion.setting,
        help="Change a value of the scenario: traffic.long.count=100. Repeatable, but each value is set once.",
    ),
]
Down = Annotated[
    str | None, typer.Option("--down", metavar="RATE", help="Rate of the downlink: '100 Mbit/s' or 100mbit.")
]
Rtt = Annotated[
    str | None,
    typer.Option(
        "--rtt",
        metavar="TIMES",
        help="Round-trip times without queueing: '40 ms', or the shortest and the longest with a hyphen.",
    ),
]
LinkLayer = Annotated[
    str | None,
    typer.Option(
        "--link-layer",
        metavar="WORDS",
        callback=_layer,
        help="What the modem adds to packets, in tc's words for CAKE: docsis, pppoe-ptm, pppoe-llcsnap, …",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Run once, with this seed.")]
Seeds = Annotated[int | None, seeds(help="Run N times, with consecutive seeds; the first is the seed of the scenario.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Number of simultaneous runs; default: the number of cores."),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        callback=_engine,
        autocompletion=completion.engine,
        help="The engine: packet, fluid or linux, with options as in linux:clock=real; see `aqmlab list engines`.",
    ),
]
Engines = Annotated[
    str,
    typer.Option(
        "--engines",
        metavar="ENGINES",
        callback=_engines,
        autocompletion=completion.engine,
        help="The engines, as in packet,fluid,linux:clock=real. The others are compared with packet.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="CLUSTER",
        help="Run on a cluster: slurm or slurm:FILE.toml, whose jobs are then the workers; tcp://HOST:PORT of a Dask "
        "scheduler, or the file that the scheduler wrote.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="CONDITIONS",
        help="Run until 95 % intervals are this narrow: 'goodput ±1 %, queue_delay_mean ±2 ms', also with +- or +/-, "
        "and with classes.NAME.goodput and the like. --seeds is then the least number of runs; default: 20.",
    ),
]
MostSeeds = Annotated[
    int | None,
    seeds(
        "With --until, run at most N times; default: 1000. With --long-run, at most N times as long as in the file.",
        "--most-seeds",
    ),
]
Within = Annotated[
    str | None,
    typer.Option("--within", metavar="TIME", callback=time, help="With --until, run for at most this time: 2min."),
]
LongRun = Annotated[
    bool,
    typer.Option("--long-run", help="With --until, make one long run in place of many; intervals are by batch means."),
]
Warmup = Annotated[
    str | None,
    typer.Option(
        "--warmup",
        metavar="auto",
        callback=_auto,
        help="Leave out the warm-up that MSER-5 finds in five pilot runs, in place of the scenario's.",
    ),
]
Check = Annotated[
    bool,
    typer.Option("--check", help="Account for every packet, and fail if the accounts do not balance. Takes longer."),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        dir_okay=False,
        help="Write the metrics of every run to this file as CSV, in s, bit/s, bytes, packets and fractions.",
    ),
]
FigureFormat = Annotated[
    str | None,
    typer.Option(
        "--figure-format",
        metavar="FORMATS",
        callback=_formats,
        autocompletion=completion.formats,
        help="The formats of the figures in --out: some of png, svg, pdf, pgf, as in pdf,svg; default: png,svg.",
    ),
]
Links = Annotated[
    list[str] | None,
    typer.Option(
        "--link",
        metavar="NAME",
        autocompletion=completion.link,
        help="Show this link's metrics only. Repeatable.",
    ),
]
Classes = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        metavar="NAME",
        autocompletion=completion.traffic,
        help="Show this traffic entry's metrics only. Repeatable.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        autocompletion=completion.metric,
        help="Show this metric only: rtt_p95, path_loss_ratio and so on. Repeatable.",
    ),
]
Flows = Annotated[
    bool,
    typer.Option(
        "--flows",
        help="List each flow and each transfer; with --out, write them to flows-SEED.parquet. Sets record.flows.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Out = Annotated[Path | None, out(help="Write the results, series, figure and report to this folder.")]


def chosen_formats(text: str | None, out: Path | None) -> tuple[str, ...]:
    """Return the chosen formats of figures; refuse those that this machine cannot write, or for no folder."""
    if text is None:
        return DEFAULT_FORMATS
    if out is None:
        raise typer.BadParameter("applies only with --out", param_hint="--figure-format")
    formats = tuple(text.split(","))
    if "pgf" in formats:
        from aqmlab.figures import matplotlib

        try:
            matplotlib.require_tex()
        except matplotlib.TexError as error:
            raise typer.BadParameter(str(error), param_hint="--figure-format") from None
    return formats


def require_jobs_or_cluster(jobs: int | None, cluster: str | None) -> None:
    """Refuse ``--jobs`` with ``--cluster``."""
    if jobs is not None and cluster is not None:
        raise typer.BadParameter(
            "not allowed with --cluster: its workers determine the number of simultaneous runs", param_hint="--jobs"
        )

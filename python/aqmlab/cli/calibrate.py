"""The command ``aqmlab calibrate``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.delivery import deliver, require_writable_folder
from aqmlab.cli.terminal import BAD_USAGE, progress_bar, stop

if TYPE_CHECKING:
    from aqmlab.calibrate import Calibration

SCENARIO = "calibrated.toml"
"""The file of the link."""


class Direction(StrEnum):
    """The directions of a measurement, seen from the host that has the file."""

    UP = "up"
    DOWN = "down"


def calibrate(
    measurements: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="What irtt, iperf3 (-J) and flent wrote of one link at one time: a probe of the round trip that began "
            "before the load, and transfers over TCP. Or a result of crusader. Or captures of transfers "
            "(tcpdump -s 96), at one end or both.",
        ),
    ],
    direction: Annotated[
        Direction | None,
        typer.Option(help="Of a file with both directions one after the other, as of crusader, which of them."),
    ] = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Your own queue in that direction: its scenario, or what aqmlab import reads, as the router's files. "
            "With it the wait in another queue is estimated, as in a provider's. May be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the links that are tried.")] = 1,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: Annotated[
        Path | None, options.out(help=f"Write the answer, figure and link ({SCENARIO}) to this folder.")
    ] = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Estimate a link and its queue discipline from measurements.

    Links that may be are simulated with the transfers of the measurement, and count by how like it they are. Values
    have 90 % intervals, and each family of disciplines has a probability: drop tail, head drop, RED, CoDel, PIE.

    The link in --out is a scenario for aqmlab advise and aqmlab run. The other direction has the same rate, a guess.
    """
    from aqmlab.calibrate import calibrate as estimated
    from aqmlab.files import figure_files
    from aqmlab.kinds import CALIBRATION

    formats = options.chosen_formats(figure_format, out)
    if out:
        require_writable_folder(out, [CALIBRATION, SCENARIO, *figure_files(["figure"], formats)])
    try:
        with progress_bar() as show:
            up = None if direction is None else direction is Direction.UP
            found = estimated(measurements, up=up, own=own or [], seed=seed, jobs=jobs, progress=show)
    except ValueError as error:
        stop(BAD_USAGE, str(error))
    deliver(found, json, out, lambda folder: _save(found, folder, formats))


def _save(found: Calibration, folder: Path, formats: Sequence[str]) -> list[str]:
    from aqmlab.figures import calibration as figures
    from aqmlab.figures import matplotlib
    from aqmlab.files import figure_files, json_text, write_text
    from aqmlab.kinds import CALIBRATION

    write_text(folder / CALIBRATION, json_text(found.document()))
    write_text(folder / SCENARIO, found.link().to_toml())
    matplotlib.save(figures.figure(found, found.simulated()), folder, formats, "figure")
    return [CALIBRATION, SCENARIO, *figure_files(["figure"], formats)]

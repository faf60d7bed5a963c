"""The command ``aqmlab export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.terminal import BAD_USAGE, FAILED, stop


class Name(StrEnum):
    """The tables of results."""

    RUNS = "runs"
    SERIES = "series"
    CWND = "cwnd"
    FLOWS = "flows"


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that --out of run, compare or sweep wrote.")
    ],
    file: Annotated[
        Path,
        typer.Option(
            "--file",
            "-o",
            metavar="FILE",
            help="The file to write; its ending is the format: .csv, .jsonl, .nc, .h5 or .parquet.",
        ),
    ],
    table: Annotated[
        Name, typer.Option("--table", help="The table: the metrics of each run, or what the runs recorded.")
    ] = Name.RUNS,
) -> None:
    """Write a table of saved results to a file for other programs.

    The formats are CSV, JSON lines, NetCDF 3, HDF5 and Parquet. NetCDF and HDF5 have the unit and the meaning of each
    column; HDF5 needs aqmlab[hdf5].
    """
    from aqmlab.exchange.export import export

    try:
        rows = export(folder, file, table.value)
    except FileNotFoundError as error:
        raise typer.BadParameter(f"{error.filename!r}: there is no such folder", param_hint="FOLDER") from None
    except LookupError as error:
        stop(BAD_USAGE, f"{folder}: --table {table.value}: {error.args[0]}")
    except ImportError as error:
        stop(FAILED, str(error))
    except ValueError as error:
        stop(BAD_USAGE, str(error))
    typer.echo(f"written to {file}: {rows} rows of {table.value}")

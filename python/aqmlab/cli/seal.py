"""The command ``aqmlab seal``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.archive import LICENSE
from aqmlab.cli import options
from aqmlab.cli.delivery import require_writable_file
from aqmlab.cli.terminal import BAD_USAGE, FAILED, stop


def seal(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="A folder that --out of run, compare, sweep, reproduce or evaluate wrote.",
            show_default=False,
        ),
    ],
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.zip", help="Write the archive to this file.")],
    store: Annotated[
        Path | None,
        options.store(
            help="The folder of the runs of a reproduction or an evaluation; default: store, in FOLDER or beside it."
        ),
    ] = None,
    paper: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder with the paper.py of a reproduction, if the paper is your own."),
    ] = None,
    author: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="An author: 'Ada Lovelace <MAIL> <https://orcid.org/…> (AFFILIATION)'. Repeatable."
        ),
    ] = None,
    publisher: Annotated[str, typer.Option(metavar="NAME", help="The publisher, written like an author.")] = "",
    license_: Annotated[
        str, typer.Option("--license", metavar="ID", help="The licence: an SPDX identifier, or an address.")
    ] = LICENSE,
    json: options.Json = False,
) -> None:
    """Pack results into one file that others can check.

    The archive has the results, the scenario of every run and all that it reads, the SHA-256 of every file, and a page
    that opens in a browser. It is an RO-Crate. aqmlab verify checks it and repeats its runs.
    """
    require_writable_file(file, "-o")
    from aqmlab.archive.seal import seal
    from aqmlab.files import json_text

    try:
        found = seal(
            folder, file, store=store, paper=paper, authors=author or (), publisher=publisher, license=license_
        )
    except ImportError as error:
        stop(FAILED, str(error))
    except ValueError as error:
        stop(BAD_USAGE, str(error))
    typer.echo(json_text(found.document()) if json else repr(found), nl=not json)

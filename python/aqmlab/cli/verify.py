"""The command ``aqmlab verify``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.archive import SAMPLE
from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, NOT_REMADE, progress_bar, stop


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="An archive of aqmlab seal.", show_default=False)],
    sample: Annotated[int, typer.Option(min=0, metavar="N", help="Repeat N runs, drawn at random.")] = SAMPLE,
    all_: Annotated[bool, typer.Option("--all", help="Repeat every run.")] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Draw the runs with this seed; default: a random one."),
    ] = None,
    expect: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Refuse an archive with another SHA-256.")
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Run Python of the author that the archive has: disciplines, or a paper."),
    ] = False,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Check an archive, and repeat runs of it.

    Each run that is repeated has the same metrics, bit for bit, or the output has those that differ. The claims of a
    paper and the scorecard of an evaluation are judged again from the archive's runs, and figures and reports are made
    again. The exit status is 0 if all of it is as sealed, 1 if anything differs or the archive is refused, and 5 if the
    runs and verdicts are as sealed but figures or pages were not made again, because other versions made them.
    """
    from aqmlab.archive.container import ArchiveError
    from aqmlab.archive.verify import verify
    from aqmlab.files import json_text

    if not file.is_file():
        problem = "there is no such file"
        if file.is_dir():
            problem = f"a folder, not an archive; aqmlab seal {file} -o FILE.zip packs results"
        elif file.exists():
            problem = "not a file"
        raise typer.BadParameter(f"{file}: {problem}", param_hint="FILE.zip")
    if expect is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", expect):
        raise typer.BadParameter(f"{expect!r}: must be 64 hexadecimal digits", param_hint="--expect")
    step = "unpacking"
    with progress_bar(lambda: step) as show:

        def watch(current: str, fraction: float) -> None:
            nonlocal step
            step = current
            if show:
                show(fraction)

        try:
            number = None if all_ else sample
            found = verify(file, sample=number, seed=seed, expect=expect, trust=trust, jobs=jobs, watch=watch)
        except ArchiveError as error:
            stop(FAILED, str(error))
    typer.echo(json_text(found.document()) if json else repr(found), nl=not json)
    if not found.is_sound:
        raise typer.Exit(FAILED)
    if not found.is_whole:
        raise typer.Exit(NOT_REMADE)

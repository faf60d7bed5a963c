"""The command ``aqmlab list``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Topic(StrEnum):
    """The lists of ``aqmlab list``."""

    AQMS = "aqms"
    TCPS = "tcps"
    TRAFFIC = "traffic"
    SCENARIOS = "scenarios"
    ENGINES = "engines"


def list_(
    topic: Annotated[
        Topic | None,
        typer.Argument(metavar="TOPIC", help=f"One of {', '.join(Topic)}; default: all of them."),
    ] = None,
) -> None:
    """List queue disciplines, TCPs, traffic, scenarios and engines."""
    from aqmlab.reports import listing

    typer.echo(listing.overview([topic.value] if topic else [each.value for each in Topic]))

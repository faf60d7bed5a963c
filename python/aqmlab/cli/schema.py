"""The command ``aqmlab schema``."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON Schema of a scenario file."""
    from aqmlab import schema
    from aqmlab.files import json_text

    typer.echo(json_text(schema()), nl=False)

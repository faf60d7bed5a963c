"""The command ``aqmlab doctor``."""

from __future__ import annotations

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED


def doctor(engine: options.Engine = options.PACKET, json: options.Json = False) -> None:
    """Check what this machine can run.

    Each obstacle is printed with its remedy. Nothing is changed or installed. The exit status is 1 if the engine, or
    that of packets, cannot run.
    """
    from aqmlab.execute.preflight import BPF, ENGINES, GROUPS, examine, verdict
    from aqmlab.files import json_text
    from aqmlab.reports import preflight

    found = examine()
    looked_at = {one.group for one in found}
    groups = [group for group in GROUPS if group in ENGINES.values() or (group == BPF and BPF in looked_at)]
    verdicts = {group: verdict(group, found) for group in groups}
    if json:
        typer.echo(json_text(preflight.document(found, verdicts.values())), nl=False)
    else:
        typer.echo(preflight.text(found, verdicts.values()))
    if not all(verdicts[group].ready for group in (ENGINES[options.PACKET], ENGINES[_kind(engine)])):
        raise typer.Exit(FAILED)


def _kind(text: str) -> str:
    """Return the name of an engine, with its clock if it has one."""
    if text == options.PACKET:
        return text
    from aqmlab.execute.engine import Engine

    engine = Engine.parse(text)
    clock = engine.settings.get("clock")
    return f"{engine.name}:clock={clock}" if clock else engine.name

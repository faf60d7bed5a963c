"""The command ``aqmlab kernel``, with commands that load, show and unload."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.command import Commands
from aqmlab.cli.terminal import FAILED, stop

if TYPE_CHECKING:
    from aqmlab.kernel.devices import Loaded
    from aqmlab.kernel.objects import Object

kernel = Commands(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Queue disciplines of aqmlab in this machine's kernel (Linux 6.16 and later, as root).",
    short_help="Load, show and unload queue disciplines of aqmlab in this machine's kernel.",
)

_Dev = Annotated[str, typer.Argument(metavar="dev", callback=lambda word: _dev(word), help="The word dev, as in tc.")]
_Device = Annotated[str, typer.Argument(metavar="DEVICE", help="A network device, such as eth0.")]


def _dev(word: str) -> str:
    if word != "dev":
        raise typer.BadParameter(f"{word}: must be the word dev, before the device, as in `dev eth0`")
    return word


@kernel.command()
def load(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="A discipline with settings: 'lred:q0=50', or 'mine.py:Mine'.")
    ],
    dev: _Dev,
    device: _Device,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="RATE",
            help="The rate at which packets leave: '10 Mbit/s'; default: the device's own, from which laws that know "
            "the rate have it.",
        ),
    ] = None,
    buffer: Annotated[
        str, typer.Option("--buffer", metavar="SIZE", help="What may wait: '200 packets' or '100 kB'.")
    ] = "1000 packets",
    packet: Annotated[
        str, typer.Option("--packet", metavar="SIZE", help="The usual packet, for laws that count in packets.")
    ] = "1514 B",
) -> None:
    """Make a discipline the queue of a device, in place of the present one.

    What waits there is lost, as with tc. With `ecn=true` a second program marks packets before the queue. A class of
    your own is translated and compiled first.
    """
    import tempfile

    from aqmlab import _core
    from aqmlab.kernel import devices

    link = devices.Link(
        _number("--rate", rate, "bit/s") if rate else 0,
        packets=_number("--buffer", buffer, "packets", "bytes"),
        bytes=_number("--buffer", buffer, "bytes", "packets"),
    )
    with tempfile.TemporaryDirectory() as folder, _refusals():
        known = {"rate": link.rate or devices.speed(device), "packet_size": _number("--packet", packet, "bytes")}
        room = {"packets": link.packets} if link.packets else {"bytes": link.bytes}
        try:
            law = _law(spec, Path(folder))
            numbers = _core.kernel_numbers(spec, {**known, **room}, law.fields)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="SPEC") from None
        given = {field.partition(":")[0]: number for field, number in zip(law.fields.split(), numbers, strict=True)}
        devices.load(law, spec, device, link, numbers, ecn=bool(given.get("ecn")))
    typer.echo(f"{device}: {law.kind}; its statistics: aqmlab kernel show dev {device}")


@kernel.command()
def unload(dev: _Dev, device: _Device) -> None:
    """Remove a discipline of aqmlab from a device, which then has the kernel's default.

    With the last device that has it, all that aqmlab has put into the kernel goes.
    """
    from aqmlab.kernel import devices

    with _refusals():
        typer.echo(f"{device}: {', '.join(devices.unload(device))} is gone")


@kernel.command()
def show(
    dev: Annotated[
        str, typer.Argument(metavar="[dev", callback=lambda word: word and _dev(word), show_default=False)
    ] = "",
    device: Annotated[str, typer.Argument(metavar="DEVICE]", show_default=False, help="A device; default: all.")] = "",
    json: options.Json = False,
) -> None:
    """Show the disciplines of aqmlab that are loaded: what tc -s has, drops by their reason, marks, signals."""
    from dataclasses import asdict

    from aqmlab.files import json_text
    from aqmlab.kernel import devices

    with _refusals():
        found = devices.loaded(device or None)
    if json:
        typer.echo(json_text({"disciplines": [asdict(one) for one in found]}), nl=False)
        return
    for one in found:
        typer.echo(_text(one))
    if not found:
        typer.echo(f"no discipline of aqmlab on {device or 'any device'}")


def _text(one: Loaded) -> str:
    """Describe a loaded discipline in lines such as tc's, of the usual width."""
    from aqmlab.reports.text import WIDTH

    def wrapped(*parts: str, values: Mapping[str, float], more: str = "") -> str:
        # A name and its value stay together.
        pairs = [f"{name}\N{NO-BREAK SPACE}{value:.6g}" for name, value in values.items()]
        text = " ".join(filter(None, [*parts, *pairs, more]))
        lines = textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        return lines.replace("\N{NO-BREAK SPACE}", " ")

    link = one.link
    room = f"buffer {link.packets} packets" if link.packets else f"buffer {link.bytes} bytes"
    rate = f" rate {link.rate} bit/s" if link.rate else ""
    waiting = f"backlog {one.tc['backlog']}b {one.tc['qlen']}p"
    lines = (
        f"{one.device}: {one.kind} {one.spec}{rate} {room}",
        wrapped(f"sent {one.tc['bytes']} bytes", values=one.counts, more=waiting),
        wrapped(values=one.signals),
    )
    return "\n".join(filter(str.strip, lines))


def _law(spec: str, folder: Path) -> Object:
    """Return the compiled law of a discipline; that of a class is translated and compiled in the folder."""
    from aqmlab.kernel import objects
    from aqmlab.own.kinds import NotCompiled
    from aqmlab.own.source import declared
    from aqmlab.scenario import catalogue
    from aqmlab.workshop.law import Law, law_name

    file, is_class, rest = spec.partition(".py:")
    if not is_class:
        name = spec.partition(":")[0]
        of = {variant["name"]: variant["of"] for variant in catalogue()["variants"]}
        return objects.shipped(of.get(name, name))
    of_class = declared(f"{Path(file).absolute()}.py:{rest.partition(':')[0]}")
    source = folder / f"{law_name(of_class)}.c"
    try:
        source.write_text(Law(of_class, source.stem).text)
    except NotCompiled as error:
        raise ValueError(str(error)) from None
    return objects.compiled(source, folder)


def _number(option: str, text: str, *units: str) -> int:
    """Return a quantity in the first unit as a whole number; 0 if it has another of the units."""
    from aqmlab import _core

    number, unit = _core.in_base_unit(text) or (0.0, "")
    if unit not in units or number < 1:
        raise typer.BadParameter(
            f"{text}: must be a number with its unit, at least 1, in {' or '.join(units)}", param_hint=option
        )
    return round(number) if unit == units[0] else 0


@contextmanager
def _refusals() -> Iterator[None]:
    """Stop with what this machine lacks, or with what the kernel states where it refuses."""
    from aqmlab.execute.preflight import obstacles

    if os.geteuid() != 0:
        stop(FAILED, "only root may see and change what is loaded; fix: sudo aqmlab kernel …")
    if lacking := obstacles():
        stop(FAILED, "\n".join(f"{one.name}: {one.found}. {one.spoils}\nfix: {one.fix}" for one in lacking))
    other = False
    with suppress(PermissionError):  # in a container, which has a namespace of its own anyway
        other = not os.path.samefile("/proc/self/ns/net", "/proc/1/ns/net")
    if other:
        stop(FAILED, "only devices of the machine's own network namespace can have them; leave out ip netns exec")
    try:
        yield
    except OSError as error:
        stop(FAILED, f"{error.filename}: {error.strerror}" if error.filename else str(error))

"""The command ``aqmlab design``, with a command for each design rule, which is the function ``design`` of a module.

The rule's signature gives the options. Its documentation gives the help of each and, in parentheses, the unit, by which
the value is read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from aqmlab import plugins
from aqmlab.cli import options
from aqmlab.cli.command import Commands, Modules, alone
from aqmlab.cli.terminal import BAD_USAGE, stop, warn

if TYPE_CHECKING:
    from aqmlab.theory.answer import Answer

_RULES = {name: f"aqmlab.theory.{name}" for name in ("pi", "pie", "pi2", "rem")}

_FLAGS = {
    "N": ("--flows", "--n"),
    "N_min": ("--n-min",),
    "N_max": ("--n-max",),
    "R_min": ("--rtt-min",),
    "R_max": ("--rtt-max",),
    "d": ("--rtt",),
    "C": ("--rate",),
    "r0": ("--rate",),
    "r": ("--at",),
    "q0": ("--target",),
    "B": ("--buffer",),
    "Q": ("--buffer",),
    "P": ("--loss",),
    "W": ("--window",),
    "S": ("--period",),
}
"""The options of parameters that are symbols of papers; those of the others have their names."""

_UNIT = re.compile(r" \(((?:\w+/)?(?:s|packets|bytes)|Hz|degrees|per packet)\)")
_PACKET = Annotated[str, typer.Option("--packet", metavar="SIZE", help="Size of a packet: '500 B'.")]


class _Rules(TyperGroup):
    """The group of rules. The module of each is imported when it is looked up: scipy takes a second."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        modules = dict(sorted({**_RULES, **plugins.entries("aqmlab.designs")}.items()))
        self.commands = Modules(modules, lambda name: _command(name, modules[name]))  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the rules, of which none is imported."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the rule that is asked for; without the papers, name the extra that has the others."""
        if args and args[0] not in self.commands and not plugins.entries("aqmlab.designs"):
            listed = ", ".join(self.commands)
            lacking = plugins.missing("papers", "a paper's design rule")
            stop(BAD_USAGE, f"{args[0]}: there is {listed}; {lacking}")
        return super().resolve_command(ctx, args)


design = Commands(
    name="design",
    cls=_Rules,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Compute gains, bounds and margins from theory.",
    help="Compute gains, bounds and margins from theory, and state where they are valid.",
)


@design.callback()
def _group() -> None:
    """Without a callback, a group needs a command of its own."""


@cache
def _command(name: str, module: str) -> Any:
    from aqmlab.theory.answer import documented

    rule: Callable[..., Answer] = import_module(module).design
    parameters = inspect.signature(rule).parameters
    told = {key: text.replace("`", "") for key, text in documented(rule.__doc__ or "").items()}
    units = {key: found[1] if (found := _UNIT.search(text)) else "" for key, text in told.items()}
    annotations: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for key, parameter in parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        values[key] = default
        flags = _flags(key)
        if isinstance(default, bool):
            annotations[key] = Annotated[bool, typer.Option(*flags, help=told[key])]
            continue
        kind, metavar, example = _reading(key, units[key])
        text = _UNIT.sub("", told[key], count=1) if example else told[key]
        if kind is str and isinstance(default, float):
            values[key] = f"{default:g} {units[key]}"
        shown = f"{text.removesuffix('.')}: {example}." if example and default in (..., None) else text
        optional = kind | None if default is None else kind
        annotations[key] = Annotated[optional, typer.Option(*flags, metavar=metavar, help=shown)]
    if "packets/s" in units.values():
        annotations["packet"], values["packet"] = _PACKET, ...
    annotations["json"], values["json"] = options.Json, False

    def command(**given: Any) -> None:
        packet, json = given.pop("packet", None), given.pop("json")
        read = {key: _read(_flags(key)[0], value, units[key], packet) for key, value in given.items()}
        _answer(rule, read, json)

    command.__doc__ = "\n\n".join(_summary(rule))
    command.__annotations__ = annotations
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                key,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if values[key] is ... else values[key],
                annotation=annotation,
            )
            for key, annotation in annotations.items()
        ]
    )
    return alone(name, command)


def _summary(rule: Callable[..., Answer]) -> list[str]:
    """Return the paragraphs of a docstring before its sections."""
    paragraphs = re.split(r"\n\n", inspect.getdoc(rule) or "")
    ends = next(n for n, text in enumerate(paragraphs) if text.startswith("Parameters\n"))
    return [" ".join(text.split()) for text in paragraphs[:ends]]


def _reading(key: str, unit: str) -> tuple[type, str, str]:
    """Return how a value of a unit is given: its type, its placeholder and an example."""
    match unit:
        case "s":
            return str, "TIME", "'350 ms'"
        case "packets/s" | "bytes/s":
            return str, "RATE", "'10 Mbit/s'"
        case "packets":
            return str, "SIZE", "'800', '800 packets' or '800 kB'"
    return float, "N" if key.startswith("N") else key.upper(), ""


def _flags(key: str) -> tuple[str, ...]:
    return _FLAGS.get(key, (f"--{key.replace('_', '-')}",))


def _read(flag: str, value: Any, unit: str, packet: str | None) -> Any:
    """Convert a value from the command line to the unit of theory."""
    if not isinstance(value, str):
        return value
    match unit:
        case "s":
            return _base(flag, value, "s")
        case "bytes/s":
            return _base(flag, value, "bit/s") / 8
        case "packets/s":
            return _base(flag, value, "bit/s") / (8 * _size(packet))
    return _packets(flag, value, packet)


def _base(option: str, text: str, unit: str) -> float:
    """Parse a quantity and convert it to its base unit."""
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    if found is None or found[1] != unit:
        example = {"s": "350 ms", "bit/s": "10 Mbit/s", "bytes": "500 B"}[unit]
        raise typer.BadParameter(f"{text}: must be a quantity like '{example}'", param_hint=option)
    return found[0]


def _size(packet: str | None) -> float:
    size = _base("--packet", packet or "", "bytes")
    if not size > 0:
        raise typer.BadParameter(f"{packet}: must be positive", param_hint="--packet")
    return size


def _packets(option: str, text: str, packet: str | None) -> float:
    """Parse a number of packets, or a size, which is converted to packets."""
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    if found is not None and found[1] == "packets":
        return found[0]
    if found is not None and found[1] == "bytes":
        return found[0] / _size(packet)
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text}: must be like '800 packets' or '800 kB'", param_hint=option) from None


def _answer(rule: Callable[..., Answer], given: Mapping[str, Any], json: bool) -> None:
    """Print the answer, or exit with bad usage if theory refuses the parameters."""
    from aqmlab.files import json_text

    try:
        answer = rule(**given)
    except ValueError as error:
        names = re.match(r"(\w+)(?: and (\w+))?(?: = | are missing)", str(error))
        flags = [_flags(name)[0] for name in names.groups() if name in given] if names else []
        stop(BAD_USAGE, f"{', '.join(flags)}: {error}" if flags else str(error))
    if json:
        typer.echo(json_text(answer.document()), nl=False)
        warn(answer.warnings)
    else:
        typer.echo(str(answer))

"""Parsing common to all commands."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.models import TyperPath

from aqmlab import plugins
from aqmlab.cli.terminal import BAD_USAGE, stop

current: ContextVar[Any] = ContextVar("current", default=None)
"""The context of the command that runs, as typer hands it over."""

EXTRAS = {"reproduce": "papers", "evaluate": "papers"}
"""The commands that other distributions add, with the extra of aqmlab that brings each."""


class Command(TyperCommand):
    """A command that accepts each option once, unless the option takes several values."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, whose context is then the current one."""
        before = current.set(ctx)
        try:
            return super().invoke(ctx)
        finally:
            current.reset(before)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; refuse values that would be ignored, and text that no document can hold."""
        if ctx.resilient_parsing:  # a line that a shell completes: its last option may lack a value
            return super().parse_args(ctx, args[:-1] if args and args[-1].startswith("-") else args)
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        options = [option for option in self.get_params(ctx) if isinstance(option, TyperOption)]
        for option in options:
            if given.count(option) > 1 and not (option.multiple or option.is_flag):
                raise typer.BadParameter(f"given {given.count(option)} times: give one value", ctx, option)
        left = super().parse_args(ctx, args)
        for option in options:
            if isinstance(option.type, TyperPath):
                continue  # the name of a file may have any bytes; all other text goes into documents
            value = ctx.params.get(option.name or "")
            for text in [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []:
                if isinstance(text, str) and not _is_unicode(text):
                    raise typer.BadParameter(f"{text!r}: must be UTF-8", ctx, option)
        return left


class Commands(typer.Typer):
    """A group in which each command is a `Command`."""

    def command(self, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        """Add a command, as typer does."""
        return super().command(*args, cls=Command, **kwargs)


class Modules(Mapping[str, Any]):
    """The commands of these names. The module of each is imported, and its options are made, when it is looked up."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any] | None = None) -> None:
        self._names = dict.fromkeys(names)
        self._load = load or _command

    def __getitem__(self, name: str) -> Any:
        """Return the command, or group of commands, that the module of this name declares."""
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        """List the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the names."""
        return len(self._names)


def headings(names: Iterable[str]) -> TyperGroup:
    """Return the commands of these names with their summaries and without their options, which take time to make."""
    group = TyperGroup()
    for name in names:
        declared = _declared(name)
        told = declared.info if isinstance(declared, typer.Typer) else None
        text = told.help if told else inspect.getdoc(declared)
        group.add_command(TyperCommand(name, help=text, short_help=told.short_help if told else None))
    return group


def _declared(name: str) -> Any:
    """Return the function, or the group of functions, that is a command, from the module with the command's name."""
    added = plugins.entries("aqmlab.commands") if name in EXTRAS else {}
    if name in EXTRAS and name not in added:
        return _lacking(name)
    word = name.replace("-", "_")
    module = import_module(added.get(name, f"aqmlab.cli.{word}_" if keyword.iskeyword(word) else f"aqmlab.cli.{word}"))
    return getattr(module, word, None) or getattr(module, f"{word}_")  # list_: list is Python's own


def _lacking(name: str) -> Callable[..., None]:
    """Return a command that stops, and names the extra that brings the command of this name."""
    sentence = plugins.missing(EXTRAS[name], f"aqmlab {name}")

    def command(words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        stop(BAD_USAGE, sentence)

    command.__doc__ = f"Comes with pip install 'aqmlab[{EXTRAS[name]}]'."
    return command


@cache
def _command(name: str) -> Any:
    declared = _declared(name)
    if isinstance(declared, typer.Typer):
        return typer.main.get_command(declared)
    return alone(name, declared)


def alone(name: str, declared: Callable[..., Any]) -> Any:
    """Return the command that a function declares."""
    group = Commands(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    lacking = declared.__module__ == __name__  # the stand-in for an extra's command, whose options are not known
    group.command(name, context_settings={"ignore_unknown_options": lacking})(declared)
    return typer.main.get_command(group)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

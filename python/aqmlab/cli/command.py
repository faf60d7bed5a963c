"""Parsing common to all commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.models import TyperPath


class Command(TyperCommand):
    """A command that accepts each option once, unless the option takes several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; refuse values that would be ignored, and text that no document can hold."""
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


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

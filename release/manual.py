"""The manual page, from the declarations of the command line: ``python -m release.manual`` writes it.

Wheels have it as ``share/man/man1/aqmlab.1``, so it is a file of the repository: a build runs no code of ours.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from aqmlab import __version__
from aqmlab.cli.app import app

FILE = Path(__file__).parent / "wheel" / "data" / "share" / "man" / "man1" / "aqmlab.1"

ENVIRONMENT = {
    "AQMLAB_CACHE": "The folder of the kernel that the linux engine runs; default: ~/.cache/aqmlab.",
    "AQMLAB_PEER": "Set in aqmlab shell: the address of the peer.",
    "_AQMLAB_COMPLETE": "Set by the shell that asks for completions; source_bash, source_zsh or source_fish prints "
    "the script for that shell.",
}

FILES = {
    "NAME.toml": "A scenario. aqmlab schema prints its JSON Schema, and aqmlab show NAME a shipped one.",
    "out/": "The results of reproduce and evaluate, each in a folder of its own, where --out names no other.",
    "store/": "The finished runs of a sweep, a reproduction or an evaluation, in the folder of --out or where --store "
    "says; a repeated command computes only what is missing there.",
    "~/.cache/aqmlab/kernel/linux": "The User-Mode Linux kernel of the linux engine.",
}


def page() -> str:
    """Return the manual page, in the language of man(7)."""
    program = typer.main.get_command(app)
    context = program.context_class(program, info_name="aqmlab", **program.context_settings)
    status, _, cases = str(app.info.epilog).partition(": ")
    title, _, subject = cleandoc(program.help or "").rstrip(".").partition(": ")
    return "\n".join(
        [
            f'.TH AQMLAB 1 "" "aqmlab {__version__}" "User Commands"',
            ".nh",  # what a user types has no hyphens of troff's
            *section("NAME", [rf"aqmlab \- {escaped(subject)}"]),
            *section("SYNOPSIS", [".B aqmlab", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]..."]),
            *section("DESCRIPTION", [escaped(f"{title}. The documentation has a tutorial, guides and references.")]),
            *section("OPTIONS", entries(program, context)),
            *section("COMMANDS", commands(program, context)),
            *section(status.upper(), (line for case in cases.rstrip(".").split("; ") for line in told(case))),
            *section("ENVIRONMENT", (line for name, text in ENVIRONMENT.items() for line in entry(name, text))),
            *section("FILES", (line for name, text in FILES.items() for line in entry(name, text))),
            *section("SEE ALSO", [".BR tc (8),", ".BR flent (1),", ".BR iperf3 (1)"]),
            "",
        ]
    )


def section(title: str, lines: Any) -> Iterator[str]:
    """Yield a section."""
    yield f".SH {title}"
    yield from lines


def commands(group: Any, context: Any) -> Iterator[str]:
    """Yield a part for each command of a group, and for the commands of groups in it."""
    for command in group.commands.values():
        inner = command.context_class(command, info_name=command.name, parent=context)
        usage = command.get_usage(inner).removeprefix("Usage: ")
        yield f".SS {escaped(inner.command_path)}"
        yield f".B {escaped(usage)}"
        for paragraph in cleandoc(command.help or "").split("\n\n"):
            yield ".PP"
            yield escaped(paragraph)
        yield from entries(command, inner)
        if hasattr(command, "commands"):
            yield from commands(command, inner)


def entries(command: Any, context: Any) -> Iterator[str]:
    """Yield the arguments and options of a command."""
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            yield from entry(*record)


def entry(name: str, text: str) -> Iterator[str]:
    """Yield the meaning of a name."""
    yield ".TP"
    yield f".B {escaped(name)}"
    yield escaped(text)


def told(case: str) -> Iterator[str]:
    """Yield the exit statuses of a clause such as "130 after Ctrl-C, 143 after SIGTERM"."""
    for status, text in re.findall(r"(\d+) (.*?)(?=, \d+ |$)", case):
        yield from entry(status, f"{text}.")


def escaped(text: str) -> str:
    """Return a text in lines in which troff finds no request: hyphens are those that a user types."""
    text = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    lines = textwrap.wrap(text, 76, break_long_words=False, break_on_hyphens=False)
    return "\n".join(rf"\&{line}" if line[0] in ".'" else line for line in lines)


def main(file: Path = FILE) -> None:
    """Write the manual page."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The playground in the pages of the site: below each line ``Try it: `aqmlab playground …` `` stands what it opens."""

import html
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import typer

from aqmlab.cli.app import app as commands
from aqmlab.cli.playground import addressed
from aqmlab.playground.address import Address

PLAYGROUND = "playground/index.html"
"""The place of the built page, in out/ and on the site."""

_TRIAL = re.compile(r"^Try it: `aqmlab playground\b([^`]*)`.*(?:\n.+)*", re.MULTILINE)


def trials(page: Path, text: str) -> Iterator[tuple[int, Address]]:
    """Yield what each line of a page opens, and the place in its text where the line's paragraph ends.

    Files are looked for beside the page. Raise ScenarioError, or typer's errors, for a command that would fail.
    """
    program = typer.main.get_command(commands)
    command = program.get_command(program.context_class(program), "playground")  # type: ignore[attr-defined]
    for found in _TRIAL.finditer(text):
        with command.make_context("playground", shlex.split(found[1])) as context, chdir(page.parent):
            given = [context.params[name] for name in ("scenario", "aqm", "set_", "seed")]
            yield found.end(), addressed(*given)


def embedded(page: Path, text: str, place: str) -> str:
    """Return the text of a page with the playground in frames; `place` is that of the page on the site."""
    page_of = os.path.relpath(PLAYGROUND, os.path.dirname(place))
    for end, address in reversed(list(trials(page, text))):
        text = f"{text[:end]}\n\n{frame(page_of, address)}{text[end:]}"
    return text


def frame(target: str, address: Address) -> str:
    """Return the frame of a view, and a link to it as a page of its own."""
    whole, framed = (f"{target}#{part}".rstrip("#") for part in (address.fragment, f"{address.fragment}&embed"))
    name = address.scenario or address.name or "its first scenario"
    title = f"The playground: {' and '.join([name, *address.aqms])}"
    return (
        '<div class="playground">\n'
        f'<iframe src="{html.escape(framed)}" title="{html.escape(title)}" loading="lazy"></iframe>\n'
        f'<a href="{html.escape(whole)}" target="_blank">Open it in a page of its own</a>\n'
        "</div>"
    )

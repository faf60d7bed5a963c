"""Running the code blocks of a page, in a folder of their own."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib
from typer.testing import CliRunner

from blocks.page import Block, parts

SIMULATE = {"compare", "fluid", "run", "sweep"}
"""The commands that ``run with`` shortens."""

MISSING = {
    "dumbbell": "[dumbbell]\n",
    "traffic": '[[traffic]]\nname = "long"\ncount = 10\n',
}
"""The tables that complete a fragment of a scenario."""

# The version of aqmlab, and the times of `aqmlab reproduce`.
_VARIABLE = re.compile(
    r'(?<=Management", version )\d[\w.]*\d|(?<=aqmlab )\d[\w.+]*(?=\))'
    r"|[\d.]+ (?=s of CPU time| ?s \()|(?<=drawn in )[\d.]+(?= s)"
)


@dataclass
class Session:
    """The state that the blocks of a page share: Python's names, and the status of the last command."""

    names: dict[str, Any] = field(default_factory=dict)
    status: int = 0
    printed: str = ""
    """The output of the last Python block."""

    def run(self, block: Block, name: str) -> list[str]:
        """Run a block in the present folder, and return its outputs, as many as the block shows."""
        if "first" in block.notes:
            exec(compile(block.notes["first"], name, "exec"), self.names)
        more = block.notes.get("run with", "")
        if file := block.notes.get("file"):
            Path(file).write_text(block.text, encoding="utf-8")
            return []
        match block.language:
            case "python":
                with redirect_stdout(StringIO()) as output:
                    exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), self.names)
                self.printed = output.getvalue()
            case "text" if "printed" in block.notes:
                return [self.printed]
            case "sh":
                for command in block.text.replace("\\\n", "").splitlines():
                    printed = self.command(command, more)
                    assert self.status == 0, f"{command}: exit status {self.status}\n{printed}"
            case "console":
                return list(self.transcript(block, more))
            case "toml":
                self.scenario(block)
        return []

    def transcript(self, block: Block, more: str) -> Iterator[str]:
        commands = [command for command, _ in block.shown]
        for command in commands:
            printed = self.command(command, more)
            # A block that shows an exit status is one of failures.
            assert self.status == 0 or "echo $?" in commands, f"{command}: exit status {self.status}\n{printed}"
            yield printed

    def command(self, command: str, more: str = "") -> str:
        """Run a command within this process, which imports the libraries only once, and return its output."""
        from aqmlab.cli.app import app

        if command.strip() == "echo $?":
            printed, self.status = f"{self.status}\n", 0
            return printed
        words = shlex.split(command.replace("\\\n", ""), comments=True)
        if not words:
            return ""
        assert words[0] == "aqmlab", f"{command}: not a command of aqmlab"
        file = words.pop() if words[-2:-1] == [">"] else None
        arguments = words[1:-1] if file else words[1:]
        done = CliRunner().invoke(
            app,
            shortened(arguments, shlex.split(more)) if arguments[0] in SIMULATE else arguments,
            prog_name="aqmlab",
            catch_exceptions=False,
            env={"COLUMNS": "100"},
        )
        self.status = done.exit_code
        if file:
            Path(file).write_text(done.stdout, encoding="utf-8")
            return done.stderr
        return done.output

    def scenario(self, block: Block) -> None:
        """Check a scenario, or a fragment completed to a scenario."""
        keys = tomllib.loads(block.text).keys() | ({"dumbbell"} if "[[link]]" in block.text else set())
        rest = (table for key, table in MISSING.items() if key not in keys)
        Path("fragment.toml").write_text("\n".join([block.text, *rest]), encoding="utf-8")
        printed = self.command("aqmlab validate fragment.toml")
        assert self.status == 0, printed


def shortened(arguments: list[str], more: list[str]) -> list[str]:
    """Add options, each with a value, to a command; they replace its options of the same names, except ``--set``."""
    replaced = set(more[::2]) - {"--set"}
    kept = [word for before, word in zip(["", *arguments], arguments, strict=False) if not {before, word} & replaced]
    return kept + more


def run(page: Path, folder: Path) -> list[tuple[Block, list[str]]]:
    """Run the blocks of a page in a folder; return them, each with its outputs."""
    session = Session()
    matplotlib.use("agg")
    with chdir(folder):
        return [
            (block, session.run(block, str(page)))
            for block in parts(page.read_text(encoding="utf-8"))
            if isinstance(block, Block) and not block.notes.keys() & {"not run", "tested by"}
        ]


def agree(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed; a line ``...`` on the page stands for any number of lines."""
    pattern = "\n".join("(.*\n)*?.*" if line == "..." else re.escape(line) for line in constant(shown))
    return re.fullmatch(pattern, "\n".join(constant(printed))) is not None


def constant(text: str) -> list[str]:
    """Return the lines without the parts that differ from run to run."""
    return [_VARIABLE.sub("_", line.rstrip()) for line in text.strip("\n").splitlines()]

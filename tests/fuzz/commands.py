"""Odd command lines: each ends with a documented status, names the error and its subject, and does what it reports.

Most are called within this process; some from a shell, with streams closed, full or cut off and any width.
"""

import glob
import json
import os
import random
import re
import shlex
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperOption
from typer.testing import CliRunner

from aqmlab.cli.app import app

SUFFIX = ".json"
TESTED = 120
LIMIT = 60.0
PATIENCE = LIMIT / 2
"""The timeout of a shell in seconds; it identifies the command line, unlike the end of the process."""

TINY = """\
duration = "1 s"
warmup = "0.2 s"
[dumbbell]
rate = "1 Mbit/s"
[aqm]
name = "lred"
[[traffic]]
name = "long"
kind = "ftp"
count = 2
"""
ODD = os.fsdecode(b"\xff")
LONG = "n" * 300
DEEP = ".".join(["a"] * 5000)
WORDS = (
    "",
    " ",
    "-",
    "--",
    "=",
    "x",
    "é",
    ODD,
    LONG,
    "\n",
    "\x1b[31m",
    "../..",
    "/",
    "%s{}",
    "None",
    "NaN",
    "1e999",
    "٣",
)
WHOLE = ("0", "1", "2", "-1", "1.5", "9" * 30, "1e3", "", "x", "٣")
NUMBERS = (*WHOLE, "0.5", "nan", "inf", "-inf", "1e-320", "1e308")
FILES = (
    "study.toml",
    "graph.toml",
    "broken.toml",
    "lred/exp1",
    "nowhere.toml",
    "pipe",
    "socket",
    "folder",
    f"odd{ODD}",
    *WORDS,
)
FOLDERS = (
    "out",
    "out",
    "folder/new",
    "tiny.toml",
    "tiny.toml/out",
    "dangling",
    "taken",
    "/proc/x",
    f"o{ODD}",
    "x" * 200,
    *WORDS,
)
QUANTITIES = ("1 Mbit/s", "500 B", "100 ms", "0 s", "-1 s", "1 parsec", "1e400 s", "800 packets", *WORDS)
SETTINGS = (
    "seed=3", "seed=-1", "seed", "=", "a=", f"title={ODD}", "title=é±", "duration=2 s", "warmup=9 s",
    "record.series=false", "traffic.long.count=1", "traffic.long.tcp=cubic", "traffic.1.tcp.x=1", "traffic=1",
    "traffic.long=1", f"{DEEP}=1", f"seed={'[' * 9000}", "aqm.q0=9", "aqm=pi", "aqm.name=red", "record.cwnd=10 ms",
    f"title={LONG}", "title=\x1b[2J", *WORDS,
)  # fmt: skip
SPECS = (
    "pi", "red", "codel", "fq", "all", "pi:q0=9", "pi:q0=9,q_ref=3", "pi:", ":", "pi:q0", "pi:q0=", "pie:q0=1",
    f"lred:q0=20.{'0' * 300}", "PI", "fq:aqm=pi", "fq:aqm=fq:aqm=pi", "fq:aqm=" * 3000, f"pi:{DEEP}=1", *WORDS,
)  # fmt: skip
VARIED = (
    "aqm.q0=5,6", "aqm.q0=5,5", "aqm.q0=", "aqm.q0", "=1", "aqm.q0=1..9", "aqm.q0=5,6..5.5",
    "traffic.long.tcp=rfc,cubic", "aqm.q0=uniform(1, 9)", "aqm.q0=log(0, 9)", "seed=1,2", "aqm=pi,red", "title=a,b",
    f"{DEEP}=1,2", "x=1", *WORDS,
)  # fmt: skip
OF = {"set_": SETTINGS, "aqm": SPECS, "vary": VARIED, "cluster": ("nowhere.json", "pipe", "tiny.toml", *WORDS)}
"""The values of an option by name, where its type does not suffice."""
WAYS = (
    "2>&-", ">&-", ">&- 2>&- <&-", "> /dev/full", "2> /dev/full", "| true", "| head -1", "< /dev/null",
    "2>&1 | head -c 9",
)  # fmt: skip
WIDTHS = ("", "0", "1", "-5", "x", "99999")
SHELLS = 25
"""One command line in this many goes to a shell."""


@cache
def _commands() -> dict[tuple[str, ...], Any]:
    """Return every command by its words."""
    found: dict[tuple[str, ...], Any] = {}

    def look(command: Any, words: tuple[str, ...]) -> None:
        found[words] = command
        for name, inside in getattr(command, "commands", {}).items():
            look(inside, (*words, name))

    look(typer.main.get_command(app), ())
    return found


SERVING = (("playground",),)
"""The commands that go on until they are stopped."""

OF_SHELLS = {"--install-completion", "--show-completion"}
"""Options about the user's shell: one writes to the home directory. They are typer's."""


@cache
def _statuses() -> frozenset[int]:
    """Return the exit statuses that the help documents."""
    return frozenset(map(int, re.findall(r"\b\d+\b", str(app.info.epilog))))


def _value(option: TyperOption, chance: random.Random) -> str:
    kind = type(option.type).__name__
    if option.name in OF:
        return chance.choice(OF[option.name])
    if hasattr(option.type, "choices"):
        return str(chance.choice((*option.type.choices, *WORDS)))
    if kind.startswith("Int"):
        return chance.choice(WHOLE)
    if kind.startswith("Float"):
        return chance.choice(NUMBERS)
    return chance.choice(FOLDERS if kind == "TyperPath" else QUANTITIES)


def _words(words: tuple[str, ...], chance: random.Random) -> Iterator[str]:
    """Yield the words of a command line: the command's parameters, each with valid or invalid values."""
    yield from words
    for one in _commands()[words].params:
        if OF_SHELLS.intersection(one.opts):
            continue
        if not isinstance(one, TyperOption):
            # A shipped scenario or paper takes too long to run.
            longest = 1 if words == ("run",) or chance.random() < 0.9 else 2
            safe = [name for name in FILES if name != "lred/exp1" or words[0] in ("show", "validate", "analyse")]
            fine = "lred" if words == ("show",) else "aqms" if words == ("list",) else "tiny.toml"
            for _ in range(longest):
                yield fine if chance.random() < 0.7 and words != ("reproduce",) else chance.choice(safe)
        elif chance.random() < (0.9 if one.required else 0.2):
            for _ in range(chance.choice((1, 1, 1, 1, 1, 2))):
                yield chance.choice(one.opts)
                if not one.is_flag:
                    yield _value(one, chance)
    if chance.random() < 0.05:
        yield chance.choice((*WORDS, "--help", "--surprise", "-x", "--version"))


def case(seed: int) -> bytes:
    """Return a command line as JSON: its words, its standard input, and the shell's call of it, if any."""
    chance = random.Random(seed)
    words = list(_words(chance.choice([one for one in _commands() if one not in SERVING]), chance))
    way = [chance.choice(WAYS), chance.choice(WIDTHS), chance.choice(("C", "C.UTF-8", ""))]
    made = {
        "words": words,
        "input": chance.choice((TINY, "", "\x00", "[", "x" * 1000)),
        "shell": way if chance.randrange(SHELLS) == 0 else None,
    }
    return json.dumps(made, indent=1).encode()


def _parts(case: bytes) -> tuple[list[str], str, list[str] | None]:
    """Parse the output of `case`.

    The message of an error resembles no finding: a file reduced until it cannot be parsed shows another finding.
    """
    try:
        made = json.loads(case)
        return list(map(str, made["words"])), str(made["input"]), made["shell"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"not a command line: {error}") from error


def _furnish(folder: Path) -> None:
    """Create files of every kind in the folder of the call."""
    (folder / "tiny.toml").write_text(TINY)
    (folder / "study.toml").write_text(TINY + '[sweep]\naqm = ["pi", "red"]\n[sweep.vary]\n"aqm.q0" = [5, 6]\n')
    (folder / "graph.toml").write_text(
        '[[link]]\nfrom = "a"\nto = "b"\naqm = "pi"\n[[traffic]]\nfrom = "a"\nto = "b"\n'
    )
    (folder / "broken.toml").write_text("[dumbbell\n")
    (folder / f"odd{ODD}").write_text(TINY)
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    for name in ("figure.png", "report.html"):
        (folder / "taken" / name).mkdir(parents=True)
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")


def _called(words: list[str], text: str) -> tuple[int, str, str]:
    """Call the command within this process; return exit status, output and messages."""
    before, sys.argv = sys.argv, ["aqmlab", *words]
    try:
        done = CliRunner().invoke(app, words, input=text, prog_name="aqmlab")
    finally:
        sys.argv = before
    if done.exception and not isinstance(done.exception, SystemExit):
        told = "".join(traceback.format_exception(done.exception))
        raise AssertionError(f"{shlex.join(words)!r}: {told}")
    return done.exit_code, done.stdout, done.stderr


def _from_shell(words: list[str], text: str, way: list[str]) -> tuple[int, str, str]:
    """Call the command from a shell; closed or cut-off streams are empty or short."""
    redirected, columns, locale = way
    environment = {**os.environ, "COLUMNS": columns, "LC_ALL": locale}
    line = b" ".join(map(os.fsencode, (sys.executable, "-m", "aqmlab", *map(shlex.quote, words), redirected)))
    ended = b"\nexit ${PIPESTATUS[0]}"
    done = subprocess.run(
        ["bash", "-c", line + ended],
        env=environment,
        input=text.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def _is_named(words: list[str], command: Any, told: str) -> bool:
    """Return whether a message names its subject: an option, an argument, a file or a value of the command line."""
    declared = [name for one in command.params for name in (*one.opts, one.human_readable_name)]
    given = [part for word in words for part in re.split(r"[=:,\s]+", word)]
    whole = [word if word.strip() else repr(word) for word in words if word]
    names = [*declared, *given, *whole, "<stdin>", "No such command", "COMMAND"]
    named = [name for name in names if name]
    shown = [
        *named,
        *(os.fsencode(name).decode(errors="replace") for name in named),
        *(repr(name)[1:-1] for name in named),
    ]
    return any(form[:100] in told for form in shown) or ("" in words and "''" in told)


def _refuse_lies(words: list[str], output: str, told: str) -> None:
    """Check that reported files exist, and that documents are valid."""
    for folder, files in re.findall(r"^written to (.+?): (.+)$", output + told, re.MULTILINE):
        for name in files.split(", "):
            where = os.path.join(glob.escape(folder), name)
            is_there = glob.glob(where) or os.path.isfile(folder)  # a file has its content after its name
            assert is_there or "�" in folder or "?" in folder, f"{shlex.join(words)!r}: no {where}"
    if "--json" in words and output and not output.startswith("Usage"):
        json.loads(output)


def judge(case: bytes, folder: Path) -> str:
    """Call a command line in a folder with files of every kind."""
    words, text, way = _parts(case)
    before = Path.cwd()
    os.chdir(folder)
    try:
        _furnish(folder)
        if not way and any(ODD in word for word in words):
            way = ["", "", ""]  # a process's standard output is less strict than a test's
        status, output, told = _from_shell(words, text, way) if way else _called(words, text)
        line = f"{shlex.join(words)[:2000]!r} {way or ''}"
        assert status in _statuses(), f"{line}: exit status {status}: {told[-2000:]}"
        # A shell may have joined both, and truncated them.
        assert "Traceback" not in told + output, f"{line}: {(told + output)[-3000:]}"
        if way and way[0]:
            return f"exit {status}, from a shell"
        if status == 0:
            _refuse_lies(words, output, told)
        else:
            depth = next(n for n in range(len(words), -1, -1) if tuple(words[:n]) in _commands())
            assert told.strip() or "help" in output.lower(), f"{line}: exit status {status} and no message"
            named = _is_named(words, _commands()[tuple(words[:depth])], told + output)
            assert named, f"{line}: the message names nothing: {told}"
    finally:
        os.chdir(before)
    return f"exit {status}"


def attack(seed: int, folder: Path) -> str:
    """Call an odd command line, made from a seed, in an empty folder; the outcome is its exit status."""
    return judge(case(seed), folder)

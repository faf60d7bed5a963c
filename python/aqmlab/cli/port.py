"""The command ``aqmlab port``."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, stop

if TYPE_CHECKING:
    from aqmlab.own.source import Declared


class _Language(StrEnum):
    RUST = "rust"
    BPF = "bpf"


def port(
    reference: Annotated[
        str, typer.Argument(metavar="FILE.py:CLASS", help="A queue discipline of your own, in a file of Python.")
    ],
    to: Annotated[
        _Language, typer.Option("--to", help="rust, for aqmlab itself, or bpf, for the kernel.")
    ] = _Language.RUST,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The name of the algorithm; default: that of the class."),
    ] = None,
    out: Annotated[Path, options.out(help="Write the files to this folder.")] = Path("."),
) -> None:
    """Carry a queue discipline of your own to Rust, or to the kernel.

    Writes NAME.rs, with the parameters, documentation, signals and state that the class declares and its methods as
    comments where their translation has to stand, and NAME.txt, the verdicts of the class on 2,000 packets, which the
    translation must return one by one; NAME-ecn.txt has those with ECN, if the class has a parameter `ecn`.

    With --to bpf, writes NAME.c, the whole translation to C in fixed point, compiles it for this machine, and compares
    its verdicts with those of the class on 2,000 packets. What the kernel's program cannot have is refused, with the
    line and the cure.
    """
    import keyword

    from aqmlab.own.kinds import NotCompiled
    from aqmlab.own.running import AqmError
    from aqmlab.own.source import declared, located
    from aqmlab.workshop.law import LONGEST, law_name
    from aqmlab.workshop.port import rust_name

    usual = rust_name if to is _Language.RUST else law_name
    try:
        of = declared(str(Path(reference.partition(".py")[0]).absolute()) + ".py" + reference.partition(".py")[2])
        if of.is_control:
            carried = "Rust" if to is _Language.RUST else "the kernel"
            raise ValueError(
                f"{of.cls.__name__} is a congestion control: only queue disciplines are carried to {carried}"
            )
        chosen = name or usual(of)
        if not chosen.isidentifier() or keyword.iskeyword(chosen) or chosen != chosen.lower():
            raise ValueError(f"--name {chosen}: must be a name in lower case, such as {usual(of)}")
        if to is _Language.BPF and len(chosen) > LONGEST:
            raise ValueError(f"--name {chosen}: the kernel takes at most {LONGEST} letters")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FILE.py:CLASS") from None
    try:
        (_rust if to is _Language.RUST else _bpf)(of, chosen, out, reference)
    except typer.Exit:
        raise
    except Exception as error:  # the class's
        stop(FAILED, str(error) if isinstance(error, AqmError | NotCompiled) else located(of.file, error))


def _rust(of: Declared, name: str, out: Path, reference: str) -> None:
    from aqmlab.workshop.port import line_for_the_list, rust
    from aqmlab.workshop.recording import recording

    files = {f"{name}.rs": rust(of), f"{name}.txt": recording(of, name)}
    if any(one.name == "ecn" and one.default is False for one in of.parameters):
        files[f"{name}-ecn.txt"] = recording(of, name, {"ecn": True})
    _write(out, files)
    typer.echo(
        f"\nIn a clone of aqmlab:\n"
        f"1. move {name}.rs to crates/aqm/src/aqm, and the recordings to crates/aqm/tests/ported;\n"
        f"2. add the line `{line_for_the_list(of, name)}` under `one queue` in crates/aqm/src/aqm.rs;\n"
        f"3. write each method in Rust where its Python stands;\n"
        f"4. cargo test -p aqm: `ported` compares every verdict, and the contract tests try the rest."
    )


def _bpf(of: Declared, name: str, out: Path, reference: str) -> None:
    from aqmlab.workshop.law import Law
    from aqmlab.workshop.replay import CLOSE, NoCompiler, compared

    law = Law(of, name)
    _write(out, {f"{name}.c": law.text})
    try:
        found, overflowing = compared(law, out / f"{name}.c")
    except NoCompiler:
        typer.echo(
            "its verdicts are not compared with those of the class: no C compiler is installed; "
            "with one (Debian: apt install gcc), repeat this command"
        )
        found, overflowing = {}, []
    for setting, one in found.items():
        close = ", ".join(f"{signal} within {far:.1g}" for signal, far in one.signals.items())
        typer.echo(f"{setting}: {one.equal} of {one.verdicts} verdicts equal" + (f"; {close}" if close else ""))
        if one.first:
            typer.echo(f"  the first that differs: {one.first}")
        for signal, far in one.signals.items():
            if far > CLOSE:
                typer.echo(f"  {signal} is further off than roundings should make it: {CLOSE:.1g}")
        if one.saturated:
            typer.echo(f"  a number has left the range of Q 32.32, 2^31, {one.saturated} times: use larger units")
    if overflowing:
        rates = ", ".join(f"{rate:.0e}" for rate in overflowing)
        typer.echo(
            f"on links of {rates} bit/s, start() leaves the range of Q 32.32, 2^31: compute with "
            "port.rate / (8 * port.packet), which is in packets/s"
        )
    if not all(one.passed for one in found.values()):
        stop(FAILED, f"{name}.c does not decide as {of.cls.__name__} does")
    typer.echo(
        f"\nOn a router with Linux 6.16 or later, as root:\n"
        f"1. aqmlab kernel load {shlex.quote(reference)} dev eth0 --rate '95 Mbit/s'\n"
        f"2. aqmlab kernel show dev eth0\n"
        f"3. aqmlab kernel unload dev eth0"
    )


def _write(out: Path, files: dict[str, str]) -> None:
    from aqmlab.files import write_text

    out.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        write_text(out / file, text)
    typer.echo(f"written to {out}: {', '.join(files)}")

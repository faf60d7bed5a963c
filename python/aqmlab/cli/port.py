"""The command ``aqmlab port``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, stop


def port(
    reference: Annotated[
        str, typer.Argument(metavar="FILE.py:CLASS", help="A queue discipline of your own, in a file of Python.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The name of the algorithm; default: that of the class."),
    ] = None,
    out: Annotated[Path, options.out(help="Write the files to this folder.")] = Path("."),
) -> None:
    """Carry a queue discipline of your own to Rust.

    Writes NAME.rs, with the parameters, documentation, signals and state that the class declares and its methods as
    comments where their translation has to stand, and NAME.txt, the verdicts of the class on 2,000 packets, which the
    translation must return one by one; NAME-ecn.txt has those with ECN, if the class has a parameter `ecn`.
    """
    import keyword

    from aqmlab.files import write_text
    from aqmlab.own.running import AqmError
    from aqmlab.own.source import declared, located
    from aqmlab.workshop.port import line_for_the_list, rust, rust_name
    from aqmlab.workshop.recording import recording

    try:
        of = declared(str(Path(reference.partition(".py")[0]).absolute()) + ".py" + reference.partition(".py")[2])
        if of.is_control:
            raise ValueError(f"{of.cls.__name__} is a congestion control: only queue disciplines are carried to Rust")
        chosen = name or rust_name(of)
        if not chosen.isidentifier() or keyword.iskeyword(chosen) or chosen != chosen.lower():
            raise ValueError(f"--name {chosen}: must be a name in lower case, such as {rust_name(of)}")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FILE.py:CLASS") from None
    try:
        files = {f"{chosen}.rs": rust(of), f"{chosen}.txt": recording(of, chosen)}
        if any(one.name == "ecn" and one.default is False for one in of.parameters):
            files[f"{chosen}-ecn.txt"] = recording(of, chosen, {"ecn": True})
    except Exception as error:  # the class's
        stop(FAILED, str(error) if isinstance(error, AqmError) else located(of.file, error))
    out.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        write_text(out / file, text)
    typer.echo(
        f"written to {out}: {', '.join(files)}\n\n"
        f"In a clone of aqmlab:\n"
        f"1. move {chosen}.rs to crates/aqm/src/aqm, and the recordings to crates/aqm/tests/ported;\n"
        f"2. add the line `{line_for_the_list(of, chosen)}` under `one queue` in crates/aqm/src/aqm.rs;\n"
        f"3. write each method in Rust where its Python stands;\n"
        f"4. cargo test -p aqm: `ported` compares every verdict, and the contract tests try the rest."
    )

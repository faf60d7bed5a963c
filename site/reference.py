"""The reference pages that exist only on the site: the command line and the Python API."""

import pkgutil
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

import aqmlab
import aqmlab.theory
import aqmlab_papers
import aqmlab_papers.theory
from aqmlab.cli.app import app as commands

CONSTANTS = {
    "__version__",
    "METRICS",
    "DISTRIBUTIONS",
    "PASS",
    "MARK",
    "DROP",
    "RIVALS",
    "PHASES",
    "LINUX_TCP",
    "Aqms",
    "Item",
}


def sections(command: Any, path: str) -> Iterator[str]:
    """Yield a section for each command at and beneath `command`, which is one of typer's, made like click's."""
    context = command.context_class(command, info_name=path)
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            if inner := command.get_command(context, name):
                yield from sections(inner, f"{path} {name}")
        return
    usage = command.get_usage(context).removeprefix("Usage: ")
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    rows = "\n".join(f"| `{name}` | {cell(text)} |" for name, text in records)
    table = f"| argument or option | meaning |\n| --- | --- |\n{rows}"
    yield f"## {path}\n\n{cleandoc(command.help or '')}\n\n```console\n{usage}\n```\n\n{table}"


def cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ").replace("<", r"\<").replace("*", r"\*")


def directives(package: str, names: list[str]) -> str:
    """Return a directive for each class, exception and function of a package."""
    blocks = []
    for name in names:
        item = getattr(__import__(package, fromlist=[name]), name)
        kind = "autoexception" if isinstance(item, type) and issubclass(item, BaseException) else "autofunction"
        kind = "autoclass" if isinstance(item, type) and kind == "autofunction" else kind
        members = "    :members:\n" if kind != "autofunction" else ""
        blocks.append(f".. {kind}:: {package}.{name}\n{members}")
    return "\n".join(blocks)


def titled(title: str, *parts: str) -> str:
    """Return a page in reStructuredText."""
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *parts]) + "\n"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    yield "cli.md", "\n\n".join(["# Command line", *sections(typer.main.get_command(commands), "aqmlab")])
    for page, title, package in (("python", "Python", aqmlab), ("papers", "Describing a paper", aqmlab_papers)):
        exported = [name for name in package.__all__ if name not in CONSTANTS]
        yield f"{page}.rst", titled(title, directives(package.__name__, exported))
    rooms = (aqmlab.theory, aqmlab_papers.theory)
    found = (one for room in rooms for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}."))
    modules = [one.name for one in found if not one.ispkg]
    for module in modules:
        yield f"theory/{module}.rst", titled(module, f".. automodule:: {module}\n    :members:\n")
    tree = "\n".join(f"    {module}" for module in modules)
    yield "theory/index.rst", titled("Theory in Python", f".. toctree::\n\n{tree}\n")


def write(app: Sphinx) -> None:
    for name, text in pages():
        file = Path(app.srcdir) / "reference" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx reads any; Sphinx calls it."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

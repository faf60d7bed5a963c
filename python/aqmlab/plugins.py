"""What other distributions add, each by an entry point.

``aqmlab.scenarios``
    ``NAME = "package.folder"``: the scenarios ``NAME/FILE``, from the files of a folder that is a package.
``aqmlab.commands``
    ``NAME = "package.module"``: the command ``aqmlab NAME``, a function of this name in a module.
``aqmlab.archives``
    ``FILE = "package.module"``: a kind of folder of results that can be sealed, by the file that is its head: a module
    with the functions of `aqmlab.archive.contents.Kind`, and ``described``, which returns its part of the page on
    files.
``aqmlab.designs``
    ``NAME = "package.module"``: ``aqmlab design NAME``, from the function ``design`` of a module.

`aqmlab_papers` has one more group, for papers.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def entries(group: str) -> Mapping[str, str]:
    """Return the modules of a group that are installed, by the names of their entry points, in alphabetical order."""
    from importlib.metadata import entry_points  # takes 20 ms

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: entry.value for entry in found if folder(entry.value.partition(".")[0])}


def packages() -> list[Path]:
    """Return the folders of the packages that add scenarios or kinds of archives."""
    modules = (module for group in ("aqmlab.archives", "aqmlab.scenarios") for module in entries(group).values())
    found = (folder(name) for name in sorted({module.partition(".")[0] for module in modules}))
    return [path for path in found if path]


def missing(extra: str, what: str) -> str:
    """Return the sentence on something that an extra of aqmlab brings and that is not installed."""
    return f"{what} comes with aqmlab-{extra}, which is not installed: pip install 'aqmlab[{extra}]'"


def folder(package: str) -> Path | None:
    """Return the folder of a package, none of which is imported; None if it is not installed."""
    top, _, rest = package.partition(".")
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0], *filter(None, rest.split(".")))

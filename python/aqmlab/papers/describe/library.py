"""Where papers are: each is a folder of scenarios with a ``paper.py`` in it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from aqmlab.papers.describe.paper import Paper

_SHIPPED = Path(__file__).parents[2] / "library"


def names() -> list[str]:
    """List the papers that are shipped.

    Returns
    -------
    list of str
        Their names.
    """
    return sorted(file.parent.name for file in _SHIPPED.glob("*/paper.py"))


def load(name: str) -> Paper:
    """Read a paper.

    Parameters
    ----------
    name : str
        A shipped paper's name, or a folder that has a ``paper.py``. There the scenarios of the paper ``mine`` may be
        called ``mine/NAME`` as if it were shipped, too.

    Returns
    -------
    Paper
        The paper: what ``paper.py`` calls ``PAPER``.

    Raises
    ------
    ValueError
        If there is no such paper, or its file has no `Paper`, or cannot be read.
    """
    if name in names():
        module = importlib.import_module(f"aqmlab.library.{name}.paper")
        return _described(module)
    file = Path(name) / "paper.py"
    if not file.is_file():
        raise ValueError(f"{name}: no such paper; there is {', '.join(names())}, or a folder with a paper.py")
    spec = importlib.util.spec_from_file_location(f"aqmlab_paper_{file.parent.resolve().name}", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file}: cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        where = f"{file}:{lines[-1]}" if lines else str(file)
        raise ValueError(f"{where}: {type(error).__name__}: {error}") from error
    paper = _described(module)
    own = {f"{paper.name}/{one.stem}": one for one in file.parent.glob("*.toml")}
    experiments = [replace(one, scenario=str(own.get(one.scenario, one.scenario))) for one in paper.experiments]
    return replace(paper, experiments=experiments)


def folder(paper: str) -> Path:
    """Give the folder of a paper.

    Parameters
    ----------
    paper : str
        As for `load`.

    Returns
    -------
    Path
        Where its ``paper.py`` is.
    """
    return _SHIPPED / paper if paper in names() else Path(paper)


def _described(module: ModuleType) -> Paper:
    paper = getattr(module, "PAPER", None)
    if not isinstance(paper, Paper):
        raise ValueError(f"{module.__file__}: must say PAPER = Paper(...)")
    return paper

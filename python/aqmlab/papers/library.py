"""Where papers are: each is a folder of scenarios with a ``paper.py`` in it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from aqmlab.papers.description import Paper

_SHIPPED = Path(__file__).parents[1] / "scenarios"


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
        A shipped paper's name, or a folder that has a ``paper.py``.

    Returns
    -------
    Paper
        The paper: what ``paper.py`` calls ``PAPER``.

    Raises
    ------
    ValueError
        If there is no such paper, or its file has no `Paper` of this name.
    """
    if name in names():
        module = importlib.import_module(f"aqmlab.scenarios.{name}.paper")
    else:
        file = Path(name) / "paper.py"
        if not file.is_file():
            raise ValueError(f"{name}: no such paper; there is {', '.join(names())}, or a folder with a paper.py")
        spec = importlib.util.spec_from_file_location(f"aqmlab_paper_{file.parent.resolve().name}", file)
        if spec is None or spec.loader is None:
            raise ValueError(f"{file}: cannot be read as Python")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    paper = getattr(module, "PAPER", None)
    if not isinstance(paper, Paper):
        raise ValueError(f"{module.__file__}: must say PAPER = Paper(...)")
    return paper

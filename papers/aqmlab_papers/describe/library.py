"""Find and load papers: each is a folder of scenarios with a ``paper.py``."""

import csv
import importlib
import sys
import traceback
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import ModuleType

from aqmlab import plugins
from aqmlab.plugins import entries
from aqmlab_papers.describe.paper import Paper

GROUP = "aqmlab.papers"
"""The group of entry points of papers: ``NAME = "package.folder"``."""


def names() -> list[str]:
    """List the names of the papers that are installed, in alphabetical order."""
    return list(entries(GROUP))


def published(package: str) -> list[dict[str, str]]:
    """Return the rows of the ``published.csv`` of a paper's package, which has the numbers of others."""
    return list(csv.DictReader((files(package) / "published.csv").read_text(encoding="utf-8").splitlines()))


def load(name: str) -> Paper:
    """Load a paper: an installed one by name, or a folder with a ``paper.py`` that assigns a `Paper` to ``PAPER``.

    In such a folder the scenarios of the paper ``mine`` may be called ``mine/NAME``, as if it were installed. Raises
    `ValueError` if there is no such paper, or if its file cannot be read or has no `Paper`.
    """
    if name in names():
        module = importlib.import_module(f"{entries(GROUP)[name]}.paper")
        return _described(module)
    file = Path(name) / "paper.py"
    if not file.is_file():
        raise ValueError(f"{name}: no such paper; there is {', '.join(names())}, or a folder with a paper.py")
    try:
        module = _imported(file.parent.resolve())
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(file.parent.resolve())]
        where = f"{file.parent / Path(own[-1].filename).name}:{own[-1].lineno}" if own else str(file)
        raise ValueError(f"{where}: {type(error).__name__}: {error}") from error
    paper = _described(module)
    scenarios = {f"{paper.name}/{scenario.stem}": scenario for scenario in file.parent.glob("*.toml")}
    experiments = [
        replace(experiment, scenario=str(scenarios.get(experiment.scenario, experiment.scenario)))
        for experiment in paper.experiments
    ]
    return replace(paper, experiments=experiments)


def _imported(folder: Path) -> ModuleType:
    """Import the ``paper.py`` of a folder anew, as a module of a package: ``from .choices import CHOICES`` works."""
    package = ModuleType(f"aqmlab_paper_{folder.name}")
    package.__path__ = [str(folder)]
    for name in [one for one in sys.modules if one.partition(".")[0] == package.__name__]:
        del sys.modules[name]
    sys.modules[package.__name__] = package
    importlib.invalidate_caches()
    return importlib.import_module(f"{package.__name__}.paper")


def scenario_name(paper: Paper, scenario: str) -> str:
    """Return the name by which a loaded paper calls a scenario, wherever its folder is."""
    file = Path(scenario)
    return f"{paper.name}/{file.stem}" if (file.parent / "paper.py").is_file() else scenario


def folder(paper: str) -> Path:
    """Return the folder of a paper's ``paper.py``; ``paper`` is as for `load`."""
    package = entries(GROUP).get(paper)
    return (plugins.folder(package) if package else None) or Path(paper)


def _described(module: ModuleType) -> Paper:
    paper = getattr(module, "PAPER", None)
    if not isinstance(paper, Paper):
        raise ValueError(f"{module.__file__}: has no paper: assign one, PAPER = Paper(...)")
    return paper

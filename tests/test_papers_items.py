"""The checklists of the papers: every row marked yes is run, briefly, and those not marked so have their reason."""

import doctest
import importlib
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import polars
import polars.selectors
import pytest
from conftest import TINY

import aqmlab
from aqmlab import Scenario, ScenarioError
from aqmlab.results.metrics import METRICS
from aqmlab.runs.plan import Study
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.scenario import Settings
from aqmlab_papers import Evidence, Experiment, Paper, Runs, Table, Verdict
from aqmlab_papers.describe import library
from aqmlab_papers.judge.findings import drawn, rule
from aqmlab_papers.run.sweep import Setting

ROOT = Path(__file__).parents[1]
PAPERS = library.names()
HEAD = ["id", "where", "what", "kind", "status", "by", "remark"]
STATES = {"yes", "partly", "out"}
TINY_ONE = Scenario.parse(TINY)

Row = dict[str, str]


@cache
def rows(paper: str) -> list[Row]:
    """Return the rows of a paper's checklist."""
    lines = (ROOT / f"docs/papers/items/{paper}.md").read_text(encoding="utf-8").splitlines()
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in table]
    assert cells[0] == HEAD
    assert all(len(line) == len(HEAD) for line in cells), [line for line in cells if len(line) != len(HEAD)]
    return [dict(zip(HEAD, line, strict=True)) for line in cells[2:]]


def named(row: Row) -> list[tuple[str, str]]:
    """Return the kind and the name of each thing by which a row is realised."""
    assert not re.sub(r"`[^`]+`|[\s,;]", "", row["by"]), row
    return [(kind, name) for kind, _, name in (text.partition(" ") for text in re.findall(r"`([^`]+)`", row["by"]))]


AT_FIXED_TIMES = {"case4", "collisions", "double", "exp4", "fifth", "fig2", "fine", "forecast", "queue", "steps"}.union(
    one.name for one in library.load("bbr-tests").experiments
)
"""The experiments of whose runs something is read at fixed times, so that these are of the whole duration."""

PARTS = (0.05, 0.2, 0.5, 1.0)
"""The parts of the time after its warm-up for which a scenario is run: the first with which it is valid."""

T = TypeVar("T")


def brief(scenario: Scenario, make: Callable[[str], T]) -> T:
    """Make something with the shortest duration of a scenario that begins all of its traffic before the end."""
    warmup = float(scenario.resolved["warmup"].split()[0])
    for part in PARTS:
        with suppress(ScenarioError):
            return make(f"{warmup + part * (scenario.duration - warmup):.6g} s")
    raise AssertionError(scenario.title)


class Brief(Evidence):
    """The runs of a paper's experiments with one seed, the fewest points and a short duration, each done when read."""

    def __init__(self, paper: Paper, store: Path) -> None:
        super().__init__({}, paper.hero, quick=True)
        self.paper, self.store = paper, store
        self.experiments = {one.name: one for one in paper.experiments}

    def __getitem__(self, name: str) -> Runs:
        if name not in self._runs:
            study = self.study(self.experiments[name])
            (sweep,) = run_all([study], self.store)
            assert sweep.failures == ()
            self._runs[name] = Runs(study, sweep, Store(self.store), self.paper.hero, name)
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.experiments)

    def __len__(self) -> int:
        return len(self.experiments)

    def study(self, experiment: Experiment) -> Study:
        """Return the study of an experiment, which is brief unless its time series are read at fixed times."""

        def made(changed: Settings) -> Study:
            found = setting.study(self.paper, replace(experiment, settings={**experiment.settings, **changed}))
            assert found
            return found

        setting = Setting("paper", True, 1, frozenset())
        whole = made({})
        if experiment.name in AT_FIXED_TIMES:
            return whole
        return brief(whole.scenario, lambda duration: made({"duration": duration}))


@pytest.fixture(scope="module", params=PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return library.load(request.param)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], None]:
    """Return what runs a thing of a paper by its kind and name, once for all rows that name it."""
    runs = cache(lambda name: Brief(library.load(name), tmp_path_factory.mktemp(name)))
    return cache(lambda paper, kind, name: TRIED[kind](runs(paper), name))


def test_each_row_of_a_checklist_has_a_state_and_a_reason(paper: Paper) -> None:
    found = rows(paper.name)
    names = [row["id"] for row in found]
    assert len(set(names)) == len(names)
    for row in found:
        assert row["status"] in STATES, row
        assert row["where"], row
        assert row["what"], row
        assert row["by"] if row["status"] == "yes" else row["remark"], row
        assert {kind for kind, _ in named(row)} <= set(TRIED), row


def judged(runs: Brief, name: str) -> None:
    """Judge a claim: it gets a verdict, of numbers or for the reason that it gives."""
    (claim,) = (one for one in runs.paper.claims if one.name == name)
    ruling = rule(claim, runs)
    assert ruling.judgement.checks or (ruling.verdict == Verdict.NOT_TESTABLE and ruling.judgement.why)
    json.dumps(ruling.document(), allow_nan=False)


def shown(runs: Brief, name: str) -> None:
    """Draw a figure or list a table: it has values."""
    (item,) = (one for one in runs.paper.items if one.name == name)
    found = drawn(item, runs)
    assert len(found.frame)
    assert isinstance(item, Table) or found.frame["y"].is_finite().any()


def compared(runs: Brief, name: str) -> None:
    """Run an experiment: every discipline at every point."""
    frame = runs[name].frame
    assert runs[name].whole
    assert not frame.select(polars.selectors.float().is_nan().any()).transpose().to_series().any()


@cache
def simulated(scenario: Scenario) -> dict[str, float | None]:
    """Run a scenario twice: the runs are the same, have no NaN, and every packet is accounted for."""
    once, again = (aqmlab.run(scenario).runs[0] for _ in range(2))
    assert (once.metrics, once.classes, once.links) == (again.metrics, again.classes, again.links)
    assert not any(isinstance(value, float) and math.isnan(value) for value in once.metrics.values())
    assert once.metrics["arrivals"]
    for count in ("arrivals", "drops_early", "drops_overflow"):
        assert once.metrics[count] == sum(one[count] or 0 for one in once.classes.values()), count
    return once.metrics


def run_scenario(_: Brief, name: str) -> None:
    def made(duration: str) -> Scenario:
        found = whole.with_(duration=duration)
        found.check()
        return found

    whole = Scenario.load(name)._base
    simulated(brief(whole, made))


def run_discipline(_: Brief, name: str) -> None:
    simulated(TINY_ONE.with_(aqm=name))


def measured(_: Brief, name: str) -> None:
    assert name in METRICS
    assert simulated(TINY_ONE)[name] is not None


def imported(_: Brief, name: str) -> None:
    """Import a file of Python and call its examples; of a page it is enough that it is there."""
    file = ROOT / name
    assert file.exists()
    if file.suffix == ".py":
        parts = file.relative_to(ROOT).with_suffix("").parts[1:]
        assert doctest.testmod(importlib.import_module(".".join(parts))).failed == 0


def collected(_: Brief, name: str) -> None:
    """Find a test, of Python or of Rust: the suites run it."""
    path, test = name.split("::")
    file = ROOT / path
    if file.suffix == ".rs":
        assert re.search(rf"#\[test\]\s+fn {test}\(\)", file.read_text(encoding="utf-8"))
    else:
        assert callable(getattr(importlib.import_module(file.stem), test))
        assert test.startswith("test_")


TRIED: dict[str, Callable[[Brief, str], None]] = {
    "claim": judged,
    "figure": shown,
    "table": shown,
    "experiment": compared,
    "scenario": run_scenario,
    "aqm": run_discipline,
    "metric": measured,
    "test": collected,
    "file": imported,
}
"""What is done with that by which a row is realised, by its kind."""


@pytest.mark.parametrize(
    ("paper_name", "row"),
    [(name, row) for name in PAPERS for row in rows(name) if row["by"]],
    ids=lambda value: value if isinstance(value, str) else value["id"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of means over nothing: what is so brief may have no losses
def test_what_a_row_names_runs(tried: Callable[[str, str, str], None], paper_name: str, row: Row) -> None:
    for kind, name in named(row):
        tried(paper_name, kind, name)
    only_files = {kind for kind, _ in named(row)} == {"file"}
    assert row["status"] != "yes" or not only_files or "nothing to run" in row["remark"]

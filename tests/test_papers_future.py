"""Future work of three papers: the parts fit together, and weights are judged from runs end to end."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from aqmlab import Scenario
from aqmlab.runs.study import study
from aqmlab_papers import Claim, Experiment, Item, Paper, Verdict, claims
from aqmlab_papers.describe import library
from aqmlab_papers.judge.findings import Assessment, assess
from aqmlab_papers.run.sweep import Effort, run

PAPERS = {name: library.load(name) for name in ("lred", "raqm", "redtail")}


@dataclass(frozen=True)
class Future:
    """The future work of a paper: its claims, and the experiments and figures that they name."""

    claims: Sequence[Claim]
    experiments: Sequence[Experiment]
    figures: Sequence[Item]


def future_of(name: str) -> Future:
    ours = [one for one in claims(importlib.import_module(f"aqmlab_papers.{name}.claims.future")) if one.beyond]
    needed = {experiment for claim in ours for experiment in claim.needs}
    shown = {figure for claim in ours for figure in claim.shown}
    paper = PAPERS[name]
    return Future(
        ours,
        [experiment for experiment in paper.experiments if experiment.name in needed],
        [item for item in paper.items if item.name in shown],
    )


@pytest.mark.parametrize("name", PAPERS)
def test_what_goes_beyond_says_so_and_refers_to_what_is_there(name: str) -> None:
    future = future_of(name)
    experiments = {experiment.name for experiment in future.experiments}
    figures = {figure.name for figure in future.figures}
    for item in (*future.figures, *future.claims):
        assert item.beyond, item.name
    for claim in future.claims:
        assert claim.needs
        assert claim.shown
        assert figures >= set(claim.shown), claim.name
    drawn = {needed for figure in future.figures for needed in figure.needs}
    assert drawn >= experiments


@pytest.mark.parametrize("name", PAPERS)
def test_disciplines_say_what_sets_them_apart_from_the_scenario(name: str) -> None:
    for experiment in future_of(name).experiments:
        variants = study(Scenario.load(experiment.scenario)._base, {}, experiment.aqms, 1).variants
        documents = [variant.to_toml() for variant in variants.values()]
        assert len(set(documents)) == len(documents), experiment.name


def judged(folder: Path, weights: dict[str, str]) -> Assessment:
    """Run and judge the priorities of LRED, briefly, with given disciplines in place of LRED's."""
    future = future_of("lred")
    experiments = [one for one in future.experiments if one.name == "priorities"]
    short = replace(experiments[0], settings={"duration": "25 s", "warmup": "10 s"}, aqms=weights)
    claims = [claim for claim in future.claims if list(claim.needs) == ["priorities"]]
    figures = [figure for figure in future.figures if list(figure.needs) == ["priorities"]]
    paper = Paper(
        name="x",
        title="",
        source="",
        about="",
        hero="LRED",
        experiments=[short],
        items=figures,
        claims=claims,
        choices=[],
    )
    return assess(run(paper, Effort(seeds=1), folder, jobs=1))


def test_weights_are_judged_by_what_each_class_loses(tmp_path: Path) -> None:
    told = {"1 : 1 : 1": "lred:weights=[1]", "1 : 2 : 4": "lred:weights=[1,2,4]"}
    assessment = judged(tmp_path, told)
    verdicts = {ruling.claim.name: ruling.verdict for ruling in assessment.rulings}
    assert verdicts["priorities-proportional"] == Verdict.REPRODUCED
    bars = assessment.drawn[0].frame.filter(panel="a", curve="1 : 2 : 4")
    first, second, third = bars["y"]
    assert first < second < third
    # A discipline that drops all classes alike is detected.
    told["1 : 2 : 4"] = "lred:weights=[2,2,2]"
    verdicts = {ruling.claim.name: ruling.verdict for ruling in judged(tmp_path, told).rulings}
    assert verdicts["priorities-proportional"] == Verdict.CONTRADICTED

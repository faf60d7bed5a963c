"""Future work of three papers: the parts fit together, and weights are judged from runs end to end."""

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from aqmlab import Scenario
from aqmlab.papers import Claim, Paper, Verdict
from aqmlab.papers.judge.findings import Assessment, assess
from aqmlab.papers.run.sweep import Effort, run
from aqmlab.sweeps.study import study

MODULES = {name: importlib.import_module(f"aqmlab.library.{name}.future") for name in ("lred", "raqm", "redtail")}


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_what_goes_beyond_says_so_and_refers_to_what_is_there(module: ModuleType) -> None:
    experiments = {experiment.name: experiment for experiment in module.EXPERIMENTS}
    figures = {figure.name for figure in module.FIGURES}
    for item in (*module.FIGURES, *module.CLAIMS):
        assert item.beyond, item.name
        assert experiments.keys() >= set(item.needs), item.name
    for claim in module.CLAIMS:
        assert claim.needs
        assert figures >= set(claim.shown), claim.name
    used = {name for item in (*module.FIGURES, *module.CLAIMS) for name in item.needs}
    assert used == experiments.keys()


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_disciplines_say_what_sets_them_apart_from_the_scenario(module: ModuleType) -> None:
    for experiment in module.EXPERIMENTS:
        variants = study(Scenario.load(experiment.scenario).base, {}, experiment.aqms, 1).variants
        documents = [variant.to_toml() for variant in variants.values()]
        assert len(set(documents)) == len(documents), experiment.name


def judged(folder: Path, weights: dict[str, str]) -> Assessment:
    """Run and judge the priorities of LRED, briefly, with given disciplines in place of LRED's."""
    future = MODULES["lred"]
    experiments = [one for one in future.EXPERIMENTS if one.name == "priorities"]
    short = replace(experiments[0], settings={"duration": "25 s", "warmup": "10 s"}, aqms=weights)
    claims: list[Claim] = [claim for claim in future.CLAIMS if claim.needs == ["priorities"]]
    figures = [figure for figure in future.FIGURES if figure.needs == ["priorities"]]
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

"""References of the shipped papers exist, and are valid in every setting."""

import re
from dataclasses import replace

import pytest

from aqmlab.runs.plan import Plan
from aqmlab_papers import Figure, Paper
from aqmlab_papers.describe import library
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort

PAPERS = library.names()


@pytest.fixture(scope="module", params=PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return library.load(request.param)


def test_a_shipped_paper_has_names_that_tell_things_apart(paper: Paper) -> None:
    assert paper.name in PAPERS
    for things in (paper.experiments, paper.items, paper.claims, paper.variants):
        names = [thing.name for thing in things]
        assert len(set(names)) == len(names)
    for item in paper.items:
        assert re.fullmatch(r"[a-z0-9-]+", item.name), "files are called so"
        if isinstance(item, Figure):
            letters = [panel.letter for panel in item.panels]
            assert len(set(letters)) == len(letters), item.name


def test_a_shipped_paper_needs_and_shows_what_it_has(paper: Paper) -> None:
    experiments = {one.name for one in paper.experiments}
    items = {one.name for one in paper.items}
    needed = {name for one in (*paper.items, *paper.claims) for name in one.needs}
    assert needed == experiments, "what is needed is there, and what is there is needed"
    assert {name for claim in paper.claims for name in claim.shown} <= items
    for variant in paper.variants:
        assert set(variant.only) <= experiments, variant.name
        assert variant.settings or variant.only, variant.name
    assert not any(claim.sensitive for claim in paper.claims) or paper.variants
    assert not paper.hero or any(paper.hero in one.aqms for one in paper.experiments)


def test_a_shipped_paper_says_where_each_claim_is_and_why_each_choice(paper: Paper) -> None:
    assert paper.title
    for claim in paper.claims:
        assert claim.where, claim.name
        assert claim.text.endswith("."), claim.name
    for choice in paper.choices:
        assert choice.parameter, choice
        assert choice.ours, choice
        assert choice.why, choice


def test_every_scenario_of_a_shipped_paper_is_valid_in_every_setting(paper: Paper) -> None:
    for setting in sweep.settings(paper, Effort(seeds=1)):
        quick = replace(setting, quick=True)
        for experiment in paper.experiments:
            wanted = quick.study(paper, experiment) if experiment.name in quick.needs else None
            if wanted:
                assert Plan.of(wanted).failures == [], (setting.name, experiment.name)

"""RED+Tail's small files and section VI: the parts that need no run, and Table I from a few transfers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aqmlab.library.redtail import theory
from aqmlab.library.redtail.claims import model, transfers
from aqmlab.library.redtail.experiments import MODEL_AND_FUTURE
from aqmlab.library.redtail.paper import PAPER as WHOLE
from aqmlab.papers import Paper, Verdict
from aqmlab.papers.judge import findings
from aqmlab.papers.run import sweep
from aqmlab.papers.run.sweep import Effort

CLAIMS = (*transfers.CLAIMS, *model.CLAIMS, *model.BEYOND)
NEEDED = {name for claim in CLAIMS for name in claim.needs}
SHOWN = {name for claim in CLAIMS for name in claim.shown}

PAPER = Paper(
    name="redtail-theory",
    title="Section VI",
    source="",
    about="",
    hero="RED+Tail",
    experiments=[one for one in MODEL_AND_FUTURE if one.name in NEEDED],
    items=[item for item in WHOLE.items if item.name in SHOWN],
    claims=CLAIMS,
    choices=(),
)


def test_what_needs_no_run_has_its_verdict(tmp_path: Path) -> None:
    # the deviations of Table I need trials: a second's work, left to a reproduction
    claims = [claim for claim in PAPER.claims if not claim.needs and claim.name != "files-deviations"]
    items = [item for item in PAPER.items if not item.needs]
    found = findings.assess(
        sweep.run(replace(PAPER, claims=claims, items=items), Effort(seeds=1, quick=True), tmp_path)
    )
    assert not found.errors
    assert {ruling.claim.name: ruling.verdict for ruling in found.rulings} == {
        "lost-in-64": Verdict.REPRODUCED,
        "most-lose": Verdict.CONTRADICTED,
        "fifteenth": Verdict.REPRODUCED,
        "contraction": Verdict.REPRODUCED,
        "settling": Verdict.PARTLY,
        "mixed-delays": Verdict.REPRODUCED,
        "erratic": Verdict.REPRODUCED,
        "least-variance": Verdict.REPRODUCED,
        "limit-of-figures": Verdict.REPRODUCED,
    }
    frames = {drawn.item.name: drawn.frame for drawn in found.drawn}
    assert list(frames) == ["fig17", "fig18", "fig19", "fig20"]
    dots = [frames["fig18"].filter(curve=f"equilibrium, N = {flows}")["y"].item() for flows in (20, 40)]
    assert dots == [pytest.approx(159.0, abs=0.1), pytest.approx(366.0, abs=0.1)]


def test_the_followed_queue_has_the_chain_s_distribution() -> None:
    for flows, mean, sd in ((20, 159.71, 11.93), (40, 374.13, 57.44)):
        chain = theory.chain(flows)
        assert chain.mean == pytest.approx(mean, abs=0.01)
        assert chain.sd == pytest.approx(sd, abs=0.01)
        _, queue, rate = theory.wander(flows, 1.0, 2000.0)
        assert queue.mean() == pytest.approx(mean, rel=0.01)
        assert queue.std() == pytest.approx(sd, rel=0.06)
        assert flows * rate.mean() == pytest.approx(theory.CAPACITY, rel=0.03)


def test_table_1_without_loss_is_the_printed_one(tmp_path: Path) -> None:
    table, few = PAPER.experiments[0], {"dumbbell.hosts": 20}
    few |= {f"traffic.{size}kB.count": 20 for size in theory.FILE_SIZES}
    short = replace(table, settings=few, quick={theory.PD: [0.0, 0.04]})
    claims = [claim for claim in PAPER.claims if claim.name in ("files-without-loss", "files-several-times")]
    found = sweep.run(
        replace(PAPER, experiments=[short], claims=claims, items=[]), Effort(seeds=1, quick=True), tmp_path
    )
    first, second = findings.assess(found).rulings
    assert first.verdict == Verdict.REPRODUCED
    runs = found.evidence["paper"]["table1"]
    assert theory.delivery(runs, 90, 0.0) == [pytest.approx(1.176, abs=0.001)]
    # 20 transfers show that it is several times as long, but not how many
    assert second.judgement.checks[0].value > 1.5


def test_groups_of_trials_differ_by_chance_where_packets_are_lost_and_nowhere_else() -> None:
    times = theory.tried(30, 0.04, 8)
    assert times.shape == (5, 8)
    assert len(np.unique(times.mean(axis=1))) == 5
    assert theory.tried(30, 0.0, 8).std() == pytest.approx(0, abs=1e-12)

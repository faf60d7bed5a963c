"""RED+Tail's small files and section VI: the parts that need no run, and Table I from a few transfers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aqmlab_papers import Verdict, claims
from aqmlab_papers.describe.check import Outcome
from aqmlab_papers.judge import findings
from aqmlab_papers.redtail import theory
from aqmlab_papers.redtail.claims import model, transfers
from aqmlab_papers.redtail.paper import PAPER as WHOLE
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort

CLAIMS = claims(transfers, model)
SHOWN = {name for claim in CLAIMS for name in claim.shown}
PAPER = replace(
    WHOLE,
    experiments=[one for one in WHOLE.experiments if one.name in {name for claim in CLAIMS for name in claim.needs}],
    items=[item for item in WHOLE.items if item.name in SHOWN],
    claims=CLAIMS,
    variants=(),
    calibration=None,
)


def test_what_needs_no_run_has_its_verdict(tmp_path: Path) -> None:
    # trials take a second each, and are left to a reproduction
    chosen = [claim for claim in CLAIMS if not claim.needs and claim.name != "timeouts-are-long"]
    items = [item for item in PAPER.items if not item.needs]
    found = findings.assess(
        sweep.run(replace(PAPER, claims=chosen, items=items), Effort(seeds=1, quick=True), tmp_path)
    )
    assert not found.errors
    assert {ruling.claim.name: ruling.verdict for ruling in found.rulings} == {
        "one-loss-is-long": Verdict.REPRODUCED,
        "fifteenth": Verdict.CONTRADICTED,
        "early-losses-time-out": Verdict.PARTLY,
        "two-in-a-window": Verdict.REPRODUCED,
        "two-losses-time-out": Verdict.PARTLY,
        "lost-in-64": Verdict.REPRODUCED,
        "most-lose": Verdict.CONTRADICTED,
        "page-sizes": Verdict.NOT_TESTABLE,
        "erratic": Verdict.REPRODUCED,
        "into-itself": Verdict.CONTRADICTED,
        "stable-below-limit": Verdict.REPRODUCED,
        "contraction": Verdict.REPRODUCED,
        "invariant": Verdict.REPRODUCED,
        "masses": Verdict.REPRODUCED,
        "settling": Verdict.REPRODUCED,
        "nearer-each-slot": Verdict.CONTRADICTED,
        "mixed-delays": Verdict.REPRODUCED,
        "least-variance": Verdict.REPRODUCED,
        "limit-of-figures": Verdict.REPRODUCED,
    }
    arithmetic = {ruling.claim.name for ruling in found.rulings if ruling.claim.arithmetic}
    assert arithmetic == {
        *("two-in-a-window", "lost-in-64", "invariant", "mixed-delays", "least-variance", "limit-of-figures")
    }
    frames = {drawn.item.name: drawn.frame for drawn in found.drawn}
    assert {"fig17", "fig18", "fig19", "fig20", "eq12", "masses", "one-loss"} <= set(frames)
    dots = [frames["fig18"].filter(curve=f"q_e, N = {flows}")["y"].item() for flows in (20, 40)]
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


def test_a_distribution_that_is_not_invariant_changes_in_a_slot() -> None:
    still = theory.chain(40).probability
    assert theory.change(40, 1.0, still) < 1e-12
    assert theory.change(40, 1.0, np.roll(still, 30)) > 1e-4
    assert theory.kolmogorov(still, still) == 0
    assert theory.kolmogorov(still, np.roll(still, 30)) == pytest.approx(0.2, abs=0.05)


def test_table_1_without_loss_is_the_printed_one(tmp_path: Path) -> None:
    table = next(one for one in PAPER.experiments if one.name == "table1")
    few = {"dumbbell.hosts": 20} | {f"traffic.{size}kB.count": 20 for size in theory.FILE_SIZES}
    short = replace(table, settings={**table.settings, **few}, quick={theory.PD: [0.0, 0.04]})
    chosen = [claim for claim in CLAIMS if claim.name in ("files-without-loss", "files-several-times")]
    found = sweep.run(
        replace(PAPER, experiments=[short], claims=chosen, items=[]), Effort(seeds=1, quick=True), tmp_path
    )
    first, second = findings.assess(found).rulings
    assert first.verdict == second.verdict == Verdict.NOT_TESTABLE
    assert {check.outcome for check in first.judgement.beside} == {Outcome.HOLDS}
    runs = found.evidence["paper"]["table1"]
    assert theory.delivery(runs, 90, 0.0).mean == pytest.approx(1.176, abs=0.001)
    assert theory.deviation(runs, 90, 0.0).mean == pytest.approx(0, abs=1e-6)
    assert theory.deviation(runs, 90, 0.04).mean > 0.5
    # 20 transfers show that it is several times as long, but not how many
    assert second.judgement.beside[0].value > 1.5


def test_groups_of_trials_differ_by_chance_where_packets_are_lost_and_nowhere_else() -> None:
    times, timeouts = theory.tried(30, 0.04, 3)
    assert times.shape == timeouts.shape == (3, theory.GROUP)
    assert len(np.unique(times.mean(axis=1))) == 3
    assert times[timeouts > 0].mean() > times[timeouts == 0].mean()
    assert theory.tried(30, 0.0, 3)[0].std() == pytest.approx(0, abs=1e-12)

"""The survey's paper: figure and tables from short runs, the number of nodes, consequences of its numbers."""

from dataclasses import replace
from pathlib import Path

import polars
import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab.library.survey import experiments, measures, theory
from aqmlab.library.survey.claims import red
from aqmlab.papers import Paper, Verdict
from aqmlab.papers.describe import library
from aqmlab.papers.judge import findings
from aqmlab.papers.run import sweep
from aqmlab.papers.run.sweep import Effort

SURVEY = library.load("survey")


def shortened(name: str, **changes: object) -> Paper:
    """Return the survey with a single experiment of 3 s."""
    found = next(one for one in SURVEY.experiments if one.name == name)
    # mypy does not infer the arguments of replace here
    short = replace(found, settings={**found.settings, "duration": "3 s"}, **changes)  # type: ignore[arg-type]
    items = [item for item in SURVEY.items if set(item.needs) == {name}]
    needed = [replace(claim, comparative=False) for claim in SURVEY.claims if set(claim.needs) == {name}]
    return replace(SURVEY, experiments=[short], items=items, claims=needed, variants=[])


def test_figure_and_tables_of_short_runs_say_what_the_runs_do(tmp_path: Path) -> None:
    paper = shortened("schemes")
    found = findings.assess(sweep.run(paper, Effort(seeds=1, quick=True), tmp_path))
    assert not found.errors
    frames = {drawn.item.name: drawn.frame for drawn in found.drawn}
    table = {row["scheme"]: row for row in frames["schemes"].iter_rows(named=True)}
    assert list(table) == ["DropTail", "RED", "REM", "BLUE", "PI", "JoBS"]

    run = aqmlab.run(Scenario.load("survey/core").with_aqm("jobs_ecn:preset=survey").with_({"duration": "3 s"}))
    jobs = table["JoBS"]
    assert jobs["utilisation"] == pytest.approx(run.metrics["utilisation"])
    assert jobs["backlog (kB)"] == pytest.approx(45e3 / 8 * float(run.metrics["queue_delay_mean"] or 0))
    lost, offered = 0.0, 0.0
    for name, size in (("ftp", 1000), ("udp", 100)):
        told = run.classes[name]
        lost += size * float(told["drops_overflow"] or 0)
        offered += size * float(told["arrivals"] or 0)
    assert jobs["lost of bytes %"] == pytest.approx(100 * lost / offered)

    fig2 = frames["fig2"]
    for label, row in table.items():
        over_time = fig2.filter(panel="a", curve=label)["y"]
        assert over_time.mean() == pytest.approx(row["utilisation"], abs=0.003)
        core, whole = (fig2.filter(panel=panel, curve=label)["y"] for panel in ("b", "b, end to end"))
        assert (whole - core).min() == pytest.approx(row["end to end (ms)"] - row["wait (ms)"], abs=1.5)

    # TCP's sum shows whether flows are in step; its variation is in the run's series.
    runs = found.findings.evidence["paper"]["schemes"]
    arrivals = runs.series("RED").filter(polars.col("t") >= 0.999)["bottleneck.ftp.arrivals"].cast(polars.Float64)
    swing = red.swing(runs, "RED", 1.0)
    assert swing == {1: pytest.approx(float(arrivals.std(ddof=0)) / float(arrivals.mean()))}  # type: ignore[arg-type]

    verdicts = {ruling.claim.name: ruling.verdict for ruling in found.rulings}
    assert verdicts["avoidance"] == Verdict.REPRODUCED
    acted = dict(zip(*(frames["table1"][name] for name in ("scheme", "early (packets)")), strict=True))
    assert acted.pop("DropTail") == 0
    assert min(acted.values()) > 0


def test_the_number_of_nodes_is_where_the_line_crosses_the_printed_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = shortened("calibration", quick=experiments.counts([10, 20, 30]))
    runs = sweep.run(paper, Effort(seeds=1, quick=True), tmp_path).evidence["paper"]["calibration"]
    told = {count: column[0] for count, column in measures.losses(runs, measures.LOST).items()}
    assert list(told) == [10, 20, 30]
    assert told[10] < told[20] < told[30]
    monkeypatch.setattr(measures, "LOSS", 0.25 * told[20] + 0.75 * told[30])
    assert measures.reached(runs, measures.LOST) == [pytest.approx(27.5)]
    monkeypatch.setattr(measures, "LOSS", 0.9)
    assert measures.reached(runs, measures.LOST) == [None]


def test_pi_s_printed_gains_are_its_rule_s_for_another_link() -> None:
    assert [round(gain, 7) for gain in theory.rule_gains(theory.GAINS_FOR)] == [theory.A, theory.B]
    a, b = theory.rule_gains()
    assert theory.A / a == pytest.approx(11.74, abs=0.01)
    assert theory.margin(theory.A, theory.B) < 0 < theory.margin(a, b)


def test_padhye_needs_fewer_nodes_the_sooner_time_outs_are() -> None:
    slow, fast = theory.predicted_nodes(1.0), theory.predicted_nodes(0.2)
    assert (round(slow), round(fast)) == (107, 60)
    assert theory.predicted_loss(slow, 1.0) == pytest.approx(0.12, abs=1e-4)


def test_what_needs_no_run_has_its_verdict(tmp_path: Path) -> None:
    free = [claim for claim in SURVEY.claims if not claim.needs]
    found = findings.assess(sweep.run(replace(SURVEY, claims=free, items=[]), Effort(seeds=1, quick=True), tmp_path))
    assert {ruling.claim.name: ruling.verdict for ruling in found.rulings} == {
        "red-full": Verdict.CONTRADICTED,
        "differentiation": Verdict.NOT_TESTABLE,
        "plant": Verdict.PARTLY,
        "gains-hot": Verdict.REPRODUCED,
    }

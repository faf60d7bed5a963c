"""The survey's paper: figure and tables from short runs, what is read from series, consequences of its numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab_papers import Verdict
from aqmlab_papers.describe import library
from aqmlab_papers.judge import findings
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort
from aqmlab_papers.survey import experiments, measures, theory
from aqmlab_papers.survey.claims import jobs, pi, red

SURVEY = library.load("survey")


def test_figure_and_tables_of_short_runs_say_what_the_runs_do(tmp_path: Path) -> None:
    names = ("schemes", "readings")
    kept = [one for one in SURVEY.experiments if one.name in names]
    short = [replace(one, settings={**one.settings, "duration": "3 s"}) for one in kept]
    items = [item for item in SURVEY.items if set(item.needs) <= set(names) and item.needs]
    judged = [replace(one, comparative=False) for one in SURVEY.claims if set(one.reads) <= set(names) and one.reads]
    paper = replace(SURVEY, experiments=short, items=items, claims=judged, variants=[], calibration=None)
    found = findings.assess(sweep.run(paper, Effort(seeds=1, quick=True), tmp_path))
    assert not found.errors
    frames = {drawn.item.name: drawn.frame for drawn in found.drawn}
    table = {row["scheme"]: row for row in frames["schemes"].iter_rows(named=True)}
    assert list(table) == ["DropTail", "RED", "REM", "BLUE", "PI", "JoBS", *experiments.READINGS]

    run = aqmlab.run(Scenario.load("survey/core").with_(aqm="jobs_ecn:preset=survey").with_({"duration": "3 s"}))
    hero = table["JoBS"]
    assert hero["utilisation %"] == pytest.approx(100 * float(run.metrics["utilisation"] or 0))
    assert hero["backlog (kB)"] == pytest.approx(45e3 / 8 * float(run.metrics["queue_delay_mean"] or 0))
    lost, offered = 0.0, 0.0
    for name, size in (("ftp", 1000), ("udp", 100)):
        counted = run.runs[0].classes[name]
        lost += size * float(counted["drops_overflow"] or 0)
        offered += size * float(counted["arrivals"] or 0)
    assert hero["lost of bytes %"] == pytest.approx(100 * lost / offered)

    fig2 = frames["fig2"]
    for label in ("DropTail", "RED", "JoBS", experiments.EVERY):
        row = table[label]
        over_time = fig2.filter(panel="a", curve=label)["y"]
        assert over_time.mean() == pytest.approx(row["utilisation %"] / 100, abs=0.003)
        core, whole = (fig2.filter(panel=panel, curve=label)["y"] for panel in ("b", "b, end to end"))
        assert (whole - core).min() == pytest.approx(row["end to end (ms)"] - row["wait (ms)"], abs=1.5)

    verdicts = {ruling.claim.name: ruling.verdict for ruling in found.rulings}
    assert verdicts["droptail-late"] == Verdict.REPRODUCED
    acted = dict(zip(*(frames["table1"][name] for name in ("scheme", "early (packets)")), strict=True))
    assert acted.pop("DropTail") == 0
    assert min(acted.values()) > 0


def series(**columns: list[float]) -> polars.DataFrame:
    """Return a series in steps of 2 ms."""
    steps = len(next(iter(columns.values())))
    return polars.DataFrame({"t": [0.002 * step for step in range(steps)], **columns})


def test_the_flows_that_get_next_to_nothing_are_those_of_the_table_of_flows(tmp_path: Path) -> None:
    (one,) = (one for one in SURVEY.experiments if one.name == "flows")
    short = replace(one, aqms={"DropTail": "droptail"}, settings={**one.settings, "duration": "4 s"})
    shown = [item for item in SURVEY.items if item.name == "lock-out"]
    paper = replace(SURVEY, experiments=[short], claims=[], items=shown)
    runs = sweep.run(paper, Effort(seeds=2, quick=True), tmp_path).evidence["paper"]["flows"]
    run = aqmlab.run(Scenario.load("survey/core").with_({**short.settings, "aqm": "droptail"}), seeds=2)
    flows = run.flows.filter(polars.col("class") == "ftp")
    rates = {seed: flows.filter(seed=seed)["goodput"].to_numpy() for seed in (1, 2)}
    own = {seed: rate / rate.mean() for seed, rate in rates.items()}
    for share in (measures.NOTHING, 0.5):
        expected = {seed: 100 * (rate < share).sum() / 210 for seed, rate in own.items()}
        assert measures.locked_out(runs, "DropTail", share).values == pytest.approx(expected)
        assert min(expected.values()) > 0
    greatest = measures.goodputs(runs, "DropTail", np.max)
    assert greatest.values == {seed: pytest.approx(rate.max()) for seed, rate in own.items()}


def test_an_interval_of_a_series_has_the_value_of_its_rows() -> None:
    frame = series(drops=[1.0, 2.0, 4.0, 8.0, 16.0])
    assert measures.intervals(frame, polars.col("drops").sum(), 0.004).tolist() == [3, 12, 16]
    assert measures.between(0.002, 0.006, polars.col("drops").mean())(frame) == 3


def test_the_buffer_is_full_at_certainty_by_what_an_arrival_finds() -> None:
    # What leaves at 25 ms waited for 15, a little more than eight tenths of 17.8: it came at 10 ms, when p was 1.
    wait = [0.0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.011, 0.012, 0.013, 0.014, 0.0145, 0.015, 0.015]
    for step, share in ((5, 100.0), (1, 0.0)):
        certain = [1.0 if index == step else 0.5 for index in range(len(wait))]
        assert red.full_at_certainty(series(**{"ftp.delay": wait, "udp.delay": wait, "p.max": certain})) == share
    frame = series(**{"ftp.delay": wait, "udp.delay": wait, "p.max": [0.9] * len(wait)})
    assert red.full_at_certainty(frame) is None


def test_drops_of_two_kinds_are_compared_at_the_same_average() -> None:
    frame = series(
        **{
            "avg.mean": [30.0, 30.1, 50.0, 50.1],
            "ftp.arrivals": [100.0, 100.0, 10.0, 10.0],
            "ftp.drops": [2.0, 2.0, 1.0, 1.0],
            "udp.arrivals": [10.0, 10.0, 100.0, 100.0],
            "udp.drops": [0.2, 0.2, 10.0, 10.0],
        }
    )
    assert red.at_equal_average(frame) == pytest.approx(1)
    twice = frame.with_columns(polars.col("ftp.drops") * 2)
    assert red.at_equal_average(twice) == pytest.approx(2)


def test_what_jobs_foresees_and_averts_is_counted_by_what_comes_within_a_tenth_of_a_second() -> None:
    projected = [0.0] * 200
    drops = [0.0] * 200
    projected[10] = projected[100] = 1.1 * measures.BUFFER
    drops[40], drops[70] = 3.0, 1.0  # 60 ms after the first projection above the buffer, and 120 ms
    frame = series(**{"projected.max": projected, "drops": drops})
    assert jobs.foreseen(frame) == 75
    assert jobs.averted(frame) == 50
    calm = series(**{"projected.max": [0.0], "drops": [0.0]})
    assert (jobs.foreseen(calm), jobs.averted(calm)) == (None, None)


def test_pi_is_timed_by_its_own_last_probability() -> None:
    frame = polars.DataFrame({"t": [0.5 * step for step in range(400)]}).with_columns(
        (polars.col("t") / 100).clip(upper_bound=1.0).alias("p.mean"),
        (polars.col("t") / 100 * 70 / measures.RATE * 8e3)
        .clip(upper_bound=70 / measures.RATE * 8e3)
        .alias("ftp.delay"),
    )
    assert pi.rises(frame) == 90
    assert pi.settles(frame) == 90


def test_each_reading_of_jobs_changes_what_it_says() -> None:
    core = Scenario.load("survey/core")
    own = core.with_(aqm=experiments.SIX["JoBS"]).resolved["aqm"]
    found = {label: core.with_(aqm=spec).resolved["aqm"] for label, spec in experiments.READINGS.items()}
    changed = {label: {key: one[key] for key in one if one[key] != own[key]} for label, one in found.items()}
    assert changed == {
        "JoBS, K = 1": {"k": 1},
        "JoBS, alpha = 0.1": {"alpha": 0.1},
        "JoBS, K = 1, alpha = 0.1": {"k": 1, "alpha": 0.1},
    }


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
    free = [claim for claim in SURVEY.claims if not claim.reads]
    found = findings.assess(sweep.run(replace(SURVEY, claims=free, items=[]), Effort(seeds=1, quick=True), tmp_path))
    assert {ruling.claim.name: (ruling.verdict, ruling.claim.arithmetic) for ruling in found.rulings} == {
        "simple": (Verdict.PARTLY, False),
        "scalable": (Verdict.PARTLY, False),
        "plant": (Verdict.REPRODUCED, True),
        "gains-hot": (Verdict.REPRODUCED, True),
    }

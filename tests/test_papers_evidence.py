"""Evidence: the results of an experiment's runs, done once and kept."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from conftest import TINY
from polars.testing import assert_frame_equal
from scipy import stats

import aqmlab
from aqmlab import Scenario, Sweep
from aqmlab.execute import threads
from aqmlab.execute.progress import Progress
from aqmlab.execute.task import Outcome, Task
from aqmlab.results.summary import Summary
from aqmlab.runs.plan import Plan, Study
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.runs.study import study
from aqmlab.runs.table import RunTable
from aqmlab_papers import PHASES, Evidence, PerSeed, Runs, Tolerance
from aqmlab_papers.run import sketch
from aqmlab_papers.run.estimate import _together
from aqmlab_papers.run.sweep import spread


def runs_of(frame: polars.DataFrame, parameters: Sequence[str] = (), scenario: Scenario | None = None) -> Runs:
    """Return runs with these metrics, without simulating any."""
    scenario = scenario or Scenario.parse(TINY)
    labels = tuple(frame["aqm"].unique(maintain_order=True))
    asked = study(scenario, {}, dict.fromkeys(labels, "lred"), sorted(frame["seed"].unique()))
    sweep = Sweep(
        scenario=scenario,
        aqms=labels,
        parameters=dict.fromkeys(parameters, ""),
        seeds=tuple(asked.seeds),
        method="grid",
        sample_seed=None,
        table=RunTable((frame,)),
        failures=(),
        wanted=len(frame),
        simulated=0,
        damage={},
        interrupted=False,
        version="",
    )
    return Runs(asked, sweep, Store(Path("nowhere")), "ours")


def table(rows: Iterable[tuple[str, int, int, float | None]]) -> polars.DataFrame:
    return polars.DataFrame(list(rows), schema=["aqm", "n", "seed", "m"], orient="row")


FRAME = table(
    [
        ("ours", 1, 1, 1.0),
        ("ours", 1, 2, 2.0),
        ("ours", 2, 1, 3.0),
        ("ours", 2, 2, None),
        ("theirs", 1, 2, 7.0),
        ("theirs", 1, 1, 5.0),
        ("theirs", 2, 2, 8.0),
        ("theirs", 2, 1, 6.0),
    ]
)


def test_values_are_means_over_points_for_each_seed() -> None:
    runs = runs_of(FRAME, ["n"])
    assert runs.per_seed("m", "theirs").values == {1: 5.5, 2: 7.5}
    assert runs.per_seed("m", "theirs", {"n": 2}).values == {1: 6.0, 2: 8.0}
    assert (runs.labels, runs.others, runs.points("n")) == (("ours", "theirs"), ("theirs",), [1, 2])


def test_a_seed_with_a_run_without_a_value_has_none_unless_it_is_filled_in() -> None:
    runs = runs_of(FRAME, ["n"])
    assert runs.per_seed("m", "ours").values == {1: 2.0, 2: None}
    assert runs.per_seed("m", "ours", fill=10).values == {1: 2.0, 2: 6.0}
    assert runs.per_seed("m", "ours", {"n": 2}).values == {1: 3.0, 2: None}


def test_what_was_not_run_is_no_empty_answer() -> None:
    runs = runs_of(FRAME, ["n"])
    with pytest.raises(LookupError, match=r"no runs with \{'aqm': 'ours', 'n': 3\}; labels \('ours', 'theirs'\)"):
        runs.per_seed("m", "ours", {"n": 3})


def test_a_curve_has_means_and_students_intervals_over_seeds() -> None:
    curve = runs_of(FRAME, ["n"]).curve("a", "m", "theirs", "n", scale=0.1, x_scale=100)
    half = stats.sem([5.0, 7.0]) * stats.t.ppf(0.975, 1)
    assert (curve.panel, curve.name, list(curve.x)) == ("a", "theirs", [100, 200])
    assert list(curve.y) == pytest.approx([0.6, 0.7])
    assert curve.low is not None
    assert curve.high is not None
    assert list(curve.low) == pytest.approx([0.6 - half * 0.1, 0.7 - half * 0.1])
    assert list(curve.high) == pytest.approx([0.6 + half * 0.1, 0.7 + half * 0.1])


def test_a_curve_with_a_point_of_one_run_has_no_band() -> None:
    curve = runs_of(FRAME, ["n"]).curve("a", "m", "ours", "n")
    assert list(curve.y) == [1.5, 3.0]
    assert curve.low is None


def test_a_curve_over_a_metric_stands_at_its_means() -> None:
    frame = FRAME.with_columns(load=polars.col("n") * 10 + polars.col("seed"))
    curve = runs_of(frame, ["n"]).curve("a", "m", "theirs", "load")
    assert list(curve.x) == [11.5, 21.5]


def test_over_draws_each_discipline_in_each_panel() -> None:
    runs = runs_of(FRAME, ["n"])
    evidence = Evidence({"e": runs}, "ours", quick=False)
    curves = list(sketch.over("e", "n", {"a": "m", "b": ("m", 2)})(evidence))
    assert [(curve.panel, curve.name) for curve in curves] == [
        ("a", "ours"),
        ("a", "theirs"),
        ("b", "ours"),
        ("b", "theirs"),
    ]
    assert list(curves[3].y) == [12.0, 14.0]


def test_bars_have_intervals_only_if_all_of_them_do() -> None:
    told = [Summary.of([1.0, 2.0, 3.0]), Summary.of([4.0, 4.0])]
    curve = sketch.bars("a", "x", ["one", "two"], told, scale=10)
    assert list(curve.y) == [20.0, 40.0]
    assert curve.low is not None
    assert curve.high is not None
    half = 10 * stats.t.ppf(0.975, 2) / math.sqrt(3)
    assert list(curve.low) == pytest.approx([20 - half, 40])
    assert list(curve.high) == pytest.approx([20 + half, 40])
    curve = sketch.bars("a", "x", ["one", "two"], [told[0], Summary.of([None])])
    assert (curve.low, curve.high) == (None, None)
    assert math.isnan(curve.y[1])


def test_what_two_studies_mean_is_done_once(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    wide = study(tiny, {"aqm.q0": [10, 20]}, ["lred", "droptail"], 2)
    narrow = study(tiny.with_({"aqm.q0": 20}), {}, {"other name": "lred:q0=20"}, 1)
    first, second = run_all([wide, narrow], tmp_path)
    assert len(simulated) == 6  # drop-tail has no q0
    assert (len(first.frame), len(second.frame)) == (8, 1)
    assert second.frame["aqm"].to_list() == ["other name"]
    same = first.frame.filter(polars.col("aqm") == "lred", polars.col("aqm.q0") == 20, polars.col("seed") == 7)
    assert same["key"].to_list() == second.frame["key"].to_list()
    assert same["queue_mean"].to_list() == second.frame["queue_mean"].to_list()


def test_series_are_kept_and_are_those_of_a_run(tiny: Scenario, tmp_path: Path) -> None:
    asked = study(tiny, {"aqm.q0": [10, 20]}, ["lred"], 2, series=True)
    (sweep,) = run_all([asked], tmp_path)
    runs = Runs(asked, sweep, Store(tmp_path), "lred")
    for seed in (7, 8):
        alone = aqmlab.run(tiny.with_({"aqm.q0": 20}, seed=seed)).series_of(seed)
        assert_frame_equal(runs.series("lred", {"aqm.q0": 20}, seed), alone)
    with pytest.raises(LookupError, match="2 runs of lred at None: give one point in at"):
        runs.series("lred")


def test_further_seeds_of_some_points_count_only_where_all_that_is_read_has_them(
    tiny: Scenario, tmp_path: Path
) -> None:
    asked = study(tiny, {"aqm.q0": [10, 20]}, ["lred", "pi"], 2, series=True)
    deep = study(tiny, {"aqm.q0": [20]}, ["lred"], 4, series=True)
    deep = replace(deep, seeds=deep.seeds[2:])
    sweep, more = run_all([asked, deep], tmp_path)
    runs = Runs(asked, sweep, Store(tmp_path), "lred", "exp", [more])
    at = {"aqm.q0": 20}
    first, every = asked.seeds, [*asked.seeds, *deep.seeds]
    assert (runs.seeds, runs.wanted, runs.done, runs.whole) == (every, 10, 10, True)
    assert list(runs.per_seed("queue_mean", "lred", at).values) == every
    assert list(runs.per_seed(polars.col("queue_mean"), "lred", at).values) == every
    assert list(runs.from_series("lred", lambda frame: frame["queue.mean"].mean(), at).values) == every
    alone = run_all([study(tiny, at, ["lred"], 4)], tmp_path)[0].frame["queue_mean"].to_list()
    assert list(runs.per_seed("queue_mean", "lred", at, unit="packets").values.values()) == alone
    # The mean of both points is only that of the seeds which both have.
    assert list(runs.per_seed("queue_mean", "lred").values) == first
    assert list(runs.per_seed(polars.col("queue_mean"), "lred").values) == first
    curve = runs.curve("a", "queue_mean", "lred", "aqm.q0")
    half = [stats.t.ppf(0.975, 3) * np.std(alone, ddof=1) / 2, np.mean(alone)]
    assert [curve.high[1] - curve.y[1], curve.y[1]] == pytest.approx(half)
    assert runs.frame["seed"].unique().to_list() == first
    ((check),) = runs.compare(
        "queue_mean", "lred", ["pi"], better="lower", tolerance=Tolerance(1, "packets", ""), at=at
    )
    assert check.reads == {("exp", label, frozenset(at.items())) for label in ("lred", "pi")}
    assert set(runs.cells("lred", at)) == {("lred", 1)}
    assert set(runs.cells()) == {(label, point) for label in ("lred", "pi") for point in (0, 1)}


def test_what_a_number_was_computed_from_is_known_only_if_that_of_each_part_is() -> None:
    one, other = (replace(PerSeed.of([1.0, 2.0]), reads=frozenset({(name, "a", frozenset())})) for name in "xy")
    both = {*one.reads, *other.reads}
    assert (one - other).reads == one.excess(other).reads == PerSeed.average([one, other]).reads == both
    assert (2 * one).reads == one.each(math.sqrt).reads == one.to("").reads == one.reads
    assert (one / PerSeed.of([1.0, 2.0])).reads is None
    assert PerSeed.least([one, PerSeed.of([1.0, 2.0])]).reads is None


def test_over_time_is_the_series_at_the_middle_of_its_bins(tiny: Scenario, tmp_path: Path) -> None:
    asked = study(tiny, {}, ["lred"], 1, series=True)
    runs = Runs(asked, run_all([asked], tmp_path)[0], Store(tmp_path), "lred")
    series = runs.series("lred")
    step = series["t"][1]
    curve = runs.over_time("a", "lred", quantity="queue.max", scale=2)
    assert list(curve.x) == pytest.approx([t + step / 2 for t in series["t"]])
    link = tiny.resolved["observe"]
    assert list(curve.y) == [2 * value for value in series[f"{link}.queue.max"]]
    coarse = runs.over_time("a", "lred", bin=0.5)
    assert list(coarse.x) == pytest.approx([0.25, 0.75, 1.25, 1.75])
    first = series.filter(polars.col("t") < 0.5 - step / 2)[f"{link}.queue.mean"]
    assert coarse.y[0] == pytest.approx(first.mean())


def test_only_what_lacks_series_is_done_again_for_them(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    def asked(series: bool, q0: list[int]) -> Study:
        return study(tiny, {"aqm.q0": q0}, ["lred"], 1, series=series)

    run_all([asked(False, [10, 20])], tmp_path)
    run_all([asked(True, [20, 30])], tmp_path)
    assert Counter(bool(one.series) for one in simulated) == {False: 2, True: 2}
    run_all([asked(True, [20]), asked(False, [10, 20, 30])], tmp_path)
    assert len(simulated) == 4


def test_studies_may_want_the_series_of_a_run_in_different_steps(
    tiny: Scenario, tmp_path: Path, simulated: list[Task]
) -> None:
    fine, coarse = (
        study(tiny.with_({"record.step": step}), {"aqm.q0": q0}, ["lred"], 1, series=True)
        for step, q0 in (("20 ms", [10, 20]), ("50 ms", [20, 30]))
    )
    sweeps = run_all([fine, fine, coarse], tmp_path)[1:]
    assert len(simulated) == 4  # that in both twice, once with each step
    for one, sweep, step in zip((fine, coarse), sweeps, (0.02, 0.05), strict=True):
        assert (sweep.done, sweep.failures) == (2, ())
        series = Runs(one, sweep, Store(tmp_path), "lred").series("lred", {"aqm.q0": 20})
        assert series["t"][1] == pytest.approx(step)
    run_all([fine, coarse], tmp_path)
    assert len(simulated) == 4


FINE, COARSE, PLAIN = range(3)


def three(tiny: Scenario) -> list[Study]:
    """Return a study with series in a fine step, one in a coarse step and one without, which share a run."""
    return [
        study(tiny.with_({"record.step": step}), {"aqm.q0": [20, other]}, ["lred"], 1, series=series)
        for step, other, series in (("20 ms", 10, True), ("50 ms", 30, True), ("20 ms", 10, False))
    ]


def named(one: Study, q0: int) -> str:
    """Return the name of the series of a run."""
    (key,) = (key for number, _, _, key in Plan.of(one).runs() if one.design.points[number] == (q0,))
    return one.series_name(key)


@pytest.mark.parametrize("failing", [FINE, COARSE])
def test_a_run_that_fails_with_the_series_of_one_study_is_there_in_the_others(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    studies = three(tiny)
    name = named(studies[failing], 20)
    simulate, standings = threads.simulate, []
    monkeypatch.setattr(
        threads,
        "simulate",
        lambda task, watch=None: Outcome(error="no room") if task.series == name else simulate(task, watch),
    )
    for _ in range(2):  # what is there is not done again, what failed is
        sweeps = run_all(studies, tmp_path, progress=standings.append)
        assert [one.done for one in sweeps] == [2 - (failing == FINE), 2 - (failing == COARSE), 2]
        assert [str(one) for one in sweeps[failing].failures] == ["lred, aqm.q0 = 20, seed 7: no room"]
        assert sum(len(one.failures) for one in sweeps) == 1
        last = standings[-1]
        assert (last.done, last.failed, last.wanted) == (2, 1, 3)
    monkeypatch.undo()
    assert [one.done for one in run_all(studies, tmp_path, progress=standings.append)] == [2, 2, 2]
    assert (standings[-1].done, standings[-1].failed, standings[-1].wanted) == (3, 0, 3)


def test_a_run_that_fails_is_not_tried_again_and_each_study_has_its_own_reason(tiny: Scenario, tmp_path: Path) -> None:
    studies, done = three(tiny), []

    def failing(
        tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]
    ) -> None:
        for task in tasks:
            done.append(task)
            on_done(task, Outcome(error=task.series[-8:] or "plain"))

    sweeps = run_all(studies, tmp_path, executor=failing)
    assert len(done) == 4
    for one, sweep in zip(studies[:PLAIN], sweeps, strict=False):
        assert [failure.error for failure in sweep.failures] == [named(one, 20)[-8:]] * 2
    assert [failure.error for failure in run_all([studies[PLAIN]], tmp_path, executor=failing)[0].failures] == [
        "plain"
    ] * 2
    assert len(done) == 6


def test_the_progress_counts_each_run_once(tiny: Scenario, tmp_path: Path) -> None:
    standings: list[Progress] = []
    run_all(three(tiny), tmp_path / "first", progress=standings.append)
    assert (standings[-1].done, standings[-1].failed, standings[-1].wanted) == (3, 0, 3)
    calls = 0

    def forgetful(
        tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]
    ) -> None:
        nonlocal calls
        calls += 1
        for number, task in enumerate(list(tasks)):
            if calls > 1:
                on_done(task, threads.simulate(task) or Outcome())
            elif number == 0:
                on_done(task, Outcome(error="no room"))
        watch(0.0)

    run_all(three(tiny)[PLAIN:], tmp_path / "second", executor=forgetful, progress=standings.append)
    assert calls == 2
    assert (standings[-1].done, standings[-1].failed, standings[-1].wanted) == (1, 1, 2)


def test_a_study_has_its_stored_runs_though_another_lacks_their_series(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies = three(tiny)
    run_all([studies[FINE]], tmp_path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    sweeps = run_all(studies, tmp_path, executor=interrupted)
    assert [one.done for one in sweeps] == [2, 0, 2]
    assert all(one.interrupted for one in sweeps)


def test_the_estimate_counts_a_run_for_each_step_and_once_with_and_without_series(
    tiny: Scenario, tmp_path: Path, simulated: list[Task]
) -> None:
    studies = three(tiny)
    lacking = _together(Plan.of(one).missing(set(), set()) for one in studies)
    run_all(studies, tmp_path)
    assert len(lacking) == len(simulated) == 4
    assert sum(lacking.values()) == pytest.approx(sum(one.cost for one in simulated))


@pytest.mark.parametrize("place", [0.02, 0.3, 0.6, 0.9])
def test_damaged_series_are_found_and_done_again(
    tiny: Scenario, tmp_path: Path, simulated: list[Task], place: float
) -> None:
    asked = study(tiny, {}, ["lred"], 1, series=True)
    sweep = run_all([asked], tmp_path)[0]
    before = Runs(asked, sweep, Store(tmp_path), "lred").series("lred")
    runs = Runs(asked, sweep, Store(tmp_path), "lred")  # that has not read them yet
    (file,) = (tmp_path / "series").iterdir()
    data = bytearray(file.read_bytes())
    data[int(place * len(data))] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(OSError, match="damaged and put aside; rerun the command"):
        runs.series("lred")
    assert [one.suffix for one in (tmp_path / "series").iterdir()] == [".damaged"]
    run_all([asked], tmp_path)
    assert len(simulated) == 2
    assert_frame_equal(runs.series("lred"), before)


def test_series_that_several_claims_read_are_read_once(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = study(tiny, {}, ["lred"], 2, series=True)
    runs = Runs(asked, run_all([asked], tmp_path)[0], Store(tmp_path), "lred")
    read = polars.read_parquet
    files: list[object] = []
    monkeypatch.setattr(polars, "read_parquet", lambda file: (files.append(file), read(file))[1])
    first = runs.from_series("lred", lambda frame: frame["queue.mean"].max())
    # A claim may change its frame in place.
    runs.series("lred").insert_column(0, polars.Series("mine", [0]).new_from_index(0, len(runs.series("lred"))))
    again = runs.from_series("lred", lambda frame: frame["queue.mean"].max())
    assert first.values == again.values
    assert len(files) == len(first.values) == 2
    assert "mine" not in runs.series("lred").columns
    monkeypatch.setattr(aqmlab.runs.store, "KEPT_BYTES", 0)
    other = Runs(asked, runs.sweep, Store(tmp_path), "lred")
    assert [len(other.series("lred")), len(other.series("lred"))] == [len(runs.series("lred"))] * 2
    assert len(files) == 4, "with no room, each is read again"
    with pytest.raises(LookupError, match=r"no runs with .*'seed': 9"):
        runs.series("lred", seed=9)


def test_a_run_that_is_wanted_with_and_without_series_is_done_once(
    tiny: Scenario, tmp_path: Path, simulated: list[Task]
) -> None:
    run_all([study(tiny, {}, ["lred"], 2), study(tiny, {}, ["lred"], 1, series=True)], tmp_path)
    assert Counter(bool(one.series) for one in simulated) == {False: 1, True: 1}


def test_an_interrupt_keeps_the_runs_of_every_study(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    long = tiny.with_(duration="1000 s")
    asked = [study(long, {"aqm.q0": [q0]}, ["lred"], 10, series=q0 == 20) for q0 in (10, 20)]

    def progress(standing: Progress) -> None:
        if standing.done >= 3:
            raise KeyboardInterrupt

    stopped = run_all(asked, tmp_path, jobs=1, progress=progress)
    there = sum(len(sweep.frame) for sweep in stopped)
    assert all(sweep.interrupted for sweep in stopped)
    assert 3 <= there < 20
    before = len(simulated)
    finished = run_all(asked, tmp_path)
    assert len(simulated) - before == 20 - there
    assert [len(sweep.frame) for sweep in finished] == [10, 10]


def test_delays_that_are_not_drawn_are_moved() -> None:
    text = """
[dumbbell]
sender_delay = ["0 s", "2.5 ms", "uniform(1 ms, 3 ms)"]
delay = "exponential(5 ms)"
[[link]]
name = "far"
from = "r2"
to = "end"
rate = "1 Mbit/s"
delay = "20 ms"
[[traffic]]
name = "long"
count = 3
receiver_delay = ["7 ms"]
"""
    base = Scenario.parse(text, "delays.toml")
    moved = spread(PHASES.settings, base)
    assert moved == {
        "dumbbell.sender_delay": ["0 s", "uniform(2.425 ms, 2.575 ms)", "uniform(1 ms, 3 ms)"],
        "dumbbell.receiver_delay": ["uniform(9.7 ms, 10.3 ms)"],
        "link.far.delay": "uniform(19.4 ms, 20.6 ms)",
        "traffic.long.receiver_delay": ["uniform(6.79 ms, 7.21 ms)"],
    }
    base.with_(moved).check()


def test_a_star_stands_for_all_traffic_that_has_the_setting() -> None:
    mixed = Scenario.parse(TINY + '\n[[traffic]]\nname = "noise"\nkind = "cbr"\nrate = "10 kbit/s"\n')
    assert spread({"traffic.*.tcp.min_rto": "1 s", "aqm.q0": 10}, mixed) == {
        "traffic.long.tcp.min_rto": "1 s",
        "aqm.q0": 10,
    }
    changed = mixed.with_(spread({"traffic.*.tcp.min_rto": "1 s"}, mixed)).resolved
    assert [entry["tcp"]["min_rto"] for entry in changed["traffic"] if "tcp" in entry] == ["1 s"]
    assert set(spread({"traffic.*.packet_size": "1 kB"}, mixed)) == {
        "traffic.long.packet_size",
        "traffic.noise.packet_size",
    }


def test_a_comparison_takes_each_other_discipline_at_each_point() -> None:
    frame = FRAME.rename({"m": "queue_mean"})
    runs = runs_of(frame, ["n"])
    one = Tolerance(1, "packets", "a packet")
    checks = runs.compare("queue_mean", "ours", better="lower", tolerance=one, each="n")
    assert checks[0].effect == "mean queue of ours minus that of theirs, n = 1"
    assert checks[0].value == pytest.approx((1 + 2 - 5 - 7) / 2)
    (whole,) = runs.compare("queue_mean", "ours", ["theirs"], better="lower", tolerance=one, at={"n": 1})
    assert (whole.value, whole.effect) == (checks[0].value, "mean queue of ours minus that of theirs")
    (named,) = runs.compare(
        polars.col("queue_mean"), "ours", better="lower", tolerance=one, at={"n": 1}, unit="packets", name="backlog"
    )
    assert named.effect == "backlog of ours minus that of theirs"


def test_a_metric_is_read_in_the_unit_that_people_read() -> None:
    rows = {
        "aqm": ["ours"] * 2,
        "seed": [1, 2],
        "queue_delay_mean": [0.01, 0.02],
        "classes.ftp.loss_ratio": [0.1, None],
    }
    runs = runs_of(polars.DataFrame(rows))
    wait, loss = runs.per_seed("queue_delay_mean", "ours"), runs.per_seed("classes.ftp.loss_ratio", "ours")
    assert (wait.values, wait.unit, wait.name) == ({1: 10.0, 2: 20.0}, "ms", "mean delay")
    assert (loss.values, loss.unit, loss.name) == ({1: pytest.approx(10.0), 2: None}, "%", "loss ratio of ftp")
    assert runs.per_seed("queue_delay_mean", "ours", unit="s").values == {
        1: pytest.approx(0.01),
        2: pytest.approx(0.02),
    }
    filled = runs.per_seed("classes.ftp.loss_ratio", "ours", fill=0.5)
    assert filled.values == {1: pytest.approx(10.0), 2: pytest.approx(50.0)}
    raw = runs.per_seed(1e3 * polars.col("queue_delay_mean"), "ours", unit="ms", name="wait")
    assert (raw.values, raw.unit, raw.name) == ({1: 10.0, 2: 20.0}, "ms", "wait")


def test_runs_of_two_experiments_are_put_together_under_their_labels() -> None:
    one = runs_of(FRAME.filter(polars.col("aqm") == "ours"), ["n"])
    other = runs_of(FRAME.filter(polars.col("aqm") == "theirs").with_columns(design=1), ["n", "design"])
    both = one | other
    assert (both.labels, both.points("n"), both.points("design")) == (("ours", "theirs"), [1, 2], [1])
    assert both.per_seed("m", "theirs", {"n": 1}).values == other.per_seed("m", "theirs", {"n": 1}).values
    assert one | None is one
    with pytest.raises(ValueError, match="both have runs of ours"):
        one | one


def test_the_last_report_counts_a_shared_run_once_however_slow_the_planner_is(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.runs.runner.threads.SLICE", -1.0)  # it reports every scenario
    two = [study(tiny, {"aqm.q0": levels}, seeds=1) for levels in ([10, 20], [20, 30])]
    for _ in range(2):  # the second time all runs are in the store
        reports: list[Progress] = []
        run_all(two, tmp_path, jobs=1, progress=reports.append)
        assert (reports[-1].done, reports[-1].wanted) == (3, 3)
    assert reports[0].wanted == 4, "the planner counts the runs of each study"

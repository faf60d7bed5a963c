"""Sweeps: runs, storage, and combined results."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import Cli
from scipy import stats

import aqmlab
from aqmlab import Scenario, Sweep, _core
from aqmlab.cli import sweep
from aqmlab.execute import task
from aqmlab.execute import threads as local
from aqmlab.execute.task import Outcome, Task
from aqmlab.sealed import sealed
from aqmlab.sweeps import runner
from aqmlab.sweeps.runner import Standing
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import study

VARY = {"aqm.q0": "10,20..30"}


@pytest.fixture
def tiny(small: Scenario) -> Scenario:
    return small.with_({"traffic.long.count": 3}, duration="2 s", warmup="0.5 s")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Record every task that is done."""
    done: list[Task] = []
    simulate = local.simulate

    def noted(one: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
        done.append(one)
        return simulate(one, watch)

    monkeypatch.setattr(local, "simulate", noted)
    return done


def data_set(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "results").iterdir())}


def test_every_point_of_every_discipline_has_the_same_seeds(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, VARY | {"dumbbell.delay": "2 ms,4"}, ["lred", "pi"], 2)
    assert (swept.done, swept.wanted, swept.simulated, swept.failures) == (24, 24, 24, ())
    places = swept.frame.select("aqm", "aqm.q0", "dumbbell.delay", "seed").rows()
    assert places == [
        (aqm, q0, delay, seed)
        for q0 in (10, 20, 30)
        for delay in (0.002, 0.004)
        for aqm in ("lred", "pi")
        for seed in (7, 8)
    ]
    assert swept.parameters == {"aqm.q0": "packets", "dumbbell.delay": "s"}


def test_a_run_of_a_sweep_is_the_run_of_its_point(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2)
    alone = aqmlab.run(tiny.with_aqm("pi").with_({"aqm.q0": 30}), seeds=[8]).runs[0]
    (row,) = swept.frame.filter(aqm="pi", seed=8).filter(polars.col("aqm.q0") == 30).to_dicts()
    assert {name: row[name] for name in alone.metrics} == alone.metrics
    assert row["classes.long.goodput"] == alone.classes["long"]["goodput"]
    assert row["links.bottleneck.queue_mean"] == alone.links["bottleneck"]["queue_mean"]
    assert (row["engine.packets"], row["engine.events"]) == (alone.engine["packets"], alone.engine["events"])


def test_a_second_call_runs_nothing_and_gives_the_same(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    first = aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2, out=tmp_path)
    assert len(simulated) == 12
    again = aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2, out=tmp_path)
    assert (len(simulated), again.simulated) == (12, 0)
    assert again.frame.equals(first.frame)


def test_only_what_is_missing_runs(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    aqmlab.sweep(tiny, VARY, ["lred"], 2, store=tmp_path)
    aqmlab.sweep(tiny, {"aqm.q0": "10,20..40"}, ["lred", "pi"], 3, store=tmp_path)
    assert len(simulated) == 6 + (4 * 3 - 6) + 4 * 3
    assert len({one.key for one in simulated}) == len(simulated)


def test_a_discipline_without_the_parameter_runs_once_for_all_points(tiny: Scenario, simulated: list[Task]) -> None:
    swept = aqmlab.sweep(tiny, VARY, ["lred", "droptail"], 2)
    assert len(simulated) == 6 + 2
    queues = swept.frame.filter(aqm="droptail", seed=7)["queue_mean"]
    assert len(queues) == 3
    assert queues.n_unique() == 1


def test_several_jobs_and_the_order_of_finishing_change_nothing(tiny: Scenario, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "three"]
    for folder, jobs in zip(folders, (1, 3), strict=True):
        aqmlab.sweep(tiny, VARY, ["lred", "pi"], 3, out=folder, jobs=jobs)
    assert data_set(folders[0]) == data_set(folders[1])


def test_the_key_is_of_all_that_results_depend_on(tiny: Scenario) -> None:
    own = task.digest(tiny)
    for same in (tiny.with_(title="Another"), tiny.with_(seed=9), tiny.with_({"record.series": False})):
        assert task.digest(same) == own
    study = Scenario.parse(f"{tiny.to_toml()}\n[sweep]\nseeds = 4\n")
    assert task.digest(study) == own
    for other in (tiny.with_(duration="3 s"), tiny.with_aqm("pi"), tiny.with_({"response.band": 0.3})):
        assert task.digest(other) != own
    assert task.key(own, 1) != task.key(own, 2)


def test_results_of_another_engine_are_not_mixed_in(
    tiny: Scenario, tmp_path: Path, simulated: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    aqmlab.sweep(tiny, VARY, seeds=1, store=tmp_path)
    before = _core.engine_version
    assert before.startswith(f"{_core.__version__}+")
    monkeypatch.setattr(_core, "engine_version", f"{before}1")
    aqmlab.sweep(tiny, VARY, seeds=1, store=tmp_path)
    assert len(simulated) == 6


def traced(file: Path, packets: int, size: int = 500) -> Scenario:
    """Write a trace, and return a scenario that replays it."""
    file.write_text("time,size\n" + "".join(f"{number / 100},{size}\n" for number in range(packets)))
    os.utime(file, (0, 0))  # the file's time must not stand for its content
    return Scenario.parse(f"duration = '2 s'\n[dumbbell]\n[[traffic]]\nkind = 'trace'\nfile = '{file}'\n")


def test_the_content_of_a_trace_counts_and_not_its_place(tmp_path: Path) -> None:
    own = task.digest(traced(tmp_path / "a.csv", 2, 100))
    assert task.digest(traced(tmp_path / "b.csv", 2, 100)) == own
    assert task.digest(traced(tmp_path / "b.csv", 2, 200)) != own
    assert task.digest(traced(tmp_path / "b.csv", 3, 100)) != own
    (tmp_path / "c.csv").write_text("size,time,flow\n100,7.00,1\n100,7.01,2\n")
    same = traced(tmp_path / "b.csv", 2).with_({"traffic.1.file": str(tmp_path / "c.csv")})
    assert task.digest(same) == own, "the packets count, not how they are written"


def test_a_trace_that_is_written_anew_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    scenario = traced(file, 90)
    for packets, size in ((90, 500), (50, 500), (50, 600), (90, 500)):
        traced(file, packets, size)
        swept = aqmlab.sweep(scenario, store=tmp_path / "store")
        alone = aqmlab.run(scenario)
        assert swept.frame["arrivals"].to_list() == [packets] == [alone.metrics["arrivals"]]
        assert swept.frame["throughput"].to_list() == [alone.metrics["throughput"]]
    assert swept.simulated == 0, "the first of them is still there"
    assert len(Store(tmp_path / "store").frame(swept_keys(tmp_path / "store"))) == 3


def swept_keys(store: Path) -> set[bytes]:
    return {key for file in (store / "parts").iterdir() for key in polars.read_parquet(file)["key"]}


def test_a_trace_that_changes_under_a_sweep_fails_its_runs_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = traced(tmp_path / "a.csv", 90)
    simulate = local.simulate

    def changing(one: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
        if one.seed == 3:
            traced(tmp_path / "a.csv", 50)
            task._read.cache_clear()  # as in a process that starts later
        return simulate(one, watch)

    monkeypatch.setattr(local, "simulate", changing)
    swept = aqmlab.sweep(scenario, seeds=[1, 2, 3, 4], jobs=1)
    assert swept.frame.select("seed", "arrivals").rows() == [(1, 90), (2, 90)]
    assert [one.seed for one in swept.failures] == [3, 4]
    assert "a trace has changed since the runs were planned; the same again" in str(swept.failures[0])


def test_series_are_not_recorded_and_metrics_are_the_same_without(tiny: Scenario) -> None:
    bare = _core.Simulation(tiny.with_({"record.series": False}).core, 7)
    bare.advance(tiny.duration)
    assert json.loads(bare.results())["metrics"] == aqmlab.run(tiny).runs[0].metrics


def test_whole_numbers_and_others_are_one_column(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.q0": "10,10.5..11"})
    assert list(swept.frame["aqm.q0"]) == [10.0, 10.5, 11.0]


def test_a_part_of_a_parameter_may_vary(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.design.n": [100, 200]}, ["pistar", "droptail"])
    assert (swept.done, swept.failures) == (4, ())
    assert swept.frame["key"].n_unique() == 3


def test_differences_are_paired_and_have_students_interval(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.q0": "10,30"}, ["lred", "pi", "red"], 4)
    found = swept.differences("queue_mean", to="lred")
    assert found.select("aqm", "to").unique(maintain_order=True).rows() == [("pi", "lred"), ("red", "lred")]
    for row in found.filter(aqm="pi").iter_rows(named=True):
        at = swept.frame.filter(polars.col("aqm.q0") == row["aqm.q0"])
        own, other = (at.filter(aqm=label)["queue_mean"].to_numpy() for label in ("pi", "lred"))
        interval = stats.ttest_rel(own, other).confidence_interval(0.95)
        assert row["difference"] - row["ci95"] == pytest.approx(interval.low)
        assert row["difference"] + row["ci95"] == pytest.approx(interval.high)
        assert row["runs"] == 4
    pairs = swept.differences("queue_mean").select("aqm", "to").unique(maintain_order=True).rows()
    assert pairs == [("pi", "lred"), ("red", "lred"), ("red", "pi")]


def test_a_pair_counts_only_when_both_have_a_value(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {}, ["lred", "pi"], 3)
    holed = polars.when(polars.col("seed") == 8, polars.col("aqm") == "pi").then(None)
    frame = swept.frame.with_columns(holed.otherwise(polars.col("queue_mean")).alias("queue_mean"))
    holed_sweep = replace(swept, frame=frame)
    (row,) = holed_sweep.differences("queue_mean").to_dicts()
    (whole,) = aqmlab.sweep(tiny, {}, ["lred", "pi"], [7, 9]).differences("queue_mean").to_dicts()
    assert (row["runs"], row["difference"], row["ci95"]) == (2, whole["difference"], whole["ci95"])


def test_a_summary_is_that_of_a_comparison(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {}, ["lred", "pi"], 4).summary
    results = aqmlab.compare(tiny, ["lred", "pi"], 4)
    for row in swept.iter_rows(named=True):
        for name, summary in results[row["aqm"]].summary.items():
            assert row[name] == (None if summary.mean is None else pytest.approx(summary.mean))
            assert row[f"{name}_ci95"] == (None if summary.ci95 is None else pytest.approx(summary.ci95, abs=1e-9))


def test_one_seed_has_no_interval(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, VARY, ["lred", "pi"])
    assert swept.summary["queue_mean_ci95"].is_null().all()
    assert swept.differences("queue_mean", "pi")["ci95"].is_null().all()


def test_the_best_is_the_least_or_the_largest(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, VARY, ["lred", "pi", "droptail"], 2)
    means = swept.summary
    assert swept.best("goodput")["goodput"][0] == means["goodput"].max()
    assert swept.best("queue_mean")["queue_mean"][0] == means["queue_mean"].min()
    assert swept.best("queue_mean", largest=True)["queue_mean"][0] == means["queue_mean"].max()
    each = swept.best("queue_mean", by="aqm")
    assert list(each["aqm"]) == ["lred", "pi", "droptail"]
    assert list(swept.best("queue_mean", by="aqm.q0")["aqm.q0"]) == [10, 20, 30]
    with pytest.raises(LookupError, match="queue_mea: no such metric"):
        swept.best("queue_mea")
    with pytest.raises(LookupError, match=r"must be of aqm, aqm\.q0"):
        swept.best("goodput", by="q0")


def test_a_sweep_reads_what_it_writes(tiny: Scenario, tmp_path: Path) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.q0": "10,-10", "traffic.long.tcp": "rfc,linux"}, ["lred"], 2, out=tmp_path)
    loaded = Sweep.load(tmp_path)
    assert loaded.frame.equals(swept.frame)
    assert json.dumps(loaded.document()) == json.dumps(swept.document())
    assert loaded.failures == swept.failures
    assert loaded.is_saved_in(tmp_path)
    assert not aqmlab.sweep(tiny, VARY).is_saved_in(tmp_path)
    one_line = polars.read_parquet(tmp_path / "results" / "*.parquet")
    assert one_line.equals(swept.frame)
    assert list(one_line["traffic.long.tcp"].unique().sort()) == ["linux", "rfc"]


def test_fewer_files_than_before_leave_none_behind(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = aqmlab.sweep(tiny, VARY, seeds=2)
    with monkeypatch.context() as patch:
        patch.setattr("aqmlab.sweeps.result.FILE_RUNS", 2)
        swept.save(tmp_path)
    assert len(data_set(tmp_path)) == 3
    assert Sweep.load(tmp_path).frame.equals(swept.frame)
    swept.save(tmp_path)
    assert list(data_set(tmp_path)) == ["00000.parquet"]


def test_a_bad_point_does_not_stop_the_others(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.q0": "10,-10,20"}, ["lred", "pi"], 2)
    assert (swept.done, swept.failed, swept.wanted) == (8, 4, 12)
    assert [(one.aqm, one.point, one.seed) for one in swept.failures] == [
        ("lred", {"aqm.q0": -10}, None),
        ("pi", {"aqm.q0": -10}, None),
    ]
    assert "must be in [0, 1e9]" in str(swept.failures[0])


def test_a_run_that_breaks_off_is_listed_and_not_kept(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Panic(BaseException):
        pass

    class Failing:
        def __init__(self, scenario: _core.Scenario, seed: int) -> None:
            if seed == 8:
                raise Panic("index out of bounds")
            if seed == 9:
                raise MemoryError
            self.real = simulation(scenario, seed)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

    simulation = _core.Simulation
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Simulation", Failing)
        swept = aqmlab.sweep(tiny, VARY, ["lred"], 3, store=tmp_path)
    assert (swept.done, len(swept.failures)) == (3, 6)
    assert str(swept.failures[0]) == "lred, aqm.q0 = 10, seed 8: Panic: index out of bounds"
    again = aqmlab.sweep(tiny, VARY, ["lred"], 3, store=tmp_path)
    assert (again.simulated, again.failures) == (6, ())


def test_a_sweep_of_which_every_run_fails_can_be_saved(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "simulate", lambda *_: Outcome(error="out of luck"))
    swept = aqmlab.sweep(tiny, VARY, seeds=2, out=tmp_path)
    assert (swept.done, len(swept.failures), len(swept.summary)) == (0, 6, 0)
    loaded = Sweep.load(tmp_path)
    assert (loaded.done, loaded.failures, repr(loaded)) == (0, swept.failures, "Small (none of 6 runs finished)")


def test_a_sweep_of_which_anything_is_damaged_is_refused_by_name(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, VARY, seeds=2, out=tmp_path)
    rng = random.Random(1)
    for name in ("results/00000.parquet", "sweep.json", "scenario.toml"):
        file = tmp_path / name
        sound = file.read_bytes()
        damaged = [sound[:-1], b"", b"{}", b"PAR1 and no more", sound + b"\n", bytes(len(sound))]
        for _ in range(100):
            flipped = bytearray(sound)
            flipped[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
            damaged.append(bytes(flipped))
        for data in damaged:
            file.write_bytes(data)
            with pytest.raises(ValueError, match=rf"{name}: .* to recreate it: repeat the sweep that wrote it"):
                Sweep.load(tmp_path)
        file.unlink()
        with pytest.raises((ValueError, FileNotFoundError), match=name):
            Sweep.load(tmp_path)
        file.write_bytes(sound)
    assert Sweep.load(tmp_path).done == 6


def test_files_of_a_sweep_that_are_exchanged_or_of_another_are_refused(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.sweeps.result.FILE_RUNS", 2)
    aqmlab.sweep(tiny, VARY, out=tmp_path / "one")
    aqmlab.sweep(tiny, {"aqm.q0": "11,21..31"}, out=tmp_path / "two")
    first, second = (tmp_path / "one/results" / name for name in ("00000.parquet", "00001.parquet"))
    first.rename(tmp_path / "aside")
    second.rename(first)
    (tmp_path / "aside").rename(second)
    with pytest.raises(ValueError, match=r"00000\.parquet: not the file that was saved"):
        Sweep.load(tmp_path / "one")
    (tmp_path / "two/sweep.json").replace(tmp_path / "one/sweep.json")
    with pytest.raises(ValueError, match="not the file that was saved"):
        Sweep.load(tmp_path / "one")


def test_a_sweep_of_another_version_is_refused(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, VARY, out=tmp_path)
    (tmp_path / "sweep.json").write_bytes(sealed({"wanted": 3, "files": {}}))
    with pytest.raises(ValueError, match=r"sweep\.json: from another version of aqmlab \(no scenario\.toml"):
        Sweep.load(tmp_path)


def adds_up(swept: Sweep) -> bool:
    return swept.done + swept.failed == swept.wanted


def test_runs_that_are_lost_under_a_sweep_are_done_again(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(standing: Standing) -> None:
        if standing.done >= 4 and not gone:
            gone.extend((tmp_path / "journals").iterdir())
            for file in gone:
                file.unlink()

    gone: list[Path] = []
    monkeypatch.setattr(local, "SLICE", 0.001)
    swept = aqmlab.sweep(tiny, VARY, ["lred", "pi"], 3, store=tmp_path, progress=lose, jobs=1)
    assert gone
    assert (swept.done, swept.wanted, swept.failures) == (18, 18, ())
    assert swept.frame.equals(aqmlab.sweep(tiny, VARY, ["lred", "pi"], 3).frame)


def test_series_that_are_lost_under_a_run_are_done_again(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_series = Store.add_series
    done: list[str] = []

    def forgetful(self: Store, name: str, data: bytes) -> None:
        add_series(self, name, data)
        done.append(name)
        if len(done) == 2:
            (lost,) = (tmp_path / "series").glob(f"{done[0]}-*")
            lost.unlink()

    monkeypatch.setattr(Store, "add_series", forgetful)
    (swept,) = runner.run_all([study(tiny, VARY, series=True)], tmp_path, jobs=1)
    assert (swept.done, swept.simulated, swept.wanted, swept.failures) == (3, 3, 3, ())
    assert len(done) == 4
    assert Store(tmp_path).recorded() == set(done)


@pytest.mark.parametrize("damage", ["truncated", "zeroed", "removed"])
def test_tables_that_are_damaged_under_a_sweep_are_done_again(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    aqmlab.sweep(tiny, VARY, ["lred"], 2, store=tmp_path)
    finished = Store.finished
    parts: list[Path] = []

    def found(self: Store, wanted: set[bytes]) -> set[bytes]:
        there = finished(self, wanted)
        parts.extend((tmp_path / "parts").iterdir())
        for part in parts:
            data = part.read_bytes()
            part.write_bytes(data[:-100] if damage == "truncated" else bytes(len(data)))
            if damage == "removed":
                part.unlink()
        return there

    monkeypatch.setattr(Store, "finished", found)
    swept = aqmlab.sweep(tiny, VARY, ["lred"], 2, store=tmp_path)
    assert parts
    assert (swept.done, swept.simulated, swept.wanted, swept.failures) == (6, 6, 6, ())
    assert swept.damage == ({} if damage == "removed" else {os.fspath(parts[0]): 6})


def test_runs_that_are_lost_again_and_again_fail_with_a_status_of_their_own(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_cli: Cli, small_file: Path
) -> None:
    add = Store.add
    tried: list[bytes] = []

    def forgetful(self: Store, payload: bytes) -> None:
        document = task.opened(payload)[1]
        tried.append(payload[:32])
        if document["seed"] != 8:
            add(self, payload)

    monkeypatch.setattr(Store, "add", forgetful)
    swept = aqmlab.sweep(tiny, {"aqm.q0": "10,-10,20"}, ["lred", "pi"], 2, store=tmp_path / "store")
    assert (swept.done, swept.failed, swept.wanted, adds_up(swept)) == (4, 8, 12, True)
    assert [(one.seed, one.lost) for one in swept.failures] == [(None, False)] * 2 + [(8, True)] * 4
    assert "done and not in" in str(swept.failures[-1])
    assert len(tried) == 4 + 3 * 4
    done = quick_cli("sweep", small_file, "--vary", "aqm.q0=10,20", "--seeds", "2", "--set", "duration=2 s")
    assert done.returncode == 3
    assert done.stderr.startswith("2 failed:\n  lred, aqm.q0 = 10, seed 8: done and not in out/small/store afterwards")


def test_nothing_valid_at_all_is_an_error(tiny: Scenario) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r'dumbbell.rat: unknown key; did you mean "rate"'):
        aqmlab.sweep(tiny, {"dumbbell.rat": "1,2"})
    with pytest.raises(aqmlab.ScenarioError, match=r'q00: unknown key; did you mean "q0"'):
        aqmlab.sweep(tiny, {"aqm.q00": "1,2"}, ["lred", "pi"])
    # At once, without checking each of a million points, some of which may be invalid for another reason.
    with pytest.raises(aqmlab.ScenarioError, match=r'lng: no such entry; did you mean "long"'):
        aqmlab.sweep(tiny, {"aqm.q0": "0,1..999", "traffic.lng.count": "0,1..999"})
    with pytest.raises(ValueError, match=r"aqm\.q0 and aqm\.q_ref are one parameter"):
        aqmlab.sweep(tiny, {"aqm.q0": "10,20", "aqm.q_ref": "30,40"}, ["droptail", "pi"])
    with pytest.raises(ValueError, match=r"traffic\.1\.count and traffic\.long\.count are one parameter"):
        aqmlab.sweep(tiny, {"traffic.1.count": 5, "dumbbell.delay": "1,2 ms", "traffic.long.count": "3,4"})
    with pytest.raises(ValueError, match="none of pi, droptail has beta"):
        aqmlab.sweep(tiny, {"aqm.beta": "1,2"}, ["pi", "droptail"])


def test_texts_in_the_place_of_a_scenario_or_a_list_are_refused_with_the_cure(tiny: Scenario) -> None:
    with pytest.raises(TypeError, match=r"load it with Scenario\.load\('tiny\.toml'\)"):
        aqmlab.sweep("tiny.toml", VARY)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a list of texts: \['lred'\]"):
        aqmlab.sweep(tiny, VARY, "lred")


def test_a_study_says_what_a_call_does(tiny: Scenario) -> None:
    table = "[sweep]\naqm = ['lred', 'pi']\nseeds = 2\n[sweep.vary]\n'aqm.q0' = '10,20..30'\n"
    study = Scenario.parse(f"{tiny.to_toml()}\n{table}")
    swept, same = aqmlab.sweep(study), aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2)
    assert swept.frame.equals(same.frame)
    fewer = aqmlab.sweep(study, {"aqm.q0": [20]}, ["rem"], 1)
    assert fewer.frame.select("aqm", "aqm.q0", "seed").rows() == [("rem", 20, 7)]


def test_a_drawn_design_is_recorded(tiny: Scenario, tmp_path: Path) -> None:
    swept = aqmlab.sweep(tiny, {"aqm.q0": "uniform(10, 40)"}, method="latin", samples=5, sample_seed=3, out=tmp_path)
    assert (swept.method, swept.sample_seed) == ("latin", 3)
    assert json.loads((tmp_path / "sweep.json").read_text())["sample_seed"] == 3
    assert swept.frame["aqm.q0"].n_unique() == 5
    with pytest.raises(ValueError, match="the method is grid"):
        aqmlab.sweep(tiny, VARY, method="grid", samples=5)


def test_progress_ends_at_one_and_counts_what_was_there(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, VARY, seeds=1, store=tmp_path)
    seen: list[Standing] = []
    aqmlab.sweep(tiny, VARY, seeds=2, store=tmp_path, progress=seen.append)
    fractions = [one.fraction for one in seen]
    assert fractions == sorted(fractions)
    assert seen[-1] == Standing(1.0, 6, 6, 0)


def test_an_interrupt_keeps_what_was_finished(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    def progress(standing: Standing) -> None:
        if standing.done >= 2:
            raise KeyboardInterrupt

    long = tiny.with_(duration="60 s")
    with pytest.raises(aqmlab.SweepInterrupted, match=r"interrupted: \d+ of 60 runs finished") as stopped:
        aqmlab.sweep(long, VARY, seeds=20, out=tmp_path, jobs=1, progress=progress)
    assert 2 <= stopped.value.finished.done < 60
    assert Sweep.load(tmp_path).interrupted
    before = len(simulated)
    finished = aqmlab.sweep(long, VARY, seeds=20, out=tmp_path)
    assert len(simulated) - before == 60 - stopped.value.finished.done
    assert finished.done == 60


def test_an_error_in_the_store_stops_the_sweep(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object, __: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runner.Store, "add", full)
    with pytest.raises(OSError, match="No space left"):
        aqmlab.sweep(tiny, VARY, seeds=2)


@pytest.mark.parametrize("change", ["rename", "replace"])
def test_a_store_that_may_only_be_read_is_read(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    aqmlab.sweep(tiny, VARY, seeds=2, store=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(runner.Store, "compact", lambda _: None)
        if change == "rename":  # the journal of a process that was killed
            patch.setattr(runner.Store, "close", lambda _: None)
        aqmlab.sweep(tiny, VARY, seeds=3, store=tmp_path)
    assert len(os.listdir(tmp_path / "journals")) == 1

    def refused(self: Path, _: Path) -> None:
        raise OSError(30, "Read-only file system", os.fspath(self))

    monkeypatch.setattr(Path, change, refused)
    monkeypatch.setattr("aqmlab.sweeps.store.is_left", lambda _: True)
    swept = aqmlab.sweep(tiny, VARY, seeds=3, store=tmp_path)
    assert (swept.done, swept.simulated, swept.damage) == (9, 0, {})


def test_tasks_take_turns_so_that_an_interrupted_sweep_is_balanced(tiny: Scenario, simulated: list[Task]) -> None:
    aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2, jobs=1)
    assert [one.seed for one in simulated] == [7] * 6 + [8] * 6


def test_an_engine_of_ones_own_does_the_tasks(tiny: Scenario) -> None:
    threads = set()

    def executor(
        tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]
    ) -> None:
        for one in list(tasks)[::-1]:
            threads.add(threading.current_thread())
            on_done(one, task.simulate(one) or Outcome())
            watch(0.0)

    own = aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2, executor=executor)
    assert own.frame.equals(aqmlab.sweep(tiny, VARY, ["lred", "pi"], 2).frame)
    assert threads == {threading.current_thread()}


def test_a_point_that_needs_too_much_memory_is_a_bad_point(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    free = tiny.with_({"traffic.long.count": 500, "record.series": False}).memory
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Free", (), {"available": free})())
    swept = aqmlab.sweep(tiny, {"traffic.long.count": "3,50000"})
    assert (swept.done, len(swept.failures)) == (1, 1)
    assert "GB of memory needed" in swept.failures[0].error
    with pytest.raises(MemoryError, match="simulate fewer flows"):
        aqmlab.sweep(tiny, {"traffic.long.count": "50000,60000"})


def test_as_many_runs_meet_as_there_is_memory_for(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    jobs: list[int] = []
    executor = local.executor
    monkeypatch.setattr(local, "executor", lambda count: jobs.append(count) or executor(count))
    memory = tiny.with_({"record.series": False}).memory
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Free", (), {"available": 2 * memory + 1})())
    aqmlab.sweep(tiny, seeds=4, jobs=4)
    assert jobs == [2]


STUDY = """
[sweep]
aqm = ["lred", "pi"]
seeds = 20

[sweep.vary]
"aqm.q0" = "10,20..40"
"""


def recorded(folder: Path) -> int:
    """Return the total size of all journals in bytes."""
    count = 0
    for file in (folder / "store" / "journals").glob("*"):
        with suppress(FileNotFoundError):  # it has become a part
            count += file.stat().st_size
    return count


def test_kill_9_twice_and_completed_is_bit_for_bit_the_same(small: Scenario, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(small.with_(duration="20 s").to_toml() + STUDY, encoding="utf-8")
    command = [sys.executable, "-m", "aqmlab", "sweep", str(study), "--out", str(tmp_path / "killed")]
    there = 0
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            target = recorded(tmp_path / "killed") + 40_000
            while process.poll() is None and recorded(tmp_path / "killed") < target:
                time.sleep(0.002)
            assert process.poll() is None, "it was too fast to be killed"
            process.kill()
        parts = (tmp_path / "killed" / "store" / "parts").glob("*.parquet")
        there = sum(int(part.name.split("-")[0]) for part in parts)
    assert there > 0, "the second call found what the first had done"
    done, whole = (aqmlab.sweep(Scenario.load(study), out=tmp_path / name) for name in ("killed", "undisturbed"))
    assert 0 < done.simulated < done.wanted == done.done == 160
    assert whole.simulated == 160
    assert data_set(tmp_path / "killed") == data_set(tmp_path / "undisturbed")
    assert done.document()["points"] == whole.document()["points"]


SHARING = """
import sys, aqmlab
scenario = aqmlab.Scenario.load(sys.argv[1])
aqmlab.sweep(scenario, {"aqm.q0": "10,20..40"}, seeds=5, store="shared", out=sys.argv[2])
"""


def test_two_processes_share_a_store(small_file: Path, tmp_path: Path) -> None:
    def start(name: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", SHARING, str(small_file), name], cwd=tmp_path)

    both = [start("a"), start("b")]
    assert [process.wait(60) for process in both] == [0, 0]
    assert data_set(tmp_path / "a") == data_set(tmp_path / "b")


def test_the_command_prints_and_writes(cli: Cli, small_file: Path, tmp_path: Path) -> None:
    options = ["--vary", "aqm.q0=10,20", "--aqm", "lred", "--aqm", "pi", "--seeds", "2", "--out", "deep/out"]
    done = cli("sweep", small_file, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Differences to lred" in done.stdout
    assert "8 runs simulated now" in done.stdout
    names = {file.name for file in (tmp_path / "deep/out").iterdir()}
    assert names == {"figure.png", "figure.svg", "report.html", "results", "scenario.toml", "store", "sweep.json"}
    drawn = (tmp_path / "deep/out/figure.png").stat()
    again = cli("sweep", small_file, *options)
    assert "nothing to do" in again.stdout
    assert (tmp_path / "deep/out/figure.png").stat() == drawn, "nothing is drawn again"
    (tmp_path / "deep/out/figure.svg").unlink()
    assert "figure.svg" in cli("sweep", small_file, *options).stdout
    assert (tmp_path / "deep/out/figure.svg").is_file(), "what is said to be written is there"


def test_results_are_written_though_nobody_reads_the_table(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("typer.echo", closed)
    with pytest.raises(BrokenPipeError):
        sweep._deliver(aqmlab.sweep(tiny, seeds=2), tmp_path, json=False)
    assert (tmp_path / "report.html").is_file()
    assert Sweep.load(tmp_path).done == 2


def test_the_command_without_out_writes_into_out_and_the_name(cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", small_file, "--vary", "aqm.q0=10,20", "--json")
    assert (done.returncode, done.stderr[:21]) == (0, "written to out/small:")
    assert json.loads(done.stdout)["done"] == 2
    assert len(polars.read_parquet(tmp_path / "out/small/results/*.parquet")) == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--vary", "aqm.q0"], "PATH=VALUES"),
        (["--vary", "aqm.q0=1", "--vary", "aqm.q0=2"], "given twice"),
        (["--vary", "aqm.q0=1..9"], "no step"),
        (["--vary", "aqm.q00=1,9"], 'did you mean "q0"'),
        (["--vary", "dumbbell.rat=1,9"], 'did you mean "rate"'),
        (["--vary", "traffic.lng.count=1,9"], 'did you mean "long"'),
        (["--vary", "aqm=lred,pi"], "--aqm says"),
        (["--method", "halton"], "halton"),
        (["--aqm", "lrd"], "lred"),
        (["--aqm", "lred", "--set", "aqm.q0=9"], "--vary aqm.q0=9"),
        (["--seeds", "0"], "--seeds"),
        (["--store", "small.toml"], "small.toml: not a folder"),
        (["--method", "grid", "--samples", "9"], "the method is grid"),
    ],
)
def test_bad_usage_exits_2_and_writes_nothing(
    cli: Cli, small_file: Path, tmp_path: Path, options: list[str], complaint: str
) -> None:
    done = cli("sweep", small_file, *options)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out/small/results").exists()


def test_a_failure_exits_1_and_is_listed_at_the_end(cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", small_file, "--vary", "aqm.q0=10,-10")
    assert done.returncode == 1
    assert done.stderr.startswith("1 failed:\n  lred, aqm.q0 = -10: ")
    assert len(polars.read_parquet(tmp_path / "out/small/results/*.parquet")) == 1


def test_ctrl_c_exits_130_and_the_next_call_goes_on(small_file: Path, tmp_path: Path) -> None:
    options = ["--vary", "aqm.q0=10,20..60", "--seeds", "80", "--set", "duration=20 s", "--out", "out"]
    command = [sys.executable, "-m", "aqmlab", "sweep", str(small_file), *options]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and recorded(tmp_path / "out") < 5_000:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("runs are there; the same again does the rest\n")
    there = Sweep.load(tmp_path / "out").done
    assert 0 < there < 480
    scenario = Scenario.load(small_file).with_(duration="20 s")
    again = aqmlab.sweep(scenario, {"aqm.q0": "10,20..60"}, seeds=80, out=tmp_path / "out")
    assert again.simulated == 480 - there


def test_a_corrupt_part_is_reported_and_done_again(cli: Cli, small_file: Path, tmp_path: Path) -> None:
    options = ["--vary", "aqm.q0=10,20", "--seeds", "2", "--out", "out"]
    aqmlab.sweep(Scenario.load(small_file), {"aqm.q0": "10,20"}, seeds=2, out=tmp_path / "out")
    before = data_set(tmp_path / "out")
    (part,) = (tmp_path / "out/store/parts").iterdir()
    data = bytearray(part.read_bytes())
    data[100] ^= 1
    part.write_bytes(data)
    done = cli("sweep", small_file, *options, "--json")
    assert done.returncode == 0
    assert f"{part.name}: damaged; 4 runs" in done.stderr
    assert json.loads(done.stdout)["simulated"] == 4
    assert data_set(tmp_path / "out") == before


def test_the_shipped_study_is_experiment_3() -> None:
    study = Scenario.load("lred/exp3").study
    assert study is not None
    assert [entry["value"] for entry in study["vary"]] == ["20,40..160"]
    assert [spec.partition(":")[0] for spec in study["aqm"]] == ["lred", "pi", "pistar", "rem"]
    assert math.isclose(Scenario.load("lred/exp3").with_aqm(study["aqm"][2]).duration, 200)


def test_validate_reads_what_a_study_varies(cli: Cli, small: Scenario, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(small.to_toml() + STUDY, encoding="utf-8")
    assert cli("validate", study).stdout.endswith("; a sweep of it has 160 runs\n")
    study.write_text(small.to_toml() + STUDY.replace("10,20..40", "10..40"), encoding="utf-8")
    line = study.read_text().split('"aqm.q0"')[0].count("\n") + 1
    done = cli("validate", study)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{study}:{line}: sweep.vary.aqm.q0: 10..40 has no step")


def test_a_study_with_typos_is_told_of_all_of_them_with_their_lines(cli: Cli, small: Scenario, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text("titel = 'x'\n" + small.to_toml() + STUDY.replace("seeds", "seds"), encoding="utf-8")
    done = cli("sweep", study)
    assert done.returncode == 2
    assert f'{study}:1: titel: unknown key; did you mean "title"?' in done.stderr
    assert 'sweep.seds: unknown key; did you mean "seeds"?' in done.stderr
    study.write_text(small.to_toml() + STUDY.replace("aqm.q0", "dumbbell.rat"), encoding="utf-8")
    line = study.read_text().split('"dumbbell.rat"')[0].count("\n") + 1
    for command in ("sweep", "validate"):
        done = cli(command, study)
        assert done.returncode == 2
        assert f'{study}:{line}: sweep.vary.dumbbell.rat: dumbbell.rat: unknown key; did you mean "rate"' in done.stderr


def test_the_journal_of_a_sweep_is_its_own(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, VARY, seeds=2, store=tmp_path)
    assert os.listdir(tmp_path / "journals") == []
    assert len(os.listdir(tmp_path / "parts")) == 1

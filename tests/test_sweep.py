"""Sweeps: which runs they take, and how these are done."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import polars
import pytest
from sweeping import VARY, data_set

import aqmlab
from aqmlab import Scenario, _core
from aqmlab.execute import task
from aqmlab.execute import threads as local
from aqmlab.execute.progress import Progress
from aqmlab.execute.task import Outcome, Task
from aqmlab.runs.store import Store


def test_every_point_of_every_discipline_has_the_same_seeds(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY | {"dumbbell.delay": "2 ms,4"}, aqms=["lred", "pi"], seeds=2)
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
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2)
    alone = aqmlab.run(tiny.with_(aqm="pi").with_({"aqm.q0": 30}), seeds=[8]).runs[0]
    (row,) = swept.frame.filter(aqm="pi", seed=8).filter(polars.col("aqm.q0") == 30).to_dicts()
    assert {name: row[name] for name in alone.metrics} == alone.metrics
    assert row["classes.long.goodput"] == alone.classes["long"]["goodput"]
    assert row["links.bottleneck.queue_mean"] == alone.links["bottleneck"]["queue_mean"]
    assert (row["engine.packets"], row["engine.events"]) == (alone.engine["packets"], alone.engine["events"])


def test_a_second_call_runs_nothing_and_gives_the_same(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    first = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2, out=tmp_path)
    assert len(simulated) == 12
    again = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2, out=tmp_path)
    assert (len(simulated), again.simulated) == (12, 0)
    assert again.frame.equals(first.frame)


def test_only_what_is_missing_runs(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    aqmlab.sweep(tiny, vary=VARY, aqms=["lred"], seeds=2, store=tmp_path)
    aqmlab.sweep(tiny, vary={"aqm.q0": "10,20..40"}, aqms=["lred", "pi"], seeds=3, store=tmp_path)
    assert len(simulated) == 6 + (4 * 3 - 6) + 4 * 3
    assert len({one.key for one in simulated}) == len(simulated)


def test_a_discipline_without_the_parameter_runs_once_for_all_points(tiny: Scenario, simulated: list[Task]) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "droptail"], seeds=2)
    assert len(simulated) == 6 + 2
    queues = swept.frame.filter(aqm="droptail", seed=7)["queue_mean"]
    assert len(queues) == 3
    assert queues.n_unique() == 1


def test_several_jobs_and_the_order_of_finishing_change_nothing(tiny: Scenario, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "three"]
    for folder, jobs in zip(folders, (1, 3), strict=True):
        aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=3, out=folder, jobs=jobs)
    assert data_set(folders[0]) == data_set(folders[1])


def test_the_key_is_of_all_that_results_depend_on(tiny: Scenario) -> None:
    own = task.digest(tiny)
    for same in (tiny.with_(title="Another"), tiny.with_(seed=9), tiny.with_({"record.series": False})):
        assert task.digest(same) == own
    study = Scenario.parse(f"{tiny.to_toml()}\n[sweep]\nseeds = 4\n")
    assert task.digest(study) == own
    for other in (tiny.with_(duration="3 s"), tiny.with_(aqm="pi"), tiny.with_({"response.band": 0.3})):
        assert task.digest(other) != own
    assert task.key(own, 1) != task.key(own, 2)


def test_results_of_another_engine_are_not_mixed_in(
    tiny: Scenario, tmp_path: Path, simulated: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    aqmlab.sweep(tiny, vary=VARY, seeds=1, store=tmp_path)
    before = _core.engine_version
    assert before.startswith(f"{_core.__version__}+")
    monkeypatch.setattr(_core, "engine_version", f"{before}1")
    aqmlab.sweep(tiny, vary=VARY, seeds=1, store=tmp_path)
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


def test_a_trace_that_is_written_reloaded_is_another_run(tmp_path: Path) -> None:
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
    assert "a trace has changed since the runs were planned; rerunning uses its present content" in str(
        swept.failures[0]
    )


def test_a_bad_point_does_not_stop_the_others(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,-10,20"}, aqms=["lred", "pi"], seeds=2)
    assert (swept.done, swept.failed, swept.wanted) == (8, 4, 12)
    assert [(one.aqm, one.point, one.seed) for one in swept.failures] == [
        ("lred", {"aqm.q0": -10}, None),
        ("pi", {"aqm.q0": -10}, None),
    ]
    assert "must be in [0, 1e9]" in str(swept.failures[0])


def test_progress_ends_at_one_and_counts_what_was_there(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, vary=VARY, seeds=1, store=tmp_path)
    seen: list[Progress] = []
    aqmlab.sweep(tiny, vary=VARY, seeds=2, store=tmp_path, progress=seen.append)
    fractions = [one.fraction for one in seen]
    assert fractions == sorted(fractions)
    assert seen[-1] == Progress(1.0, 6, 6, 0)


def test_tasks_take_turns_so_that_an_interrupted_sweep_is_balanced(tiny: Scenario, simulated: list[Task]) -> None:
    aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2, jobs=1)
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

    own = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2, executor=executor)
    assert own.frame.equals(aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2).frame)
    assert threads == {threading.current_thread()}


def test_a_point_that_needs_too_much_memory_is_a_bad_point(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.execute.task.require_memory", lambda: None)  # this process is larger
    free = tiny.with_({"traffic.long.count": 500, "record.series": False})._memory
    monkeypatch.setattr("aqmlab.execute.limits._bytes", lambda *_: free)
    swept = aqmlab.sweep(tiny, vary={"traffic.long.count": "3,50000"})
    assert (swept.done, len(swept.failures)) == (1, 1)
    assert "GB of memory needed" in swept.failures[0].error
    with pytest.raises(MemoryError, match="are free: lower the count"):
        aqmlab.sweep(tiny, vary={"traffic.long.count": "50000,60000"})


def test_as_many_runs_meet_as_there_is_memory_for(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.execute.task.require_memory", lambda: None)  # this process is larger
    jobs: list[int] = []
    executor = local.executor
    monkeypatch.setattr(local, "executor", lambda count: jobs.append(count) or executor(count))
    memory = tiny.with_({"record.series": False})._memory
    monkeypatch.setattr("aqmlab.execute.limits._bytes", lambda *_: 2 * memory + 1)
    aqmlab.sweep(tiny, seeds=4, jobs=4)
    assert jobs == [2]

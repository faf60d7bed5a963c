"""Replications: order, interruption, failure, memory."""

import json
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab import Interrupted, Progress, RunFailed, Scenario, _core
from aqmlab.execute import threads
from aqmlab.execute.limits import free_memory
from aqmlab.execute.task import Outcome, Task
from aqmlab.execute.variants import spelled_out
from aqmlab.runs.cases import UNRECORDED

REAL = _core.Simulation


class Waiting:
    """A simulation that does nothing until its behaviour for its seed is set."""

    behaviour: dict[int, Any]

    def __init__(self, scenario: _core.Scenario, seed: int, *options: Any) -> None:
        self.real = REAL(scenario, seed, *options)
        self.seed = seed

    def advance(self, until: float, look: Callable[[float], bool]) -> bool:
        self.behaviour.get(self.seed, lambda: None)()
        return look(0.0) and self.real.advance(until, look)

    def results(self) -> str:
        return self.real.results()

    def violations(self) -> list[str]:
        return self.real.violations() if self.seed == 7 else ["link bottleneck: 9 sent, but 8 delivered"]

    def series(self) -> Any:
        return self.real.series()

    def cwnd(self) -> Any:
        return self.real.cwnd()

    def flows(self) -> Any:
        return self.real.flows()

    def qlogs(self) -> Any:
        return self.real.qlogs()


@pytest.fixture
def behaviour(monkeypatch: pytest.MonkeyPatch) -> dict[int, Any]:
    chosen: dict[int, Any] = {}
    monkeypatch.setattr(Waiting, "behaviour", chosen, raising=False)
    monkeypatch.setattr(_core, "Simulation", Waiting)
    return chosen


def test_several_jobs_give_the_same_as_one(small: Scenario) -> None:
    one, two = aqmlab.run(small, seeds=4, jobs=1), aqmlab.run(small, seeds=4, jobs=3)
    assert [run.metrics for run in one.runs] == [run.metrics for run in two.runs]


def test_the_order_is_that_of_the_seeds_whoever_finishes_first(small: Scenario, behaviour: dict[int, Any]) -> None:
    behaviour[7] = lambda: time.sleep(0.05)
    assert aqmlab.run(small, seeds=3, jobs=3).seeds == [7, 8, 9]
    assert aqmlab.run(small, seeds=[9, 2, 7], jobs=3).seeds == [9, 2, 7]


def test_slices_change_nothing(small: Scenario) -> None:
    whole, sliced = (_core.Simulation(small._core, 7) for _ in range(2))
    whole.advance(small.duration)
    for slice_ in range(1, 338):
        sliced.advance(small.duration * slice_ / 337)
    assert json.loads(whole.results())["metrics"] == json.loads(sliced.results())["metrics"]


def test_progress_ends_at_one_and_never_falls(small: Scenario, behaviour: dict[int, Any]) -> None:
    behaviour[7] = lambda: time.sleep(0.02)
    seen: list[float] = []
    threads = set()
    last: list[Progress] = []

    def progress(now: Progress) -> None:
        seen.append(now.fraction)
        last.append(now)
        threads.add(threading.current_thread())

    aqmlab.run(small, seeds=2, jobs=1, progress=progress)
    assert seen == sorted(seen)
    assert last[-1] == Progress(1.0, 2, 2)
    assert len(seen) > 1
    assert threads == {threading.current_thread()}


def test_runs_and_sweeps_have_one_executor(small: Scenario, simulated: list[Task]) -> None:
    aqmlab.compare(small, aqms=["lred", "pi"], seeds=2)
    assert sorted((task.label, task.seed) for task in simulated) == [("lred", 7), ("lred", 8), ("pi", 7), ("pi", 8)]
    simulated.clear()
    aqmlab.sweep(small, vary={"aqm.q0": [5, 9]})
    assert [task.seed for task in simulated] == [7, 7]


def test_recordings_are_the_memory_of_the_engine(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Outcome] = []
    simulate = threads.simulate

    def noted(task: Task, watch: Any) -> Outcome | None:
        outcome = simulate(task, watch)
        if outcome:
            outcomes.append(outcome)
        return outcome

    monkeypatch.setattr(threads, "simulate", noted)
    result = aqmlab.run(small.with_({"record.cwnd": "10 ms"}))
    assert outcomes[0].recording is result.recordings[7]
    assert outcomes[0].series == b"", "no file is made of it"
    assert len(result.series)
    assert len(result.cwnd_of(7))


class PanicException(BaseException):
    """Like that of the engine, which is not an Exception."""


@pytest.mark.parametrize("error", [RuntimeError("out of luck"), PanicException("index out of bounds")])
def test_a_failed_run_says_which_and_keeps_the_others(
    small: Scenario, behaviour: dict[int, Any], error: BaseException
) -> None:
    def fail() -> None:
        raise error

    behaviour[8] = fail
    with pytest.raises(RunFailed, match=f"run failed: lred, seed 8: {type(error).__name__}: {error}") as failed:
        aqmlab.run(small, seeds=3)
    assert failed.value.finished["lred"].seeds == [7, 9]


def test_a_failed_run_exits_1_after_reporting_the_others(
    small_file: Any, behaviour: dict[int, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from aqmlab import cli

    def fail() -> None:
        raise RuntimeError("out of luck")

    def exit_code(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["aqmlab", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return int(left.value.code or 0)

    behaviour[8] = fail
    assert exit_code("run", str(small_file), "--seeds", "2") == 1
    shown = capsys.readouterr()
    assert "seed 7" in shown.out
    assert "out of luck; the finished runs are reported" in shown.err


def test_a_check_changes_no_result(small: Scenario) -> None:
    plain, checked = aqmlab.run(small, seeds=2), aqmlab.run(small, seeds=2, check=True)
    assert [run.metrics for run in plain.runs] == [run.metrics for run in checked.runs]
    assert plain.series.equals(checked.series)
    with pytest.raises(RuntimeError, match="not accounted for"):
        _core.Simulation(small._core, 7).violations()


def test_a_run_that_does_not_add_up_is_not_reported(small: Scenario, behaviour: dict[int, Any]) -> None:
    with pytest.raises(RunFailed, match=r"seed 8: .*9 sent, but 8 delivered") as caught:
        aqmlab.run(small, seeds=2, check=True)
    assert caught.value.finished["lred"].seeds == [7]
    assert aqmlab.run(small, seeds=2).seeds == [7, 8]


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs go on although this process takes far more memory than a test says that there is."""
    monkeypatch.setattr("aqmlab.execute.task.require_memory", lambda: None)


def needed(scenario: Scenario) -> tuple[int, int]:
    """Return the bytes that a run takes for certain, and those that its series take afterwards."""
    bare = scenario.with_(UNRECORDED)
    return max(bare._known_memory, bare._memory // 2), scenario._known_memory - bare._known_memory


@pytest.mark.usefixtures("unguarded")
def test_memory_that_is_not_there_is_refused(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    small = small.with_(UNRECORDED)
    during, _ = needed(small)
    free = SimpleNamespace(available=during * 3 - 1)
    monkeypatch.setattr("aqmlab.execute.limits._bytes", lambda *_: free.available)
    aqmlab.run(small, seeds=3, jobs=2)
    with pytest.raises(MemoryError, match=r"for 3 simultaneous runs, and .* are free: use fewer jobs$"):
        aqmlab.run(small, seeds=3, jobs=3)
    free.available = during - 1
    with pytest.raises(MemoryError, match=r"GB of memory are needed, and .* are free: lower the buffer$"):
        aqmlab.run(small)
    many = small.with_({"traffic.long.count": 2000})
    with pytest.raises(MemoryError, match=r"are free: lower traffic\.long\.count$"):
        aqmlab.run(many)


def test_a_run_that_fills_the_memory_fails(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.execute.limits.free_memory", lambda: 0)
    long = small.with_({"duration": "100000 s"})
    with pytest.raises(RunFailed, match=r"seed 7: MemoryError: .* in use here, and 0\.00 GB are left: "):
        aqmlab.run(long)


def test_the_limits_of_a_process_count_as_its_memory(
    small: Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import psutil

    left = sum(needed(small)) - 1
    limit = psutil.Process().memory_info().vms + left
    monkeypatch.setattr("resource.getrlimit", lambda which: (limit, limit))
    with pytest.raises(MemoryError, match="lower "):
        aqmlab.run(small)
    monkeypatch.undo()
    aqmlab.run(small)
    (tmp_path / "own").write_text("0::/a/b\n")
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    for name, text in (("max", 9_000_000 + left), ("current", 10_000_000), ("stat", "anon 5\ninactive_file 1000000")):
        (folder / f"memory.{name}").write_text(f"{text}\n")
        (folder / "b" / f"memory.{name}").write_text("max\n")
    monkeypatch.setattr("aqmlab.execute.limits._GROUPS", tmp_path)
    monkeypatch.setattr("aqmlab.execute.limits._OWN", tmp_path / "own")
    assert free_memory() == left
    with pytest.raises(MemoryError, match="lower "):
        aqmlab.run(small)


def test_an_interrupted_comparison_is_balanced(small: Scenario, behaviour: dict[int, Any]) -> None:
    second_began, interrupted = threading.Event(), threading.Event()
    behaviour[8] = lambda: (second_began.set(), interrupted.wait(), time.sleep(0.2))

    def progress(_: Progress) -> None:
        if second_began.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="2 of 6 runs finished") as stopped:
        aqmlab.compare(small, aqms=["lred", "pi"], seeds=3, jobs=1, progress=progress)
    assert {label: result.seeds for label, result in stopped.value.finished.items()} == {"lred": [7], "pi": [7]}


@pytest.mark.usefixtures("unguarded")
def test_the_series_of_all_runs_count_as_memory(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = small.with_({"record.cwnd": "1 ms"})
    during, kept = needed(windows)
    free = SimpleNamespace(available=during + 3 * kept)
    monkeypatch.setattr("aqmlab.execute.limits._bytes", lambda *_: free.available)
    aqmlab.run(windows, seeds=3, jobs=1)
    free.available -= 1
    with pytest.raises(MemoryError, match=r"let record\.series = false: the series of all runs are kept in memory"):
        aqmlab.run(windows, seeds=3, jobs=1)


@pytest.mark.parametrize("seeds", [0, -1, 100_001, [], [1, 1], [-1], [2**60]])
def test_senseless_seeds_are_refused(small: Scenario, seeds: Any) -> None:
    with pytest.raises(ValueError, match="seed"):
        aqmlab.run(small, seeds=seeds)


@pytest.mark.parametrize("seeds", [2.0, True, "2", [1.5], [True]])
def test_seeds_that_are_no_whole_numbers_are_refused(small: Scenario, seeds: Any) -> None:
    with pytest.raises(TypeError, match=r"seeds = .*: must be a whole number"):
        aqmlab.run(small, seeds=seeds)


def test_whole_numbers_may_be_those_of_numpy(small: Scenario) -> None:
    seeds: Any = np.int64(2)
    assert aqmlab.run(small, seeds=seeds, jobs=seeds).seeds == [7, 8]
    assert aqmlab.run(small, seeds=np.array([3, 2])).seeds == [3, 2]


def test_a_text_in_place_of_a_scenario_or_a_list_is_refused(small: Scenario) -> None:
    name: Any = "lred/exp1"
    for call in (lambda: aqmlab.run(name), lambda: aqmlab.compare(name, aqms=["pi"])):
        with pytest.raises(TypeError, match=r"Scenario\.load\('lred/exp1'\)"):
            call()
    with pytest.raises(TypeError, match=r"must be a list of strings: \['pi'\]"):
        aqmlab.compare(small, aqms="pi")


def test_senseless_comparisons_are_refused(small: Scenario) -> None:
    with pytest.raises(ValueError, match="nothing"):
        aqmlab.compare(small, aqms=[])
    with pytest.raises(ValueError, match="pi given twice"):
        aqmlab.compare(small, aqms=["pi", "pi"])
    with pytest.raises(ValueError, match="lred and lred:q0=20 are the same"):
        aqmlab.compare(small, aqms=["lred", "pi", "lred:q0=20"])
    with pytest.raises(ValueError, match="jobs"):
        aqmlab.run(small, jobs=0)


def test_all_stands_for_every_discipline_once() -> None:
    every = aqmlab.disciplines()
    assert every[0] == "droptail"
    assert len(set(every)) == len(every)
    assert spelled_out(["all"]) == every
    assert spelled_out(["pi:q_ref=9", "all", "lred"]) == ["pi:q_ref=9", *every]
    assert spelled_out(["lred", "all"])[:2] == ["lred", every[0]]
    with pytest.raises(ValueError, match="all given twice"):
        spelled_out(["all", "all"])


def test_an_outcome_goes_to_another_process_without_its_cause() -> None:
    sent = Outcome(b"payload", "ValueError: why", b"series", cause=ValueError("why"))
    received = pickle.loads(pickle.dumps(sent))
    assert received == sent
    assert received.cause is None
    assert sent.cause is not None

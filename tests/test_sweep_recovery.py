"""Sweeps that are interrupted, or whose store is damaged, shared or read-only: no run is lost or done twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from sweeping import STUDY, VARY, data_set

import aqmlab
from aqmlab import Scenario, Sweep, _core
from aqmlab.execute import task
from aqmlab.execute import threads as local
from aqmlab.execute.progress import Progress
from aqmlab.execute.task import Task
from aqmlab.runs import runner
from aqmlab.runs.journal import Content
from aqmlab.runs.key_arrays import Keys
from aqmlab.runs.store import Store, key_of
from aqmlab.runs.study import study


def test_a_run_that_breaks_off_is_listed_and_not_kept(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Panic(BaseException):
        pass

    class Failing:
        def __init__(self, scenario: _core.Scenario, seed: int, *options: Any) -> None:
            if seed == 8:
                raise Panic("index out of bounds")
            if seed == 9:
                raise MemoryError
            self.real = simulation(scenario, seed, *options)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

    simulation = _core.Simulation
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Simulation", Failing)
        swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred"], seeds=3, store=tmp_path)
    assert (swept.done, len(swept.failures)) == (3, 6)
    assert str(swept.failures[0]) == "lred, aqm.q0 = 10, seed 8: Panic: index out of bounds"
    again = aqmlab.sweep(tiny, vary=VARY, aqms=["lred"], seeds=3, store=tmp_path)
    assert (again.simulated, again.failures) == (6, ())


def adds_up(swept: Sweep) -> bool:
    return swept.done + swept.failed == swept.wanted


def test_runs_that_are_lost_under_a_sweep_are_done_again(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(standing: Progress) -> None:
        if standing.done >= 4 and not gone:
            gone.extend((tmp_path / "journals").iterdir())
            for file in gone:
                file.unlink()

    gone: list[Path] = []
    monkeypatch.setattr(local, "SLICE", 0.001)
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=3, store=tmp_path, progress=lose, jobs=1)
    assert gone
    assert (swept.done, swept.wanted, swept.failures) == (18, 18, ())
    assert swept.frame.equals(aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=3).frame)


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
    aqmlab.sweep(tiny, vary=VARY, aqms=["lred"], seeds=2, store=tmp_path)
    every_key = Store.every_key
    parts: list[Path] = []

    def found(self: Store) -> Iterator[Keys]:
        yield from every_key(self)
        if parts:
            return
        parts.extend((tmp_path / "parts").iterdir())
        for part in parts:
            data = part.read_bytes()
            part.write_bytes(data[:-100] if damage == "truncated" else bytes(len(data)))
            if damage == "removed":
                part.unlink()

    monkeypatch.setattr(Store, "every_key", found)
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred"], seeds=2, store=tmp_path)
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
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,-10,20"}, aqms=["lred", "pi"], seeds=2, store=tmp_path / "store")
    assert (swept.done, swept.failed, swept.wanted, adds_up(swept)) == (4, 8, 12, True)
    assert [(one.seed, one.lost) for one in swept.failures] == [(None, False)] * 2 + [(8, True)] * 4
    assert "done and not in" in str(swept.failures[-1])
    assert len(tried) == 4 + 3 * 4
    done = quick_cli("sweep", small_file, "--vary", "aqm.q0=10,20", "--seeds", "2", "--set", "duration=2 s")
    assert done.returncode == 3
    assert done.stderr.startswith("2 failed:\n  lred, aqm.q0 = 10, seed 8: done and not in out/small/store afterwards")


def test_an_interrupt_keeps_what_was_finished(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    def progress(standing: Progress) -> None:
        if standing.done >= 2:
            raise KeyboardInterrupt

    long = tiny.with_(duration="60 s")
    with pytest.raises(aqmlab.SweepInterrupted, match=r"interrupted: \d+ of 60 runs finished") as stopped:
        aqmlab.sweep(long, vary=VARY, seeds=20, out=tmp_path, jobs=1, progress=progress)
    assert 2 <= stopped.value.finished.done < 60
    assert Sweep.load(tmp_path).interrupted
    before = len(simulated)
    finished = aqmlab.sweep(long, vary=VARY, seeds=20, out=tmp_path)
    assert len(simulated) - before == 60 - stopped.value.finished.done
    assert finished.done == 60


def test_an_error_in_the_store_stops_the_sweep(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object, __: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runner.Store, "add", full)
    with pytest.raises(OSError, match="No space left"):
        aqmlab.sweep(tiny, vary=VARY, seeds=2)


@pytest.mark.parametrize("change", ["rename", "replace"])
def test_a_store_that_may_only_be_read_is_read(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    aqmlab.sweep(tiny, vary=VARY, seeds=2, store=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(runner.Store, "compact", lambda _: None)
        if change == "rename":  # the journal of a process that was killed
            patch.setattr(runner.Store, "close", lambda _: None)
        aqmlab.sweep(tiny, vary=VARY, seeds=3, store=tmp_path)
    assert len(os.listdir(tmp_path / "journals")) == 1

    def refused(self: Path, _: Path) -> None:
        raise OSError(30, "Read-only file system", os.fspath(self))

    monkeypatch.setattr(Path, change, refused)
    monkeypatch.setattr("aqmlab.runs.store.is_left", lambda _: True)
    swept = aqmlab.sweep(tiny, vary=VARY, seeds=3, store=tmp_path)
    assert (swept.done, swept.simulated, swept.damage) == (9, 0, {})


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
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            target = recorded(tmp_path / "killed") + 40_000
            while process.poll() is None and recorded(tmp_path / "killed") < target:
                time.sleep(0.002)
            assert process.poll() is None, "it was too fast to be killed"
            process.kill()
    journals = [Content.of(file.read_bytes()) for file in (tmp_path / "killed/store/journals").iterdir()]
    first, second = ({key_of(payload) for payload in journal.payloads} for journal in journals)
    assert first
    assert second
    assert not first & second, "the second call did what the first had done"
    done, whole = (aqmlab.sweep(Scenario.load(study), out=tmp_path / name) for name in ("killed", "undisturbed"))
    assert 0 < done.simulated < done.wanted == done.done == 160
    assert whole.simulated == 160
    assert data_set(tmp_path / "killed") == data_set(tmp_path / "undisturbed")
    assert done.document()["points"] == whole.document()["points"]


SHARING = """
import sys, aqmlab
scenario = aqmlab.Scenario.load(sys.argv[1])
aqmlab.sweep(scenario, vary={"aqm.q0": "10,20..40"}, seeds=5, store="shared", out=sys.argv[2])
"""


def test_two_processes_share_a_store(small_file: Path, tmp_path: Path) -> None:
    def start(name: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", SHARING, str(small_file), name], cwd=tmp_path)

    both = [start("a"), start("b")]
    assert [process.wait(60) for process in both] == [0, 0]
    assert data_set(tmp_path / "a") == data_set(tmp_path / "b")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_after_a_signal_the_next_call_goes_on(small_file: Path, tmp_path: Path, number: signal.Signals) -> None:
    options = ["--vary", "aqm.q0=10,20..60", "--seeds", "80", "--set", "duration=20 s", "--out", "out"]
    command = [sys.executable, "-m", "aqmlab", "sweep", str(small_file), *options]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and recorded(tmp_path / "out") < 5_000:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.endswith("runs are finished; rerunning the command computes the rest\n")
    there = Sweep.load(tmp_path / "out").done
    assert 0 < there < 480
    scenario = Scenario.load(small_file).with_(duration="20 s")
    again = aqmlab.sweep(scenario, vary={"aqm.q0": "10,20..60"}, seeds=80, out=tmp_path / "out")
    assert again.simulated == 480 - there


def test_a_corrupt_part_is_reported_and_done_again(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    options = ["--vary", "aqm.q0=10,20", "--seeds", "2", "--out", "out"]
    aqmlab.sweep(Scenario.load(small_file), vary={"aqm.q0": "10,20"}, seeds=2, out=tmp_path / "out")
    before = data_set(tmp_path / "out")
    (part,) = (tmp_path / "out/store/parts").iterdir()
    data = bytearray(part.read_bytes())
    data[100] ^= 1
    part.write_bytes(data)
    done = quick_cli("sweep", small_file, *options, "--json")
    assert done.returncode == 0
    assert f"{part.name}: damaged; 4 of its runs are lost" in done.stderr
    assert json.loads(done.stdout)["simulated"] == 4
    assert data_set(tmp_path / "out") == before

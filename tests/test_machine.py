"""What runs make of the findings on this machine, and how many guests it has room for."""

import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Cli

import aqmlab
from aqmlab import EngineUnavailable, MachineWarning, Scenario
from aqmlab.execute import limits, linux, threads
from aqmlab.execute.engine import Engine
from aqmlab.execute.preflight import Finding, State
from aqmlab.execute.preflight import guest as guests
from aqmlab.execute.task import Task
from aqmlab.runs import memory as room

TIMERS = Finding("timers", State.SPOILS, "4e+06 ns", "Packets would leave at ticks.", "sudo update-grub")
LOAD = Finding("load", State.DELAYS, "3.5 in the last minute, 2 cores", "Other programs take the cores.", "ps -eo pcpu")
REAL = "linux:clock=real"

Find = Callable[..., list[Mapping[str, Any]]]


@pytest.fixture
def find(monkeypatch: pytest.MonkeyPatch, fake: list[Task]) -> Find:
    """Let the machine have these findings; return what it is asked for."""

    def let(*found: Finding) -> list[Mapping[str, Any]]:
        asked: list[Mapping[str, Any]] = []

        def findings(engine: str, **needs: Any) -> list[Finding]:
            asked.append({"engine": engine, **needs})
            return list(found)

        linux._found.cache_clear()
        monkeypatch.setattr(linux, "findings", findings)
        monkeypatch.setattr(linux, "check", lambda scenario, options: linux._require(options, frozenset({"cubic"})))
        return asked

    return let


def test_a_finding_that_falsifies_results_refuses_the_run(find: Find, tiny: Scenario) -> None:
    find(TIMERS, LOAD)
    with pytest.raises(EngineUnavailable) as refused:
        aqmlab.run(tiny, engine=REAL)
    head, *lines = str(refused.value).splitlines()
    assert head == "the linux engine cannot run here (aqmlab doctor lists all):"
    assert lines == ["timers: 4e+06 ns; Packets would leave at ticks. sudo update-grub"]


def test_a_finding_that_delays_packets_is_a_warning(find: Find, tiny: Scenario, fake: list[Task]) -> None:
    find(LOAD)
    with pytest.warns(MachineWarning) as given:
        aqmlab.run(tiny, engine=REAL)
    (one,) = given
    head, line = str(one.message).splitlines()
    assert head.startswith("packets may be late here; the end of a run says if too many were")
    assert line == "load: 3.5 in the last minute, 2 cores; fix: ps -eo pcpu"
    assert len(fake) == 1


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_a_command_prints_a_warning_once(find: Find, cli_of: Cli, command: str) -> None:
    find(LOAD)
    more = {
        "run": ["--engine", REAL],
        "compare": ["--aqm", "red", "--aqm", "pie", "--engines", f"packet,{REAL}"],
        "sweep": ["--vary", "traffic.long.count=2,3", "--engine", REAL],
    }
    done = cli_of(command, *more[command])
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: packets may be late here") == 1
    assert done.stderr.count("load: 3.5 in the last minute, 2 cores; fix: ps -eo pcpu\n") == 1


@pytest.fixture
def cli_of(quick_cli: Cli, tiny: Scenario, tmp_path: Any) -> Cli:
    """Call a command for a tiny scenario."""
    file = tmp_path / "tiny.toml"
    file.write_text(tiny.to_toml(), encoding="utf-8")
    return lambda command, *more: quick_cli(command, file, *more)


def test_other_warnings_of_a_command_remain_as_they_are(quick_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.reports.listing.overview", lambda _: warnings.warn("odd", UserWarning, stacklevel=1))
    with pytest.raises(UserWarning, match="odd"):
        quick_cli("list", "scenarios")


def test_a_run_asks_for_the_discipline_that_it_names(find: Find, tiny: Scenario) -> None:
    asked = find()
    aqmlab.compare(tiny, aqms=["kernel:pie limit 1000 target 20ms", "red"], engines=["linux"])
    assert [(one["engine"], one["congestion"], one["disciplines"]) for one in asked] == [
        ("linux:clock=virtual", ["cubic"], ("pie",)),
        ("linux:clock=virtual", ["cubic"], ()),
    ]


def test_a_sweep_asks_once_a_minute(find: Find, tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((60.0, 119.0, 120.0))
    monkeypatch.setattr(linux, "time", SimpleNamespace(monotonic=lambda: next(times)))
    asked = find()
    for _ in range(3):
        linux._require(Engine.parse(REAL).settings, frozenset())
    assert len(asked) == 2


Room = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Room:
    """Let this machine have so many cores, free bytes of memory, and free bytes for the memory of guests."""

    def let(cores: int, free: int, space: int = 10**12) -> None:
        monkeypatch.setattr(threads, "cores", lambda: cores)
        monkeypatch.setattr(limits, "_bytes", lambda *_: free)
        monkeypatch.setattr(guests, "memory_space", lambda machine: space)

    return let


def test_the_memory_of_a_guest_grows_with_its_connections(tiny: Scenario) -> None:
    few, many = (
        room.memory(Engine("linux"), tiny.with_({"traffic.long.count": count, "record.series": False}))
        for count in (5, 400)
    )
    assert few == pytest.approx(90e6, rel=0.03)
    assert many == pytest.approx(130e6, rel=0.03)
    assert room.memory(Engine.parse(REAL), tiny) == room.memory(Engine("fluid"), tiny) == 0
    assert room.memory(Engine(), tiny) == tiny._memory


@pytest.mark.parametrize(
    ("cores", "free", "space", "wanted", "most", "reason"),
    [
        (4, 10**12, 10**12, 4, 4, None),
        (4, 10**12, 10**12, 3, 3, None),
        (2, 10**12, 10**12, 8, 2, "2 guests at a time instead of 8: this machine has 2 cores"),
        (
            4,
            250_000_000,
            10**12,
            4,
            2,
            "2 guests at a time instead of 4: each needs about 100 MB of memory, and 0.2 GB",
        ),
        (4, 10**12, 150_000_000, 4, 1, "1 guest at a time instead of 4: each needs about 100 MB of memory, and 0.1 GB"),
        (4, 0, 10**12, 4, 1, "1 guest at a time instead of 4"),
    ],
)
def test_guests_are_as_many_as_there_is_room_for(
    machine: Room, cores: int, free: int, space: int, wanted: int, most: int, reason: str | None
) -> None:
    machine(cores, free, space)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert room.at_a_time(Engine("linux"), wanted, 10**8) == most
    assert [str(one.message)[: len(reason or "")] for one in given] == ([reason] if reason else [])
    assert room.at_a_time(Engine(), 8, 10**12) == 8
    assert room.at_a_time(Engine.parse(REAL), 8, 0) == 1


@pytest.mark.parametrize("call", [aqmlab.run, aqmlab.sweep])
def test_more_jobs_than_cores_start_no_more_guests(
    machine: Room, find: Find, tiny: Scenario, monkeypatch: pytest.MonkeyPatch, call: Callable[..., object]
) -> None:
    find()
    machine(2, 10**12)
    jobs: list[int] = []
    executor = threads.executor
    monkeypatch.setattr(threads, "executor", lambda number: jobs.append(number) or executor(number))
    with pytest.warns(MachineWarning, match="2 guests at a time instead of 5: this machine has 2 cores"):
        call(tiny, seeds=5, jobs=8, engine="linux")
    assert jobs == [2]


def test_guests_that_find_no_memory_are_refused(machine: Room, find: Find, tiny: Scenario) -> None:
    find()
    machine(4, 80_000_000)
    with (
        pytest.warns(MachineWarning, match="1 guest at a time instead of 2"),
        pytest.raises(MemoryError, match=r"about 0\.1 GB of memory are needed, and 0\.1 GB are free: lower the buffer"),
    ):
        aqmlab.run(tiny, seeds=2, jobs=2, engine="linux")
    with pytest.raises(MemoryError, match=r"GB of memory needed, .* lower the count"):
        aqmlab.sweep(tiny, seeds=2, jobs=2, engine="linux")


def test_runs_beside_each_other_share_the_memory(machine: Room) -> None:
    machine(4, 10**9)
    four = room.Runs(number=9, at_a_time=4, during=150_000_000, after=0)
    alone = four._replace(at_a_time=1)
    room.refuse_too_much_memory([four, alone])
    with pytest.raises(MemoryError, match="for 4 simultaneous runs"):
        room.refuse_too_much_memory([four, four._replace(during=400_000_000)])
    with pytest.raises(MemoryError, match=r"let record\.series = false"):
        room.refuse_too_much_memory([alone._replace(after=100_000_000)])

"""Damaged stores and result folders: data read back is right, is computed again, or causes an error.

Most seeds damage a small store, sweep, result or comparison at rest; some damage a store under a running sweep, kill
a process that sweeps, or write to a disk that is full. The outcomes:

* ``intact``: everything is there, as it was written;
* ``computed again``: runs or series were lost, and recomputed with the same numbers;
* ``refused``: a ValueError that names the file and how to recreate it, or an OSError that names the file.

A finding is kept as its seed, in tests/regressions/stores; changed attacks turn it into another attack.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars

import aqmlab
from aqmlab import Comparison, Result, Scenario, Sweep
from aqmlab.execute import threads
from aqmlab.execute.task import Executor, Outcome, Task
from aqmlab.runs.plan import Study
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.runs.study import study
from fuzz.damage import Files, damage

TESTED = 40

SCENARIO = """
duration = "1 s"
warmup = "0.2 s"
[dumbbell]
rate = "2 Mbit/s"
buffer = "50 packets"
[aqm]
name = "lred"
q0 = 20
[record]
step = "50 ms"
cwnd = "50 ms"
[[traffic]]
name = "long"
kind = "ftp"
count = 3
packet_size = "500 B"
tcp = "rfc5681"
"""
SMALL = Scenario.parse(SCENARIO)
VARY: dict[str, object] = {"aqm.q0": "10,20"}
WIDER: dict[str, object] = {"aqm.q0": "10,20..40"}
AQMS = ["lred", "pi"]
SEEDS = 2

OnDone = Callable[[Task, Outcome], None]


@dataclass(frozen=True)
class Truth:
    """The contents of undamaged folders, and their texts."""

    store: Files
    """A store of all runs of `VARY` and of the series of the recorded study, in journals, parts and files of series."""
    swept: Sweep
    sweeps: list[tuple[Sweep, Files]]
    recorded: Sweep
    series: dict[str, polars.DataFrame]
    results: list[tuple[Result, Files]]
    comparisons: list[tuple[Comparison, Files]]


def _recorded() -> Study:
    return study(SMALL, VARY, ["lred"], SEEDS, series=True)


def _files(folder: Path) -> Files:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _written(files: Files, folder: Path) -> Path:
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


@cache
def _truth() -> Truth:
    """Create the folders that the attacks damage, once per process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = folder / "store"
        (recorded,) = run_all([_recorded()], store, jobs=1)
        aqmlab.sweep(SMALL, vary=VARY, aqms=["pi"], seeds=1, store=store, jobs=1)
        parts = _files(store)
        late: Files = {}
        aqmlab.sweep(SMALL, vary=VARY, aqms=AQMS, seeds=SEEDS, store=store, executor=_noting(store, late))
        journals = {f"journals/{journal}": data for journal, data in late.items()}
        kept = Store(_written(parts, folder / "parts"))
        names = [_recorded().series_name(bytes.fromhex(key)) for key in recorded.frame["key"]]

        sweeps = [aqmlab.sweep(SMALL, vary=vary, aqms=AQMS, seeds=SEEDS) for vary in (VARY, {"aqm.q0": "15,25"})]
        first = aqmlab.compare(SMALL, aqms=AQMS, seeds=SEEDS)
        other = aqmlab.compare(SMALL.with_(seed=3), aqms=["pi"])
        results = [first["lred"], first["pi"], other["pi"]]

        def saved(what: Any) -> Files:
            where = Path(tempfile.mkdtemp(dir=folder))
            what.save(where)
            return _files(where)

        return Truth(
            store=parts | journals,
            swept=sweeps[0],
            sweeps=[(one, saved(one)) for one in sweeps],
            recorded=recorded,
            series={name: kept.series(name) for name in names},
            results=[(one, saved(one)) for one in results],
            comparisons=[(one, saved(one)) for one in (first, other)],
        )


def _noting(store: Path, noted: dict[str, bytes]) -> Executor:
    """Return an engine that records the journal after the last run."""

    def run(tasks: Iterator[Task], on_done: OnDone, watch: Callable[[float], None]) -> None:
        threads.executor(1)(tasks, on_done, watch)
        noted.update({file.name: file.read_bytes() for file in (store / "journals").iterdir()})

    return run


# Reading back.


def _complaint(error: Exception, folder: Path) -> str:
    """Return what is wrong with an error: it must name a file of the folder and, unless a system error, the cure."""
    if isinstance(error, OSError):
        fine = os.fspath(folder) in str(error.filename)
    else:
        fine = type(error) is ValueError and os.fspath(folder) in str(error) and "to recreate it: " in str(error)
    return "" if fine else f"refused without file or cure: {type(error).__name__}: {error}"


def _refused(read: Callable[[], Any], folder: Path) -> Any:
    """Read; return None if it raises a proper error."""
    try:
        return read()
    except (OSError, ValueError) as error:
        complaint = _complaint(error, folder)
    assert not complaint, complaint
    return None


def _same(one: polars.DataFrame, other: polars.DataFrame) -> bool:
    return one.columns == other.columns and one.equals(other)


def _check_sweep(found: Sweep, truth: Sweep, lost: bool = False) -> None:
    """Compare a sweep with the truth; where runs may be lost, only those present.

    A run that records its series takes slightly more of the engine's events than the same run without.
    """
    assert found.interrupted or found.done + found.failed == found.wanted, (
        f"{found.done} done, {found.failed} failed, {found.wanted} wanted"
    )
    if lost and found.failures:
        assert all(failure.lost for failure in found.failures), f"failed: {found.failures[0]}"
    else:
        assert not found.failures, f"failed: {found.failures[0]}"
        assert found.done == truth.done, f"{found.done} of {truth.done} runs"
    if not found.done:
        return  # without runs there are no columns
    told = truth.frame.join(found.frame.select("key"), on="key", how="semi", maintain_order="left")
    assert _same(found.frame.drop("engine.events"), told.drop("engine.events")), "other numbers"


def _swept_again(store: Path) -> str:
    """Sweep with a store, and compare the result with the truth."""
    found = _refused(lambda: aqmlab.sweep(SMALL, vary=VARY, aqms=AQMS, seeds=SEEDS, store=store, jobs=1), store)
    if found is None:
        return "refused"
    _check_sweep(found, _truth().swept)
    again = aqmlab.sweep(SMALL, vary=VARY, aqms=AQMS, seeds=SEEDS, store=store, jobs=1)
    _check_sweep(again, _truth().swept)
    assert again.simulated == 0, f"{again.simulated} runs are done at every call"
    return "computed again" if found.simulated else "intact"


def _series_again(store: Path) -> str:
    """Read all series, and redo the runs whose series are missing or damaged."""
    truth = _truth()
    (found,) = run_all([_recorded()], store, jobs=1)
    _check_sweep(found, truth.recorded)
    outcome = "computed again" if found.simulated else "intact"
    for name, frame in truth.series.items():
        if (read := _refused(lambda name=name: Store(store).series(name), store)) is not None:  # type: ignore[misc]
            assert _same(read, frame), f"series {name}: other numbers"
            continue
        _check_sweep(run_all([_recorded()], store, jobs=1)[0], truth.recorded)
        assert _same(Store(store).series(name), frame), f"series {name}: other numbers when done again"
        outcome = "computed again"
    return outcome


def at_rest_store(rng: random.Random, folder: Path) -> str:
    """Damage a store, and sweep with it."""
    store = _written(_truth().store, folder / "store")
    return _after_damage(rng, store, {}, _series_again if rng.randrange(3) == 0 else _swept_again)


def _saved(what: Any, folder: Path) -> bool:
    what.save(folder)
    return True


def _after_damage(rng: random.Random, folder: Path, others: Files, read: Callable[[Path], str]) -> str:
    done = [damage(rng, folder, others) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    try:
        return read(folder)
    except BaseException as error:  # a panic of a library is not an Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise AssertionError(f"{'; '.join(done)}: {type(error).__name__}: {error}") from error


def _one_of(found: Any, truths: list[Any], same: Callable[[Any, Any], bool]) -> str:
    if found is None:
        return "refused"
    assert any(same(found, truth) for truth in truths), "loaded, and none of those that were saved"
    return "intact"


def _same_sweep(found: Sweep, truth: Sweep) -> bool:
    return found.document() == truth.document() and _same(found.frame, truth.frame)


def _same_result(found: Result, truth: Result) -> bool:
    return (
        found == truth
        and found.seeds == truth.seeds
        and all(
            _same(ask(seed), told(seed))
            for seed in truth.seeds
            for ask, told in ((found.series_of, truth.series_of), (found.cwnd_of, truth.cwnd_of))
        )
    )


def _same_comparison(found: Comparison, truth: Comparison) -> bool:
    return list(found) == list(truth) and all(_same_result(found[label], truth[label]) for label in truth)


def _at_rest(
    rng: random.Random, folder: Path, kind: Any, saved: list[tuple[Any, Files]], same: Callable[[Any, Any], bool]
) -> str:
    """Damage a saved result, load it, and save another over it."""
    truths = [one for one, _ in saved]
    (_, files), (_, others) = rng.sample(saved, 2)
    # Each result is read whole here: an error in a series is an error of its result.
    where = _written(files, folder / "saved")

    def read(where: Path) -> str:
        outcome = _one_of(_refused(lambda: kind.load(where), where), truths, same)
        if rng.randrange(4) == 0:
            new = rng.choice(truths)
            if _refused(lambda: _saved(new, where), where):
                assert same(kind.load(where), new), "not what was saved over it"
        return outcome

    return _after_damage(rng, where, others, read)


def at_rest_sweep(rng: random.Random, folder: Path) -> str:
    """Damage a saved sweep."""
    return _at_rest(rng, folder, Sweep, _truth().sweeps, _same_sweep)


def at_rest_result(rng: random.Random, folder: Path) -> str:
    """Damage a saved result."""
    return _at_rest(rng, folder, Result, _truth().results, _same_result)


def at_rest_comparison(rng: random.Random, folder: Path) -> str:
    """Damage a saved comparison."""
    return _at_rest(rng, folder, Comparison, _truth().comparisons, _same_comparison)


# While something is written.


def under_a_sweep(rng: random.Random, folder: Path) -> str:
    """Damage a store after some of a sweep's runs, or after each of them."""
    truth = _wider()
    store = _written(_truth().store, folder / "store") if rng.randrange(2) else folder / "store"
    done: list[str] = []
    moments = set(rng.sample(range(truth.wanted), 2)) if rng.randrange(4) else set(range(truth.wanted))

    def damaging(
        tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]
    ) -> None:
        count = iter(range(10 * truth.wanted))

        def hand_on(task: Task, outcome: Outcome) -> None:
            on_done(task, outcome)
            if next(count) in moments:
                done.append(damage(rng, store, {}))

        threads.executor(1)(tasks, hand_on, watch)

    try:
        found = _refused(
            lambda: aqmlab.sweep(SMALL, vary=WIDER, aqms=AQMS, seeds=SEEDS, store=store, executor=damaging), store
        )
        if found is None:
            return "refused"
        _check_sweep(found, truth, lost=True)
        again = aqmlab.sweep(SMALL, vary=WIDER, aqms=AQMS, seeds=SEEDS, store=store, jobs=1)
        _check_sweep(again, truth)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise AssertionError(f"{'; '.join(done)}: {type(error).__name__}: {error}") from error
    return "computed again"


@cache
def _wider() -> Sweep:
    return aqmlab.sweep(SMALL, vary=WIDER, aqms=AQMS, seeds=SEEDS)


@contextmanager
def _full(size: int) -> Iterator[None]:
    """Limit the size of all files: the next write fails in the midst of its data, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))  # Python ignores the signal; the call then fails
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full_disk(rng: random.Random, folder: Path) -> str:
    """Sweep and save while no file may grow beyond some size."""
    truth = _truth()
    out = folder / "out"
    size = int(10 ** rng.uniform(0, 5.5))

    def swept() -> Sweep:
        return aqmlab.sweep(SMALL, vary=VARY, aqms=AQMS, seeds=SEEDS, out=out, jobs=1)

    with _full(size):
        found = _refused(swept, out)
    if found is not None:
        _check_sweep(found, truth.swept)
    _check_sweep(swept(), truth.swept)
    assert _same(Sweep.load(out).frame, truth.swept.frame)
    (old, files), (new, _) = rng.sample(truth.results, 2)
    where = _written(files, folder / "result")
    with _full(size):
        saved = _refused(lambda: _saved(new, where), where)
    assert _same_result(Result.load(where), new if saved else old), "a full disk changed a result"
    assert saved or _files(where) == files, "a full disk left something"
    return "intact" if found is not None and saved else "refused"


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fuzz import stores
out = Path(sys.argv[2])
print("begins", flush=True)
first, other = stores.SMALL, stores.SMALL.with_(seed=3)
for number in range(1000):
    scenario = (first, other)[number % 2]
    stores.aqmlab.sweep(scenario, stores.VARY, stores.AQMS, stores.SEEDS, out=out, jobs=1)
    stores.aqmlab.run(scenario, stores.SEEDS).save(out / "result")
    for file in (out / "store/journals").glob("*") if number % 3 == 0 else ():
        file.unlink()
"""


@cache
def _alternately() -> tuple[list[Sweep], list[Result]]:
    both = (SMALL, SMALL.with_(seed=3))
    return [aqmlab.sweep(one, vary=VARY, aqms=AQMS, seeds=SEEDS) for one in both], [
        aqmlab.run(one, seeds=SEEDS) for one in both
    ]


def kill(rng: random.Random, folder: Path) -> str:
    """Kill a process that sweeps and saves alternately, at a random moment."""
    sweeps, results = _alternately()
    out = folder / "out"
    command = [sys.executable, "-c", CHILD, os.fspath(Path(__file__).parents[1]), os.fspath(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        began = process.stdout.readline()
        time.sleep(rng.uniform(0, 0.4))
        process.kill()
        _, errors = process.communicate()
    assert began == b"begins\n", f"the child failed: {errors.decode()[-500:]}"

    def known(found: Sweep, truth: Sweep) -> bool:
        return found.done == truth.done and _same(found.frame, truth.frame)

    def timeless(result: Result) -> Result:
        return replace(result, runs=[replace(run, engine=run.engine | {"cpu_seconds": 0.0}) for run in result.runs])

    def equal(found: Result, truth: Result) -> bool:
        return _same_result(timeless(found), timeless(truth))  # another process needed another time for it

    outcomes = {
        _one_of(_refused(lambda: Sweep.load(out), out), sweeps, known),
        _one_of(_refused(lambda: Result.load(out / "result"), out), results, equal),
    }
    found = aqmlab.sweep(SMALL, vary=VARY, aqms=AQMS, seeds=SEEDS, out=out, jobs=1)
    _check_sweep(found, sweeps[0])
    results[1].save(out / "result")
    assert known(Sweep.load(out), sweeps[0]), "not what was swept after it"
    assert _same_result(Result.load(out / "result"), results[1]), "not what was saved after it"
    return "computed again" if found.simulated else outcomes.pop()


Attack = Callable[[random.Random, Path], str]
ATTACKS: dict[Attack, int] = {
    at_rest_store: 33,
    at_rest_sweep: 20,
    at_rest_result: 20,
    at_rest_comparison: 15,
    under_a_sweep: 8,
    full_disk: 3,
    kill: 1,
}
"""Seeds per hundred of each attack."""
PLACES = [made for made, share in ATTACKS.items() for _ in range(share)]
STRIDE = 37
"""Step between the places of successive seeds: each hundred seeds cover all places, the first `TESTED` every attack."""


def chosen(seed: int) -> Attack:
    """Return the attack of a seed."""
    return PLACES[seed * STRIDE % len(PLACES)]


def attack(seed: int, folder: Path) -> str:
    """Damage a small store or result folder, read it back, and return the outcome.

    Outcomes are ``intact``, ``computed again`` and ``refused``. Raise AssertionError with the damage if a number was
    wrong, an error is not one of ours, or a crash occurred.
    """
    return chosen(seed)(random.Random(seed), folder)

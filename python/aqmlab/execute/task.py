"""One run of a sweep: what it takes to do it anywhere, what it gives, and the key that tells it from all others."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aqmlab import _core
from aqmlab.files import parquet
from aqmlab.scenario import Scenario

FORMAT = 1
"""The version of what a payload holds; runs of another one are not read."""

_SMALL = 20_000
"""A run of fewer packets is small: some ten milliseconds."""

_NOT_IN_RESULTS = {"record": ("step", "series", "cwnd")}
"""What a scenario says that its results do not depend on, besides title and seed."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run that is to be done.

    Parameters
    ----------
    scenario : str
        The scenario as TOML.
    seed : int
        Where the run's randomness starts from.
    key : bytes
        Tells the run from all others; see `key`.
    label : str
        What messages call it.
    cost : float
        How much work it is: packets, estimated.
    series : bool
        Whether its series are wanted too; the scenario then has them recorded.
    """

    scenario: str
    seed: int
    key: bytes
    label: str
    cost: float
    series: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task.

    Parameters
    ----------
    payload : bytes
        The key and the compressed results, as the store keeps them; empty if the run failed.
    error : str
        Why it failed; empty if it did not.
    series : bytes
        Queues and signals over time as a Parquet file, if the task wants them; see `Result.series_of`.
    """

    payload: bytes = b""
    error: str = ""
    series: bytes = b""


Engine = Callable[[Iterator[Task], Callable[[Task, Outcome], None], Callable[[float], None]], None]
"""Does tasks, called as ``engine(tasks, on_done, watch)``.

It takes `tasks` as it has room for them, from one thread at a time; calls ``on_done(task, outcome)`` once for each,
from any thread but from one at a time; and ten times a second or so calls ``watch(under_way)`` from the thread that
called it, with the work that is done of the tasks under way (0 if nobody knows). It returns when all is done. When
`watch`, `on_done` or `tasks` raises an error, or the user presses Ctrl-C, it stops what is under way and raises that
error.
"""


def digest(scenario: Scenario) -> str:
    """Hash what the results of a scenario depend on, but for seed and engine.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

    Returns
    -------
    str
        SHA-256 of its canonical JSON, every default filled in, in hexadecimal digits. Of a trace the packets that were
        read count, not the file's place, nor what it holds by now.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    """
    resolved = scenario.resolved
    for name in ("title", "seed"):
        resolved.pop(name, None)
    for table, names in _NOT_IN_RESULTS.items():
        for name in names:
            resolved[table].pop(name, None)
    traces = iter(scenario.core.traces())
    for entry in resolved["traffic"]:
        if entry["kind"] == "trace":
            entry["file"] = hashlib.sha256(next(traces)).hexdigest()
    return _sha256(resolved).hex()


def key(scenario: str, seed: int) -> bytes:
    """Give the key of a run.

    Parameters
    ----------
    scenario : str
        The scenario's `digest`.
    seed : int
        The run's seed.

    Returns
    -------
    bytes
        SHA-256 of the canonical JSON of digest, seed, engine and format.
    """
    return _sha256({"engine": _core.engine_version, "format": FORMAT, "scenario": scenario, "seed": seed})


def _sha256(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).digest()


_LAST = threading.local()
"""Each thread's last small run, kept until the next one has its memory: freed and asked for again it costs a third."""


class ScenarioChanged(ValueError):  # noqa: N818  it is the file that changed
    """Raised when a scenario means another run than it did when its task was made."""

    def __init__(self) -> None:
        super().__init__("a trace has changed since the runs were planned; the same again takes it as it is now")


def scenario_of(task: Task) -> _core.Scenario:
    """Read the scenario of a task.

    Parameters
    ----------
    task : Task
        The task.

    Returns
    -------
    Scenario
        The scenario, of the very reading that the key of the task tells.

    Raises
    ------
    ScenarioError
        If it is not valid here.
    ScenarioChanged
        If it is another one here and now.
    """
    for _ in range(2):
        scenario, name = _read(task.scenario)
        if key(name, task.seed) == task.key:
            return scenario
        _read.cache_clear()  # what was read earlier may be what has changed
    raise ScenarioChanged


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_core.Scenario, str]:
    """Read a scenario, and tell the digest of what was read."""
    scenario = Scenario.parse(text, "<task>")
    return scenario.core, digest(scenario)


def simulate(task: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
    """Do a task.

    Parameters
    ----------
    task : Task
        The task.
    watch : callable
        Called ten times a second or so with the fraction that is done; when it gives False, the run stops.

    Returns
    -------
    Outcome or None
        What came of it, an error too; none if it was stopped.
    """
    try:
        scenario = scenario_of(task)
        simulation = _core.Simulation(scenario, task.seed)
        if not advance(simulation, scenario.duration, watch or (lambda _: True)):
            return None
        if task.cost < _SMALL:
            _LAST.simulation = simulation
        payload = task.key + zlib.compress(simulation.results().encode(), 1)
        return Outcome(payload, series=_parquet(simulation.series()) if task.series else b"")
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        return Outcome(error=f"{type(error).__name__}: {error}")


def _parquet(columns: _core.ArrowStream | None) -> bytes:
    import polars

    return parquet(polars.DataFrame(columns))


def advance(simulation: _core.Simulation | _core.Fluid, duration: float, watch: Callable[[float], bool]) -> bool:
    """Simulate to the end, while the engine looks up ten times a second or so.

    Parameters
    ----------
    simulation : Simulation or Fluid
        The run.
    duration : float
        Its end, in simulated seconds.
    watch : callable
        Called with the fraction that is done, from the set-up on and at the end; when it gives False, the run stops.

    Returns
    -------
    bool
        Whether it came to the end.
    """
    return simulation.advance(duration, lambda now: watch(now / duration)) and watch(1.0)


def opened(payload: bytes) -> tuple[bytes, dict[str, Any]]:
    """Read a payload.

    Parameters
    ----------
    payload : bytes
        Of an `Outcome`, or of the store.

    Returns
    -------
    tuple
        The key, and the run's document (see `Run.document`).
    """
    document: dict[str, Any] = json.loads(zlib.decompress(payload[_KEY_BYTES:]))
    return payload[:_KEY_BYTES], document


_KEY_BYTES = hashlib.sha256().digest_size

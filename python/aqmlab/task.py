"""One run of a sweep: what it takes to do it anywhere, what it gives, and the key that tells it from all others."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    import polars

FORMAT = 1
"""The version of what a payload holds; runs of another one are not read."""

SLICE = 0.1
"""Seconds of the wall clock between two looks at whether to go on."""

_AT_ONCE = 20_000
"""How many packets are simulated without a look in between: some ten milliseconds."""

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
        SHA-256 of its canonical JSON, every default filled in, in hexadecimal digits. Of a trace the content of the
        file counts, not its place.

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
    for entry in resolved["traffic"]:
        if entry["kind"] == "trace":
            entry["file"] = _content(entry["file"])
    return _sha256(resolved).hex()


def _content(file: str) -> str:
    known = Path(file).stat()
    return _content_of(file, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=256)
def _content_of(file: str, _time: int, _size: int) -> str:
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


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


@lru_cache(maxsize=256)
def _parsed(text: str) -> _core.Scenario:
    return _core.Scenario.parse(text, "<task>")


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
        simulation = _core.Simulation(_parsed(task.scenario), task.seed)
        scenario = _parsed(task.scenario)
        if task.cost < _AT_ONCE:
            simulation.advance(scenario.duration)
            _LAST.simulation = simulation
        elif not advance(simulation, scenario.duration, watch or (lambda _: True)):
            return None
        payload = task.key + zlib.compress(simulation.results().encode(), 1)
        return Outcome(payload, series=_parquet(simulation.series()) if task.series else b"")
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        return Outcome(error=f"{type(error).__name__}: {error}")


def _parquet(columns: _core.ArrowStream | None) -> bytes:
    import polars

    buffer = io.BytesIO()
    frame = polars.DataFrame(columns)
    frame.write_parquet(buffer, metadata={_SUM: _summed(frame)})
    return buffer.getvalue()


_SUM = "aqmlab.sha256"
"""What the metadata of a Parquet file call the hash of its numbers: most bits of it flip without an error."""


def _summed(frame: polars.DataFrame) -> str:
    total = hashlib.sha256()
    for column in frame.iter_columns():
        total.update(column.name.encode())
        total.update(column.to_numpy().tobytes())
    return total.hexdigest()


def series_of(data: bytes) -> polars.DataFrame:
    """Read the series of an outcome.

    Parameters
    ----------
    data : bytes
        Of an `Outcome`, or of the store.

    Returns
    -------
    polars.DataFrame
        As of `Result.series_of`.

    Raises
    ------
    ValueError
        If they are damaged.
    """
    import polars

    try:
        told = polars.read_parquet_metadata(io.BytesIO(data)).get(_SUM)
        frame = polars.read_parquet(io.BytesIO(data))
    except BaseException as error:  # of a panic, too
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise ValueError(str(error)) from error
    if told is not None and told != _summed(frame):  # the first files had no sum
        raise ValueError("other numbers than were written")
    return frame


def advance(simulation: _core.Simulation | _core.Fluid, duration: float, watch: Callable[[float], bool]) -> bool:
    """Simulate to the end, in slices, between which the engine looks up.

    Parameters
    ----------
    simulation : Simulation or Fluid
        The run.
    duration : float
        Its end, in simulated seconds.
    watch : callable
        Called after each slice with the fraction that is done; when it gives False, the run stops.

    Returns
    -------
    bool
        Whether it came to the end.
    """
    now, step = 0.0, duration / 1000
    while now < duration:
        began = time.monotonic()
        now = min(now + step, duration)
        simulation.advance(now)
        if not watch(now / duration):
            return False
        took = time.monotonic() - began
        step *= min(max(SLICE / max(took, 1e-9), 0.5), 4)
    return True


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

"""One run: its task, its outcome, and the key that identifies it."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.glance import Glance
from aqmlab.execute.limits import require_memory
from aqmlab.files import parquet
from aqmlab.kinds import SERIES
from aqmlab.results.series import Recording
from aqmlab.scenario import LISTS, Scenario, algorithms

FORMAT = 1
"""The version of the payload's format; runs of another version are not read."""

_NOT_IN_RESULTS = {"record": ("step", "series", "cwnd", "flows", "qlog")}
"""The scenario's keys, other than title and seed, that do not affect its results."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run to perform.

    `scenario` is TOML. If the task stays in this process it may be a parsed scenario, whose traces are not read again.
    `key` identifies the run in a store (see `key`), and is empty for a run that is not stored. `label` names the run in
    messages, and `cost` is its work (see `Engine.work`). `engine` performs it.

    The outcome always has the results. If `series` is set, their name in a store, it also has the recorded queues and
    signals as a file; if `recording` is true instead, it has all recorded series, in the engine's memory. If `check` is
    true every packet is accounted for, and the run fails if the accounts do not balance.

    `on_glance`, if set, is called from the thread of the run with the state of the observed link, about ten times a
    second and at least a hundred times in all. Such a task cannot be sent to another process.

    `fates`, if set, is a file to which the packet engine writes what each link with a queue sends and loses, and the
    linux engine the fate of every packet, as pcapng.

    `sources` has the files of the user's own disciplines that a scenario in TOML names, for a process that does not
    have them, or has other versions.

    `batches`, if not 0, is the number of equal spans of time after the warm-up at whose ends the packet engine takes
    glances, for batch means.
    """

    scenario: str | _core.Scenario
    seed: int
    key: bytes
    label: str
    cost: float
    series: str = ""
    recording: bool = False
    check: bool = False
    engine: Engine = PACKETS
    on_glance: Callable[[Glance], None] | None = field(default=None, compare=False)
    fates: Path | None = field(default=None, compare=False)
    batches: int = field(default=0, compare=False)
    sources: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a task.

    `payload` has the key and the compressed results, as the store keeps them; it is empty if the run failed. `error` is
    the reason of a failure, otherwise empty. `series` has queues and signals over time as a Parquet file (see
    `Result.series_of`) and `recording` all recorded series, each if the task asks for it. A recording cannot be sent to
    another process. `not_modelled` is that of `Result`. `batches` has a glance at the end of the warm-up and at that of
    each batch, and the payload bytes delivered by then.
    """

    payload: bytes = b""
    error: str = ""
    series: bytes = b""
    recording: Recording | None = None
    not_modelled: tuple[str, ...] | None = None
    batches: tuple[tuple[Glance, int], ...] = ()
    cause: BaseException | None = field(default=None, compare=False)

    def __getstate__(self) -> tuple[object, ...]:
        # The fields in their order, without the cause: not every exception can go to another process.
        return self.payload, self.error, self.series, self.recording, self.not_modelled, self.batches, None


Executor = Callable[[Iterator[Task], Callable[[Task, Outcome], None], Callable[[float], None]], None]
"""A function that performs tasks, called as ``executor(tasks, on_done, watch)``.

It takes `tasks` when it has room for them, from one thread at a time. It calls ``on_done(task, outcome)`` once per
task, from any thread, but from one at a time. About ten times a second it calls ``watch(under_way)`` from the thread
that called it, with the work done so far of the tasks under way (0 if unknown). It returns when all tasks are done. If
`watch`, `on_done` or `tasks` raises an error, or the user presses Ctrl-C, it stops the tasks under way and raises that
error.
"""


_LATER_DEFAULTS = {
    **dict.fromkeys(("framing", "memory_limit", "sender_delay", "receiver_delay", "src", "dst", "max_rate"), "auto"),
    **dict.fromkeys(("half_duplex", "access_half_duplex"), "auto"),
    "min_qlen_step": 0,
    "send_jitter": "0 s",
    **dict.fromkeys(("ecn_path", "reverse_ecn_path"), "pass"),
    **dict.fromkeys(("good_time", "bad_time", "delays", "outages", "handover", "jitter", "reorder"), "auto"),
    **dict.fromkeys(("reverse_delays", "reverse_outages", "reverse_jitter", "reverse_reorder"), "auto"),
    **dict.fromkeys(("duplicate", "reverse_duplicate"), 0.0),
    "overtaking": False,
    "ecn_feedback": "classic",
    "offload": False,
    "pacing": "own",
    "receive_offload": "0 s",
    "pacing_burst": 1,
    "early_marks": "each",
    "codec": "g711",
    "damping": False,
    "history_discounting": True,
    "raqm.weights": [1.0],
}
"""Keys of scenarios that runs may be older than, with defaults that change no result; some of one discipline alone."""


def digest(scenario: Scenario) -> str:
    """Hash everything that determines a scenario's results, except seed and engine.

    Return the SHA-256, in hexadecimal, of its canonical JSON with every default filled in. A recording counts by the
    packets or rates that were read, not by its path or present content. Raise ScenarioError if the scenario is not
    valid, or has programs: whatever these read determines their traffic.
    """
    for entry in scenario.resolved["traffic"]:
        if entry["kind"] == "program" and entry["count"]:
            scenario._core.refuse(
                f"traffic.{entry['name']}.kind",
                '"program"',
                "its runs cannot be stored, as nothing shows whether a program has changed: use aqmlab run or compare",
            )
    resolved = by_algorithm(scenario.resolved)
    for name in ("title", "seed"):
        resolved.pop(name, None)
    for table, names in _NOT_IN_RESULTS.items():
        for name in names:
            resolved[table].pop(name, None)
    traces = iter(scenario._core.traces())
    for entry in resolved["traffic"]:
        if entry["kind"] in ("trace", "stack"):
            entry["file"] = hashlib.sha256(next(traces)).hexdigest()
    links = {link["name"]: link for link in resolved["link"]}
    for name, key, content in scenario._core.recordings():
        cable = name.removesuffix(":reverse")
        table = links[cable] if cable in links else resolved["dumbbell"]
        read, key = hashlib.sha256(content).hexdigest(), key if name == cable else f"reverse_{key}"
        # What else a table of jitter says counts, too.
        table[key] = {**table[key], "file": read} if key.endswith("jitter") else read
    if own := scenario._core.own_algorithms:
        from aqmlab.own.source import interface, packages, text_of

        resolved["own"] = [interface(), [packages(text_of(source)) for _, source in sorted(own)]]
    text = json.dumps(_as_stored(resolved), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_stored(value: Any) -> Any:
    """Return a scenario without the later keys that have their defaults, so that stored runs keep their keys."""
    if isinstance(value, dict):
        return {
            name: _as_stored(one)
            for name, one in value.items()
            if one not in [_LATER_DEFAULTS.get(key, ...) for key in (name, f"{value.get('name')}.{name}")]
        }
    return [_as_stored(one) for one in value] if isinstance(value, list) else value


def by_algorithm(resolved: dict[str, Any]) -> dict[str, Any]:
    """Return a resolved scenario with each discipline under the name of its algorithm, ``fq`` instead of ``fq_codel``.

    A class of the user's own is under its name: the digest of its source identifies it, wherever the file is. So
    scenarios that differ only in how they write a discipline are equal.
    """
    copy = {**resolved, "link": resolved.get("link", ())}
    copy |= {kind: [dict(table) for table in copy[kind]] for kind in LISTS if kind in copy}
    copy["traffic"] = [_by_class(entry) for entry in resolved["traffic"]]
    for table in (copy, *(table for kind in LISTS for table in copy.get(kind, ()))):
        for key in table.keys() & {"aqm", "reverse_aqm"}:
            name = table[key]["name"]
            table[key] = _by_class({**table[key], "name": algorithms().get(name, name)})
    return copy


def _by_class(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the names of the user's own classes in it, and in those inside it, in place of their files.

    A class of traffic may be called ``source``.
    """
    inside: dict[str, Any] = {
        key: _by_class(value) if isinstance(value, dict) else value for key, value in table.items()
    }
    return {**inside, "name": inside["name"].rpartition(":")[2]} if isinstance(inside.get("source"), str) else inside


def key(scenario: str, seed: int, engine: Engine = PACKETS) -> bytes:
    """Return the key of a run: SHA-256 of the canonical JSON of the scenario's `digest`, seed, engine and format."""
    return key_for(engine.version)(scenario, seed)


def key_for(version: str) -> Callable[[str, int], bytes]:
    """Return the function of digest and seed that is `key` for this version of an engine; it is fast, for many runs."""
    head = f'{{"engine":{json.dumps(version)},"format":{FORMAT},"scenario":"'
    return lambda scenario, seed: hashlib.sha256(f'{head}{scenario}","seed":{seed}}}'.encode()).digest()


def sources(scenario: Scenario) -> tuple[str, ...]:
    """Return the files of a scenario's own disciplines, for `Task`."""
    if not (own := scenario._core.own_algorithms):
        return ()
    from aqmlab.own.source import text_of

    return tuple(text_of(source) for _, source in sorted(own))


class ScenarioChanged(ValueError):  # noqa: N818  the file changed
    """Raised when a scenario now means another run than when its task was made."""

    def __init__(self) -> None:
        super().__init__("a trace has changed since the runs were planned; rerunning uses its present content")


def scenario_of(task: Task) -> _core.Scenario:
    """Return the scenario of a task; one that is parsed from TOML is verified against the task's key.

    Raise ScenarioError if it is not valid here, ScenarioChanged if it now means another run.
    """
    if isinstance(task.scenario, _core.Scenario):
        return task.scenario
    if task.sources:
        from aqmlab.own.source import keep

        keep(task.sources)
    for _ in range(2):
        scenario, name = _read(task.scenario)
        if key(name, task.seed, task.engine) == task.key:
            return scenario
        _read.cache_clear()  # a trace may have changed since it was read
    raise ScenarioChanged


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_core.Scenario, str]:
    """Parse a scenario; return it with its digest."""
    scenario = Scenario.parse(text, "<task>")
    return scenario._core, digest(scenario)


def simulate(task: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
    """Let its engine perform a task; return its outcome, also if it failed, or None if it was stopped.

    About ten times a second `watch` is called with the fraction done; the run stops when it returns False. A run fails
    when it has nearly filled the memory.
    """
    asked = 0.0

    def look(done: float) -> bool:
        nonlocal asked
        if time.monotonic() - asked > 0.1:  # a run in short steps asks more often
            require_memory()
            asked = time.monotonic()
        return watch is None or watch(done)

    try:
        return task.engine.perform(task, look)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        return Outcome(error=f"{type(error).__name__}: {error}", cause=error)


def packed(task: Task, results: str) -> bytes:
    """Return the payload of an `Outcome`, given the run's document (see `Run.document`) as JSON."""
    return task.key + zlib.compress(results.encode(), 1)


def as_parquet(columns: _core.ArrowStream | None) -> bytes:
    """Return the series of an `Outcome`, given the columns."""
    import polars

    return parquet(polars.DataFrame(columns), SERIES)


def advance(simulation: _core.Simulation | _core.Fluid, duration: float, watch: Callable[[float], bool]) -> bool:
    """Simulate until `duration` (simulated seconds); return whether the end was reached.

    `watch` is called with the fraction done: from the set-up on about ten times a second, and at the end. The run stops
    when it returns False.
    """
    return simulation.advance(duration, lambda now: watch(now / duration)) and watch(1.0)


_KEY_BYTES = hashlib.sha256().digest_size


def opened(payload: bytes, key_bytes: int = _KEY_BYTES) -> tuple[bytes, dict[str, Any]]:
    """Return the key and the run's document (see `Run.document`) from a payload of an `Outcome` or of the store.

    `key_bytes` is the length of the task's key: 0 if the task has none.
    """
    document: dict[str, Any] = json.loads(document_text(payload, key_bytes))
    return payload[:key_bytes], document


def document_text(payload: bytes, key_bytes: int = _KEY_BYTES) -> bytes:
    """Return the document of `opened` as JSON."""
    return zlib.decompress(payload[key_bytes:])

"""Contract tests of a user's own queue discipline or congestion control, as ``aqmlab check`` runs them."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from aqmlab import _core
from aqmlab.own import compiled
from aqmlab.own.compiled import PORT
from aqmlab.own.running import AqmError, interrupt, interruptible
from aqmlab.own.source import Declared, classes, declared, shown
from aqmlab.scenario import Scenario
from aqmlab.workshop.scan import remarks

SCENE = """
duration = "4 s"
warmup = "1 s"
{general}
[dumbbell]
rate = "{rate}"
buffer = "{buffer}"
{changes}
[[traffic]]
name = "long"
count = 8
{tcp}
[[traffic]]
name = "web"
kind = "web"
count = 3
[[traffic]]
name = "steady"
kind = "cbr"
rate = "{load}"
"""
"""The scenarios of the tests: TCP that lasts, TCP that comes and goes, and constant bit rate on one link."""

SCENES = {
    "a link of 10 Mbit/s, TCP and UDP": {},
    "an overload: UDP at twice the rate of a link of 2 Mbit/s": {"rate": "2 Mbit/s", "load": "4 Mbit/s"},
    "a buffer of one packet": {"buffer": "1 packets"},
    "a buffer in bytes, and ECN": {"buffer": "60 kB", "tcp": "tcp.ecn = true"},
    "a link that is mostly idle, 100 Mbit/s": {"rate": "100 Mbit/s", "load": "10 kbit/s"},
    "a rate that falls from 10 to 2 Mbit/s and rises again": {
        "changes": 'changes = ["2 s: 2 Mbit/s", "3 s: 10 Mbit/s"]'
    },
}
"""The scenarios, by what they try."""

_SLOW = {"rate": "2 Mbit/s", "load": "200 kbit/s"}
_SLOWER = {**_SLOW, "rate": "20 Mbit/s", "changes": 'changes = ["1 ms: 2 Mbit/s"]'}
"""A slow link, and a link that is the same from 1 ms on, but was ten times as fast at the start."""

_DEFAULTS = {"general": "", "changes": "", "rate": "10 Mbit/s", "buffer": "100 packets", "tcp": "", "load": "1 Mbit/s"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of a test: its name, whether the class passes (None: not applicable), and the details."""

    name: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A class with the outcomes of its tests."""

    reference: str
    findings: list[Finding]

    @property
    def passed(self) -> bool:
        """Whether no test failed."""
        return all(finding.passed is not False for finding in self.findings)


def check(reference: str, progress: Callable[[float], None] | None = None) -> list[Checked]:
    """Test the classes of a file, given as ``FILE``, or one of them, as ``FILE:CLASS``.

    `progress` is called with the fraction done. Raise ValueError, with the file, the line and the reason, if there is
    no such class.
    """
    file, _, name = reference.partition(".py")
    file = os.path.abspath(file + ".py")
    names = [name.removeprefix(":")] if name else classes(file)
    if not names:
        declared(file)  # raises
    outcomes = []
    for number, one in enumerate(names):
        found = []
        of = declared(f"{file}:{one}")
        for step, finding in enumerate(_findings(of)):
            found.append(finding)
            if progress:
                progress(min((number + (step + 1) / len(tests_of(of))) / len(names), 1.0))
        outcomes.append(Checked(f"{shown(file)}:{one}", found))
    return outcomes


def _findings(of: Declared) -> Iterator[Finding]:
    for name, test in tests_of(of).items():
        try:
            passed, detail = test(of)
        except AqmError as error:
            passed, detail = False, str(error)
        except _core.ScenarioError as error:
            passed, detail = False, str(error)
        yield Finding(name, passed, detail)


Test = Callable[[Declared], tuple[bool | None, str]]


def _declaration(of: Declared) -> tuple[bool, str]:
    described = json.loads(_core.described(_reference(of)))
    signals = ", ".join(signal["name"] for signal in described["signals"]) or "no signals"
    if of.is_control and not {"on_ack", "on_rtt"}.intersection(of.methods):
        return False, "it has neither on_ack nor on_rtt: its window never grows"
    if of.is_control and "on_loss" not in of.methods:
        return False, "it has no on_loss: nothing brings its window down"
    if not of.methods:
        return False, "it has none of the methods that decide: on_enqueue, on_dequeue"
    lacking = [parameter.name for parameter in of.parameters if not parameter.doc]
    if lacking:
        return False, f"no text says what {', '.join(lacking)} means: param(default, unit, 'text')"
    if not (of.cls.__doc__ or "").strip():
        return False, "it has no docstring, which is its documentation"
    count = len(of.parameters)
    parts = [f"{count} parameter{'s' * (count != 1)}", *([] if of.is_control else [signals]), ", ".join(of.methods)]
    return True, "; ".join(parts)


def _source(of: Declared) -> tuple[bool, str]:
    found = remarks(of)
    tried = "no clock, files, network, programs or other random numbers; nothing that outlives a run"
    return not found, "; ".join(map(str, found)) or tried


def _runs(of: Declared) -> tuple[bool, str]:
    for scene in SCENES:
        run = _run(of, _scene(scene), accounted=True)
        if run.violations:
            return False, f"{scene}: {'; '.join(run.violations)}"
        if strange := _strange(of, run.series):
            return False, f"{scene}: {strange}"
    return True, f"{'; '.join(SCENES)}: every packet accounted for{'' if of.is_control else ', every signal a number'}"


def _strange(of: Declared, series: Any) -> str:
    for signal in of.signals:
        for kind in ("min", "mean", "max"):
            column = series[f"bottleneck.{signal.name}.{kind}"]
            if column.null_count() or not column.is_finite().all():
                return f"the signal {signal.name} is not a finite number"
            if signal.name == "p" and len(column) and (column.min() < 0 or column.max() > 1):
                return f"p leaves [0, 1]: {column.min():.4g} to {column.max():.4g}"
    return ""


def _repeats(of: Declared) -> tuple[bool, str]:
    """Test that a run is the same after another one, with other states of foreign generators, and elsewhere."""
    scene = _scene(next(iter(SCENES)))
    states = random.getstate()
    try:
        random.seed(1)
        first = _run(of, scene).text
        random.seed(2)
        _run(of, scene, seed=2)
        second = _run(of, scene).text
    finally:
        random.setstate(states)
    if first != second:
        return False, "a run differs after another one: it keeps state between runs, or draws from other random numbers"
    if first != _elsewhere(of, scene):
        return False, "a run differs in a new process: it depends on the order of a set, on hash() or on id()"
    return True, "run three times, after another run and in a new process: equal to the last bit"


def _elsewhere(of: Declared, scene: Scenario) -> str:
    """Return the results of a run in another process, in which texts have other hashes."""
    program = "import sys; from aqmlab.workshop import check; check.in_another_process(sys.stdin.read())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{_with(of, scene).to_toml()}\0{of.text}",
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AqmError(f"the run in a new process failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def in_another_process(given: str) -> None:
    """Print the results of a scenario; `given` is its TOML and the file of its class, with a zero between them."""
    from aqmlab.own.source import keep

    toml, source = given.split("\0")
    keep([source])
    sys.stdout.write(_Run.of(Scenario.parse(toml), 1).text)


def _rate(of: Declared) -> tuple[bool, str]:
    """Test that the rate at the start does not decide the delay much later."""
    delays = []
    for values in (_SLOW, _SLOWER):
        scene = Scenario.parse(SCENE.format(**{**_DEFAULTS, **values})).with_(duration="12 s", warmup="4 s")
        text = _Run.of(scene.with_(aqm=_reference(of)), 1).text
        delays.append(float(json.loads(text)["links"]["bottleneck"]["queue_delay_mean"] or 0.0))
    slow, slower = (max(delay, 1e-4) for delay in delays)
    if not 0.5 < slower / slow < 2:
        return False, (
            f"the mean delay of a link of 2 Mbit/s is {slow * 1e3:.3g} ms, and {slower * 1e3:.3g} ms if its rate was "
            "20 Mbit/s in the first millisecond: it takes port.rate, the rate at the start, for the present one; "
            "queue.delay and packet.sojourn follow the rate"
        )
    return True, f"{slow * 1e3:.3g} ms on a link of 2 Mbit/s, {slower * 1e3:.3g} ms if it was faster at the start"


def _parameters(of: Declared) -> tuple[bool | None, str]:
    tried = 0
    for parameter in of.parameters:
        low, included, high = parameter.range
        if isinstance(parameter.default, bool):
            values: list[Any] = [not parameter.default]
        elif isinstance(parameter.default, str):
            values = [choice for choice in parameter.choices if choice != parameter.default]
        else:
            lowest = low if included else max(parameter.default / 1e3, low + abs(low) * 1e-3)
            values = [end for end in (lowest, high) if math.isfinite(end)]
            if isinstance(parameter.default, int):
                values = [math.ceil(end) for end in values]
        for value in values:
            text = _written(value, parameter.unit)
            scene = _with(of, _scene(next(iter(SCENES))).with_(duration="2 s"))
            tried += 1
            try:
                run = _run(of, scene._with_text(f"{_PLACES[of.is_control]}.{parameter.name}", text))
            except AqmError as error:
                return False, f"{parameter.name} = {text}: {error}"
            if strange := _strange(of, run.series):
                return False, f"{parameter.name} = {text}: {strange}"
    return (True if tried else None), f"{tried} values at the ends of their ranges" if tried else "none has an end"


def _written(value: Any, unit: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if unit in ("s", "bit/s", "Hz"):
        return f"{value:.9g} {unit}"
    if unit == "bytes":
        return f"{round(value)} B"
    return repr(value)


def _compiled(of: Declared) -> tuple[bool | None, str]:
    if compiled.compiled(of) is None:
        return None, f"it runs in Python only: {compiled.reason(of)}"
    decides = "windows" if of.is_control else "verdicts"
    for scene in SCENES:
        named = _with(of, _scene(scene))
        try:
            text = _Run.of(named, 1, interpreted=False).text
        except _core.CompiledCodeError:
            compiled.give_up(of)
            return None, f"{scene}: it runs in Python only: {compiled.reason(of)}"
        if text != _Run.of(named, 1).text:
            return False, f"{scene}: its {decides} differ from those in Python, a fault of ours: please tell us"
    return True, f"compiled by numba, with the same {decides}"


def speeds(reference: str) -> dict[str, float | None]:
    """Measure the packets of the link that a run with a class, ``FILE:CLASS``, has in a second of CPU time.

    They are those in ``python``, and ``compiled``, which is None if the class cannot be compiled.
    """
    of = declared(reference)
    scene = (Scenario.load("quickstart") if of.is_control else _greedy()).with_(
        {"record.series": False, "duration": "30 s", "warmup": "1 s"}
    )
    ways = {"python": True, "compiled": False}
    if compiled.compiled(of) is None:
        del ways["compiled"]
    found: dict[str, float | None] = {"compiled": None}
    for name, interpreted in ways.items():
        _speed(of, scene.with_(duration="2 s"), interpreted=interpreted)
        found[name] = _speed(of, scene, interpreted=interpreted)
    return found


def _greedy() -> Scenario:
    """Return a scenario of greedy flows, which the fluid engine can express."""
    return Scenario.load("quickstart").with_({"traffic.flows.tcp": "newreno"})


def _speed(of: Declared, scene: Scenario, *, interpreted: bool) -> float:
    """Return the packets at the link per second of CPU time."""
    began = time.process_time()
    run = _Run.of(_with(of, scene), 1, interpreted=interpreted)
    took = time.process_time() - began
    arrivals: int = json.loads(run.text)["links"]["bottleneck"]["arrivals"]
    return arrivals / max(took, 1e-9)


def _law(of: Declared) -> tuple[bool | None, str]:
    if not of.has_law:
        return None, "it declares none: with rate(self, q, p, dq), the fluid engine and `aqmlab analyse` can treat it"
    if missing := _missing_part(of):
        return False, missing
    scene = _greedy().with_(aqm=_reference(of))
    run = _core.Fluid(scene._core, "{}")
    run.advance(scene.duration)
    queue = json.loads(run.results())["links"]["bottleneck"]["queue_mean"]
    return (
        True,
        f"the fluid engine runs it: a mean queue of {queue:.4g} packets in the scenario quickstart, with NewReno",
    )


def _missing_part(of: Declared) -> str:
    """Return a remark on a law without the proportional part that the updates of p have; empty if there is none.

    The timer is called with a constant queue until p settles between its bounds, and then with a longer queue.
    """
    period = of.period
    if period is None or "p" not in {signal.name for signal in of.signals}:
        return ""

    def update(made: Any, count: int, packets: int) -> float:
        now, size = count * period, packets * PORT[3]
        seen = {"now": now, "now_ns": round(now * 1e9), "packets": packets, "bytes": size, "delay": 8 * size / PORT[0]}
        made.on_period(SimpleNamespace(**seen, full=False))
        return float(made.p)

    try:
        for length in (40, 80, 20, 95):
            made: Any = compiled.sample(of)
            for count in range(400):
                first = update(made, count, length)
                if not 1e-6 < first < 0.5:
                    continue
                by_rate = made.rate(length + 4, first, *([4 / period] if of.law_of_change else [])) * period
                jump = update(made, count + 1, length + 4) - first
                then = update(made, count + 2, length + 4) - first - jump
                at_once, by_rate_at_once = jump - then, by_rate - then
                if first + jump + then < 1 and abs(at_once) > abs(then) and abs(by_rate_at_once) < abs(at_once) / 2:
                    return (
                        "p follows another law than rate(): when the queue grows by 4 packets, p changes by "
                        f"{at_once:.3g} at once, by rate() by {by_rate_at_once:.3g}; a third argument, dq/dt in "
                        "packets/s, gives the proportional part: def rate(self, q, p, dq)"
                    )
                return ""
    except Exception:  # it needs more than a timer
        return ""
    return ""


_USED = 0.5
"""The part of a link that flows should use."""


def _fills(of: Declared) -> tuple[bool, str]:
    """Test that the windows grow: the flows use a link."""
    text = _run(of, _scene(next(iter(SCENES)))).text
    link = json.loads(text)["links"]["bottleneck"]
    used, delay, lost = (link[name] or 0.0 for name in ("utilisation", "queue_delay_mean", "loss_ratio"))
    found = f"uses {used:.1%} of a link of 10 Mbit/s with a buffer of 100 packets"
    if used < _USED:
        return False, f"{found}: does on_ack let self.cwnd grow?"
    return True, f"{found}, with a mean delay of {delay * 1e3:.3g} ms in its queue and {lost:.2%} lost"


TESTS: dict[str, Test] = {
    "declaration": _declaration,
    "source": _source,
    "runs": _runs,
    "repeats": _repeats,
    "rate": _rate,
    "parameters": _parameters,
    "compiled": _compiled,
    "law": _law,
    "fills": _fills,
}
"""The tests, by name."""

_OF_QUEUES = ("rate", "law")
_OF_CONTROLS = ("fills",)
"""Those for queue disciplines alone, and for congestion controls alone."""


def tests_of(of: Declared) -> dict[str, Test]:
    """Return the tests of a class, by name."""
    others = _OF_QUEUES if of.is_control else _OF_CONTROLS
    return {name: test for name, test in TESTS.items() if name not in others}


@dataclass(frozen=True)
class _Run:
    text: str
    series: Any
    violations: list[str]

    @classmethod
    def of(cls, scenario: Scenario, seed: int, *, accounted: bool = False, interpreted: bool = True) -> _Run:
        import polars

        simulation = _core.Simulation(scenario._core, seed, accounted, None, interpreted)
        with _guarded(), interruptible():
            simulation.advance(scenario.duration)
        columns = simulation.series()
        return cls(
            _comparable(simulation.results()),
            None if columns is None else polars.DataFrame(columns),
            simulation.violations() if accounted else [],
        )


def _comparable(results: str) -> str:
    """Return results without what the machine decides."""
    document = json.loads(results)
    return json.dumps({"links": document["links"], "classes": document["classes"]}, sort_keys=True)


def _reference(of: Declared) -> str:
    return f"{of.file}:{of.cls.__name__}"


_PLACES = {False: "aqm", True: "traffic.long.tcp.congestion"}
"""Where the scenes have a queue discipline, or a congestion control."""


def _with(of: Declared, scene: Scenario) -> Scenario:
    """Return a scene with the class as its discipline, or as the congestion control of all its TCP."""
    if not of.is_control:
        return scene.with_(aqm=_reference(of))
    entries = [entry["name"] for entry in scene.resolved["traffic"] if "tcp" in entry]
    return scene.with_({f"traffic.{name}.tcp.congestion": _reference(of) for name in entries})


def _scene(name: str) -> Scenario:
    return Scenario.parse(SCENE.format(**{**_DEFAULTS, **SCENES[name]}), name)


def _run(of: Declared, scene: Scenario, seed: int = 1, *, accounted: bool = False) -> _Run:
    named = scene if scene._core.own_algorithms else _with(of, scene)
    return _Run.of(named, seed, accounted=accounted)


LONGEST = 30.0
"""Seconds after which a run of a test, which takes a tenth of one, is ended."""


class TooLong(Exception):  # noqa: N818  what the run was
    """Raised in a class whose run does not end."""


class _guarded:  # noqa: N801  a context manager that reads as a word
    """Raises an exception in a class that sleeps, opens a file or a connection, or starts a program."""

    def __enter__(self) -> None:
        self._timer = threading.Timer(LONGEST, interrupt, [TooLong])
        self._timer.start()
        _watch()
        self._sleep = time.sleep
        time.sleep = _sleeps  # before Python 3.13 no audit event tells of it
        _GUARDED.on = True

    def __exit__(self, *_: object) -> None:
        _GUARDED.on = False
        time.sleep = self._sleep
        self._timer.cancel()


def _sleeps(_: Any) -> None:
    raise RuntimeError("sleeps during a run")


_GUARDED = threading.local()

_EVENTS = {
    "open": "opens a file",
    "socket.": "touches the network",
    "subprocess.": "starts a program",
    "os.system": "starts a program",
    "os.fork": "starts a process",
    "os.posix_spawn": "starts a program",
}


@cache
def _watch() -> None:
    """Begin to watch what classes do; the interpreter has no way to end it."""

    def seen(event: str, _: tuple[Any, ...]) -> None:
        if getattr(_GUARDED, "on", False):
            for prefix, what in _EVENTS.items():
                if event.startswith(prefix):
                    raise RuntimeError(f"{what} during a run")

    sys.addaudithook(seen)


__all__ = ["TESTS", "Checked", "Finding", "check", "tests_of"]

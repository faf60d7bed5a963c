"""Valid scenarios with values at the ends of their ranges: the same results in release and debug, sliced and threaded.

An input is a scenario; its first line has the number of slices of the sliced run, which is also checked against the
invariants of `aqmlab run --check`. Debug builds check these too, with overflow checks and the engine's assertions.
"""

import functools
import json
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from digests import builds, runs

from aqmlab import Scenario, ScenarioError
from fuzz import allowed, corpus

SUFFIX = ".toml"
TESTED = 60
LIMIT = 60.0

PACKETS = 6_000
"""The maximum number of packets of a run, by its own estimate."""
MEMORY = 64 << 20
"""The maximum memory in bytes, likewise."""

OWN = {
    "name",
    "kind",
    "from",
    "to",
    "active",
    "tcp",
    "file",
    "start",
    "stop",
    "count",
    "preset",
    "seed",
    "duration",
    "warmup",
}
"""Keys that are written instead of drawn, or that need a file or another key."""
DURATIONS = ("10 ms", "300 ms", "2 s", "2 s", "9 s", "60 s")


def _drawn(keys: list[corpus.Key], most: int, draw: random.Random) -> list[str]:
    """Return some keys with values from their ranges."""
    free = [key for key in keys if key.key not in OWN and not key.allowed.startswith("a table")]
    chosen = draw.sample(free, min(len(free), draw.randint(0, most)))
    return [f"{key.key} = {allowed.value(key.allowed, draw)}" for key in chosen]


def _aqm(head: str, draw: random.Random) -> list[str]:
    name, keys = draw.choice(list(corpus.algorithms().items()))
    presets = corpus.presets()[name]
    preset = [f'preset = "{draw.choice(presets)}"'] if presets and draw.random() < 0.3 else []
    return [head, f'name = "{name}"', *preset, *_drawn(keys, 4, draw)]


def _entry(i: int, places: tuple[str, str], draw: random.Random) -> list[str]:
    """Return an entry of traffic from one place to the other."""
    # A trace and a stack need files, QUIC another build, and programs another engine.
    kinds = [kind for kind in corpus.traffic() if kind not in ("trace", "stack", "quic", "program")]
    kind = draw.choice(kinds)
    common = {key.key for key in corpus.traffic()["ftp"]}
    lines = ["[[traffic]]", f'name = "t{i}"', f'kind = "{kind}"', f'from = "{places[0]}"', f'to = "{places[1]}"']
    lines += [f"count = {draw.choice((1, 1, 2, 7, 40))}", 'start = "uniform(0 s, 5 ms)"']
    own = [key for key in corpus.traffic()[kind] if key.key not in common]
    if kind == "short":
        lines += [f'arrival_rate = "{draw.choice((1, 20, 1000))} /s"']
        lines += [draw.choice(('size = "pareto(9 kB, 1.1)"', 'size = "1 B"', 'lifetime = "uniform(1 ms, 1 s)"'))]
    else:
        lines += _drawn(own, 3, draw)
    shared = [key for key in corpus.traffic()["ftp"] if key.key in ("packet_size", "class")]
    lines += _drawn(shared, 2, draw)
    if kind in ("ftp", "transfer", "short", "web"):
        tcp, keys = draw.choice(list(corpus.senders().items()))
        lines += ["[traffic.tcp]", *_tcp(tcp, keys, draw)]
    return lines


def _tcp(name: str, keys: list[corpus.Key], draw: random.Random) -> list[str]:
    head = "flavour" if name in ("tahoe", "reno", "newreno", "sack", "rack") else "preset"
    return [f'{head} = "{name}"', *_drawn([key for key in keys if key.key not in ("flavour", "preset")], 4, draw)]


def _network(draw: random.Random) -> tuple[list[str], list[tuple[str, str]]]:
    """Return a dumbbell or a chain of links, and the pairs of places between which traffic is possible."""
    loss: tuple[list[str], ...] = (
        ["loss = 0.3"],
        ["loss = 1.0"],
        ["loss = { good_to_bad = 0.1, bad_to_good = 1.0, loss_good = 0.01 }"],
        [],
        [],
        [],
    )
    if draw.random() < 0.6:
        lines = ["[dumbbell]", *_drawn(corpus.tables()["dumbbell"], 5, draw), *draw.choice(loss)]
        if draw.random() < 0.3 and not any(line.startswith("changes") for line in lines):
            lines += ['changes = ["1 ms: 1 kbit/s", "100 ms: 100 Gbit/s", "200 ms: 1 Mbit/s"]']
        lines += _aqm("[aqm]", draw) + (_aqm("[reverse_aqm]", draw) if draw.random() < 0.3 else [])
        return lines, [("senders", "receivers"), ("receivers", "senders")]
    count = draw.randint(1, 3)
    lines = ['observe = "l0"']
    for i in range(count):
        lines += ["[[link]]", f'name = "l{i}"', f'from = "n{i}"', f'to = "n{i + 1}"']
        lines += [*_drawn(corpus.tables()["link"], 4, draw), *draw.choice(loss), *_aqm("[link.aqm]", draw)]
    ends = [(f"n{i}", f"n{j}") for i in range(count + 1) for j in range(count + 1) if i != j]
    return lines, ends


def _lines(draw: random.Random) -> list[str]:
    network, places = _network(draw)
    lines = [
        f'duration = "{draw.choice(DURATIONS)}"',
        f"seed = {draw.choice((0, 1, 9_000_000_000_000_000, draw.randrange(99)))}",
    ]
    clock = draw.choice(('"auto"', '"integer"', '"double"'))
    lines += [f"clock = {clock}", *network]
    for i in range(draw.randint(1, 3)):
        lines += _entry(i, draw.choice(places), draw)
    lines += ["[record]", *_drawn(corpus.tables()["record"], 2, draw)]
    return [*lines, "[response]", *_drawn(corpus.tables()["response"], 2, draw)]


def _valid(lines: list[str]) -> Scenario | None:
    """Return the scenario without the lines that are rejected."""
    for _ in range(12):
        scenario = None
        try:
            scenario = Scenario.parse("\n".join(lines) + "\n", "case")
            scenario.check()
            return scenario
        except ScenarioError as error:
            bad = {int(line) - 1 for line in re.findall(r"(?m)^case:(\d+): ", str(error))}
            # A whole table cannot be left out as a line: its entries can.
            bad = {i for i in bad if not lines[i].startswith(("[", "name", "kind"))}
            if not bad:
                return None
            lines = [line for i, line in enumerate(lines) if i not in bad]
    return None


def _bounded(scenario: Scenario) -> Scenario | None:
    """Return a scenario as short as its estimate requires."""
    for _ in range(4):
        if scenario._packets <= PACKETS and scenario._memory <= MEMORY:
            return scenario
        shorter = max(scenario.duration * min(0.5, PACKETS / max(scenario._packets, 1.0)), 1e-6)
        scenario = scenario.with_({"duration": f"{shorter:.9f} s"})
        try:
            scenario.check()
        except ScenarioError:
            return None
    return None


def case(seed: int) -> bytes:
    """Return the scenario that a seed makes; empty if none of its kind is valid, or small enough."""
    draw = random.Random(seed)
    for _ in range(5):
        found = _valid(_lines(draw))
        scenario = None if found is None else _bounded(found)
        if scenario is not None:
            warmup = f"{scenario.duration * draw.choice((0, 0.1, 0.5, 0.999)):.9f} s"
            return f"# {draw.choice((1, 2, 7, 100))} slices\n{scenario.with_(warmup=warmup).to_toml()}".encode()
    return b""


def ready() -> None:
    """Build the debug program."""
    builds.DEBUG.make()


@functools.cache
def _debug() -> "subprocess.Popen[str]":
    """Return the debug program, which answers until it panics."""
    program = builds.ROOT / builds.DEBUG.program
    return subprocess.Popen(
        [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _by_debug(order: runs.Order) -> runs.Answer:
    """Run in the debug program."""
    process = _debug()
    assert process.stdin
    assert process.stdout
    assert process.stderr
    try:
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        _debug.cache_clear()
        raise AssertionError(f"debug: {process.stderr.read()[-1000:]}")
    answer: runs.Answer = json.loads(line)
    return answer


def judge(case: bytes, folder: Path) -> str:
    """Run a scenario in all modes."""
    if not case:
        return "none"
    text = case.decode()
    order = {"text": text}
    sliced = {**order, "slices": int(text.split()[1]), "accounted": True}
    with ThreadPoolExecutor(2) as pool:
        whole, parts = pool.map(runs.installed, (order, sliced))
    assert whole == parts, "slices, threads or the account make a difference"
    assert _by_debug(order) == whole, "debug and release differ"
    return "run"


def attack(seed: int, folder: Path) -> str:
    """Try the scenario of a seed."""
    return judge(case(seed), folder)

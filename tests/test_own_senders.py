"""A user's own congestion controls: classes in Python files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import ROOT, Cli

import aqmlab
from aqmlab import Scenario, ScenarioError, _core
from aqmlab.execute.task import Task, digest, key, opened, simulate, sources
from aqmlab.own import compiled, source
from aqmlab.workshop import check

RENO = f"{ROOT / 'examples' / 'reno.py'}:Reno"
CUBIC = f"{ROOT / 'examples' / 'cubic.py'}:Cubic"

SCENE = """
duration = "30 s"
warmup = "1 s"
record.cwnd = "1 ms"

[dumbbell]
rate = "10 Mbit/s"
delay = "15 ms"
buffer = "60 packets"

[[traffic]]
name = "long"
count = 3
start = "uniform(0 s, 2 s)"

[[traffic]]
name = "web"
kind = "web"
count = 4

[[traffic]]
name = "bursts"
kind = "on-off"
rate = "9 Mbit/s"
"""

PATHS: dict[str, dict[str, Any]] = {
    "losses and an application that pauses": {},
    "marks": {"aqm": "codel:ecn=true", "traffic.long.tcp.ecn": True, "traffic.web.tcp.ecn": True},
    "random losses on a fast link": {"dumbbell.loss": 0.001, "dumbbell.rate": "100 Mbit/s", "dumbbell.delay": "40 ms"},
    "time-outs": {"dumbbell.loss": 0.15, "dumbbell.rate": "2 Mbit/s", "dumbbell.buffer": "5 packets"},
    "segmentation offload and a host that paces": {"traffic.long.tcp.offload": True, "traffic.long.tcp.pacing": "fq"},
    "time-outs that come too early": {
        "dumbbell.changes": ["5 s: 50 kbit/s", "9 s: 10 Mbit/s", "20 s: 30 kbit/s", "24 s: 10 Mbit/s"],
        "dumbbell.buffer": "500 packets",
    },
}
"""Networks in which every hook of a control is called."""


def performed(scenario: Scenario, *, interpreted: bool = True) -> tuple[polars.DataFrame, dict[str, Any]]:
    """Return the windows and the results of a run."""
    simulation = _core.Simulation(scenario._core, 1, True, None, interpreted)
    simulation.advance(scenario.duration)
    assert not simulation.violations()
    results = json.loads(simulation.results())
    return polars.DataFrame(simulation.cwnd()), {name: results[name] for name in ("links", "classes")}


def scene(tcp: str, **changes: Any) -> Scenario:
    return Scenario.parse(SCENE).with_({"traffic.long.tcp": tcp, "traffic.web.tcp": tcp} | changes)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("own", "ours"), [(RENO, "linux:congestion=reno"), (CUBIC, "linux")])
def test_the_examples_have_every_window_of_the_controls_that_they_are(path: str, own: str, ours: str) -> None:
    windows, results = performed(scene(ours, **PATHS[path]))
    for interpreted in (True, False):
        assert compiled.compiled(source.declared(own)), compiled.reason(source.declared(own))
        found, same = performed(scene(own, **PATHS[path]), interpreted=interpreted)
        assert found.equals(windows)
        assert same == results
    assert windows["cwnd"].n_unique() > 8


def written(folder: Path, body: str) -> str:
    """Write a control with these lines in it; return its reference."""
    file = folder / "odd.py"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    file.write_text(
        f'import math\n\nimport aqmlab\n\n\nclass Odd(aqmlab.CongestionControl):\n    """Odd."""\n\n{lines}\n'
    )
    return f"{file}:Odd"


QUICK = {"duration": "5 s", "record.cwnd": "auto"}

LINE = "odd.py:9: ValueError: {} (in Odd.on_ack, at "


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            "def on_ack(self, flow):\n    self.cwnd = -3",
            LINE.format("cwnd = -3: must be a number of segments, at least 1"),
        ),
        (
            "def on_ack(self, flow):\n    self.cwnd = math.inf - math.inf",
            LINE.format("cwnd = nan: must be a number of segments, at least 1"),
        ),
        (
            "def on_ack(self, flow):\n    self.ssthresh = 0.5",
            LINE.format("ssthresh = 0.5: must be a number of segments, at least 1"),
        ),
        (
            "def on_ack(self, flow):\n    self.pacing_rate = 0.0",
            LINE.format("pacing_rate = 0: must be in bit/s, above 0"),
        ),
        ("def on_ack(self, flow):\n    self.cwnd = 'wide'", "odd.py:9: TypeError: must be real number, not str"),
        ("def on_ack(self, flow):\n    self.cwnd /= 0", "odd.py:10: ZeroDivisionError: float division by zero"),
        ("def start(self, connection):\n    self.cwnd = 0.0", "odd.py:9: ValueError: cwnd = 0: must be a number of"),
    ],
)
def test_a_window_that_is_none_ends_the_run_with_its_line(tmp_path: Path, body: str, error: str) -> None:
    scenario = scene(written(tmp_path, body), **QUICK)
    for interpreted in (True, False):
        outcome = simulate(Task(scenario.to_toml(), 1, key(digest(scenario), 1), "x", 0.0 if interpreted else 1e12))
        assert outcome is not None
        assert error in outcome.error
        assert "\n" not in outcome.error


@pytest.mark.parametrize("line", ["self.cwnd = 0", "self.cwnd /= 0"])
def test_an_error_at_the_start_of_a_connection_has_its_time(tmp_path: Path, line: str) -> None:
    spec = written(tmp_path, f"def start(self, connection):\n    {line}")
    scenario = scene(spec, **QUICK | {"traffic.long.start": "2 s", "traffic.web.tcp": "linux"})
    outcome = simulate(Task(scenario.to_toml(), 1, key(digest(scenario), 1), "x", 0.0))
    assert outcome is not None
    assert "(in Odd.start, at 2.0" in outcome.error


WHOLE = """
def start(self, connection):
    self.cwnd, self.ssthresh = 10, 40

def on_ack(self, flow):
    self.cwnd += flow.acked if self.cwnd < self.ssthresh else 1

def on_loss(self, flow):
    self.ssthresh = max(flow.in_flight // 2, 2)
"""


def test_a_window_of_whole_numbers_is_the_same_when_compiled(tmp_path: Path) -> None:
    spec = written(tmp_path, WHOLE)
    assert compiled.compiled(source.declared(spec)), compiled.reason(source.declared(spec))
    windows, results = performed(scene(spec, duration="5 s"))
    found, same = performed(scene(spec, duration="5 s"), interpreted=False)
    assert found.equals(windows)
    assert same == results
    assert windows["cwnd"].n_unique() > 8


def test_a_repeated_time_out_is_no_further_loss(tmp_path: Path) -> None:
    text = Path(RENO.rpartition(":")[0]).read_text().partition("    def on_timeout")[0]
    (tmp_path / "reno.py").write_text(text)
    many = {"traffic.long.count": 12, "traffic.web.count": 0, "dumbbell.rate": "2 Mbit/s"}
    windows, results = performed(scene("linux:congestion=reno", **many))
    found, same = performed(scene(f"{tmp_path / 'reno.py'}:Reno", **many))
    assert found.equals(windows)
    assert same == results
    assert results["classes"]["long"]["timeouts"] > 50


def test_a_sweep_keeps_the_runs_that_were_done(quick_cli: Cli, tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        "least = aqmlab.param(2.0, 'segments', 'The window')\n\n"
        "def on_ack(self, flow):\n    self.cwnd = self.least\n\ndef on_loss(self, flow):\n    self.ssthresh = 2.0",
    )
    given = ["quickstart", "--set", "duration='6 s'", "--set", f"traffic.flows.tcp='{spec}'"]
    varied = ["--vary", "traffic.flows.tcp.congestion.least=2,-1,4", "--out", str(tmp_path / "out")]
    done = quick_cli("sweep", *given, *varied, "--json")
    assert done.returncode != 0
    assert "cwnd = -1: must be a number of segments, at least 1" in done.stderr + done.stdout
    kept = aqmlab.Sweep.load(tmp_path / "out")
    assert sorted(kept.frame["traffic.flows.tcp.congestion.least"]) == [2.0, 4.0]


def test_the_window_is_what_the_class_says(tmp_path: Path) -> None:
    spec = written(tmp_path, "def start(self, connection):\n    self.cwnd, self.ssthresh = 3.75, 9.5")
    windows, _ = performed(scene(spec, **QUICK | {"record.cwnd": "10 ms", "traffic.web.count": 0}))
    assert set(windows.filter(polars.col("t") > 4)["cwnd"]) == {3.0}
    assert set(windows.filter(polars.col("t") > 4)["ssthresh"]) == {9.0}


def test_a_pace_is_kept(tmp_path: Path) -> None:
    spec = written(tmp_path, "def start(self, connection):\n    self.pacing_rate = 1e6\n    self.cwnd = 1000.0")
    alone = {"traffic.long.count": 1, "traffic.web.count": 0, "traffic.bursts.rate": "1 kbit/s"}
    _, results = performed(scene(spec, **QUICK | alone | {"traffic.long.start": "0 s", "record.cwnd": "1 s"}))
    assert results["classes"]["long"]["goodput"] == pytest.approx(1e6, rel=0.03)


@pytest.mark.parametrize(("hook", "window", "path"), [("on_loss", 100.0, {}), ("on_ecn", 80.0, PATHS["marks"])])
def test_a_pace_that_a_reduction_sets_is_taken_at_once(
    tmp_path: Path, hook: str, window: float, path: dict[str, Any]
) -> None:
    spec = written(
        tmp_path,
        f"def start(self, connection):\n    self.cwnd = self.ssthresh = {window}\n\n"
        f"def {hook}(self, flow):\n    self.pacing_rate = 1e6",
    )
    alone = {"traffic.long.count": 1, "traffic.web.count": 0, "traffic.bursts.rate": "1 kbit/s", "warmup": "5 s"}
    _, results = performed(scene(spec, **path | alone | {"duration": "15 s", "traffic.long.start": "0 s"}))
    assert results["classes"]["long"]["goodput"] == pytest.approx(1e6, rel=0.03)


def test_a_control_takes_its_parameters_and_refuses_others(tmp_path: Path) -> None:
    changed = scene(f"{CUBIC}:beta=512,hystart=false").resolved["traffic"][0]["tcp"]["congestion"]
    assert (changed["name"], changed["beta"], changed["hystart"], changed["c"]) == (CUBIC, 512, False, 410)
    for given, error in {
        f"{CUBIC}:beta=2000": r"traffic.long.tcp.congestion.beta = 2000: must be a whole number in \[1, 1023\]",
        f"{CUBIC}:gamma=1": "traffic.long.tcp.congestion.gamma: unknown key",
        f"{CUBIC}x": "cubic.py has no class 'Cubicx'; did you mean Cubic?",
        f"{ROOT / 'examples' / 'mine.py'}:Mine": "mine.py: Mine is a queue discipline: it is named as an `aqm`",
        f"sack:congestion={CUBIC}": 'flavour = "sack" has no such control',
    }.items():
        with pytest.raises(ScenarioError, match=error):
            scene(given).check()
    with pytest.raises(ScenarioError, match="Cubic is a congestion control: it is named as a `tcp`"):
        scene("linux").with_(aqm=CUBIC).check()
    with pytest.raises(ScenarioError, match=r"traffic.long.tcp.beta = 0.5: only for congestion = \"cubic\""):
        scene(CUBIC, **{"traffic.long.tcp.beta": 0.5}).check()


def test_a_file_names_a_control_relative_to_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(Path(RENO.rpartition(":")[0]).read_text())
    (tmp_path / "x.toml").write_text(SCENE.replace("count = 3", 'count = 3\ntcp = "mine.py:Reno"'))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    found = Scenario.load(tmp_path / "x.toml")
    assert found.resolved["traffic"][0]["tcp"]["congestion"]["name"] == f"{tmp_path / 'mine.py'}:Reno"
    ours = Scenario.load(tmp_path / "x.toml").with_({"traffic.long.tcp": RENO})
    assert digest(found) == digest(ours), "the digest is that of the source, wherever it is"
    changed = tmp_path / "other.py"
    changed.write_text((tmp_path / "mine.py").read_text().replace("// 2", "// 3"))
    assert digest(found.with_({"traffic.long.tcp": f"{changed}:Reno"})) != digest(found)


def test_a_task_and_a_saved_result_carry_the_source(tmp_path: Path) -> None:
    spec = written(
        tmp_path, "def on_ack(self, flow):\n    self.cwnd += 1 / self.cwnd\n\ndef on_loss(self, flow):\n    pass"
    )
    scenario = scene(spec, **QUICK)
    task = Task(scenario.to_toml(), 1, key(digest(scenario), 1), "x", 0.0, sources=sources(scenario))
    result = aqmlab.run(scenario)
    folder = tmp_path / "saved"
    result.save(folder)
    (tmp_path / "odd.py").write_text("")
    outcome = simulate(task)
    assert outcome is not None
    assert not outcome.error
    assert opened(outcome.payload)[1]["links"]["bottleneck"]["arrivals"] > 1000
    assert aqmlab.Result.load(folder).scenario.resolved["traffic"][0]["tcp"]["congestion"]["name"].endswith(".py:Odd")


def test_check_tries_what_a_control_may_get_wrong(tmp_path: Path) -> None:
    for spec in (RENO, CUBIC):
        (outcome,) = check.check(spec)
        assert outcome.passed, outcome
        tests = {finding.name: finding for finding in outcome.findings}
        assert list(tests) == ["declaration", "source", "runs", "repeats", "parameters", "compiled", "fills"]
        assert tests["compiled"].passed
    bodies = {
        "def on_loss(self, flow):\n    self.ssthresh = 2.0": ("declaration", "its window never grows"),
        "def on_ack(self, flow):\n    self.cwnd += 1": ("declaration", "nothing brings its window down"),
        "def on_ack(self, flow):\n    self.cwnd = 1.0\n\ndef on_loss(self, flow):\n    pass": (
            "fills",
            "of a link of 10",
        ),
        "def on_ack(self, flow):\n    import time\n    self.cwnd = 2.0\n\ndef on_loss(self, flow):\n    pass": (
            "source",
            "use flow.now",
        ),
    }
    for body, (test, text) in bodies.items():
        (outcome,) = check.check(written(tmp_path, body))
        failed = {finding.name: finding.detail for finding in outcome.findings if finding.passed is False}
        assert text in failed[test]


def test_a_control_has_no_signals(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="only queue disciplines have signals"):
        scene(written(tmp_path, "x = aqmlab.signal()\n\ndef on_ack(self, flow):\n    pass")).check()
    with pytest.raises(ScenarioError, match="no parameter can be called cwnd"):
        scene(written(tmp_path, "cwnd = aqmlab.param(1.0)\n\ndef on_ack(self, flow):\n    pass")).check()


def test_commands_take_it_as_any_other(quick_cli: Cli) -> None:
    page = quick_cli("show", CUBIC).stdout
    assert "beta = 717" in page
    assert "A cubic function of the time since the last loss" in page
    refused = quick_cli("port", CUBIC)
    assert refused.returncode == 2
    assert "only queue disciplines are carried to Rust" in refused.stderr
    refused = quick_cli("fluid", "quickstart", "--set", f"traffic.flows.tcp='{RENO}'")
    assert "the fluid model's windows are Reno's" in refused.stderr


def test_the_linux_engine_refuses_it() -> None:
    with pytest.raises(ScenarioError, match="the kernel has no Python: use the packet engine"):
        aqmlab.run(scene(RENO), engine="linux")

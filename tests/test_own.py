"""Queue disciplines of the user's own: classes in Python files."""

import json
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import ROOT, Cli

import aqmlab
from aqmlab import Scenario, ScenarioError, _core
from aqmlab.execute.task import Outcome, Task, digest, key, opened, simulate, sources
from aqmlab.own import compiled, source

MINE = ROOT / "examples" / "mine.py"
CODEL = ROOT / "examples" / "codel.py"

CHANCE = '''\
import aqmlab


class Chance(aqmlab.AQM):
    """Drop by chance."""

    p = aqmlab.param(0.05, "", "Drop probability", low=0, high=1)
    seen = aqmlab.signal("packets", "Arrivals so far")

    def start(self, port):
        self.seen = 0

    def on_enqueue(self, packet, queue):
        self.seen += 1
        if self.random() < self.p:
            return aqmlab.DROP
'''


@pytest.fixture
def chance(tmp_path: Path) -> Path:
    file = tmp_path / "chance.py"
    file.write_text(CHANCE)
    return file


def written(folder: Path, body: str, name: str = "Odd") -> str:
    """Write a class with these lines in it; return its reference."""
    file = folder / "odd.py"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    file.write_text(f'import aqmlab\n\n\nclass {name}(aqmlab.AQM):\n    """Odd."""\n\n{lines}\n')
    return f"{file}:{name}"


def outcome(scenario: Scenario, seed: int = 1, *, interpreted: bool = True) -> dict[str, Any]:
    run = _core.Simulation(scenario.core, seed, True, None, interpreted)
    run.advance(scenario.duration)
    assert run.violations() == []
    found = json.loads(run.results())
    return {"links": found["links"], "classes": found["classes"]}


def links(done: Outcome | None) -> dict[str, Any]:
    assert done
    found: dict[str, Any] = opened(done.payload)[1]["links"]
    return found


@pytest.fixture
def overload() -> Scenario:
    """Return a link with more traffic than it can send, in packets of several sizes, with and without ECN."""
    return Scenario.parse(
        """
        duration = "20 s"
        warmup = "1 s"
        [dumbbell]
        rate = "3 Mbit/s"
        buffer = "200 packets"
        [[traffic]]
        count = 12
        [[traffic]]
        kind = "web"
        count = 10
        [[traffic]]
        kind = "on-off"
        rate = "2 Mbit/s"
        packet_size = "200 B"
        count = 2
        """
    )


def test_codel_in_python_has_the_verdicts_of_codel(overload: Scenario) -> None:
    ours = outcome(overload.with_aqm("codel"))
    assert ours["links"]["bottleneck"]["drops_early"] > 100
    assert outcome(overload.with_aqm(f"{CODEL}:CoDel")) == ours
    other = "target=2ms,interval=30ms"
    assert outcome(overload.with_aqm(f"{CODEL}:CoDel:{other}")) == outcome(overload.with_aqm(f"codel:{other}")) != ours


@pytest.mark.parametrize("spec", [f"{MINE}:Mine", f"{CODEL}:CoDel", f"{MINE}:Mine:ecn=true,target=5ms,period=1ms"])
def test_compiled_code_has_the_same_verdicts(overload: Scenario, spec: str) -> None:
    scenario = overload.with_({"traffic.1.tcp.ecn": True}).with_aqm(spec)
    (one,) = scenario.core.own_algorithms
    assert compiled.compiled(source.declared(*one)), compiled.reason(source.declared(*one))
    plain = outcome(scenario)
    assert plain == outcome(scenario, interpreted=False)
    assert plain["links"]["bottleneck"]["marks"] > 0 or "ecn" not in spec


def test_random_numbers_are_the_queues_own(overload: Scenario, chance: Path) -> None:
    scenario = overload.with_aqm(f"{chance}:Chance:p=0.03")
    first = outcome(scenario)
    link = first["links"]["bottleneck"]
    early = link["drops_early"] / (link["arrivals"] - link["drops_overflow"])
    assert abs(early - 0.03) < 4 * (0.03 * 0.97 / link["arrivals"]) ** 0.5
    assert outcome(scenario) == first != outcome(scenario, 2)


def test_signals_are_recorded(overload: Scenario, chance: Path) -> None:
    result = aqmlab.run(overload.with_({"record.series": True}).with_aqm(f"{chance}:Chance"))
    seen = result.series["bottleneck.seen.max"]
    assert seen.is_sorted()
    assert seen[-1] > result.metrics["arrivals"] > 1000


def test_a_class_stands_for_its_name(overload: Scenario) -> None:
    cls = source.declared(f"{MINE}:Mine").cls
    assert outcome(overload.with_(aqm=cls)) == outcome(overload.with_aqm(f"{MINE}:Mine"))
    with pytest.raises(TypeError, match=r"must be a subclass of aqmlab\.AQM"):
        overload.with_(aqm=int)  # type: ignore[arg-type]

    class Inside(aqmlab.AQM):
        """Not at the top of a file."""

    with pytest.raises(TypeError, match=r"save the class at the top of a file"):
        overload.with_aqm(Inside)


def test_it_works_inside_fq(overload: Scenario) -> None:
    own = outcome(overload.with_aqm(f"fq:aqm='{CODEL}:CoDel'"))
    assert own == outcome(overload.with_aqm("fq:aqm='codel:ecn=false'"))


def test_a_file_names_a_class_relative_to_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "chance.py").write_text(CHANCE)
    (tmp_path / "a" / "one.toml").write_text(
        'aqm = "chance.py:Chance:p=0.2"\nduration = "1 s"\n[dumbbell]\n[[traffic]]\n'
    )
    monkeypatch.chdir(tmp_path / "b")
    scenario = Scenario.load("../a/one.toml")
    assert (scenario.aqm, scenario.resolved["aqm"]["p"]) == ("chance.py:Chance", 0.2)
    assert Scenario.parse(scenario.to_toml()).resolved["aqm"]["p"] == 0.2
    assert scenario.with_({"aqm.p": 0.3}).resolved["aqm"]["p"] == 0.3


def test_the_digest_is_that_of_the_source_wherever_it_is(overload: Scenario, tmp_path: Path) -> None:
    files = []
    for name, text in (("x", CHANCE), ("y", CHANCE), ("z", CHANCE.replace("self.seen += 1", "self.seen += 2"))):
        (tmp_path / name).mkdir()
        files.append(tmp_path / name / "chance.py")
        files[-1].write_text(text)
    one, same, other = (digest(overload.with_aqm(f"{file}:Chance")) for file in files)
    assert one == same != other


def test_a_task_carries_its_source(overload: Scenario, chance: Path) -> None:
    scenario = overload.with_aqm(f"{chance}:Chance")
    task = Task(scenario.to_toml(), 1, key(digest(scenario), 1), "chance", 1e3, sources=sources(scenario))
    expected = outcome(scenario)
    chance.write_text(CHANCE.replace("0.05", "0.5"))
    done = simulate(task)
    assert done
    assert not done.error
    assert outcome(scenario) == expected, "a scenario keeps the source that it was read with"
    chance.unlink()
    assert links(simulate(task)) == links(done)
    source._known.clear()
    source._classes.cache_clear()
    assert "cannot be read" in simulate(Task(task.scenario, 2, key(digest(scenario), 2), "chance", 1e3)).error  # type: ignore[union-attr]


def test_a_pinned_source_that_has_changed_is_refused(overload: Scenario, chance: Path) -> None:
    pinned = overload.with_aqm(f"{chance}:Chance").to_toml()
    chance.write_text(CHANCE.replace("0.05", "0.5"))
    source._known.clear()
    with pytest.raises(ScenarioError, match=r"chance\.py has changed since: .* remove `source` to use"):
        Scenario.parse(pinned).check()
    lines = [line for line in pinned.splitlines() if not line.startswith("source")]
    assert Scenario.parse("\n".join(lines)).resolved["aqm"]["p"] == 0.5


def test_a_saved_result_has_the_source_beside_it(overload: Scenario, chance: Path, tmp_path: Path) -> None:
    result = aqmlab.run(overload.with_(duration="2 s").with_aqm(f"{chance}:Chance"))
    result.save(tmp_path / "out")
    chance.unlink()
    source._known.clear()
    source._classes.cache_clear()
    moved = (tmp_path / "out").rename(tmp_path / "moved")
    again = Scenario.load(moved / "scenario.toml")
    assert aqmlab.run(again).metrics == result.metrics
    loaded = aqmlab.Result.load(moved)
    loaded.scenario.check()
    assert loaded.metrics == result.metrics
    loaded.save(moved)
    assert len(list(moved.glob("*.py"))) == 1
    assert aqmlab.diff(moved, moved)


def test_a_sweep_runs_what_a_change_makes_missing(overload: Scenario, chance: Path, tmp_path: Path) -> None:
    scenario, store = overload.with_(duration="2 s"), tmp_path / "store"

    def swept() -> aqmlab.Sweep:
        names = [f"{chance}:Chance", "droptail"]
        return aqmlab.sweep(scenario, {"aqm.p": [0.01, 0.1]}, names, 2, store=store, jobs=2)

    first = swept()
    assert (first.done, first.simulated, first.failures) == (8, 6, ())
    losses = first.frame.filter(polars.col("aqm") != "droptail").group_by("aqm.p").agg(polars.col("drops_early").mean())
    assert dict(losses.iter_rows())[0.1] > dict(losses.iter_rows())[0.01]
    assert swept().simulated == 0
    chance.write_text(CHANCE.replace("self.seen += 1", "self.seen += 2"))
    assert swept().simulated == 4


def test_a_sweep_goes_on_past_a_class_that_fails(overload: Scenario, tmp_path: Path) -> None:
    body = """\
    k = aqmlab.param(1.0, "", "Divisor", low=0)

    def on_enqueue(self, packet, queue):
        return aqmlab.DROP if queue.packets / self.k > 20 else aqmlab.PASS
    """
    odd = written(tmp_path, "\n".join(line[4:] for line in body.splitlines()))
    swept = aqmlab.sweep(overload.with_(duration="2 s"), {"aqm.k": [1.0, 0.0, 2.0]}, [odd], 2, store=tmp_path / "s")
    assert (swept.done, len(swept.failures)) == (4, 2)
    assert "odd.py:10: ZeroDivisionError: float division by zero (in Odd.on_enqueue, at " in str(swept.failures[0])


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("def on_enqueue(self, packet, queue):\n    return 0.3", r"odd\.py:7: TypeError: returns 0\.3: must be"),
        ("def on_enqueue(self, packet, queue):\n    return True", r"odd\.py:7: TypeError: returns True: must be"),
        ("def on_dequeue(self, packet, queue):\n    return 3", r"odd\.py:7: TypeError: returns 3: must be"),
        ("def start(self, port):\n    self.x = port.nothing", r"odd\.py:8: AttributeError: .*\(in Odd\.start\)"),
        ("def on_idle(self, queue):\n    return 1 / 0", r"odd\.py:8: ZeroDivisionError: .*\(in Odd\.on_idle, at 0\."),
        (
            "period = 0.5\ndef on_period(self, queue):\n    self.random()",
            r"odd\.py:9: RuntimeError: random\(\) draws in",
        ),
        ("def on_enqueue(self, packet, queue):\n    packet.size = 3", r"odd\.py:8: AttributeError"),
    ],
)
@pytest.mark.parametrize("interpreted", [True, False])
def test_an_exception_has_its_place(
    overload: Scenario, tmp_path: Path, body: str, error: str, interpreted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_WORTH", 1e18 if interpreted else 0)
    with pytest.raises(aqmlab.RunFailed, match=error):
        aqmlab.run(overload.with_aqm(written(tmp_path, body)))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("def on_period(self, queue):\n    pass", r"odd\.py:4: Odd has on_period and needs a period"),
        ("x = aqmlab.param('q', low=1)", r"odd\.py:7: ValueError: param\('q'\): a text has no low"),
        ("random = aqmlab.param(1)", r"odd\.py:4: TypeError: Odd\.random: no parameter can be called random"),
        ("x = aqmlab.param(-1)", r"write -1\.0 for a number that may be negative"),
        ("x = aqmlab.param(5, low=6)", r"must be a number in the range that it declares"),
        ("x = aqmlab.param([1])", r"the default must be a number, true or false, or a text"),
        ("def on_enqueue(self, packet, queue)\n    pass", r"odd\.py:7: SyntaxError: expected ':'"),
        ("import nothing_of_this_name", r"odd\.py:7: ModuleNotFoundError"),
    ],
)
def test_a_declaration_that_is_wrong_is_refused(overload: Scenario, tmp_path: Path, body: str, error: str) -> None:
    with pytest.raises(ScenarioError, match=error):
        overload.with_aqm(written(tmp_path, body)).check()


def test_names_that_are_wrong_are_refused(overload: Scenario, chance: Path) -> None:
    def refusal(spec: str) -> str:
        with pytest.raises(ScenarioError) as caught:
            overload.with_aqm(spec).check()
        return str(caught.value)

    assert "has no class 'Chanse'; did you mean Chance?" in refusal(f"{chance}:Chanse")
    assert "name the class as well, as in chance.py:Chance" in refusal(str(chance))
    assert "nowhere.py cannot be read: No such file" in refusal("nowhere.py:Chance")
    assert "aqm.p = 2: must be in [0, 1]" in refusal(f"{chance}:Chance:p=2")
    assert "aqm.q: unknown key; known: p, name, source" in refusal(f"{chance}:Chance:q=2")
    (chance.parent / "empty.py").write_text("x = 1\n")
    assert "empty.py has no subclass of aqmlab.AQM" in refusal(f"{chance.parent / 'empty.py'}:Chance")


def test_a_neighbour_is_refused(overload: Scenario, chance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (chance.parent / "neighbour_of_chance.py").write_text("x = 1\n")
    chance.write_text(f"import neighbour_of_chance\n{CHANCE}")
    monkeypatch.syspath_prepend(chance.parent)
    with pytest.raises(ScenarioError, match=r"chance\.py:1: imports neighbour_of_chance from its own folder"):
        overload.with_aqm(f"{chance}:Chance").check()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "def start(self, port):\n    self.x = []\ndef on_enqueue(self, packet, queue):\n    pass",
            "x is of the type list",
        ),
        (
            "def start(self, port):\n    self.x = 0\ndef on_enqueue(self, packet, queue):\n    self.x = 0.5",
            "start it as 0.0",
        ),
        ("def on_enqueue(self, packet, queue):\n    self.x = 0.5", "sets self.x, which start() does not set"),
        ("def on_enqueue(self, packet, queue):\n    return len(str(self))", "uses self as a whole"),
        ("def on_enqueue(self, packet, queue):\n    return 0.5", "returns a value of the type"),
    ],
)
def test_what_cannot_be_compiled_says_why_and_runs_in_python(
    overload: Scenario, tmp_path: Path, body: str, reason: str
) -> None:
    of = source.declared(written(tmp_path, body))
    assert compiled.compiled(of) is None
    assert reason in compiled.reason(of)


def test_state_of_every_kind_is_compiled(overload: Scenario, tmp_path: Path) -> None:
    body = """\
import numpy as np
limit = 30

def start(self, port):
    import numpy as np
    self.a = self.b = 0
    self.f, self.on = 0.0, False
    self.window = np.zeros(4)
    self.weights = np.arange(4)

def on_enqueue(self, packet, queue):
    self.a, self.b = self.b + 1, self.a
    self.f += queue.delay
    self.window[self.a % 4] = queue.packets
    self.on = not self.on
    return self.verdict(self.mean(self.weights), packet)

def mean(self, weights):
    total = 0.0
    for i in range(4):
        total += weights[i] * self.window[i]
    return total / 6

def verdict(self, mean, packet, factor=1.0):
    if self.on and mean * factor > self.limit and packet.size > 300:
        return aqmlab.DROP
    return None
"""
    reference = written(tmp_path, body)
    of = source.declared(reference)
    assert compiled.compiled(of), compiled.reason(of)
    scenario = overload.with_aqm(reference)
    assert outcome(scenario) == outcome(scenario, interpreted=False)
    assert outcome(scenario)["links"]["bottleneck"]["drops_early"] > 20


def test_commands_take_it_as_any_other(cli: Cli, tmp_path: Path) -> None:
    spec = f"{MINE}:Mine"
    page = cli("show", spec).stdout
    assert "target = 20 ms" in page
    assert "Drop with a probability that follows the square of the delay." in page
    assert cli("run", "quickstart", "--set", "duration='6 s'", "--aqm", f"{spec}:target=5ms").returncode == 0
    compared = cli("compare", "quickstart", "--set", "duration='6 s'", "--aqm", spec, "--aqm", "pie", "--json")
    assert list(json.loads(compared.stdout)["results"]) == [spec, "pie"]
    analysed = cli("analyse", "lred/exp1", "--aqm", spec)
    assert analysed.returncode == 0, analysed.stderr
    assert "a / (s - b)" in analysed.stdout
    refused = cli("fluid", "lred/exp1", "--aqm", f"{CODEL}:CoDel")
    assert "CoDel declares no law: give it a method rate(self, q, p)" in refused.stderr


def test_the_fluid_engine_integrates_its_law() -> None:
    scenario = Scenario.load("lred/exp1").with_aqm(f"{MINE}:Mine").with_(duration="60 s", warmup="30 s")
    fluid = aqmlab.fluid(scenario).metrics
    packets = aqmlab.run(scenario).metrics
    assert fluid["queue_mean"] == pytest.approx(packets["queue_mean"], rel=0.15)


def test_without_numba_it_runs_in_python(overload: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled, "_WORTH", 0)
    reference = written(tmp_path, "def on_enqueue(self, packet, queue):\n    return 2 if queue.packets > 30 else 0")
    result = aqmlab.run(overload.with_(duration="2 s").with_aqm(reference), seeds=2)
    assert result.metrics["queue_mean"] < 31
    assert compiled.reason(source.declared(reference)) == "numba is not installed: pip install 'aqmlab[numba]'"

"""Queue disciplines of the user's own: classes in Python files."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import ROOT, Cli

import aqmlab
from aqmlab import Scenario, ScenarioError, _core
from aqmlab.execute.task import Outcome, Task, digest, key, opened, simulate, sources
from aqmlab.own import compiled, source
from aqmlab.workshop import check

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
    run = _core.Simulation(scenario._core, seed, True, None, interpreted)
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
    ours = outcome(overload.with_(aqm="codel"))
    assert ours["links"]["bottleneck"]["drops_early"] > 100
    assert outcome(overload.with_(aqm=f"{CODEL}:CoDel")) == ours
    other = "target=2ms,interval=30ms"
    assert (
        outcome(overload.with_(aqm=f"{CODEL}:CoDel:{other}")) == outcome(overload.with_(aqm=f"codel:{other}")) != ours
    )


@pytest.mark.parametrize("spec", [f"{MINE}:Mine", f"{CODEL}:CoDel", f"{MINE}:Mine:ecn=true,target=5ms,period=1ms"])
def test_compiled_code_has_the_same_verdicts(overload: Scenario, spec: str) -> None:
    scenario = overload.with_({"traffic.1.tcp.ecn": True}).with_(aqm=spec)
    (one,) = scenario._core.own_algorithms
    assert compiled.compiled(source.declared(*one)), compiled.reason(source.declared(*one))
    plain = outcome(scenario)
    assert plain == outcome(scenario, interpreted=False)
    assert plain["links"]["bottleneck"]["marks"] > 0 or "ecn" not in spec


def test_random_numbers_are_the_queues_own(overload: Scenario, chance: Path) -> None:
    scenario = overload.with_(aqm=f"{chance}:Chance:p=0.03")
    first = outcome(scenario)
    link = first["links"]["bottleneck"]
    early = link["drops_early"] / (link["arrivals"] - link["drops_overflow"])
    assert abs(early - 0.03) < 4 * (0.03 * 0.97 / link["arrivals"]) ** 0.5
    assert outcome(scenario) == first != outcome(scenario, 2)


def test_signals_are_recorded(overload: Scenario, chance: Path) -> None:
    result = aqmlab.run(overload.with_({"record.series": True}).with_(aqm=f"{chance}:Chance"))
    seen = result.series["bottleneck.seen.max"]
    assert seen.is_sorted()
    assert seen[-1] > result.metrics["arrivals"] > 1000


def test_a_class_stands_for_its_name(overload: Scenario) -> None:
    cls = source.declared(f"{MINE}:Mine").cls
    assert outcome(overload.with_(aqm=cls)) == outcome(overload.with_(aqm=f"{MINE}:Mine"))
    with pytest.raises(TypeError, match=r"must be a subclass of aqmlab\.AQM"):
        overload.with_(aqm=int)  # type: ignore[arg-type]

    class Inside(aqmlab.AQM):
        """Not at the top of a file."""

    with pytest.raises(TypeError, match=r"save the class at the top of a file"):
        overload.with_(aqm=Inside)


def test_it_works_inside_fq(overload: Scenario) -> None:
    own = outcome(overload.with_(aqm=f"fq:aqm='{CODEL}:CoDel'"))
    assert own == outcome(overload.with_(aqm="fq:aqm='codel:ecn=false'"))


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
    one, same, other = (digest(overload.with_(aqm=f"{file}:Chance")) for file in files)
    assert one == same != other


def test_a_class_of_traffic_may_be_called_source(overload: Scenario, chance: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.py"
    copy.write_text(CHANCE)
    one, same, other = (
        digest(overload.with_(aqm={"name": "prio", "classes": {"source": {"aqm": aqm}}}))
        for aqm in (f"{chance}:Chance", f"{copy}:Chance", "codel")
    )
    assert one == same != other


def test_a_task_carries_its_source(overload: Scenario, chance: Path) -> None:
    scenario = overload.with_(aqm=f"{chance}:Chance")
    name = digest(scenario)
    one = Task(scenario.to_toml(), 1, key(name, 1), "chance", 1e3, sources=sources(scenario))
    expected = outcome(scenario)
    chance.write_text(CHANCE.replace("0.05", "0.5"))
    done = simulate(one)
    assert done
    assert not done.error
    assert outcome(scenario) == expected, "a scenario keeps the source that it was read with"
    chance.unlink()
    assert links(simulate(one)) == links(done)
    source._known.clear()
    source._classes.cache_clear()
    assert "cannot be read" in simulate(Task(one.scenario, 2, key(name, 2), "chance", 1e3)).error  # type: ignore[union-attr]


def test_a_pinned_source_that_has_changed_is_refused(overload: Scenario, chance: Path) -> None:
    pinned = overload.with_(aqm=f"{chance}:Chance").to_toml()
    chance.write_text(CHANCE.replace("0.05", "0.5"))
    source._known.clear()
    with pytest.raises(ScenarioError, match=r"chance\.py has changed since: .* remove `source` to use"):
        Scenario.parse(pinned).check()
    lines = [line for line in pinned.splitlines() if not line.startswith("source")]
    assert Scenario.parse("\n".join(lines)).resolved["aqm"]["p"] == 0.5


def test_a_saved_result_has_the_source_beside_it(overload: Scenario, chance: Path, tmp_path: Path) -> None:
    result = aqmlab.run(overload.with_(duration="2 s").with_(aqm=f"{chance}:Chance"))
    chance.write_text(CHANCE.replace("0.05", "0.5"))
    result.save(tmp_path / "out")  # with the source that ran
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
        return aqmlab.sweep(scenario, vary={"aqm.p": [0.01, 0.1]}, aqms=names, seeds=2, store=store, jobs=2)

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
    swept = aqmlab.sweep(
        overload.with_(duration="2 s"), vary={"aqm.k": [1.0, 0.0, 2.0]}, aqms=[odd], seeds=2, store=tmp_path / "s"
    )
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
        ("def start(self, port):\n    self.random = lambda: 0.5", r"TypeError: start\(\) replaces self\.random"),
        ("def on_enqueue(self, packet, queue):\n    packet.size = 3", r"odd\.py:8: AttributeError"),
    ],
)
@pytest.mark.parametrize("interpreted", [True, False])
def test_an_exception_has_its_place(
    overload: Scenario, tmp_path: Path, body: str, error: str, interpreted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_WORTH", 1e18 if interpreted else 0)
    with pytest.raises(aqmlab.RunFailed, match=error):
        aqmlab.run(overload.with_(aqm=written(tmp_path, body)))


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
        overload.with_(aqm=written(tmp_path, body)).check()


def test_names_that_are_wrong_are_refused(overload: Scenario, chance: Path) -> None:
    def refusal(spec: str) -> str:
        with pytest.raises(ScenarioError) as caught:
            overload.with_(aqm=spec).check()
        return str(caught.value)

    assert "has no class 'Chanse'; did you mean Chance?" in refusal(f"{chance}:Chanse")
    assert "name the class as well, as in chance.py:Chance" in refusal(str(chance))
    assert "nowhere.py cannot be read: No such file" in refusal("nowhere.py:Chance")
    assert "aqm.p = 2: must be in [0, 1]" in refusal(f"{chance}:Chance:p=2")
    assert "aqm.q: unknown key; known: p, name, source" in refusal(f"{chance}:Chance:q=2")
    (chance.parent / "empty.py").write_text("x = 1\n")
    assert "empty.py has no subclass of aqmlab.AQM" in refusal(f"{chance.parent / 'empty.py'}:Chance")


SAME = {
    "powers": "d = queue.delay * 1e3 + 0.37\nself.f = (d ** 2 + d ** 3 - d ** -2 + d ** 0.5 + 2.0 ** (d % 7)) % 1.0\n"
    "return 2 if self.f < 0.03 else 0",
    "math": "self.f += math.sin(queue.delay) + math.exp(-queue.delay) + math.log(1 + queue.packets)\n"
    "return 2 if math.floor(self.f * 1e6) % 31 == 0 else 0",
    "whole": "self.n = (self.n * 31 + packet.size) % 1_000_003\nreturn 2 if self.n // 7 % 29 == 0 else 0",
    "array": "self.w[self.n % 4] += queue.delay\nself.n += 1\n"
    "return 2 if self.w[(self.n + 1) % 4] % 0.01 < 3e-4 else 0",
    "draws": "a, b = self.random(), self.random()\nself.f, self.n = b, self.n + (a < b)\n"
    "return 2 if a * b < 0.005 else 0",
    "rounding": "self.n = round(queue.delay * 1e3) + int(queue.delay * 777) - math.ceil(queue.delay)\n"
    "return 2 if self.n % 23 == 3 else 0",
    "shifts": "self.n += 1\nx = (50 - self.n) >> (self.n % 130)\n"
    "return 2 if (x == 0 and self.n % 29 == 3) or (x == -1 and self.n % 31 == 2) else 0",
    "masks": "self.n = (self.n * 6364136 + packet.flow % 4096) & 0xFFFFFFFF\n"
    "return 2 if ((self.n >> 7) & 0x3F & ~8 | 2) == 7 else 0",
    "signs": "return 2 if (-1) ** queue.now_ns < 0 and queue.packets % 5 == 4 else 0",
    "mixed": "x = 0\nif packet.size > 300:\n    x = queue.delay\ny = max(x, 0) * 3 - min(1, x)\nself.f = max(y, 0)\n"
    "return 2 if self.f > 0.1 and y % 0.01 < 5e-4 else 0",
    "members": "return 2 if packet.size in (1500, 200) and queue.packets not in (30, 31) and queue.packets > 40 else 0",
    "chain": "return 2 if 20 < queue.packets <= 60 and not packet.udp and packet.size > 300 else None",
}
"""Bodies of on_enqueue that are compiled, and whose verdicts are the same."""


@pytest.mark.parametrize("name", SAME)
def test_arithmetic_is_that_of_python(overload: Scenario, tmp_path: Path, name: str) -> None:
    lines = "\n".join(f"    {line}" for line in SAME[name].splitlines())
    start = "import math\nimport numpy as np\n\ndef start(self, port):\n    import numpy as np\n"
    start += "    self.f, self.n, self.w = 0.0, 1, np.zeros(4)\n"
    reference = written(tmp_path, f"{start}def on_enqueue(self, packet, queue):\n{lines}")
    Path(reference.rpartition(":")[0]).write_text("import math\n" + (tmp_path / "odd.py").read_text())
    of = source.declared(reference)
    assert compiled.compiled(of), compiled.reason(of)
    scenario = overload.with_(duration="6 s").with_(aqm=reference)
    plain = outcome(scenario)
    assert plain["links"]["bottleneck"]["drops_early"] > 10
    assert outcome(scenario, interpreted=False) == plain


LEFT_TO_PYTHON = {
    "a whole number beyond 64 bits": "self.n = self.n * 3\nreturn 2 if self.n % 7 == 0 else 0",
    "a shift beyond 64 bits": "self.n += 1\nreturn 2 if (1 << self.n) % 13 == 1 else 0",
    "a shift by less than nothing": "return 2 if queue.packets >> (30 - queue.packets) == -1 else 0",
    "a comparison beyond the whole floats": "n = 2**53 + queue.packets % 2\nreturn 2 if n > 9007199254740992.0 else 0",
    "equality beyond the whole floats": "n = 2**53 + queue.packets % 2\n"
    "return 2 if n == 9007199254740992.0 and queue.packets > 30 else 0",
    "a zero below zero": "x = max(0, queue.delay - 0.01)\nreturn 2 if math.copysign(1.0, -x) < 0 else 0",
    "a power of whole numbers": "return 2 if 2 ** -self.n == 0.5 and queue.packets > 30 else 0",
    "a quotient of large whole numbers": "return 2 if 9007199254740993 * (queue.packets + 1) / 7 > 1e17 else 0",
    "an index beyond the array": "self.n += 1\nreturn 2 if self.w[self.n] > 0 else 0",
    "a logarithm of zero": "return 2 if math.log(queue.packets) > 3 else 0",
    "a root of a negative number": "return 2 if math.sqrt(queue.packets - 1) > 3 else 0",
    "a range longer than 64 bits": "k = 0\nfor i in range(-2**62 - 2**61, 2**62 + 2**61, 2**61):\n    k += 1\n"
    "return 2 if k == 6 and queue.packets > 30 else 0",
    "a whole number of infinity": "return 2 if int(1e300 * queue.packets) > 3 else 0",
}
"""Bodies that meet something that the compiled code must not decide."""


@pytest.mark.parametrize("name", LEFT_TO_PYTHON)
def test_what_compiled_code_cannot_decide_is_left_to_python(
    overload: Scenario, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(f"    {line}" for line in LEFT_TO_PYTHON[name].splitlines())
    start = "def start(self, port):\n    import numpy as np\n    self.n, self.w = 1, np.zeros(4)\n"
    reference = written(tmp_path, f"{start}def on_enqueue(self, packet, queue):\n{lines}")
    (tmp_path / "odd.py").write_text("import math\n" + (tmp_path / "odd.py").read_text())
    assert compiled.compiled(source.declared(reference)), compiled.reason(source.declared(reference))
    scenario = overload.with_(duration="6 s").with_(aqm=reference)
    with pytest.raises(_core.CompiledCodeError):
        outcome(scenario, interpreted=False)

    def ended() -> object:
        try:
            return dict(aqmlab.run(scenario).metrics)
        except aqmlab.RunFailed as error:
            return str(error)

    monkeypatch.setattr(compiled, "_WORTH", 0)
    found = ended()
    gave_up = compiled.reason(source.declared(reference)).startswith("its compiled code left")
    assert gave_up == isinstance(found, dict), "an error of the class says nothing about other runs"
    monkeypatch.setattr(compiled, "_WORTH", 1e18)
    assert ended() == found


RATES = """\
def on_enqueue(self, packet, queue):
    rate = 3e6 if queue.now < 2 else 0.5e6 if queue.now < 4 else 20e6
    if abs(queue.delay * rate - queue.bytes * 8) > 1e-6 * queue.bytes:
        raise ValueError
    self.seen += queue.delay > 0.2
    return 2 if queue.delay > 0.3 else 0
"""


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("inside", ["{}", "fq:aqm='{}'", "police:rate=1 Gbit/s,burst=9 MB,aqm='{}'"])
def test_the_delay_is_that_at_the_present_rate(
    overload: Scenario, tmp_path: Path, inside: str, interpreted: bool
) -> None:
    reference = written(tmp_path, f"def start(self, port):\n    self.seen = 0\n{RATES}")
    scenario = overload.with_({"dumbbell.changes": ["2 s: 0.5 Mbit/s", "4 s: 20 Mbit/s"], "duration": "6 s"})
    found = outcome(scenario.with_(aqm=inside.format(reference)), interpreted=interpreted)
    assert found["links"]["bottleneck"]["drops_early"] > 100


_ON = "def on_enqueue(self, packet, queue):\n    "
_START = "def start(self, port):\n    import numpy as np\n    "

REFUSED = {
    "x is of the type list": f"{_START}self.x = []\n{_ON}pass",
    "start it as 0.0": f"{_START}self.x = 0\n{_ON}self.x = 0.5",
    "sets self.x, which start() does not set": f"{_ON}self.x = 0.5",
    "uses self as a whole": f"{_ON}return 0 if self else 2",
    "fraction, which is no verdict": f"{_ON}return 0.5",
    "f calls itself: write what it repeats as a loop": f"def f(self):\n    return self.f()\n{_ON}return self.f()",
    "returns true or false, which is no verdict": f"{_ON}return self.g() > 3\ndef g(self):\n    return 1",
    "not compiled: try": f"{_ON}try:\n        return 0\n    except Exception:\n        return 2",
    "its number is true or false": f"{_ON}return 2 if ~packet.ect == 3 else 0",
    "calls sum()": f"{_ON}return 2 if sum((1, queue.packets)) > 9 else 0",
    "calls round() of": f"{_ON}return 2 if round(queue.delay, 3) > 0.1 else 0",
    "not compiled: global CAP": f"{_ON}global CAP\n    CAP = 3",
    "not part of self": f"{_ON}type(self).cap = 3",
    "shares its elements": f"{_START}self.a = self.b = np.zeros(3)\n{_ON}pass",
    "depend on the port": f"{_START}self.a = np.zeros(int(port.buffer))\n{_ON}pass",
    "of the type float32": f"{_START}self.a = np.float32(1)\n{_ON}pass",
    "calls self.a.sum, which": f"{_START}self.a = np.zeros(9)\n{_ON}return 2 if self.a.sum() > 1 else 0",
    "a default that is no number": f"def f(self, limit=(3,)):\n    return 0\n{_ON}return self.f()",
    "beyond 64 bits": f"{_ON}return 2 if (queue.packets - 10) & 0xFFFFFFFFFFFFFFFF > 5 else 0",
    "n is a number with a fraction, and elsewhere nothing": f"{_ON}n = None\n    n = queue.delay",
    "x may have no value here": f"{_ON}if packet.ect:\n        x = 1\n    return 2 if x else 0",
    "+ of true or false and true or false": f"{_ON}return 2 if packet.ect + packet.udp else 0",
    "one of its parts": f"{_ON}x = queue.packets or 3",
    "Odd has a method __setattr__": f"def __setattr__(self, name, value):\n    pass\n{_ON}pass",
    "n in (n, 1.0): is not compiled": f"{_ON}n = queue.delay\n    return 2 if n in (n, 1.0) else 0",
    "n in (0, 1 // n): is not compiled": f"{_ON}n = queue.packets\n    return 2 if n in (0, 1 // n) else 0",
    "n in (0, self.random()): is not": f"{_ON}n = queue.packets\n    return 2 if n in (0, self.random()) else 0",
    "no plain array": f"{_START}self.a = np.array(5)\n{_ON}self.a += 1",
    "not one that can be written": f"{_START}self.a = np.ones(3)\n    self.a.flags.writeable = False\n{_ON}pass",
    "one array for all queues": f"from numpy import ones\nw = ones(3)\n{_START}self.a = self.w\n{_ON}self.a[0] = 1",
    "uses __most, which has another name": f"{_ON}return 2 if queue.packets > __most else 0",
    "of the type array of bool": f"{_START}self.a = np.zeros(3, bool)\n{_ON}pass",
}
"""Classes that run in Python only, with the reason."""


@pytest.mark.parametrize("reason", REFUSED)
def test_what_may_differ_is_not_compiled(overload: Scenario, tmp_path: Path, reason: str) -> None:
    of = source.declared(written(tmp_path, REFUSED[reason]))
    assert compiled.compiled(of) is None
    assert reason in compiled.reason(of)


def test_the_methods_are_those_of_the_class_as_it_is(overload: Scenario, tmp_path: Path) -> None:
    body = """\
limit = 40

def on_enqueue(self, packet, queue):
    return 2

def over(self, queue, limit=limit):
    return queue.packets > limit

def on_enqueue(self, packet, queue):
    return 2 if self.over(queue) and f(packet.size) else 0
"""
    reference = written(tmp_path, body)
    head = "def f(size):\n    return False\n\n\ndef g(size):\n    return size > 100\n\n\nf = g\nlimit = 3\n"
    (tmp_path / "odd.py").write_text(head + (tmp_path / "odd.py").read_text())
    assert compiled.compiled(source.declared(reference)), compiled.reason(source.declared(reference))
    scenario = overload.with_(duration="6 s").with_(aqm=reference)
    plain = outcome(scenario)
    assert plain["links"]["bottleneck"]["drops_early"] > 10
    assert outcome(scenario, interpreted=False) == plain


def test_threads_share_a_class(overload: Scenario, tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for number in range(3):
            name = f"Odd{number}"
            reference = written(tmp_path, "def on_enqueue(self, packet, queue):\n    return 0", name)
            scenario = overload.with_(duration="1 s", warmup="0 s").with_(aqm=reference)
            with ThreadPoolExecutor(4) as pool:
                read = pool.map(lambda _, one=scenario: one.resolved["aqm"]["name"], range(4))
                assert set(read) == {reference}
                runs = pool.map(lambda seed, one=scenario: outcome(one, 1, interpreted=False), range(4))
                assert len({json.dumps(run, sort_keys=True) for run in runs}) == 1
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("neighbour", ["neighbour_of_chance.py", "neighbour_of_chance/__init__.py"])
def test_a_neighbour_is_refused(
    overload: Scenario, chance: Path, monkeypatch: pytest.MonkeyPatch, neighbour: str
) -> None:
    file = chance.parent / neighbour
    file.parent.mkdir(exist_ok=True)
    file.write_text("K = 5\n")
    chance.write_text(f"from neighbour_of_chance import K\n{CHANCE}")
    monkeypatch.syspath_prepend(chance.parent)
    with pytest.raises(ScenarioError, match=r"chance\.py:1: imports neighbour_of_chance, which is not installed"):
        overload.with_(aqm=f"{chance}:Chance").check()


def test_an_exit_is_an_error_of_the_class(overload: Scenario, tmp_path: Path, cli: Cli) -> None:
    body = "def on_enqueue(self, packet, queue):\n    raise SystemExit(0)"
    with pytest.raises(aqmlab.RunFailed, match=r"odd\.py:8: SystemExit: 0 \(in Odd\.on_enqueue"):
        aqmlab.run(overload.with_(aqm=written(tmp_path, body)))
    (tmp_path / "odd.py").write_text("raise SystemExit\n")
    with pytest.raises(ScenarioError, match=r"odd\.py:1: SystemExit"):
        overload.with_(aqm=f"{tmp_path / 'odd.py'}:Odd").check()


def test_ctrl_c_ends_a_class_that_loops_for_ever(tmp_path: Path) -> None:
    written(tmp_path, "def on_enqueue(self, packet, queue):\n    while queue.packets > 5:\n        pass")
    command = [sys.executable, "-m", "aqmlab", "run", "quickstart", "--aqm", "./odd.py:Odd"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


def test_the_key_has_the_code_that_runs_classes(
    overload: Scenario, chance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = overload.with_(aqm=f"{chance}:Chance"), overload.with_(aqm="pie")
    before = digest(own), digest(other)
    monkeypatch.setattr("aqmlab.own.source.interface", lambda: "another")
    assert digest(own) != before[0]
    assert digest(other) == before[1]
    monkeypatch.undo()
    monkeypatch.setattr("aqmlab.own.source.packages", lambda text: {"numpy": "0.1"})
    assert digest(own) != before[0]
    monkeypatch.undo()
    chance.write_text(f"import numpy\n{CHANCE}")
    assert set(source.packages(chance.read_text())) == {"numba", "numpy"}


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
    scenario = overload.with_(aqm=reference)
    assert outcome(scenario) == outcome(scenario, interpreted=False)
    assert outcome(scenario)["links"]["bottleneck"]["drops_early"] > 20


def test_commands_take_it_as_any_other(quick_cli: Cli, tmp_path: Path) -> None:
    spec = f"{MINE}:Mine"
    page = quick_cli("show", spec).stdout
    assert "target = 20 ms" in page
    assert "Drop with a probability that follows the square of the delay." in page
    assert quick_cli("run", "quickstart", "--set", "duration='6 s'", "--aqm", f"{spec}:target=5ms").returncode == 0
    compared = quick_cli("compare", "quickstart", "--set", "duration='6 s'", "--aqm", spec, "--aqm", "pie", "--json")
    assert list(json.loads(compared.stdout)["results"]) == [spec, "pie"]
    analysed = quick_cli("analyse", "lred/exp1", "--aqm", spec)
    assert analysed.returncode == 0, analysed.stderr
    assert "(a T + d (1 - z)) / (1 - (1 + b T) z)" in analysed.stdout
    refused = quick_cli("fluid", "lred/exp1", "--aqm", f"{CODEL}:CoDel")
    assert "CoDel declares no law: give it a method rate(self, q, p)" in refused.stderr


def test_a_file_that_is_no_regular_file_is_refused(overload: Scenario, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ScenarioError, match=rf"{name}\.py cannot be read: "):
            overload.with_(aqm=f"{tmp_path / name}.py:Odd").check()
        with pytest.raises(ValueError, match=r"cannot be read: "):
            source.classes(f"{tmp_path / name}.py")


PI = """\
q_ref = aqmlab.param(100.0, "packets", "Target", low=0)
a = aqmlab.param(1.822e-5, "", "Gain on the error")
b = aqmlab.param(1.816e-5, "", "Gain on the error one period ago")
period = aqmlab.param(1 / 170, "s", "Time between two updates of p", above=0)
p = aqmlab.signal("", "Drop probability")

def start(self, port):
    self.old = 0

def on_period(self, queue):
    q = queue.packets
    self.p = min(max(self.p + self.a * (q - self.q_ref) - self.b * (self.old - self.q_ref), 0.0), 1.0)
    self.old = q

def rate(self, q, p, dq):
    return (self.a - self.b) / self.period * (q - self.q_ref) + self.b * dq

def on_enqueue(self, packet, queue):
    return aqmlab.DROP if self.random() < self.p else None
"""


def test_a_pi_in_python_has_the_margins_and_the_fluid_run_of_pi(tmp_path: Path, quick_cli: Cli) -> None:
    reference = written(tmp_path, PI)
    scenario = Scenario.load("lred/exp1")
    spec = "pi:q_ref=100,a=1.822e-5,b=1.816e-5,frequency=170Hz"
    own, ours = (
        json.loads(quick_cli("analyse", "lred/exp1", "--aqm", one, "--json").stdout) for one in (reference, spec)
    )
    for name in ("phase_margin_deg", "gain_margin", "delay_margin"):
        assert own["answer"][name] == pytest.approx(ours["answer"][name], rel=1e-3), name
    fluids = [
        aqmlab.fluid(scenario.with_(duration="60 s", warmup="20 s").with_(aqm=one)).metrics for one in (reference, spec)
    ]
    assert fluids[0]["queue_mean"] == pytest.approx(fluids[1]["queue_mean"], rel=0.03)


@pytest.mark.parametrize("part", ["", " + self.b * dq"])
def test_a_law_without_the_part_that_the_class_has_is_noticed(tmp_path: Path, part: str) -> None:
    of = source.declared(written(tmp_path, PI.replace(" + self.b * dq", part)))
    found = check._missing_part(of)
    assert ("when the queue grows by 4 packets" in found) == (not part), found


def test_a_class_that_trusts_the_rate_at_the_start_is_told(tmp_path: Path) -> None:
    trusting = (
        "def start(self, port):\n    self.rate_then = port.rate\n\n"
        "def on_enqueue(self, packet, queue):\n    return 2 if queue.bytes * 8 / {} > 0.1 else 0\n"
    )
    passed, said = check._rate(source.declared(written(tmp_path, trusting.format("self.rate_then"))))
    assert not passed
    assert "queue.delay and packet.sojourn follow the rate" in said
    following = "def on_enqueue(self, packet, queue):\n    return 2 if queue.delay > 0.1 else 0\n"
    assert check._rate(source.declared(written(tmp_path, following, "Other")))[0]


def test_machine_code_is_not_taken_when_a_value_outside_of_the_state_changed(tmp_path: Path) -> None:
    body = "cap = 30\ndef on_enqueue(self, packet, queue):\n    return 2 if queue.packets > self.cap else 0"
    declared = source.declared(written(tmp_path, body))
    code, made = compiled.compiled(declared), compiled.sample(declared)
    assert code
    assert code.state(made) is not None
    type(made).cap = 9  # type: ignore[attr-defined]
    assert code.state(made) is None


def test_the_linux_engine_refuses_it(overload: Scenario) -> None:
    with pytest.raises(
        ScenarioError, match=r"the linux engine's router has no Python: use the packet engine, or carry"
    ):
        aqmlab.run(overload.with_(aqm=f"{MINE}:Mine"), engine="linux")


def test_without_numba_it_runs_in_python(overload: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled, "_WORTH", 0)
    reference = written(tmp_path, "def on_enqueue(self, packet, queue):\n    return 2 if queue.packets > 30 else 0")
    result = aqmlab.run(overload.with_(duration="2 s").with_(aqm=reference), seeds=2)
    assert result.metrics["queue_mean"] < 31
    assert compiled.reason(source.declared(reference)) == "numba is not installed: pip install 'aqmlab[numba]'"

"""The command ``aqmlab check``: what it finds in classes of one's own."""

import json
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from aqmlab.own.source import declared
from aqmlab.workshop import check
from aqmlab.workshop.check import Checked

ODD = '''\
import aqmlab


class Odd(aqmlab.AQM):
    """Odd."""

    k = aqmlab.param(1.0, "", "Divisor", low=0, high=1e3)
    p = aqmlab.signal("", "Drop probability")
    BODY
'''


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "type[Findings]":
    monkeypatch.chdir(tmp_path)
    return Findings


class Findings:
    """The findings for a class with these methods."""

    def __init__(self, body: str, head: str = "") -> None:
        lines = "\n    ".join(body.splitlines())
        Path("odd.py").write_text(head + ODD.replace("BODY", lines))
        (self.outcome,) = check.check("odd.py")

    def failed(self) -> dict[str, str]:
        return {finding.name: finding.detail for finding in self.outcome.findings if finding.passed is False}


@pytest.mark.parametrize("name", ["mine", "codel"])
def test_the_examples_pass(name: str) -> None:
    (outcome,) = check.check(str(ROOT / "examples" / f"{name}.py"))
    assert outcome.passed, outcome
    assert {finding.name for finding in outcome.findings} == set(check.tests_of(declared(outcome.reference)))
    assert next(finding for finding in outcome.findings if finding.name == "compiled").passed


def test_a_class_that_draws_from_elsewhere_is_found(checked: type[Findings]) -> None:
    body = "def on_enqueue(self, packet, queue):\n    return aqmlab.DROP if random.random() < 0.02 else None"
    failed = checked(body, "import random\n").failed()
    assert "odd.py:1: imports random, which draws numbers that the seed does not decide" in failed["source"]
    assert "keeps state between runs, or draws from other random numbers" in failed["repeats"]


def test_state_that_outlives_a_run_is_found(checked: type[Findings]) -> None:
    then = "    return 2 if self.seen[0] % 50 == 0 else 0"
    body = f"seen = [0]\ndef on_enqueue(self, packet, queue):\n    self.seen[0] += 1\n{then}"
    failed = checked(body).failed()
    assert "odd.py:9: a variable of the class that can change is shared by all runs" in failed["source"]
    assert "keeps state between runs" in failed["repeats"]
    then = "    return 2 if Odd.count % 50 == 0 else 0"
    body = f"count = 0\ndef on_enqueue(self, packet, queue):\n    Odd.count += 1\n{then}"
    assert "odd.py:11: sets count of the class" in checked(body).failed()["source"]


def test_an_order_that_changes_between_processes_is_found(checked: type[Findings]) -> None:
    body = "def on_enqueue(self, packet, queue):\n    return 2 if hash(str(packet.flow)) % 3 == 0 else 0"
    assert "a run differs in a new process" in checked(body).failed()["repeats"]


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("import time\n", "time.sleep(0.001)", "odd.py:11: RuntimeError: sleeps during a run"),
        ("", "open('odd.py')", "odd.py:10: RuntimeError: opens a file during a run"),
        ("import socket\n", "socket.socket().connect(('127.0.0.1', 9))", "touches the network during a run"),
        ("import subprocess\n", "subprocess.run(['true'])", "starts a program during a run"),
        ("", "return 1 / 0", "odd.py:10: ZeroDivisionError: division by zero (in Odd.on_enqueue"),
        ("", "return 0.5", "odd.py:9: TypeError: returns 0.5: must be aqmlab.PASS"),
    ],
)
def test_what_a_run_does_beside_deciding_is_found(checked: type[Findings], head: str, body: str, message: str) -> None:
    assert message in checked(f"def on_enqueue(self, packet, queue):\n    {body}", head).failed()["runs"]


def test_a_run_that_does_not_end_is_ended(checked: "type[Findings]", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "LONGEST", 0.3)
    monkeypatch.setattr(check, "TESTS", {"runs": check.TESTS["runs"]})
    failed = checked("def on_enqueue(self, packet, queue):\n    while queue.packets > 5:\n        pass").failed()
    assert "odd.py:11: TooLong (in Odd.on_enqueue" in failed["runs"] or "odd.py:10: TooLong" in failed["runs"]


def test_files_and_generators_of_libraries_are_found(checked: "type[Findings]") -> None:
    head = "import numpy as np\nfrom numpy.random import default_rng\n"
    body = "def start(self, port):\n    self.table = np.load('x.npy')\ndef on_enqueue(self, packet, queue):\n    pass"
    failed = checked(body, head).failed()
    assert "odd.py:2: imports numpy.random, which draws numbers that the seed does not decide" in failed["source"]
    assert "odd.py:12: calls load, which reads a file" in failed["source"]


def test_signals_and_the_ends_of_ranges_are_tried(checked: type[Findings]) -> None:
    assert "p leaves [0, 1]" in checked("def on_enqueue(self, packet, queue):\n    self.p = 3.0").failed()["runs"]
    nan = "def on_enqueue(self, packet, queue):\n    self.p = float('nan')"
    assert "the signal p is not a finite number" in checked(nan).failed()["runs"]
    failed = checked("def on_enqueue(self, packet, queue):\n    self.p = min(0.01 / self.k, 1.0)").failed()
    assert failed == {
        "parameters": failed["parameters"],
    }
    assert failed["parameters"].startswith("k = 0.0: odd.py:10: ZeroDivisionError")


def test_a_declaration_without_words_fails(checked: type[Findings]) -> None:
    Path("odd.py").write_text(ODD.replace('"Divisor"', '""').replace("BODY", "def on_idle(self, queue): pass"))
    (outcome,) = check.check("odd.py")
    assert isinstance(outcome, Checked)
    assert "no text says what k means" in next(iter(Findings.failed(_Given(outcome)).values()))


class _Given(Findings):
    def __init__(self, outcome: Checked) -> None:
        self.outcome = outcome


def test_the_command_says_what_it_tried(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text((ROOT / "examples" / "mine.py").read_text())
    done = quick_cli("check", "mine.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mine.py:Mine\n  declaration  passed  5 parameters; p; on_enqueue, on_period\n")
    document = json.loads(quick_cli("check", "mine.py:Mine", "--json", "--speed").stdout)["checked"][0]
    assert document["passed"]
    assert document["speed"]["python"] > 1e4
    (tmp_path / "bad.py").write_text("import aqmlab\n\nclass A(aqmlab.AQM):\n    '''A.'''\n")
    assert quick_cli("check", "bad.py").returncode == 1
    for wrong, message in (
        ("none.py", "none.py cannot be read"),
        ("mine.toml", "must be a file of Python"),
        ("mine.py:Min", "did you mean Mine?"),
    ):
        done = quick_cli("check", wrong)
        assert done.returncode == 2
        assert message in done.stderr

"""The command ``aqmlab port``: a class becomes a Rust file and a recording of its verdicts."""

from pathlib import Path

import pytest
from conftest import ROOT, Cli

from aqmlab.own.source import declared
from aqmlab.workshop import port
from aqmlab.workshop.recording import ARRIVALS, recording

CODEL = declared(f"{ROOT / 'examples' / 'codel.py'}:CoDel")
MINE = declared(f"{ROOT / 'examples' / 'mine.py'}:Mine")


def test_the_recording_that_codel_plays_is_that_of_the_example() -> None:
    kept = ROOT / "crates" / "aqm" / "tests" / "ported" / "codel.txt"
    assert recording(CODEL, "codel") == kept.read_text()


def test_a_recording_has_every_event_of_the_class() -> None:
    lines = recording(MINE, "mine").splitlines()
    assert lines[1:4] == ["algorithm mine", "port 2000000 10000000 60 1000", "signals p"]
    kinds = [line.split(" ", 1)[0] for line in lines[4:]]
    assert kinds.count("enqueue") == ARRIVALS
    assert set(kinds) == {"enqueue", "period", "idle"}
    arrivals = [line.split(" | ") for line in lines if line.startswith("enqueue")]
    assert all(0 <= float(draws) < 1 for _, draws, _, _ in arrivals)
    assert 50 < sum(verdict == "D" for _, _, verdict, _ in arrivals) < ARRIVALS / 2
    with_ecn = recording(MINE, "mine", {"ecn": True})
    assert with_ecn.splitlines()[1:3] == ["algorithm mine", "set ecn true"]
    marks = [line.split(" | ") for line in with_ecn.splitlines() if " | M | " in line]
    assert len(marks) > 50
    assert {facts.split()[3] for facts, *_ in marks} == {"1"}, "only ECN-capable packets are marked"


def test_the_file_has_what_the_class_declares() -> None:
    text = port.rust(MINE)
    for line in (
        "//! Mine: Drop with a probability that follows the square of the delay.",
        '        target: Span = Span::ms(20), "s", Range::above(0.0, 10.0);',
        "        /// Time in which p follows the delay.",
        '        ecn: bool = false, "";',
        '    const SIGNALS: &\'static [Signal] = &[Signal { name: "p", unit: "", doc: "Drop probability." }];',
        "        // if self.random() < self.p:",
        "        Some(self.params.period)",
        "        visit(0, self.p);",
    ):
        assert line in text.splitlines()
    assert port.line_for_the_list(MINE, port.rust_name(MINE)) == "mine::Mine,"


def test_every_kind_of_parameter_and_state_has_its_type(tmp_path: Path) -> None:
    (tmp_path / "all.py").write_text(
        '''\
import aqmlab
import numpy as np


class AllKinds(aqmlab.AQM):
    """Everything."""

    size = aqmlab.param(1500, "bytes", "A size", aliases=["mtu"])
    count = aqmlab.param(3, "packets", "A count", low=1, high=9)
    rate_limit = aqmlab.param(1e6, "bit/s", "A rate")
    beat = aqmlab.param(2.0, "Hz", "A frequency")
    mode = aqmlab.param("fast", "", "A choice", choices=["fast", "very-slow"])

    def start(self, port):
        self.n, self.on, self.window = 0, True, np.zeros(3)

    def on_dequeue(self, packet, queue):
        return aqmlab.PASS
'''
    )
    of = declared(f"{tmp_path / 'all.py'}:AllKinds")
    text = port.rust(of)
    for line in (
        '        size: Bytes = Bytes(1500), "bytes", Range::ANY, ["mtu"];',
        '        count: u32 = 3, "packets", Range::new(1.0, 9.0);',
        '        rate_limit: Rate = Rate::bit_per_s(1000000), "bit/s";',
        '        beat: Frequency = Frequency(2.0), "Hz";',
        '        mode: Mode = Mode::Fast, "";',
        '        VerySlow = "very-slow",',
        "    window: [f64; 3],",
        "        Self { params: params.clone(), n: 0, on: true, window: [0.0; 3] }",
    ):
        assert line in text.splitlines()
    assert port.rust_name(of) == "all_kinds"


def test_names_and_texts_are_valid_in_rust(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        '''\
import aqmlab


class Base(aqmlab.AQM):
    """Base."""

    loop = aqmlab.param(1.0, "", "A keyword of Rust")
    mode = aqmlab.param("1b", "", "A choice", choices=["1b", "2c"])
    mean = aqmlab.signal("", 'the "mean"')

    def start(self, port):
        self.match, self.least, self.room = 1, float("inf"), port.buffer


class Odd(Base):
    """Odd."""

    def on_enqueue(self, packet, queue):
        return 0
'''
    )
    text = port.rust(declared(f"{tmp_path / 'odd.py'}:Odd"))
    for line in (
        '        loop_: f64 = 1.0, "";',
        '        V1B = "1b",',
        "    match_: i64,",
        '    const SIGNALS: &\'static [Signal] = &[Signal { name: "mean", unit: "", doc: "the \\"mean\\"." }];',
        '        // self.match, self.least, self.room = 1, float("inf"), port.buffer',
    ):
        assert line in text.splitlines(), text
    # The state of one with other parameters, but for what the port decides.
    assert "*self = Self { params: self.params.clone(), room: self.room, ..before };" in text
    assert 'least: f64::INFINITY, room: todo!("room, which start computes from the port")' in text


def test_a_class_that_raises_is_named_with_its_line(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "import aqmlab\n\n\nclass Bad(aqmlab.AQM):\n    '''Bad.'''\n\n"
        "    def on_enqueue(self, packet, queue):\n        return 1 / 0\n"
    )
    done = quick_cli("port", "bad.py:Bad")
    assert done.returncode == 1
    assert done.stderr.strip() == "bad.py:8: ZeroDivisionError: division by zero"


def test_the_command_writes_both_and_says_what_is_next(quick_cli: Cli, tmp_path: Path) -> None:
    done = quick_cli("port", f"{ROOT / 'examples' / 'mine.py'}:Mine", "--out", "rust")
    assert (done.returncode, done.stderr) == (0, "")
    assert "add the line `mine::Mine,` under `one queue`" in done.stdout
    assert (tmp_path / "rust" / "mine.rs").read_text() == port.rust(MINE)
    assert (tmp_path / "rust" / "mine.txt").read_text() == recording(MINE, "mine")
    assert (tmp_path / "rust" / "mine-ecn.txt").read_text() == recording(MINE, "mine", {"ecn": True})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.py:X"], "nowhere.py cannot be read"),
        ([f"{ROOT / 'examples' / 'mine.py'}:Mine", "--name", "Mine"], "must be a name in lower case"),
        ([f"{ROOT / 'examples' / 'mine.py'}"], "name the class as well"),
    ],
)
def test_bad_input_is_refused(quick_cli: Cli, arguments: list[str], message: str) -> None:
    done = quick_cli("port", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())

"""A run that is watched: the glances at it, the picture of them, and the command in a terminal."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import zlib
from pathlib import Path
from typing import Any, Self

import pytest
from conftest import Cli

from aqmlab import Scenario
from aqmlab.cli import live
from aqmlab.cli.live import Watched
from aqmlab.cli.picture import picture
from aqmlab.execute.glance import Glance
from aqmlab.execute.task import Outcome, Task, simulate

BEGIN = Glance(0.0, 0, 0.0, 0, 0, 0, 0, 0, 0.0)


def marking(scenario: Scenario) -> Scenario:
    return scenario.with_({"warmup": "0 s", "traffic.long.tcp": "rfc5681:ecn=true"}).with_(aqm="pie:ecn=true")


def outcome_of(scenario: Scenario, glances: list[Glance] | None = None) -> Outcome:
    on_glance = None if glances is None else glances.append
    task = Task(scenario._core, 3, b"", "x", 1e6, recording=True, on_glance=on_glance)
    outcome = simulate(task)
    assert outcome is not None
    assert not outcome.error
    return outcome


def document(outcome: Outcome) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(zlib.decompress(outcome.payload))
    del parsed["engine"]["cpu_seconds"]
    return parsed


def test_the_last_glance_has_the_numbers_of_the_results(small: Scenario) -> None:
    marks = 0
    for scenario in (small.with_({"warmup": "0 s"}).with_(aqm="droptail"), marking(small)):
        glances: list[Glance] = []
        results = document(outcome_of(scenario, glances))
        metrics, last = results["metrics"], glances[-1]
        assert last.t == scenario.duration
        assert last.arrivals == metrics["arrivals"]
        assert last.drops == metrics["drops_early"] + metrics["drops_overflow"]
        assert last.marks == metrics["marks"]
        assert last.departures == results["engine"]["packets"]
        assert last.waited / last.departures == pytest.approx(metrics["queue_delay_mean"], rel=1e-9)
        assert last.queue_area / last.t == pytest.approx(metrics["queue_mean"], rel=1e-9)
        assert last.departed_bytes * 8 / last.t == pytest.approx(metrics["throughput"], rel=1e-2)
        assert last.arrivals - last.drops - last.departures == last.queue
        marks += last.marks
    assert marks > 0


def test_glances_are_many_in_order_and_have_counters_that_only_grow(small: Scenario) -> None:
    glances: list[Glance] = []
    outcome_of(small, glances)
    assert len(glances) > 100
    assert any(glance.queue != glances[-1].queue for glance in glances)
    for name in ("t", "queue_area", "arrivals", "drops", "marks", "departures", "departed_bytes", "waited"):
        values = [getattr(glance, name) for glance in glances]
        assert values == sorted(values), name


@pytest.mark.parametrize("aqm", ["droptail", "pie", "lred:q0=20", "fq_codel", "red"])
def test_a_run_that_is_watched_has_the_same_results(small: Scenario, aqm: str) -> None:
    scenario = small.with_(aqm=aqm)
    watched, alone = outcome_of(scenario, []), outcome_of(scenario)
    assert document(watched) == document(alone)
    assert watched.recording
    assert alone.recording
    assert watched.recording.queue_frame.equals(alone.recording.queue_frame, null_equal=True)


def test_a_watched_run_stops_when_it_is_told_to(small: Scenario) -> None:
    glances: list[Glance] = []
    fractions: list[float] = []

    def watch(fraction: float) -> bool:
        fractions.append(fraction)
        return fraction < 0.5

    task = Task(small._core, 3, b"", "x", 1e6, on_glance=glances.append)
    assert simulate(task, watch) is None
    assert 0.4 < fractions[-2] < 0.5 <= fractions[-1] < 0.6
    assert glances[-1].t < 0.6 * small.duration


def made_up(marks: int = 0) -> list[Glance]:
    """Return glances of a minute: the queue grows evenly to 120 packets, and 12 packets are dropped at the half."""
    per_second = 1000
    return [
        Glance(
            t=float(t),
            queue=2 * t,
            queue_area=float(t * t),
            arrivals=(per_second + 2) * t + 12 * (t > 30),
            drops=12 * (t > 30),
            marks=marks * t,
            departures=per_second * t,
            departed_bytes=1250 * per_second * t,
            waited=0.02 * per_second * t,
        )
        for t in range(61)
    ]


NARROW = """\
queue 120, mean 60, max 120 packets
   150┤                               ⣀⣀
      │                    ⢀⣀⣀⠤⠤⠤⠒⠒⠊⠉⠉
      │          ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
     0┤⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉⠁
throughput 10, mean 10, max 10 Mbit/s
    10┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
      │
      │
     0┤
drops 0, mean 0.2, max 12 /s
    15┤                ⢀
      │                ⢸⡇
      │                ⢸⡇
     0┤                ⢸⣇
queueing delay 20, mean 20, max 20 ms
    20┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
      │
      │
     0┤
      └0               30           60 s
"""


def test_the_picture_of_made_up_numbers() -> None:
    assert "\n".join(picture(made_up(), 40, 21)) + "\n" == NARROW


def test_the_picture_has_all_numbers_at_every_width_and_fits() -> None:
    for width in (40, 60, 80, 99, 100, 140, 200):
        for height in (9, 15, 23, 40, 60):
            lines = picture(made_up(), width, height)
            assert max(map(len, lines)) <= width
            assert len(lines) <= height
            text = "\n".join(lines)
            for heading in ("queue 120, mean 60, max ", " 10, mean 10, max 10 Mbit/s", " 20, mean 20, max 20 ms"):
                assert heading in text, (width, height)
            assert "drops 0, mean 0.2, max " in text
            assert lines[-1].rstrip().endswith("60 s")
            assert ("throughput" in lines[0]) == (width >= 100)


def test_marks_are_drawn_above_drops() -> None:
    plain, marked = (picture(made_up(marks), 80, 21) for marks in (0, 30))
    assert any(line.startswith("drops 0, mean 0.2, max 12") for line in plain)
    assert "drops (area) 0 + marks (line above) 30, mean 0.2 + 30, max 4" in "\n".join(marked)
    assert "drops+marks 0+30, mean 0.2+30 /s" in "\n".join(picture(made_up(30), 40, 21))
    # The area of the drops is the same, and the line of both lies above it.
    first = next(i for i, line in enumerate(marked) if line.startswith("drops"))
    assert marked[first + 4] == "     0┤                                    ⢸⣧"
    assert marked[first + 2].count("⠤") > 60


def test_before_the_first_glance_the_picture_is_empty() -> None:
    for glances in ([], [BEGIN]):
        text = "\n".join(picture(glances, 80, 21))
        assert "throughput -, mean -" in text
        assert not re.search("[\u2801-\u28ff]", text)


def test_the_lines_above_tell_which_run_it_is_and_how_far() -> None:
    watched = Watched("A \x1b[31mred title that is longer than the terminal is wide", 60.0, 7, 20)
    assert "setting up" in watched.lines(80, 23)[1]
    for glance in made_up()[:31]:
        watched.see(glance)
    watched.done = 0.025
    first, second, *rest = watched.lines(60, 23)
    assert first.startswith("A \\x1b[31mred title")
    assert first.endswith("… seed 7")
    assert second.startswith("30 of 60 s, 50%, ")
    assert "x real time" in second
    assert second.endswith("all 20 runs: 2%")
    assert len(first) == len(second) == 60
    assert rest == picture(made_up()[:31], 60, 21)


def test_a_long_run_keeps_few_glances_with_the_first_and_the_last() -> None:
    watched = Watched("x", 1e6, 1)
    for t in range(1, 20_001):
        watched.see(Glance(float(t), 1, float(t), t, 0, 0, t, 100 * t, 0.1 * t))
    assert 1000 < len(watched.glances) <= 4097
    assert (watched.glances[0], watched.glances[-1].t) == (BEGIN, 20_000.0)


def test_a_second_glance_at_one_time_replaces_the_first() -> None:
    watched = Watched("x", 10.0, 1)
    for drops in (1, 2):
        watched.see(Glance(1.0, 1, 1.0, 10, drops, 0, 5, 500, 0.1))
    assert [glance.drops for glance in watched.glances] == [0, 2]


def test_without_a_terminal_the_run_goes_on_without_a_picture(cli: Cli, small_file: Path) -> None:
    done = cli("run", small_file, "--watch")
    assert done.returncode == 0
    assert "--watch needs a terminal" in done.stderr
    assert "\x1b" not in done.stderr
    assert done.stdout == cli("run", small_file).stdout


def test_a_terminal_without_utf_8_or_without_a_cursor_is_an_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        encoding = "latin-1"

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    reason = live.obstacle()
    assert reason
    assert "latin-1" in reason
    Terminal.encoding = "utf-8"
    assert live.obstacle() is None
    monkeypatch.setenv("TERM", "dumb")
    assert live.obstacle()


class InTerminal:
    """The command line with its standard error on a terminal of 80 columns and 24 lines."""

    def __init__(self, *arguments: str | os.PathLike[str]) -> None:
        self.terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "CI")}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "aqmlab", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=end,
            env=environment | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
        )
        os.close(end)
        self.shown = ""

    def read(self) -> bool:
        """Read what the terminal shows next; false after the end."""
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", part.decode(errors="replace"))
        return bool(part)

    def end(self) -> tuple[int, bytes]:
        """Wait for the end; return the exit status and the standard output."""
        while self.read():
            pass
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()
        os.close(self.terminal)


def test_in_a_terminal_the_run_is_shown_and_the_results_are_the_same(cli: Cli, small_file: Path) -> None:
    with InTerminal("run", small_file, "--watch", "--json") as terminal:
        status, out = terminal.end()
    assert status == 0
    for text in ("Small", "seed 7", "5 of 5 s, 100%", "x real time", "queue ", "throughput ", "queueing delay "):
        assert text in terminal.shown
    documents = [json.loads(out), json.loads(cli("run", small_file, "--json").stdout)]
    for each in documents:
        for run in each["runs"]:
            del run["engine"]["cpu_seconds"]
    assert documents[0]["runs"] == documents[1]["runs"]


def test_with_several_seeds_the_first_run_is_shown(small_file: Path) -> None:
    with InTerminal("run", small_file, "--watch", "--seeds", "3", "--json") as terminal:
        status, out = terminal.end()
    assert status == 0
    assert len(json.loads(out)["runs"]) == 3
    assert "seed 7" in terminal.shown
    assert "seed 8" not in terminal.shown
    assert "all 3 runs: 100%" in terminal.shown


def test_ctrl_c_ends_a_watched_run(tmp_path: Path) -> None:
    file = tmp_path / "endless.toml"
    file.write_text('duration = "1e6 s"\nrecord.series = false\n[dumbbell]\n[[traffic]]\nname = "x"\ncount = 10\n')
    with InTerminal("run", file, "--watch") as terminal:
        while "Mbit/s" not in terminal.shown:
            assert terminal.read(), terminal.shown
        terminal.process.send_signal(signal.SIGINT)
        status, _ = terminal.end()
    assert status == 130
    assert "interrupted: 0 of 1 runs finished" in terminal.shown

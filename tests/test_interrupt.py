"""Ctrl-C: every long operation responds to it, and computes nothing afterwards."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from aqmlab import Scenario, _core
from aqmlab.execute.threads import side_by_side

LINK = 'record.series = false\n[dumbbell]\n[[traffic]]\nname = "x"\n'
SET_UP = f'duration = "41943 s"\n{LINK}kind = "fgn"\nrate = "1 kbit/s"\ncount = 8\n'
"""The noise of eight flows takes half a minute to draw."""
IDLE = f'duration = "1e7 s"\naqm = {{ name = "ared", interval = "3 ms" }}\n{LINK}kind = "cbr"\nstop = "1 s"\n'
"""The timer expires 3e9 times, and each time the idle time of the link is computed, which takes a minute."""
PATIENCE = 10.0
"""Less than any of them takes, and far more than a response on a busy machine."""

API = """
    import sys, time, aqmlab
    from aqmlab import Scenario

    print("ready", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        before = time.process_time()
        time.sleep(1.5)
        print(time.process_time() - before)
"""
COMMAND = "from aqmlab import cli; print('ready', flush=True); cli.main()"
CALLS = {
    "run": "aqmlab.run(Scenario.load(sys.argv[1]))",
    "compare": "aqmlab.compare(Scenario.load(sys.argv[1]), aqms=['ared:interval=3 ms', 'ared:interval=4 ms'])",
    "sweep": "aqmlab.sweep(Scenario.load(sys.argv[1]), vary={'traffic.x.packet_size': ['400 B', '500 B']})",
}


@pytest.fixture(params=[SET_UP, IDLE], ids=["set-up", "idle"])
def endless(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "endless.toml"
    file.write_text(request.param)
    return file


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str, float]:
    """Return output and errors of the process, and its response time."""
    time.sleep(1.0)
    assert process.poll() is None, process.communicate()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return out, errors, time.monotonic() - began


@pytest.mark.parametrize("call", CALLS)
def test_after_an_answer_nothing_goes_on_computing(endless: Path, call: str) -> None:
    script = textwrap.dedent(API).format(call=CALLS[call])
    with subprocess.Popen(
        [sys.executable, "-c", script, endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        out, errors, took = interrupt(process)
    assert float(out) < 0.2, f"s of processor time in 1.5 s; {errors}"
    assert took < PATIENCE


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_a_command_answers_at_once(endless: Path, tmp_path: Path, command: str) -> None:
    more = {
        "run": ["--out", tmp_path / "out"],
        "compare": ["--aqm", "ared:interval=3 ms", "--aqm", "ared:interval=4 ms", "--out", tmp_path / "out"],
        "sweep": [
            "--vary",
            "traffic.x.packet_size=400 B,500 B",
            "--out",
            tmp_path / "out",
            "--store",
            tmp_path / "store",
        ],
    }
    arguments = [sys.executable, "-c", COMMAND, command, endless, *more[command]]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        _, errors, took = interrupt(process)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert took < PATIENCE


def press_later() -> None:
    """Send Ctrl-C in 0.3 s: it reaches the main thread even if that waits for a lock."""
    main = threading.main_thread().ident
    assert main
    # Another test may have imported dask_jobqueue, with which Ctrl-C ends the program.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT]).start()


def test_a_run_in_the_main_thread_raises_what_the_signal_raises() -> None:
    simulation = _core.Simulation(Scenario.parse(IDLE)._core, 1)
    press_later()
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(1e7)
    assert not simulation.advance(1e7), "it goes no further"
    with pytest.raises(RuntimeError, match="not over"):
        simulation.results()


@pytest.mark.parametrize("text", [SET_UP, IDLE])
def test_a_run_stops_when_it_is_told_to_and_hands_on_errors(text: str) -> None:
    looks: list[float] = []
    assert not _core.Simulation(Scenario.parse(text)._core, 1).advance(1e7, lambda now: bool(looks.append(now)))
    assert len(looks) == 1

    def fail(_: float) -> bool:
        raise LookupError("nobody knows")

    with pytest.raises(LookupError, match="nobody knows"):
        _core.Simulation(Scenario.parse(text)._core, 1).advance(1e7, fail)


@pytest.mark.parametrize("workers", [1, 3])
def test_who_waits_for_threads_waits_until_all_are_over(workers: int) -> None:
    ended: list[int] = []

    def perform(task: int, go_on: object) -> None:
        assert callable(go_on)
        while go_on():
            time.sleep(0.01)
        time.sleep(0.5)
        ended.append(task)

    press_later()
    with pytest.raises(KeyboardInterrupt):
        side_by_side(iter(range(100)), perform, workers, lambda: None)
    assert sorted(ended) == list(range(workers))

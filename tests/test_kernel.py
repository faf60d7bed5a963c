"""The command ``aqmlab kernel`` on a machine without such a kernel; tests/oracle/kernel has it in a guest with one."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from aqmlab.execute import preflight
from aqmlab.execute.preflight import Finding, State
from aqmlab.kernel import devices, objects
from aqmlab.kernel.objects import Number, Object

RATE = ("--rate", "1 Mbit/s")


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine be one that takes queue disciplines."""
    monkeypatch.setattr(preflight, "obstacles", list)
    monkeypatch.setattr("os.geteuid", lambda: 0)


def test_the_statistics_of_a_discipline_are_lines_of_the_usual_width(
    ready: None, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = {f"signal_number_{number}": 10.0**-number for number in range(12)}
    link = devices.Link(0, 200, 0)
    tc = {"bytes": 123456, "backlog": 3028, "qlen": 2}
    one = devices.Loaded("eth0", "aqm_lred", "lred:q0=50", link, signals, {"packets": 9, "drops_early": 3}, tc)
    monkeypatch.setattr(devices, "loaded", lambda _: [one])
    lines = quick_cli("kernel", "show").stdout.splitlines()
    assert lines[:2] == [
        "eth0: aqm_lred lred:q0=50 buffer 200 packets",
        "  sent 123456 bytes packets 9 drops_early 3 backlog 3028b 2p",
    ]
    assert max(map(len, lines)) <= 120 < sum(map(len, lines[2:]))
    # A name and its value are in one line.
    pairs = [line.split() for line in lines[2:]]
    assert {
        name: float(value) for words in pairs for name, value in zip(words[::2], words[1::2], strict=True)
    } == signals


@pytest.fixture(scope="session")
def lred(tmp_path_factory: pytest.TempPathFactory) -> Object:
    folder = tmp_path_factory.mktemp("laws")
    if subprocess.run(["bash", ROOT / "kernel" / "build.sh", "--ready"], capture_output=True).returncode:
        pytest.skip("no compiler for BPF")
    return objects.compiled(ROOT / "kernel" / "lred.c", folder)


def test_a_compiled_law_says_what_its_numbers_are(lred: Object) -> None:
    assert lred.kind == "aqm_lred"
    assert lred.fields.startswith("q0:32: beta:48: ")
    assert [one.name for one in lred.signals] == ["p", "loss_ratio"]
    assert Number("p", 32).value(1 << 31) == 0.5


def test_another_file_is_no_law(tmp_path: Path) -> None:
    (tmp_path / "x.bpf.o").write_bytes(b"\x7fELF")
    with pytest.raises(ValueError, match=r"x\.bpf\.o: not a law"):
        _ = Object(tmp_path / "x.bpf.o").fields


def test_what_the_compiler_refuses_is_shown(tmp_path: Path, lred: Object) -> None:
    (tmp_path / "bad.c").write_text('#include "aqm.h"\nint x = y;\n')
    with pytest.raises(ValueError, match=r"(?s)bad\.c: .*undeclared identifier 'y'"):
        objects.compiled(tmp_path / "bad.c", tmp_path)


def test_ctrl_c_waits_until_a_change_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_RUN", tmp_path)
    steps: list[str] = []
    monkeypatch.setattr(devices, "_sweep", lambda: steps.append("swept"))

    def change() -> None:
        with devices._alone():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("changed")

    with pytest.raises(KeyboardInterrupt):
        change()
    assert steps == ["changed", "swept"]


def test_the_machine_is_asked_first(quick_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = Finding("kernel", State.MISSING, "Linux 6.1", "Only others can.", "start another")
    monkeypatch.setattr(preflight, "obstacles", lambda: [lacking])
    for words in (["load", "lred", "dev", "eth0"], ["unload", "dev", "eth0"], ["show"]):
        done = quick_cli("kernel", *words)
        assert done.returncode == 1
        assert done.stderr == "kernel: Linux 6.1. Only others can.\nfix: start another\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lred", "device", "eth0"], "device: must be the word dev, before the device, as in `dev eth0`"),
        (["lred:q0=-1", "dev", "lo", *RATE], "q0 = -1: must be in [0, 1e9], packets"),
        (["lred:window=65", "dev", "lo", *RATE], "window = 65: must be at most 64 in the kernel's program"),
        (
            ["lred:weights=[1,2]", "dev", "lo", *RATE],
            "weights = [1.0, 2.0]: must be at its default [1.0], since the kernel's",
        ),
        (["codel", "dev", "lo", *RATE], "codel: must be one of lred, or a class in a file, FILE.py:CLASS"),
        (["lred", "dev", "lo", "--rate", "fast"], "fast: must be a number with its unit, at least 1, in bit/s"),
        (
            ["lred", "dev", "lo", "--buffer", "2 ms"],
            "2 ms: must be a number with its unit, at least 1, in packets or bytes",
        ),
    ],
)
def test_what_cannot_be_loaded_is_refused(
    quick_cli: Cli, ready: None, lred: Object, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.setattr(objects, "_PACKAGE", lred.path.parent)
    done = quick_cli("kernel", "load", *words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_a_device_that_is_not_there_is_named(
    quick_cli: Cli, ready: None, lred: Object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_PACKAGE", lred.path.parent)
    done = quick_cli("kernel", "load", "lred", "dev", "eth99", *RATE)
    assert (done.returncode, done.stderr.partition(";")[0]) == (1, "eth99: no such device")


def test_a_device_that_does_not_know_its_speed_needs_a_rate(quick_cli: Cli, ready: None) -> None:
    done = quick_cli("kernel", "load", "lred", "dev", "lo")
    assert (done.returncode, done.stderr) == (1, "lo does not know its speed: give --rate\n")


def test_nothing_is_unloaded_that_is_not_ours(
    quick_cli: Cli, ready: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "_RUN", tmp_path)
    monkeypatch.setattr(devices, "_tc", lambda *_: '[{"kind": "fq_codel", "dev": "lo", "root": true}]')
    done = quick_cli("kernel", "unload", "dev", "lo")
    assert (done.returncode, done.stderr) == (1, "lo: its queue discipline is fq_codel, which is none of aqmlab's\n")
    assert quick_cli("kernel", "show").stdout == "no discipline of aqmlab on any device\n"

"""`aqmlab shell`: programs behind a scenario's link in real time; tests skip where the machine has no namespaces."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from conftest import require

from aqmlab import Scenario
from aqmlab.execute import shell as shell_module
from aqmlab.execute.engine import Engine
from aqmlab.execute.linux import run_folder
from aqmlab.execute.shell import OUTSIDE, WAYS, _started, with_shell
from aqmlab.results.result import KERNEL, Result

pytestmark = pytest.mark.linux

LINK = """\
title = "A slow link"
duration = "20 s"
seed = 3
aqm = { name = "droptail" }
[dumbbell]
rate = "4 Mbit/s"
reverse_rate = "2 Mbit/s"
delay = "10 ms"
buffer = "400 packets"
sender_delay = "5 ms"
receiver_delay = "1 ms"
[[traffic]]
name = "load"
kind = "cbr"
rate = "1 Mbit/s"
"""

RATE = 4e6
"""Of the link to the shell, in bit/s."""

SIZE = 500_000
"""Bytes of the file that is fetched."""

PORT = 8000

SERVER = f"{sys.executable} -m http.server {PORT}"

FETCH = f"import urllib.request; print(len(urllib.request.urlopen('http://peer:{PORT}/file').read()))"


@pytest.fixture(scope="module", autouse=True)
def real_time() -> None:
    require("linux:clock=real")


@pytest.fixture
def link(tmp_path: Path) -> Path:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    (tmp_path / "file").write_bytes(bytes(SIZE))
    return file


def words(link: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "aqmlab", "shell", str(link), *arguments]


def shell(link: Path, *arguments: str, before: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*before, *words(link, *arguments)],
        cwd=link.parent,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@contextmanager
def started(link: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A shell whose command has printed its first line."""
    process = subprocess.Popen(
        words(link, *arguments), cwd=link.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def with_argument(text: str) -> list[int]:
    """The processes that have an argument."""
    return [one.pid for one in psutil.process_iter(["cmdline"]) if text in (one.info["cmdline"] or ())]


def traces() -> list[str]:
    """What this machine has, and a shell must not change: named namespaces, devices, mounts."""
    commands = ("ip netns", "ip -brief link", "cat /proc/self/mountinfo")
    return [subprocess.run(one.split(), capture_output=True, text=True, check=True).stdout for one in commands]


SHOW = "for end in net mnt pid; do readlink /proc/self/ns/$end; done; peer readlink /proc/self/ns/net"
"""Prints a shell's namespaces in four lines."""


def require_gone(namespaces: Sequence[str], processes: Sequence[psutil.Process] = ()) -> None:
    """Fail if a namespace or a process is there still after five seconds."""
    numbers = [re.findall(r"\d+", one)[0] for one in namespaces]
    assert len(set(numbers)) == 4
    for left in reversed(range(50)):
        listed = subprocess.run(["lsns", "--noheadings", "--output", "NS"], capture_output=True, text=True, check=True)
        there = [*set(numbers).intersection(listed.stdout.split()), *(one for one in processes if one.is_running())]
        if not there:
            return
        assert left, there
        time.sleep(0.1)


def test_a_download_takes_the_links_rate_and_is_counted_to_the_byte(link: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = shell(link, "--alone", "--peer", SERVER, "--out", str(out), "--", sys.executable, "-c", FETCH)
    assert (done.returncode, done.stdout) == (0, f"{SIZE}\n"), done.stderr
    first, second, third = re.findall(r"^(?:A slow link: |peer: |shell: ).*", done.stderr, re.MULTILINE)
    assert "link bottleneck, 4 Mbit/s to the shell, droptail; 3" in first
    assert re.search(r"peer: 10\.\d+\.0\.1, also by the name peer", second)
    assert third.startswith("shell: 10.")
    result = Result.load(out)
    (run,) = result.runs
    seconds = result.scenario.duration
    received, sent = (run.classes[way]["goodput"] * seconds / 8 for way in WAYS)
    assert SIZE < received < SIZE + 1000  # the head of the answer, and the end of the connection
    assert 50 < sent < 1000
    assert SIZE * 8 / RATE < seconds < SIZE * 8 / RATE + 5
    assert {path.name for path in out.iterdir()} >= {"result.json", "figure.png", "report.html", "series-3.parquet"}


def test_the_scenarios_traffic_runs_beside_it_and_fills_the_queue_that_a_ping_waits_in(
    link: Path, tmp_path: Path
) -> None:
    ping = (
        "import itertools, socket, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.1); sent = {}\n"
        "for i in itertools.count():\n"
        "    sent[i] = time.monotonic(); s.sendto(b'%d' % i, ('peer', 7))\n"
        "    try: i = int(s.recv(9))\n"
        "    except TimeoutError: continue\n"
        "    print(time.monotonic() - sent[i]); break\n"
    )
    echo = (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 7))\n"
        "while True: s.sendto(*s.recvfrom(9))\n"
    )
    (tmp_path / "echo.py").write_text(echo)
    (tmp_path / "ping.py").write_text(ping)
    trips = {}
    for name, more in {"idle": ["--alone"], "loaded": ["--set", "traffic.load.rate=8 Mbit/s"]}.items():
        server = ["--peer", f"{sys.executable} echo.py"]
        command = ["--", "sh", "-c", f"sleep 1.5; {sys.executable} ping.py"]
        done = shell(link, *more, *server, "--out", str(tmp_path / name), *command)
        assert done.returncode == 0, done.stderr
        trips[name] = float(done.stdout)
    assert 0.030 < trips["idle"] < 0.060
    # More comes than the link carries: the queue is full after a second or so, with 1.2 s of packets.
    assert trips["loaded"] > 0.3
    loaded = Result.load(tmp_path / "loaded").runs[0]
    assert loaded.classes["load"]["throughput"] == pytest.approx(RATE, rel=0.1)


@pytest.mark.parametrize("spec", ["fq_codel", "kernel:fq_codel"])
def test_the_discipline_is_chosen(link: Path, tmp_path: Path, spec: str) -> None:
    require("linux:clock=real", [spec.removeprefix(KERNEL)] if spec.startswith(KERNEL) else [])
    out = tmp_path / "out"
    done = shell(link, "--alone", "--aqm", spec, "--peer", SERVER, "--out", str(out), "--", sys.executable, "-c", FETCH)
    assert (done.returncode, done.stdout) == (0, f"{SIZE}\n"), done.stderr
    assert Result.load(out).discipline == spec
    assert f"to the shell, {spec};" in done.stderr


def test_connections_from_a_source_port_that_is_used_again_are_counted_to_the_byte(link: Path, tmp_path: Path) -> None:
    server = (
        "import socket\ns = socket.create_server(('', 7))\n"
        "while True:\n"
        "    c = s.accept()[0]; left = 1000\n"
        "    while left: left -= len(c.recv(left))\n"
        "    c.sendall(b'got')\n"
        "    try: c.recv(1)\n"
        "    except OSError: pass\n"
    )
    client = (
        "import socket, struct\n"
        "for _ in range(8):\n"
        "    c = socket.socket(); c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "    c.bind(('', 5555)); c.connect(('peer', 7)); c.sendall(bytes(1000)); c.recv(3)\n"
        # A reset, after which the port is free at once.
        "    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); c.close()\n"
    )
    (tmp_path / "server.py").write_text(server)
    (tmp_path / "client.py").write_text(client)
    out = tmp_path / "out"
    peer = ["--peer", f"{sys.executable} server.py"]
    done = shell(link, "--alone", *peer, "--out", str(out), "--", sys.executable, "client.py")
    assert done.returncode == 0, done.stderr
    result = Result.load(out)
    received, sent = (result.runs[0].classes[way]["goodput"] * result.scenario.duration / 8 for way in WAYS)
    assert sent == pytest.approx(8 * 1000)
    assert received <= 8 * 3  # a reset may take the place of an acknowledgement


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -TERM $$", 143), ("true", 0)])
def test_the_status_is_that_of_the_command(link: Path, command: str, status: int) -> None:
    assert shell(link, "--", "sh", "-c", command).returncode == status


def test_a_command_that_does_not_exist_is_one_line(link: Path) -> None:
    done = shell(link, "--", "no-such-command")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.splitlines()[-1] == "no-such-command: no such command; give one after --"


def test_what_cannot_be_is_refused_before_anything_runs(link: Path, tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text(f'{LINK}[[traffic]]\nname = "old"\ntcp = "rfc5681"\n')
    old = shell(tmp_path / "old.toml", "--", "touch", "ran")
    assert old.returncode == 2
    assert "traffic.old.tcp.flavour" in old.stderr
    nowhere = shell(link, "--node", "moon", "--", "touch", "ran")
    assert nowhere.returncode == 2
    assert "moon: no traffic has an end there; choose one of receivers, senders" in nowhere.stderr
    length = shell(link, "--set", "duration=3 s", "--", "touch", "ran")
    assert "shell does not depend on it" in length.stderr
    (tmp_path / "plain").write_text("kept")
    plain = shell(link, "--watch-on", str(tmp_path / "plain"), "--", "touch", "ran")
    assert "no terminal" in plain.stderr
    assert (tmp_path / "plain").read_text() == "kept"
    assert not (tmp_path / "ran").exists()


def test_the_way_outside_is_refused_without_its_program(
    link: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    done = shell(link, "--outside", "--", "touch", "ran")
    assert done.returncode == 2
    assert f"--outside: needs {OUTSIDE}, which is not there" in " ".join(done.stderr.replace("│", "").split())
    assert not (tmp_path / "ran").exists()


def test_names_are_found_whose_file_lacks_its_last_line_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _, to: Path(to).write_text("192.0.2.1 other"))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: None)
    told = {"process": 1} | {end: {"address": f"10.0.0.{n}", "namespace": n} for n, end in enumerate(("peer", "shell"))}
    _started(tmp_path, told, {"peer": [], "shell": []}, [], ["true"], False)
    names = {line.split()[1]: line.split()[0] for line in (tmp_path / "hosts").read_text().splitlines()}
    assert names == {"other": "192.0.2.1", "peer": "10.0.0.0", "shell": "10.0.0.1"}


def test_a_server_that_fails_says_so(link: Path) -> None:
    done = shell(link, "--peer", "no-such-server", "--", "sleep", "0.5")
    assert done.returncode == 0
    assert re.search(r"aqmlab: --peer no-such-server: ended with status 127: .*not found", done.stderr)


def test_a_user_without_rights_has_it_too(link: Path) -> None:
    ordinary = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
    done = shell(link, "--alone", "--peer", SERVER, "--", sys.executable, "-c", FETCH, before=ordinary)
    assert (done.returncode, done.stdout) == (0, f"{SIZE}\n"), done.stderr


def test_daemons_end_with_the_shell_and_nothing_stays(link: Path) -> None:
    before = traces()
    mark = "86399.25"
    done = shell(link, "--peer", f"setsid sleep {mark}", "--", "sh", "-c", f"{SHOW}; setsid sleep {mark} & sleep 0.5")
    assert done.returncode == 0
    require_gone(done.stdout.split())
    assert not with_argument(mark)
    assert traces() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_stays_after_a_signal(link: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a folder of its own: any other run on this machine removes what a killed one has left in the usual one.
    monkeypatch.setenv("TMPDIR", str(link.parent))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = traces()
    mark = f"86398.{int(number)}"
    command = f"echo ready; {SHOW}; dirname $(dirname $(command -v peer)); sleep {mark} & sleep {mark}"
    with started(link, "--peer", f"sleep {mark}", "--", "sh", "-c", command) as process:
        assert process.stdout
        *namespaces, used = (process.stdout.readline().strip() for _ in range(5))
        processes = psutil.Process(process.pid).children(recursive=True)
        assert {"aqmlab-router", "aqmlab-traffic", "unshare", "sh", "sleep"} <= {one.name() for one in processes}
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
        assert ("Traffic:" in errors) == (number != signal.SIGKILL)
    require_gone(namespaces, processes)
    assert traces() == before
    assert Path(used).exists() == (number == signal.SIGKILL)
    with run_folder():  # which removes those that killed processes have left
        assert not Path(used).exists()


def test_the_router_takes_the_shell_with_it(link: Path) -> None:
    with started(link, "--", "sh", "-c", "echo ready; sleep 86397") as process:
        (router,) = [one for one in psutil.Process(process.pid).children() if one.name() == "aqmlab-router"]
        router.kill()
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 137
    assert "the network has ended before the shell" in errors
    assert not with_argument("86397")


def test_the_longest_time_ends_a_shell_and_keeps_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_module, "LONGEST", ("1.8 s",))
    scenario = with_shell(Scenario.parse(LINK))
    ended = shell_module.run(scenario, Engine.parse("linux:clock=real"), ["sleep", "86395"])
    assert (ended.status, ended.error) == (137, "the shell was ended after 0.0005 h, the longest here")
    assert ended.result
    assert ended.result.scenario.duration == 1.8
    assert not with_argument("86395")


def test_two_shells_do_not_disturb_each_other(link: Path, tmp_path: Path) -> None:
    wait = "echo ready; read line; exec "
    processes = []
    for name, rate in {"slow": "2 Mbit/s", "fast": "4 Mbit/s"}.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "file").write_bytes(bytes(SIZE))
        (folder / "link.toml").write_text(LINK)
        command = words(
            folder / "link.toml",
            "--alone",
            "--set",
            f"dumbbell.rate={rate}",
            "--peer",
            SERVER,
            "--out",
            str(folder / "out"),
            *("--", "sh", "-c", f'{wait} {sys.executable} -c "{FETCH}"'),
        )
        processes.append(
            subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE
            )
        )
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    outputs = [process.communicate("go\n", timeout=40)[0] for process in processes]
    assert outputs == [f"{SIZE}\n"] * 2
    used = {name: Result.load(tmp_path / name / "out") for name in ("slow", "fast")}
    for name, rate in {"slow": 2e6, "fast": 4e6}.items():
        series = used[name].series["bottleneck.to-shell.throughput"].drop_nulls()
        assert series.max() == pytest.approx(rate, rel=0.1)


def test_a_gigabyte_passes_through(link: Path) -> None:
    command = words(link, "--alone", "--", "sh", "-c", "echo ready; head -c 1G /dev/zero")
    with subprocess.Popen(command, cwd=link.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        assert process.stdout.read(6) == b"ready\n"
        used, size = psutil.Process(process.pid).memory_info().rss, 0
        while chunk := process.stdout.read(1 << 20):
            size += len(chunk)
            if size % (64 << 20) == 0:
                assert psutil.Process(process.pid).memory_info().rss < used + 50e6
    assert (size, process.returncode) == (1 << 30, 0)


def read(descriptor: int, until: str, seconds: float = 15) -> str:
    """What a terminal shows until a text comes."""
    text, end = "", time.monotonic() + seconds
    while until not in text and time.monotonic() < end:
        if select.select([descriptor], [], [], 0.1)[0]:
            text += os.read(descriptor, 65536).decode(errors="replace")
    return text


@contextmanager
def on_terminal(folder: Path, *command: str, **environment: str) -> Iterator[int]:
    """A terminal on which a command runs in a folder, until the end of the context."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(HOME=str(folder), **environment)
        os.execv(command[0], command)
    try:
        yield terminal
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def test_a_terminal_belongs_to_the_shell_and_then_to_the_caller_again(link: Path) -> None:
    line = f"{' '.join(words(link, '--alone'))}; echo status $?; read line; echo got $line"
    with on_terminal(link.parent, "/bin/sh", "-c", line, SHELL="/bin/bash") as terminal:
        assert "ends with it" in read(terminal, "ends with it")
        os.write(terminal, b"sleep 86396\n")
        read(terminal, "86396")
        time.sleep(1)
        os.write(terminal, b"\x03")  # Ctrl-C, for the program in the shell alone
        os.write(terminal, b"jobs; cat <(echo inside)\n")
        assert "inside" in read(terminal, "\ninside")
        os.write(terminal, b"exit 9\n")
        assert "status 9" in read(terminal, "status 9")
        os.write(terminal, b"this\n")
        assert "got this" in read(terminal, "got this")


def test_a_shell_in_the_background_leaves_the_terminal_to_the_caller(link: Path) -> None:
    own = {"PS1": "", "BASH_SILENCE_DEPRECATION_WARNING": "1"}
    with on_terminal(link.parent, "/bin/bash", "--norc", "-i", **own) as terminal:
        os.write(terminal, f"{{ {' '.join(words(link, '--alone', '--', 'true'))}; echo en''ded; }} &\n".encode())
        assert "ended" in read(terminal, "\nended")
        os.write(terminal, b"echo he''re $((40 + 2))\n")
        assert "here 42" in read(terminal, "here 42")


def test_the_live_queue_is_on_another_terminal(link: Path) -> None:
    here, there = pty.openpty()
    try:
        done = subprocess.Popen(
            words(link, "--watch-on", os.ttyname(there), "--", "sleep", "2"), cwd=link.parent, stderr=subprocess.DEVNULL
        )
        shown = read(here, "A slow link") + read(here, "queue")
        assert "queue" in shown.lower()
        while done.poll() is None:
            read(here, "never", 0.2)
        assert done.returncode == 0
    finally:
        os.close(here)
        os.close(there)


def test_an_entry_that_would_start_after_the_end_has_no_flows(link: Path, tmp_path: Path) -> None:
    late = ["--set", "traffic.load.start=15 s"]
    done = shell(link, *late, "--out", str(tmp_path / "out"), "--", "sleep", "0.2")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert document["runs"][0]["classes"]["load"]["arrivals"] == 0

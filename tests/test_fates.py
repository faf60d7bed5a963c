"""The file of the fate of every packet, and the same packets in the simulator."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import ALL, ROOT, Cli

import aqmlab
from aqmlab import Scenario

SCENARIO = """\
duration = "4 s"
warmup = "0 s"
aqm = "codel"
[dumbbell]
rate = "5 Mbit/s"
buffer = "30 packets"
[[traffic]]
count = 3
tcp = "linux"
"""


DATAGRAMS = """\
duration = "6 s"
warmup = "0 s"
seed = 4
[dumbbell]
rate = "4 Mbit/s"
buffer = "60 kB"
sender_delay = ["1 ms", "4 ms"]
changes = ["3 s: 3 Mbit/s"]
[[traffic]]
name = "steady"
kind = "poisson"
rate = "2 Mbit/s"
packet_size = "700 B"
[[traffic]]
name = "call"
kind = "voip"
ecn = "ect1"
start = "9 ms"
[[traffic]]
name = "film"
kind = "video"
ecn = "ect1"
start = "12 ms"
[[traffic]]
name = "bursts"
kind = "on-off"
rate = "6 Mbit/s"
packet_size = "1000 B"
on = "exponential(200 ms)"
off = "exponential(400 ms)"
ecn = "ect0"
start = "20 ms"
"""
"""More than the link carries, from hosts at two distances; the flows begin in the order of the file."""

MARKING = {aqm["name"] for aqm in aqmlab.catalogue()["aqms"] if any(p["name"] == "ecn" for p in aqm["parameters"])}
"""Those that mark if they are asked to."""

OVER_SHARE = "fred"
"""Drops packets of flows that exceed their share, which these do, rather than mark them."""

UNLESS_ALL = ("fq_codel", "pie")
"""The disciplines that are tried unless everything has to run."""


@pytest.fixture(scope="session")
def verdicts() -> Path:
    """Build the program that sends a file's datagrams through the simulator; `cargo test` has built its libraries."""
    command = ["cargo", "build", "--quiet", "--workspace", "--example", "verdicts"]
    command += ["--profile", "test", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (program,) = re.findall(r'"executable":"([^"]+/verdicts)"', built)
    return Path(program)


@pytest.mark.linux
@pytest.mark.timeout(900)  # the first of them builds the program
@pytest.mark.usefixtures("guest")
@pytest.mark.parametrize("aqm", aqmlab.disciplines() if ALL else UNLESS_ALL)
def test_router_and_simulator_decide_alike_on_every_packet(
    verdicts: Path, quick_cli: Cli, tmp_path: Path, aqm: str
) -> None:
    scenario = Scenario.parse(DATAGRAMS).with_(aqm=f"{aqm}:ecn=true" if aqm in MARKING else aqm)
    (tmp_path / "x.toml").write_text(scenario.to_toml())
    done = quick_cli("run", "x.toml", "--engine", "linux", "--pcapng", "fates.pcapng")
    assert done.returncode == 0, done.stderr
    replayed = subprocess.run(
        [verdicts, "x.toml", "fates.pcapng"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert replayed.returncode == 0, replayed.stderr
    counted = dict(re.findall(r"(\w+) (\d+)", replayed.stdout.splitlines()[-1]))
    assert counted["differ"] == "0", replayed.stdout
    assert int(counted["packets"]) > 4000
    assert int(counted["losses"]) > 1000
    assert int(counted["marks"]) > 0 or aqm not in MARKING - {OVER_SHARE}


@pytest.mark.linux
@pytest.mark.usefixtures("guest")
def test_the_file_has_the_losses_and_marks_that_the_results_count(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    file, out = tmp_path / "fates.pcapng", tmp_path / "out"
    done = quick_cli("run", str(tmp_path / "x.toml"), "--engine", "linux", "--pcapng", str(file), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert str(file) in done.stdout
    written = file.read_bytes()
    traffic = aqmlab.Result.load(out).runs[0].links["bottleneck"]
    for words, counted in (("overflow", "drops_overflow"), (r"early drop \(codel\)", "drops_early")):
        found = re.findall(f"lost at bottleneck: {words}".encode(), written)
        assert len(found) == traffic[counted] > 0, words
    assert len(re.findall(rb"delivered after \d+\.\d{6} ms, waited", written)) > 1000


@pytest.mark.linux
@pytest.mark.usefixtures("guest")
def test_every_packet_is_the_same_when_a_run_is_repeated_beside_other_work(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)

    # The kernel draws ports and sequence numbers too, and PIE its drops.
    def packets() -> str:
        more = ("--aqm", "kernel:pie limit 50", "--pcapng", "fates.pcapng")
        done = quick_cli("run", "x.toml", "--engine", "linux", *more)
        assert done.returncode == 0, done.stderr
        return hashlib.sha256((tmp_path / "fates.pcapng").read_bytes()).hexdigest()

    first = packets()
    with ExitStack() as stack:
        for _ in os.sched_getaffinity(0):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        assert packets() == first


@pytest.mark.parametrize(
    ("engine", "file", "message"),
    [
        ("fluid", "x.pcapng", "the fluid engine has no packets; omit it"),
        ("linux", "nowhere/x.pcapng", "is no folder that can be written to"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(
    quick_cli: Cli, tmp_path: Path, engine: str, file: str, message: str
) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    done = quick_cli("run", str(tmp_path / "x.toml"), "--engine", engine, "--pcapng", str(tmp_path / file))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


LINKS = """\
duration = "6 s"
[dumbbell]
rate = "4 Mbit/s"
buffer = "40 packets"
loss = 0.002
[aqm]
name = "codel"
[[traffic]]
name = "x"
count = 2
[[traffic]]
name = "pages"
kind = "web"
think = "1 s"
[[traffic]]
name = "ping"
kind = "ping"
"""


def links_file(quick_cli: Cli, tmp_path: Path) -> tuple[Path, aqmlab.Result]:
    (tmp_path / "x.toml").write_text(LINKS)
    file, out = tmp_path / "links.pcapng", tmp_path / "out"
    done = quick_cli("run", str(tmp_path / "x.toml"), "--pcapng", str(file), "--out", str(out))
    assert done.returncode == 0, done.stderr
    return file, aqmlab.Result.load(out)


def test_the_packet_engine_writes_what_a_link_sends_and_loses(quick_cli: Cli, tmp_path: Path) -> None:
    file, result = links_file(quick_cli, tmp_path)
    link, written = result.runs[0].links["bottleneck"], file.read_bytes()
    for words, counted in ((rb"lost: early drop \(codel\)", "drops_early"), (b"lost: random loss", "random_losses")):
        assert len(re.findall(words, written)) == link[counted] > 0
    assert len(re.findall(rb"waited \d+\.\d{6} ms\0", written)) > 1000
    same = aqmlab.run(result.scenario)
    assert same.metrics == result.metrics, "watching changes nothing"


@pytest.mark.skipif(not shutil.which("tshark"), reason="there is no tshark")
def test_a_time_in_which_nothing_happens_ends(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('duration = "2 s"\n[dumbbell]\ndelay = "300 ms"\n[[traffic]]\nstart = "1 s"\n')
    done = quick_cli("run", str(tmp_path / "x.toml"), "--pcapng", str(tmp_path / "x.pcapng"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.pcapng").stat().st_size > 1000


def test_a_run_that_fails_leaves_the_file_as_it_was(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "import aqmlab\n\n\nclass Odd(aqmlab.AQM):\n    def on_enqueue(self, packet, queue):\n"
        "        return 1 // (queue.now < 1)\n"
    )
    (tmp_path / "x.toml").write_text('aqm = "odd.py:Odd"\nduration = "2 s"\n[dumbbell]\n[[traffic]]\n')
    (tmp_path / "x.pcapng").write_text("old")
    done = quick_cli("run", str(tmp_path / "x.toml"), "--pcapng", str(tmp_path / "x.pcapng"))
    assert done.returncode == 1
    assert (tmp_path / "x.pcapng").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["odd.py", "x.pcapng", "x.toml"]


@pytest.mark.parametrize("option", ["--pcapng", "--csv"])
def test_a_pipe_or_device_is_not_replaced(quick_cli: Cli, tmp_path: Path, option: str) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    done = quick_cli("run", "quickstart", option, str(tmp_path / "pipe.csv"))
    assert done.returncode in (1, 2)
    assert "must be a regular file" in done.stderr
    assert (tmp_path / "pipe.csv").is_fifo()


@pytest.mark.skipif(not shutil.which("tshark"), reason="there is no tshark")
def test_another_program_follows_the_conversations(quick_cli: Cli, tmp_path: Path) -> None:
    file, result = links_file(quick_cli, tmp_path)
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:FALSE"]

    def count(filtered: str) -> int:
        command = ["tshark", "-r", str(file), *checks, "-Y", filtered]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return len(done.stdout.splitlines())

    assert count("ip.checksum.status == 0") == 0
    assert count("tcp.analysis.retransmission or tcp.analysis.out_of_order") > 0
    assert count("_ws.malformed") == 0
    assert count('frame.interface_name == "bottleneck" and frame.comment contains "waited"') > 1000
    assert count("tcp.len > 0") > count("udp") > 0
    assert result.metrics["drops_elsewhere"] == count('not frame.interface_name == "bottleneck"')

"""The Linux engine, with a guest or this machine's own kernel; tests skip where one of its parts is missing.

`make test-linux` runs them all, longer ones included, and there nothing is skipped.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from conftest import ALL, require, unavailable

import aqmlab
from aqmlab import EngineUnavailable, Result, RunFailed, Scenario, ScenarioError
from aqmlab.execute import linux
from aqmlab.execute.engine import Engine
from aqmlab.execute.preflight import Machine
from aqmlab.execute.preflight.guest import kernel_file
from aqmlab.execute.task import Task

pytestmark = [pytest.mark.linux, pytest.mark.filterwarnings("ignore::aqmlab.MachineWarning")]

STEP = 0.01
"""Seconds of a bin of the series."""

SCENARIO = f"""\
duration = "6 s"
warmup = "0 s"
seed = 3
record.step = "{STEP} s"
record.cwnd = "20 ms"
aqm = {{ name = "codel", ecn = true }}

[dumbbell]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "60 packets"
sender_delay = ["5 ms", "15 ms"]

[[traffic]]
name = "long"
count = 3
start = "uniform(0 s, 1 s)"
tcp = {{ preset = "linux", ecn = true }}

[[traffic]]
name = "files"
kind = "transfer"
size = "uniform(20 kB, 60 kB)"
count = 4
start = "uniform(0 s, 2 s)"
tcp = {{ preset = "linux", congestion = "reno" }}

[[traffic]]
name = "clicks"
kind = "short"
arrival_rate = "4 Hz"
size = "pareto(10 kB, 1.5)"
stop = "3 s"
tcp = "linux"

[[traffic]]
name = "pages"
kind = "web"
connections = 2
objects = 4
think = "1 s"
count = 2
stop = "2.5 s"
tcp = "linux"

[[traffic]]
name = "call"
kind = "poisson"
rate = "200 kbit/s"
packet_size = "300 B"
"""
FINITE = ("files", "clicks", "pages")
"""Entries whose flows all complete."""

LONG = 'duration = "1000 s"\nrecord.series = false\n[dumbbell]\n[[traffic]]\nname = "x"\ntcp = "linux"\n'
SHORT = LONG.replace("1000 s", "0.5 s").replace("\n", '\nwarmup = "0 s"\n', 1)

MARKING = """\
duration = "3 s"
warmup = "0 s"
seed = 1
record.cwnd = "20 ms"
aqm = { name = "codel", ecn = true }
[dumbbell]
rate = "5 Mbit/s"
buffer = "1000 packets"
[[traffic]]
name = "x"
tcp = "linux"
"""


@pytest.fixture(scope="module")
def both(guest: None) -> Mapping[str, Result]:
    scenario = Scenario.parse(SCENARIO)
    return {engine: aqmlab.run(scenario, engine=engine) for engine in ("linux", "packet")}


def keys(document: Any) -> Any:
    """The document without its values."""
    return {key: keys(value) for key, value in document.items()} if isinstance(document, dict) else None


def test_results_are_like_those_of_the_packet_engine(both: Mapping[str, Result]) -> None:
    found, expected = (both[engine].runs[0].document() for engine in ("linux", "packet"))
    timing = set(found.pop("engine")) - set(expected.pop("engine"))
    assert timing == {"timing_error_p50", "timing_error_p99", "timing_error_max", "failed_sockets"}
    assert keys(found) == keys(expected)
    assert both["linux"].document().keys() == both["packet"].document().keys()
    assert both["linux"].series.schema == both["packet"].series.schema
    windows, of_packets = (both[engine].cwnd_of(3).columns for engine in ("linux", "packet"))
    assert windows[: len(of_packets)] == of_packets


def test_a_request_goes_ahead_of_a_transfer(guest: None) -> None:
    def took(engine: str, request: str) -> float:
        more = f'start = "uniform(0 s, 1 s)"\ncount = 5\nkind = "transfer"\nsize = "30 kB"\nrequest = "{request}"\n'
        (run,) = aqmlab.run(Scenario.parse(SHORT.replace("0.5 s", "3 s") + more), engine=engine).runs
        assert run.classes["x"]["completed"] == 5
        return run.classes["x"]["completion_time_mean"]

    # From sender to receiver and back 30 ms.
    for engine in ("packet", "linux"):
        assert took(engine, "400 B") - took(engine, "auto") == pytest.approx(0.015, abs=0.002), engine


def test_flows_begin_at_the_same_time(both: Mapping[str, Result]) -> None:
    for name in both["packet"].runs[0].classes:
        arrived = pl.col(f"bottleneck.{name}.arrivals") > 0
        found, expected = (both[engine].series.filter(arrived)["t"][0] for engine in ("linux", "packet"))
        assert found == expected, name


def test_flows_have_the_same_number_and_sizes(both: Mapping[str, Result]) -> None:
    found, expected = (both[engine].runs[0].classes for engine in ("linux", "packet"))
    assert {name: of["started"] for name, of in found.items()} == {name: of["started"] for name, of in expected.items()}
    for name in FINITE:
        assert found[name]["completed"] == found[name]["started"]
        # Bytes over the duration, and every flow has completed.
        assert found[name]["goodput"] == pytest.approx(expected[name]["goodput"], rel=1e-12)


def test_datagrams_are_the_same(both: Mapping[str, Result]) -> None:
    found, expected = (both[engine].series["bottleneck.call.arrivals"] for engine in ("linux", "packet"))
    assert expected.sum() > 300
    # In the guest a timer is up to a microsecond late: one of a thousand packets may fall into the next bin.
    assert (found.cum_sum() - expected.cum_sum()).abs().max() <= 1
    assert found.sum() == expected.sum()


def test_the_link_accounts_for_the_packets_of_all_classes(both: Mapping[str, Result]) -> None:
    (run,) = both["linux"].runs
    link = run.links["bottleneck"]
    for metric in ("arrivals", "drops_early", "drops_overflow", "marks"):
        assert sum(of[metric] or 0 for of in run.classes.values()) == link[metric], metric
    assert sum(of["throughput"] or 0 for of in run.classes.values()) == pytest.approx(link["throughput"])
    assert all((of["goodput"] or 0) <= (of["throughput"] or 0) for of in run.classes.values())


@pytest.mark.parametrize("congestion", ["cubic", "dctcp"])
def test_marks_reach_the_senders(guest: None, congestion: str) -> None:
    tcp = f'{{ preset = "linux", ecn = true, congestion = "{congestion}" }}'
    result = aqmlab.run(Scenario.parse(MARKING.replace('"linux"', tcp)), engine="linux")
    (of,) = result.runs[0].classes.values()
    assert of["marks"]
    assert (of["drops_early"], of["retransmits_total"]) == (0, 0)
    # Without a loss, nothing else lets a window fall.
    assert result.cwnd_of(1)["cwnd"].diff().min() < -1  # type: ignore[operator]


def test_runs_of_one_seed_are_the_same_bit_for_bit(both: Mapping[str, Result]) -> None:
    again = aqmlab.run(Scenario.parse(SCENARIO), engine="linux")
    found, expected = (result.runs[0].document() for result in (again, both["linux"]))
    for document in (found, expected):
        del document["engine"]["cpu_seconds"]
    assert found == expected
    assert again.series.equals(both["linux"].series)
    assert again.cwnd_of(3).equals(both["linux"].cwnd_of(3))


@pytest.mark.parametrize(
    ("tcp", "message"),
    [
        ('"rfc5681"', 'traffic.x.tcp.flavour = "newreno": the Linux engine cannot do that; its TCP is'),
        (
            '{ preset = "linux", max_rto = "3 s" }',
            'traffic.x.tcp.max_rto = "3 s": the Linux engine cannot do that; it has',
        ),
    ],
)
def test_a_tcp_that_linux_does_not_have_is_refused(guest: None, tcp: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        aqmlab.run(Scenario.parse(SHORT.replace('"linux"', tcp)), engine="linux")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this process and of those that it starts."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(folder))
    monkeypatch.setenv("TMPDIR", os.fspath(folder))
    return folder


def test_a_run_that_is_stopped_leaves_nothing(guest: None, temporary: Path) -> None:
    engine = Engine("linux")
    task = Task(Scenario.parse(LONG)._core, 1, b"", "x", 1.0, engine=engine)
    others = set(psutil.Process().children(recursive=True))  # such as a TeX of matplotlib's
    processes: list[psutil.Process] = []

    def watch(done: float) -> bool:
        processes[:] = set(psutil.Process().children(recursive=True)) - others
        return done == 0

    assert linux.perform(task, engine.settings, watch) is None
    assert processes
    assert_ended(processes)
    assert list(temporary.iterdir()) == []


def assert_ended(processes: list[psutil.Process]) -> None:
    assert psutil.wait_procs(processes, timeout=20)[1] == []


@pytest.mark.parametrize("engine", ["linux", "linux:clock=real"])
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda number: number.name
)
def test_the_engine_ends_with_the_command(temporary: Path, tmp_path: Path, number: signal.Signals, engine: str) -> None:
    require(engine)
    file = tmp_path / "long.toml"
    file.write_text(LONG)
    command = [sys.executable, "-m", "aqmlab", "run", file, "--engine", engine]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            processes = started(process, temporary)
        finally:
            process.send_signal(number)
        _, message = process.communicate(timeout=60)
    assert_ended(processes)
    left = list(temporary.glob("aqmlab-run-*"))
    if number == signal.SIGKILL:
        assert len(left) == 1
        linux.check(Scenario.parse(SHORT), Engine.parse(engine).settings)
    else:
        assert (process.returncode, message.splitlines()[-1]) == (128 + number, "interrupted: 0 of 1 runs finished")
    assert list(temporary.iterdir()) == []


def started(process: subprocess.Popen[str], temporary: Path) -> list[psutil.Process]:
    """The descendants of a command as soon as the guest, or the senders, run."""
    for _ in range(600):
        assert process.poll() is None
        below = psutil.Process(process.pid).children(recursive=True)
        guests = list(temporary.glob("aqmlab-run-*/*/pid"))  # User-Mode Linux writes it
        with suppress(psutil.NoSuchProcess):  # one that helped to start the others may end at any time
            if guests or any(one.name() == "aqmlab-traffic" for one in below):
                return below
        time.sleep(0.05)
    raise AssertionError("nothing has started")


HOLDER = """\
import sys
from aqmlab.execute import linux

linux._PREFIX, linux._CORE = sys.argv[1:]
with linux.run_folder() as folder, linux._core_for("virtual") as cores:
    print(folder, *cores, flush=True)
    input()
"""


@contextmanager
def holder() -> Iterator[tuple[subprocess.Popen[str], Path, int]]:
    """Another process that reserves a folder and a core, which it returns."""
    command = [sys.executable, "-c", HOLDER, linux._PREFIX, linux._CORE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        folder, core = process.stdout.readline().rsplit(maxsplit=1)
        yield process, Path(folder), int(core)
        process.kill()


def test_processes_share_the_cores_of_their_guests(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("it has a single core")
    monkeypatch.setattr(linux, "_CORE", f"aqmlab-test-{os.getpid()}-")  # guests of others do not count
    with linux._core_for("virtual") as first, holder() as (process, _, second):
        assert {second} != first
        process.kill()
        process.wait()
        with linux._core_for("virtual") as again:
            assert again == {second}


def test_the_folder_of_a_living_process_stays(temporary: Path) -> None:
    with holder() as (process, folder, _):
        with linux.run_folder() as own:
            assert folder.exists()
        assert not own.exists()
        process.kill()
        process.wait()
        assert folder.exists()
        with linux.run_folder():
            assert not folder.exists()


def test_paths_may_have_spaces(guest: None, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, source in {"programs": linux.BIN, "kernel": Path(kernel_file(Machine()))}.items():
        (temporary / f"the {name}").symlink_to(source)
    monkeypatch.setattr(linux, "BIN", temporary / "the programs")
    (run,) = aqmlab.run(Scenario.parse(SHORT), engine=f"linux:kernel={temporary / 'the kernel'}").runs
    assert (run.metrics["throughput"] or 0) > 0


def test_a_path_with_a_quotation_mark_is_refused(guest: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / 'a "b"'
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(folder))
    with pytest.raises(RunFailed, match="the guest cannot have a path with a quotation mark"):
        aqmlab.run(Scenario.parse(SHORT), engine="linux")


REAL = """\
duration = "5 s"
warmup = "1 s"
[dumbbell]
rate = "10 Mbit/s"
[[traffic]]
name = "x"
count = 2
tcp = "linux"
"""


def of_the_host() -> dict[str, object]:
    """What runs in real time must leave as it was."""
    commands = (["ip", "-o", "link"], ["ip", "netns"], ["ip", "route"], ["ip", "rule"])
    files = [*Path("/proc/sys/net/ipv4").rglob("*"), *Path("/sys/module/tcp_cubic/parameters").glob("*")]
    settings = {}
    for file in files:
        with suppress(OSError):  # some can only be written
            settings[str(file)] = file.read_text() if file.is_file() else None
    outputs = {" ".join(command): subprocess.check_output(command, text=True) for command in commands}
    return {**settings, **outputs}


@pytest.fixture
def host() -> Iterator[None]:
    require("linux:clock=real")
    before = of_the_host()
    yield
    assert of_the_host() == before


def in_time(scenario: Scenario) -> Result:
    """Run in real time; a machine that others use may be too slow for it."""
    try:
        return aqmlab.run(scenario, engine="linux:clock=real")
    except RunFailed as failure:
        if "us late or more" not in str(failure) and "the senders were" not in str(failure):
            raise
        unavailable(str(failure))
        raise


def test_real_time_reports_its_error_and_leaves_the_machine_as_it_was(host: None, temporary: Path) -> None:
    result = in_time(Scenario.parse(REAL))
    (run,) = result.runs
    assert (run.metrics["utilisation"] or 0) > 0.5
    errors = [run.engine[f"timing_error_{which}"] or 0 for which in ("p50", "p99", "max")]
    assert 0 < errors[0] <= errors[1] <= errors[2]
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(not ALL, reason="make test-linux runs it: a minute")
def test_a_hundred_megabits_in_real_time(host: None) -> None:
    settings = {"duration": "60 s", "warmup": "10 s", "dumbbell.rate": "100 Mbit/s", "traffic.x.count": 20}
    (run,) = in_time(Scenario.parse(REAL).with_(settings)).runs
    assert (run.metrics["utilisation"] or 0) > 0.9


def test_senders_that_fall_behind_refuse_the_run(host: None) -> None:
    """Ten million datagrams a second are more than any machine sends through sockets."""
    settings = {"rate": "2 Gbit/s", "packet_size": "100 B", "count": 4}
    scenario = Scenario.parse(
        SHORT.replace('tcp = "linux"', 'kind = "cbr"').replace("[dumbbell]", '[dumbbell]\nrate = "50 Gbit/s"')
    ).with_({"duration": "1 s", **{f"traffic.x.{key}": value for key, value in settings.items()}})
    with pytest.raises(RunFailed, match=r"the senders were \d+\.\d s late: .* use lower rates or fewer flows"):
        aqmlab.run(scenario, engine="linux:clock=real")


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


POKED = """\
duration = "5 s"
warmup = "0 s"
record.step = "100 ms"
[dumbbell]
rate = "10 Mbit/s"
[[traffic]]
name = "clicks"
kind = "short"
arrival_rate = "15 Hz"
size = "3 kB"
tcp = "linux"
[[traffic]]
name = "call"
kind = "cbr"
rate = "100 kbit/s"
packet_size = "200 B"
"""


RARE = """\
[[traffic]]
name = "file"
kind = "transfer"
size = "20 kB"
start = "1 s"
tcp = "linux"
[[traffic]]
name = "beat"
kind = "cbr"
rate = "400 bit/s"
packet_size = "200 B"
"""
"""One connection and two datagrams, beside the many of `POKED`."""


WEB = """\
[[traffic]]
name = "pages"
kind = "web"
connections = 2
objects = 4
think = "0 s"
tcp = "linux"
"""

FIRST_PORT = 1024
"""The port of the first traffic entry; the next has the next."""

PROMPT = 3.0
"""Seconds; a run of `POKED` takes five."""


class Router:
    """The router under way in real time, whose namespaces a test changes; those of a dumbbell's senders are 0."""

    def __init__(self, folder: Path, text: str = POKED + RARE, *more: str) -> None:
        file = folder / "scenario.toml"
        file.write_text(text)
        command = [linux.BIN / "aqmlab-router", "--scenario", file, "--out", folder]
        command += ["--traffic", linux.BIN / "aqmlab-traffic", *more]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        arguments: list[str] = []
        while "--namespaces" not in arguments:
            assert self.process.poll() is None
            for child in psutil.Process(self.process.pid).children():
                with suppress(psutil.NoSuchProcess):  # ip, which has set up a namespace
                    self.traffic, arguments = child, child.cmdline()
        self._namespaces = arguments[arguments.index("--namespaces") + 1].split(",")

    def within(self, namespace: int, *command: str) -> str:
        """The output of a command in one of its namespaces."""
        net = f"--net=/proc/{self.traffic.pid}/fd/{self._namespaces[namespace]}"
        return subprocess.check_output(["nsenter", net, *command], text=True)

    def message(self) -> str:
        """Its message at the end; a machine that others use may be too slow for it."""
        text = self.process.communicate(timeout=60)[1]
        if "the senders were" in text:
            unavailable(text)
        return text


@pytest.fixture
def router(host: None, tmp_path: Path) -> Iterator[Router]:
    if os.geteuid():
        unavailable("not root")
    router = Router(tmp_path)
    yield router
    router.process.kill()
    router.process.communicate()


def test_flows_do_not_wait_for_the_ports_of_those_that_are_over(router: Router, tmp_path: Path) -> None:
    router.within(0, "sysctl", "-q", "net.ipv4.ip_local_port_range=60000 60049")
    assert router.message() == ""
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["classes"]["clicks"]["completed"] > 60
    assert results["engine"]["failed_sockets"] == 0


def prohibit(router: Router, protocol: str, port: int, namespace: int = 0) -> None:
    """Let sockets fail at once that send to the port of a traffic entry."""
    # A source that has not connected yet would end the program instead.
    while protocol == "udp" and not router.within(namespace, "ss", "-Hun", "dport", "=", f":{port}"):
        assert router.process.poll() is None
    router.within(namespace, "ip", "rule", "add", "ipproto", protocol, "dport", str(port), "prohibit")


def test_one_failure_in_a_hundred_is_accepted(router: Router, tmp_path: Path) -> None:
    prohibit(router, "tcp", FIRST_PORT + 2)
    prohibit(router, "udp", FIRST_PORT + 3)
    assert router.message() == ""
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["engine"]["failed_sockets"] == 3
    assert results["classes"]["file"]["started"] == 1


def test_connections_that_fail_at_once_are_counted(router: Router) -> None:
    prohibit(router, "tcp", FIRST_PORT)
    message = router.message()
    found = re.match(r"(\d+) of (\d+) ends of connections failed:\n(.*)\n", message)
    assert found, message
    failed, tried = map(int, found.groups()[:2])
    assert 40 < failed == tried - 2, "the two ends of the transfer did not"
    assert found[3] == "traffic.clicks: a connection failed: Permission denied (os error 13)"
    assert message.endswith(f"and {failed - 20} more\n")


def test_datagrams_that_are_not_sent_are_a_share_of_all(router: Router) -> None:
    prohibit(router, "udp", FIRST_PORT + 1)
    message = router.message()
    found = re.match(r"(\d+) of (\d+) datagrams were not sent:\n(.*)\n", message)
    assert found, message
    failed, tried = map(int, found.groups()[:2])
    assert 300 < failed == tried - 2, "those of the other entry were"
    assert found[3] == "traffic.call: a datagram was not sent: Permission denied (os error 13)"


@pytest.mark.parametrize("more", [0, 1], ids=["to connect", "to accept"])
def test_without_descriptors_a_run_ends_at_once_and_says_what_to_do(router: Router, more: int) -> None:
    while f":{FIRST_PORT + 3:04X} " not in router.within(0, "cat", "/proc/net/udp"):
        time.sleep(0.01)  # the last entry's source is the last socket before the start
    most = router.traffic.num_fds() + more
    router.traffic.rlimit(psutil.RLIMIT_NOFILE, (most, most))
    began = time.monotonic()
    message = router.message()
    assert time.monotonic() - began < PROMPT
    assert re.match(
        rf"traffic\.(clicks|file): no descriptor is left for a socket: a process of this user may have {most}, and "
        r"each connection takes two; raise the limit \(ulimit -n\), or lower count, connections or arrival_rate\n"
        r".*aqmlab-traffic: exit status: 1\n$",
        message,
    ), message


def test_a_run_ends_with_its_senders(router: Router) -> None:
    router.traffic.kill()
    began = time.monotonic()
    assert re.search(r"aqmlab-traffic: signal: 9 \(SIGKILL\)\n$", router.message())
    assert time.monotonic() - began < PROMPT


def test_a_user_whose_connection_fails_at_once_tries_again_later(host: None, tmp_path: Path) -> None:
    """Without a pause, one who does not think would try for ever."""
    if os.geteuid():
        unavailable("not root")
    router = Router(tmp_path, POKED + WEB)
    prohibit(router, "tcp", FIRST_PORT + 2, namespace=1)  # that of the clients
    message = router.message()
    assert "traffic.pages: a connection failed" in message
    found = re.match(r"(\d+) of", message)
    assert found, message
    assert 3 <= int(found[1]) <= 5, "one a second"


def test_what_no_round_trip_has_shown_is_unknown(host: None) -> None:
    scenario = Scenario.parse(REAL).with_(
        {"record.cwnd": "5 ms", "dumbbell.sender_delay": "50 ms", "duration": "2 s", "warmup": "0 s"}
    )
    windows = in_time(scenario).cwnd_of(1).filter(pl.col("flow") == 0)
    times = ["rtt", "rtt_deviation", "rtt_min"]
    before = windows.filter(pl.col("t") < 0.09)  # the handshake takes a round trip
    assert len(before) > 10
    assert before[times].null_count().row(0) == (len(before),) * 3
    after = windows.filter(pl.col("t") > 1.0)
    assert len(after) == 199
    assert after[times].null_count().row(0) == (0, 0, 0)
    assert 0.1 < after["rtt_min"].min() <= after["rtt"].min() < after["rtt"].max() < 2  # type: ignore[operator]


def test_a_loss_outside_the_network_is_refused(router: Router) -> None:
    router.within(0, "ip", "link", "set", "aqmlab0", "txqueuelen", "1")
    router.process.send_signal(signal.SIGSTOP)
    lost = 0
    while not lost:
        (line,) = (line for line in router.within(0, "cat", "/proc/net/dev").splitlines() if "aqmlab0" in line)
        lost = int(line.split()[12])
    router.process.send_signal(signal.SIGCONT)
    message = router.message()
    assert "packets were lost outside the scenario's network:\n/proc/net/dev aqmlab0 tx_dropped = " in message
    assert "use a slower link" in message


def stand_still(router: Router, folder: Path) -> dict[str, Any]:
    """Stop the router for 0.9 of five seconds; return the results."""
    for _ in range(3):
        time.sleep(0.7)
        router.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        router.process.send_signal(signal.SIGCONT)
    assert router.message() == ""
    results: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return results


def test_packets_that_come_while_the_router_stands_still_enter_when_they_came(router: Router, tmp_path: Path) -> None:
    # The network delivered packets that the router handed over afterwards.
    assert stand_still(router, tmp_path)["engine"]["timing_error_p99"] > 0.1
    # The call has six packets in each tenth of a second.
    arrivals = pl.read_csv(tmp_path / "series.csv")["bottleneck.arrivals"]
    assert (arrivals[1:-1].min() or 0) >= 5


def test_a_discipline_of_the_kernel_makes_no_secret_of_a_router_that_stands_still(host: None, tmp_path: Path) -> None:
    if os.geteuid():
        unavailable("not root")
    router = Router(tmp_path, POKED + RARE, "--qdisc", "pfifo limit 1000")
    try:
        assert stand_still(router, tmp_path)["engine"]["timing_error_p99"] > 0.1
    finally:
        router.process.kill()
        router.process.communicate()


def test_a_packet_that_a_host_cannot_send_is_refused(router: Router) -> None:
    route = ["0.0.0.0/0", "dev", "aqmlab0"]
    router.within(1, "ip", "route", "del", *route)
    time.sleep(2)
    router.within(1, "ip", "route", "add", *route)
    message = router.message()
    assert "packets were lost outside the scenario's network:\n/proc/net/snmp Ip OutNoRoutes = " in message
    assert "a host rejected packets as invalid, could not send them, or fragmented them" in message


def test_devices_have_no_queue_before_the_router(router: Router) -> None:
    for namespace in (0, 1):
        shown = router.within(namespace, "ip", "-details", "link", "show", "aqmlab0")
        for setting in ("state UNKNOWN", "qdisc noqueue", "qlen 32767", "gso_max_segs 1"):
            assert f" {setting} " in shown.replace("\n", " \n")


def test_the_first_packet_that_belongs_to_no_traffic_is_named(router: Router) -> None:
    send = "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('10.65.0.1', 7)); "
    router.within(1, sys.executable, "-c", f"{send}s.sendto(b'x', ('10.64.0.1', 9)); s.sendto(b'x', ('10.64.0.1', 8))")
    message = router.message()
    assert message.startswith("2 packets belong to no traffic of the scenario; the first, after ")
    assert message.endswith(" s, was UDP from 10.65.0.1:7 to 10.64.0.1:9\n")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read and write; pytest's are for one user."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-test-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_user_without_privileges_can_run_the_router(host: None, open_folder: Path) -> None:
    if (
        os.geteuid()
        or subprocess.run([*NOBODY, "unshare", "-Urn", "true"], capture_output=True, check=False).returncode
    ):
        unavailable("not root, or other users may make no namespaces")
    if subprocess.run([*NOBODY, "test", "-w", "/dev/net/tun"], check=False).returncode:
        unavailable("other users may not open /dev/net/tun: chmod 666 /dev/net/tun")
    for program in ("aqmlab-router", "aqmlab-traffic"):
        shutil.copy(linux.BIN / program, open_folder)
    file = open_folder / "scenario.toml"
    file.write_text(Scenario.parse(REAL).with_(duration="2 s").to_toml())
    router = [open_folder / "aqmlab-router", "--scenario", file, "--seed", "1", "--out", open_folder]
    command = [*NOBODY, *router, "--traffic", open_folder / "aqmlab-traffic"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((open_folder / "results.json").read_text())
    assert results["metrics"]["utilisation"] > 0.1


FIVE = """\
duration = "20 s"
warmup = "5 s"
aqm = "droptail"
record.series = false
[dumbbell]
rate = "10 Mbit/s"
buffer = "100 packets"
sender_delay = "10 ms"
[[traffic]]
name = "x"
count = 5
start = "uniform(0 s, 1 s)"
tcp = { preset = "linux", congestion = "reno", ecn = true }
"""


def test_a_fifo_of_the_kernel_is_one_of_ours() -> None:
    require("linux")
    ours, kernels = (
        aqmlab.run(Scenario.parse(FIVE, "five"), engine=engine).runs[0].links["bottleneck"]
        for engine in ("linux", "linux:qdisc=pfifo limit 100")
    )
    assert kernels["drops_early"] == 0
    assert kernels["drops_overflow"] == pytest.approx(ours["drops_overflow"], rel=0.3)
    assert kernels["queue_full"] is None
    # HTB lets a second packet go while the first is under way.
    assert kernels["queue_mean"] == pytest.approx(ours["queue_mean"], rel=0.1)
    assert kernels["throughput"] == pytest.approx(ours["throughput"], rel=0.01)


def test_runs_with_a_discipline_of_the_kernel_repeat_bit_for_bit() -> None:
    require("linux")
    scenario = Scenario.parse(FIVE, "five").with_(duration="8 s")
    found = [aqmlab.run(scenario, engine="linux:qdisc=codel").runs[0].document() for _ in range(3)]
    for document in found:
        del document["engine"]["cpu_seconds"]
    assert found[1:] == [found[0]] * 2


@pytest.mark.parametrize("words", ["codel limit 1000 target 20ms ecn", "pie limit 1000 target 20ms ecn"])
def test_a_discipline_of_the_kernel_marks_and_keeps_its_target(words: str) -> None:
    require("linux")
    result = aqmlab.run(Scenario.parse(FIVE, "five"), engine=f"linux:qdisc={words}")
    link = result.runs[0].links["bottleneck"]
    assert result.discipline == f"kernel:{words}"
    assert link["marks"] > 25
    assert link["drops_overflow"] == 0
    # PIE drops while its probability is above 10 %, which in slow start is a matter of luck.
    assert link["drops_early"] == 0 or words.startswith("pie")
    assert link["queue_delay_mean"] == pytest.approx(0.02, rel=0.3)


def test_a_discipline_that_the_kernel_lacks_is_named() -> None:
    require("linux")
    with pytest.raises(EngineUnavailable, match=r"virtual time: no pies; .* NAME one of pfifo,"):
        aqmlab.run(Scenario.parse(FIVE, "five"), engine="linux:qdisc=pies limit 3")
    with pytest.raises(RunFailed, match=r"tc: .*limits"):
        aqmlab.run(Scenario.parse(FIVE, "five"), engine="linux:qdisc=pie limits 3")
    changing = FIVE.replace("[dumbbell]", '[dumbbell]\nchanges = ["3 s: 5 Mbit/s"]')
    with pytest.raises(ScenarioError, match="constant rate"):
        aqmlab.run(Scenario.parse(changing, "changing"), engine="linux:qdisc=pie")


def test_ipv6_fills_the_link_as_ipv4_does() -> None:
    require("linux")
    four = aqmlab.run(Scenario.parse(FIVE, "five"), engine="linux").runs[0]
    try:
        six = aqmlab.run(Scenario.parse(FIVE, "five"), engine="linux:ip=6").runs[0]
    except RunFailed as error:
        if "IPv6, which this kernel does not have" not in str(error):
            raise
        unavailable("the guest's kernel has no IPv6: remove it, and call make kernel")
    ours, theirs = six.links["bottleneck"], four.links["bottleneck"]
    assert ours["throughput"] == pytest.approx(theirs["throughput"], rel=0.01)
    assert ours["queue_mean"] == pytest.approx(theirs["queue_mean"], rel=0.15)
    # Packets have one size; the header of IPv6 is 20 bytes longer, at the cost of the payload.
    assert six.metrics["goodput"] / four.metrics["goodput"] == pytest.approx(1428 / 1448, rel=0.01)

"""Sweeps on a Dask cluster: a scheduler and two workers on this machine."""

import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import distributed
import pytest
from conftest import ROOT
from sweeping import VARY

import aqmlab
from aqmlab import ClusterError, Scenario, Sweep, _core
from aqmlab.execute import dask as cluster
from aqmlab.execute import task
from aqmlab.execute.progress import Progress
from aqmlab.execute.task import Task
from aqmlab.runs.store import Store, key_of

DEADLY = 666
"""The seed whose run kills its worker."""

CERTIFICATES = """
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2
openssl req -newkey rsa:2048 -nodes -keyout one.key -out one.csr -subj /CN=one
openssl x509 -req -in one.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out one.pem -days 2
"""
CONFIGURATION = """
distributed:
  comm:
    require-encryption: true
    tls:
      ca-file: /home/me/tls/ca.pem
      scheduler: {cert: /home/me/tls/one.pem, key: /home/me/tls/one.key}
      worker: {cert: /home/me/tls/one.pem, key: /home/me/tls/one.key}
      client: {cert: /home/me/tls/one.pem, key: /home/me/tls/one.key}
"""

PRELOAD = f"""
import os, signal
from aqmlab.execute import dask as cluster
from aqmlab.execute.task import simulate

def deadly(task, watch):
    if task.seed == {DEADLY}:
        os.kill(os.getpid(), signal.SIGKILL)
    return simulate(task, watch)

cluster.simulate = deadly
"""


class Dask:
    """Processes of Dask's command line, which end with the test."""

    def __init__(self, folder: Path, stack: ExitStack, *options: str) -> None:
        self.folder = folder
        self.stack = stack
        self.file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--port", "0", *options)
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        # A batch whose worker died twice is attributed to the run that killed it.
        own = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", "DASK_TEMPORARY_DIRECTORY": str(self.folder)}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*command, "--scheduler-file", str(self.file)], env=os.environ | own, stdout=log, stderr=log
            )
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        return process


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    folder = tmp_path_factory.mktemp("dask")
    (folder / "deadly.py").write_text(PRELOAD)
    with ExitStack() as stack:
        dask = Dask(folder, stack)
        for threads in ("1", "2"):
            dask.start("worker", "--nthreads", threads, "--preload", str(folder / "deadly.py"))
        yield dask


@pytest.fixture
def client(dask: Dask) -> "Iterator[distributed.Client]":
    with distributed.Client(scheduler_file=str(dask.file), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=30)
        yield client


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record the key of each run that is kept."""
    keys: list[bytes] = []
    add = Store.add

    def noted(self: Store, payload: bytes) -> None:
        keys.append(key_of(payload))
        add(self, payload)

    monkeypatch.setattr(Store, "add", noted)
    return keys


def test_every_result_is_there_once_when_a_worker_is_killed(
    tiny: Scenario,
    dask: Dask,
    client: "distributed.Client",
    kept: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(cluster, "BATCH", 0.1)
    pids = list(client.run(os.getpid).values())
    killed: list[Progress] = []

    def kill(standing: Progress) -> None:
        if standing.done and not killed:
            killed.append(standing)
            os.kill(pids[0], signal.SIGKILL)

    swept = aqmlab.sweep(
        tiny, vary=VARY, aqms=["lred", "pi"], seeds=60, out=tmp_path, cluster=str(dask.file), progress=kill
    )
    assert killed[0].done < swept.wanted == swept.done == 360
    assert swept.failures == ()
    assert len(kept) == len(set(kept)) == 360
    alone = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=60)
    assert swept.frame.equals(alone.frame)
    assert Sweep.load(tmp_path).means().equals(alone.means())
    assert pids[0] not in client.run(os.getpid).values()


def test_a_class_of_ones_own_travels_with_its_runs(
    tiny: Scenario, dask: Dask, client: "distributed.Client", tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    text = (ROOT / "examples" / "mine.py").read_text()
    file.write_text(text)
    alone = aqmlab.sweep(tiny, vary={"aqm.target": ["5 ms", "20 ms"]}, aqms=[f"{file}:Mine", "pie"], seeds=20)

    def spoil(_: Progress) -> None:
        file.write_text("no Python at all")

    swept = aqmlab.sweep(
        tiny,
        vary={"aqm.target": ["5 ms", "20 ms"]},
        aqms=[f"{file}:Mine", "pie"],
        seeds=20,
        cluster=str(dask.file),
        progress=spoil,
    )
    assert (swept.done, swept.failures) == (80, ())
    assert swept.frame.equals(alone.frame)


RECORDED = """
[dumbbell.rates]
file = "rates.csv"

[[traffic]]
name = "replay"
kind = "trace"
file = "a.csv"

[[traffic]]
kind = "trace"
file = "a.csv"
"""


def test_recordings_travel_with_their_runs(
    tiny: Scenario, dask: Dask, client: "distributed.Client", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: tmp_path / name for name in ("a.csv", "rates.csv", "recorded.toml")}
    files["a.csv"].write_text("time,size\n" + "".join(f"{i / 50:.106f},{400 + i % 999}\n" for i in range(10**5)))
    assert files["a.csv"].stat().st_size > 11e6, "large enough for Dask to warn"
    files["rates.csv"].write_text("time,rate\n0,1e6\n0.5,3e6\n1,2e6\n")
    files["recorded.toml"].write_text(tiny.to_toml().replace('rate = "2 Mbit/s"\n', "") + RECORDED)
    scenario = Scenario.load(files["recorded.toml"])
    alone = aqmlab.sweep(scenario, vary=VARY, aqms=["lred", "pi"], seeds=1)
    assert all(seen > 0 for seen in alone.frame["queue_mean"])
    sent: list[str] = []
    submit = cluster._Drive._submit

    def sent_and_gone(self: cluster._Drive, batch: list[Task], threads: int) -> None:
        submit(self, batch, threads)
        sent.extend(self._recordings)
        for file in files.values():  # from now on, no machine has them
            file.unlink(missing_ok=True)

    monkeypatch.setattr(cluster._Drive, "_submit", sent_and_gone)
    swept = aqmlab.sweep(scenario, vary=VARY, aqms=["lred", "pi"], seeds=1, cluster=str(dask.file))
    assert (swept.done, swept.failures) == (alone.done, ())
    assert swept.frame.equals(alone.frame)
    assert set(sent) == {str(files["a.csv"]), str(files["rates.csv"])}


def test_a_run_that_kills_its_workers_fails_alone(tiny: Scenario, dask: Dask, client: "distributed.Client") -> None:
    swept = aqmlab.sweep(tiny, seeds=[1, 2, DEADLY, 3], cluster=client.scheduler.address)
    assert swept.frame["seed"].to_list() == [1, 2, 3]
    assert [str(failure) for failure in swept.failures] == [
        f"lred, seed {DEADLY}: killed its worker 2 times: out of memory, or a crash"
    ]


def test_ctrl_c_keeps_what_came_back_and_stops_the_workers(
    tiny: Scenario, dask: Dask, client: "distributed.Client", tmp_path: Path
) -> None:
    (tmp_path / "tiny.toml").write_text(tiny.to_toml())
    command = [sys.executable, "-W", "error", "-m", "aqmlab", "sweep", "tiny.toml", "--seeds", "4", "--out", "out"]
    command += ["--vary", "duration=2 s,1e6 s", "--cluster", str(dask.file)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob("out/store/journals/*.journal")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr
        message = process.stderr.read()
        assert process.wait() == 130
    assert message.splitlines()[-1] == "interrupted: 4 of 8 runs are finished; rerunning the command computes the rest"
    assert Sweep.load(tmp_path / "out").done == 4
    deadline = time.monotonic() + 20
    while any(client.run(lambda dask_worker: dask_worker.state.executing_count).values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_workers_of_another_engine_are_refused(
    tiny: Scenario, client: "distributed.Client", kept: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _core.engine_version
    monkeypatch.setattr(_core, "engine_version", "0.0.1+old")
    with pytest.raises(
        ClusterError, match=r"^worker tcp://127.0.0.1:\d+ has engine (.*), and the client has 0.0.1\+old"
    ) as refused:
        aqmlab.sweep(tiny, vary=VARY, cluster=client.scheduler.address)
    assert own in str(refused.value)
    assert kept == []


def test_no_scheduler_at_the_address_is_said(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "tcp://{}:{}".format(*server.getsockname())
    with pytest.raises(ClusterError, match=f"^{address}: no Dask scheduler answers within 0.5 s"):
        aqmlab.sweep(tiny, vary=VARY, cluster=address)


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        ("foo", "cluster = 'foo': must be slurm, slurm:FILE.toml, tcp://HOST:PORT, or the file that `dask scheduler"),
        ("", "cluster = '': must be slurm, "),
        ("tcp://127.0.0.1", "cluster = 'tcp://127.0.0.1': not the address of a scheduler, such as tcp://host:8786: "),
        ("udp://there:1", "cluster = 'udp://there:1': not the address of a scheduler, such as tcp://host:8786: "),
        ("http://127.0.0.1:8786", "cluster = 'http://127.0.0.1:8786': not the address of a scheduler, such as"),
        ("scheduler.json", "cluster = 'scheduler.json': address = 'None': not the address of a scheduler"),
    ],
)
def test_what_is_no_address_is_refused_at_once(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.json").write_text("{}")
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}") as refused:
        aqmlab.sweep(tiny, vary=VARY, cluster=cluster)
    assert type(refused.value) is ValueError


def test_a_scheduler_without_workers_is_left_after_a_while_and_one_that_goes_at_once(
    tiny: Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with ExitStack() as stack:
        empty = Dask(tmp_path, stack)
        with pytest.raises(ClusterError, match=r"^tcp://\S+: the scheduler has had no worker for 0.5 s"):
            aqmlab.sweep(tiny, vary=VARY, cluster=str(empty.file))
        monkeypatch.setattr(cluster, "PATIENCE", 60.0)
        connected, is_connected = cluster._connected, threading.Event()

        def connect(address: str) -> distributed.Client:
            client = connected(address)
            is_connected.set()
            return client

        monkeypatch.setattr(cluster, "_connected", connect)
        with pytest.raises(
            ClusterError, match="the connection to the scheduler is lost; the runs that it returned are kept"
        ):
            aqmlab.sweep(
                tiny,
                vary=VARY,
                cluster=str(empty.file),
                progress=lambda _: empty.scheduler.kill() if is_connected.is_set() else None,
            )


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificates")
def test_tls_lets_in_whoever_has_a_certificate_and_nobody_else(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "guide" / "cluster.md").read_text()
    assert CERTIFICATES in page
    assert CONFIGURATION in page
    subprocess.run(["sh", "-ec", CERTIFICATES], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "dask.yaml").write_text(CONFIGURATION.replace("/home/me/tls", str(tmp_path)))
    monkeypatch.setenv("DASK_CONFIG", str(tmp_path / "dask.yaml"))
    monkeypatch.setattr(cluster, "CONNECTING", 2.0)
    with ExitStack() as stack:
        closed = Dask(tmp_path, stack, "--protocol", "tls")
        closed.start("worker", "--nthreads", "1")
        with pytest.raises(ClusterError, match=r"^tls://.*: a client of TLS needs a certificate"):
            aqmlab.sweep(tiny, vary=VARY, cluster=str(closed.file))
        with with_certificate(tmp_path):
            swept = aqmlab.sweep(tiny, vary=VARY, cluster=str(closed.file))
        other = tmp_path / "other"
        other.mkdir()
        subprocess.run(["sh", "-ec", CERTIFICATES], cwd=other, check=True, capture_output=True)
        with with_certificate(other), pytest.raises(ClusterError, match="no Dask scheduler answers within 2 s"):
            aqmlab.sweep(tiny, vary=VARY, cluster=str(closed.file))
    assert swept.frame.equals(aqmlab.sweep(tiny, vary=VARY).frame)


def with_certificate(folder: Path) -> AbstractContextManager[object]:
    """Let this process have the certificate in a folder."""
    import dask

    tls = "distributed.comm.tls"
    pair = {f"{tls}.client.cert": str(folder / "one.pem"), f"{tls}.client.key": str(folder / "one.key")}
    return cast(AbstractContextManager[object], dask.config.set(pair | {f"{tls}.ca-file": str(folder / "ca.pem")}))


def tasks(scenario: Scenario, seeds: int, cost: float) -> Iterator[Task]:
    """Yield tasks of two points, alternately."""
    points = [scenario.with_({"aqm.q0": q0}) for q0 in (10, 20)]
    told = [(point.to_toml(), task.digest(point)) for point in points]
    for seed in range(seeds):
        for text, digest in told:
            yield Task(text, seed, task.key(digest, seed), f"seed {seed}", cost)


def test_batches_take_as_long_as_they_should_and_less_at_the_end(tiny: Scenario) -> None:
    ahead = cluster._Ahead(tasks(tiny, 500, 7000.0))
    first = ahead.batch(2)
    assert len(first) == 100  # a guess of a million packets/s; 10,000 packets each, plus the overhead of a run
    ahead.learn(first, 2.0)
    sizes = []
    while batch := ahead.batch(2):
        sizes.append(len(batch))
    assert sum(sizes) == 900
    assert set(sizes[:14]) == {50}
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2] == 5


def test_seeds_of_a_scenario_go_together_and_it_goes_with_them_once(tiny: Scenario) -> None:
    batch = cluster._Ahead(tasks(tiny, 100, 7000.0)).batch(2)
    assert len({one.scenario for one in batch}) == 1
    assert pickle.dumps(batch).count(b"q0 = 10") == 1


@pytest.fixture
def on_worker(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Act as a worker whose task may be cancelled."""
    state = SimpleNamespace(state="executing")
    here = SimpleNamespace(
        address="tcp://here:1",
        get_current_task=lambda: "own",
        state=SimpleNamespace(tasks={"own": state}),
        local_directory="/none",
    )
    monkeypatch.setattr(distributed, "get_worker", lambda: here)
    return state


def done(batch: list[Task], seconds: float = 60.0) -> int:
    _, outcomes = cluster.perform(_core.engine_version, seconds, pickle.dumps(batch))
    assert [outcome.payload[:32] for outcome in outcomes] == [one.key for one in batch[: len(outcomes)]]
    return len(outcomes)


def test_a_batch_that_takes_too_long_is_cut(tiny: Scenario, on_worker: SimpleNamespace) -> None:
    batch = list(tasks(tiny, 3, 7000.0))
    assert (done(batch), done(batch, 0.0)) == (6, 1)


def test_a_batch_that_is_cancelled_ends(tiny: Scenario, on_worker: SimpleNamespace) -> None:
    on_worker.state = "cancelled"
    assert done(list(tasks(tiny, 3, 7000.0))) == 0
    assert done(list(tasks(tiny.with_(duration="1e6 s"), 3, 1e9))) == 0


def test_a_task_that_means_something_else_on_the_worker_is_refused(tiny: Scenario, on_worker: SimpleNamespace) -> None:
    (one, other) = tasks(tiny, 1, 7000.0)
    with pytest.raises(ClusterError, match="seed 0 is a different run there"):
        done([Task(one.scenario, one.seed, other.key, one.label, one.cost)])


def test_a_trace_that_is_another_on_the_worker_is_refused_however_often_it_was_read(
    tmp_path: Path, on_worker: SimpleNamespace
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,size\n0,500\n")
    scenario = Scenario.parse(f"duration = '2 s'\n[dumbbell]\n[[traffic]]\nkind = 'trace'\nfile = '{file}'\n").with_(
        aqm="lred"
    )
    first = list(tasks(scenario, 1, 7000.0))
    assert done(first) == len(first)
    file.write_text("time,size\n0,600\n")
    second = list(tasks(scenario._reloaded(), 1, 7000.0))
    assert second[0].key != first[0].key
    assert done(second) == len(second), "what was read earlier is read anew"
    with pytest.raises(ClusterError, match="a trace has changed since the sweep was planned: run it again"):
        done(first)
    file.unlink()
    task._read.cache_clear()
    _, outcomes = cluster.perform(_core.engine_version, 60.0, pickle.dumps(second))
    assert "on worker tcp://here:1" in outcomes[0].error
    assert "no such file" in outcomes[0].error


@pytest.mark.parametrize("status", ["finished", "lost", "pending"])
def test_a_result_that_arrived_counts_although_its_worker_has_died_since(status: str) -> None:
    class Future:
        def __init__(self) -> None:
            self.status = status

    returned = Future(), (0.1, [task.Outcome(b"payload")])
    work = Task("", 1, b"key", "lred", 1.0)
    done: list[tuple[Task, task.Outcome]] = []
    drive = object.__new__(cluster._Drive)
    drive._returned = SimpleNamespace(next_batch=lambda block: [returned])  # type: ignore[assignment]
    drive._under_way = {returned[0]: [work]}  # type: ignore[dict-item]
    drive._on_done = lambda one, outcome: done.append((one, outcome))
    drive._ahead = cluster._Ahead(iter(()))
    assert drive._receive()
    assert done == [(work, task.Outcome(b"payload"))]

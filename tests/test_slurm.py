"""Sweeps on jobs of a real SLURM, of one node on this machine."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest
import slurm_node
from conftest import TINY
from slurm_node import Node, wait

import aqmlab
from aqmlab import ClusterError, Scenario, Sweep
from aqmlab.runs.store import Store

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        not os.environ.get("AQMLAB_TEST_SLURM") or bool(slurm_node.missing()),
        reason=slurm_node.missing() or "make test-cluster starts SLURM",
    ),
]

RUNS = 200

PRELOAD = """
import os, time
from aqmlab.execute import dask
from aqmlab.execute.task import simulate

def noted(task, watch):
    with open(os.environ["AQMLAB_TEST_LIST"], "a") as file:
        file.write(f"{task.key.hex()} {os.getpid()} {os.environ['SLURM_JOB_ID']}\\n")
    time.sleep(float(os.environ["AQMLAB_TEST_SECONDS"]))
    return simulate(task, watch)

dask.simulate = noted
"""
"""What the workers load: they list each run that they begin, and take longer for it."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with slurm_node.node(tmp_path_factory.mktemp("slurm")) as one:
        yield one


@pytest.fixture(scope="module")
def alone() -> Sweep:
    """The sweep on this machine."""
    return aqmlab.sweep(
        Scenario.parse(TINY, "tiny.toml"), vary={"aqm.q0": [10, 20]}, aqms=["lred", "pi"], seeds=RUNS // 4
    )


class Client:
    """The command line in a folder of its own, and the runs that its workers began."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node = node
        self.folder = folder
        self.list = folder / "list"
        self.list.touch()
        (folder / "tiny.toml").write_text(TINY)
        (folder / "preload.py").write_text(PRELOAD)
        self.log = folder / "log"

    def start(self, options: str, seconds: float) -> "subprocess.Popen[bytes]":
        """Start the sweep; each run takes some seconds more."""
        (self.folder / "cluster.toml").write_text(options)
        command = [sys.executable, "-W", "error", "-m", "aqmlab", "sweep", "tiny.toml", "--seeds", str(RUNS // 4)]
        command += ["--vary", "aqm.q0=10,20", "--aqm", "lred", "--aqm", "pi", "--cluster", "slurm:cluster.toml"]
        own = {
            "AQMLAB_TEST_LIST": str(self.list),
            "AQMLAB_TEST_SECONDS": str(seconds),
            "DASK_DISTRIBUTED__WORKER__PRELOAD": str(self.folder / "preload.py"),
        }
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--out", "out"], cwd=self.folder, env=self.node.environment | own, stdout=log, stderr=log
            )

    def begun(self) -> list[tuple[str, int, str]]:
        """Return the runs that workers began: key, process and job."""
        lines = (line.split() for line in self.list.read_text().splitlines())
        return [(key, int(process), job) for key, process, job in lines]

    def kept(self) -> set[str]:
        """Return the runs that the store has."""
        store = Store(self.folder / "out" / "store")
        try:
            return {key.hex() for key in store.finished({bytes.fromhex(key) for key, _, _ in self.begun()})}
        finally:
            store.close()

    def result(self, process: "subprocess.Popen[bytes]") -> Sweep:
        """Return what the sweep saved; SLURM has no job of it left."""
        assert process.wait(timeout=300) == 0, self.log.read_text()
        assert set(self.node.jobs().values()) <= {"COMPLETING"}
        return Sweep.load(self.folder / "out")


@pytest.fixture
def client(node: Node, tmp_path: Path) -> Client:
    return Client(node, tmp_path)


TWO = 'jobs = 2\nmemory = "500 MB"\nwalltime = "00:05:00"\n'


def same(one: Sweep, other: Sweep) -> bool:
    return one.failures == other.failures == () and one.frame.equals(other.frame)


def test_a_killed_worker_costs_its_batches_and_nothing_else(client: Client, alone: Sweep) -> None:
    process = client.start(TWO, 0.05)
    wait(lambda: len(client.begun()) > 60, client.log.read_text())
    victim = client.begun()[-1][1]
    os.kill(victim, signal.SIGKILL)
    assert same(client.result(process), alone)
    begun = client.begun()
    twice = {key for key, count in Counter(key for key, _, _ in begun).items() if count > 1}
    lost = {key for key, process, _ in begun if process == victim}
    assert twice <= lost
    assert 1 <= len(twice) <= 1 + 2 / 0.05  # a batch takes two seconds at most
    assert len({key for key, _, _ in begun}) == RUNS
    assert len({process for _, process, _ in begun}) == 3  # a worker came in its place


def test_a_job_that_is_out_of_time_is_replaced(client: Client, alone: Sweep) -> None:
    process = client.start(TWO.replace("05:00", "01:00"), 1.0)
    assert same(client.result(process), alone)
    begun = client.begun()
    states = {job: client.node.call("scontrol", "show", "job", job) for _, _, job in begun}
    ended = [job for job, state in states.items() if "JobState=TIMEOUT" in state]
    assert len(ended) >= 1
    assert len(states) > 2
    assert len(begun) <= RUNS + 2 * len(ended)  # one in progress, and one whose result was on its way
    assert len({key for key, _, _ in begun}) == RUNS


def test_a_killed_client_leaves_no_job_and_the_next_computes_the_rest(client: Client, alone: Sweep) -> None:
    process = client.start(TWO, 0.05)
    wait(lambda: len(client.begun()) > 80, "the first runs")
    process.kill()
    process.wait()
    kept, first = client.kept(), len(client.begun())
    assert len(kept) > 20
    wait(lambda: not client.node.jobs(), "the end of the jobs of a client that is killed")
    stopped = len(client.begun())
    assert same(client.result(client.start(TWO, 0.05)), alone)
    begun = client.begun()
    again = {key for key, _, _ in begun[stopped:]}
    assert not again & kept
    assert len(again) == RUNS - len(kept)
    assert stopped - first <= 2 * 2 / 0.05  # two workers with two batches


def test_ctrl_c_cancels_the_jobs_and_keeps_what_came_back(client: Client, alone: Sweep) -> None:
    process = client.start(TWO, 0.05)
    wait(lambda: len(client.begun()) > 80, "the first runs")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130, client.log.read_text()
    assert set(client.node.jobs().values()) <= {"COMPLETING"}
    last = client.log.read_text().splitlines()[-1]
    assert last.endswith("runs are finished; rerunning the command computes the rest")
    kept, stopped = client.kept(), len(client.begun())
    assert f"interrupted: {len(kept)} of {RUNS}" in last
    assert same(client.result(client.start(TWO, 0.0)), alone)
    assert not {key for key, _, _ in client.begun()[stopped:]} & kept


def test_jobs_come_with_the_work_and_go_with_it(client: Client, alone: Sweep) -> None:
    process = client.start(TWO.replace("jobs = 2", "jobs = [1, 3]"), 1.0)
    numbers: list[int] = []

    def over() -> bool:
        numbers.append(len(client.node.jobs()))
        return process.poll() is not None

    wait(over, "the sweep", 300)
    assert same(client.result(process), alone)
    assert max(numbers) == 3
    assert len(client.begun()) == RUNS


@pytest.fixture
def slurm(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process call SLURM."""
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, node.environment[name])


def with_options(folder: Path, text: str) -> str:
    (folder / "cluster.toml").write_text(text)
    return f"slurm:{folder / 'cluster.toml'}"


@pytest.mark.usefixtures("slurm")
def test_from_python_with_dasks_configuration_alone(tiny: Scenario) -> None:
    import dask
    import dask_jobqueue  # noqa: F401  its defaults, which would be gone after a block in which they came

    with dask.config.set({"jobqueue.slurm.memory": "400 MB", "aqmlab.jobs": 1}):
        swept = aqmlab.sweep(tiny, seeds=20, cluster="slurm")
    assert same(swept, aqmlab.sweep(tiny, seeds=20))


@pytest.mark.usefixtures("slurm")
def test_what_slurm_refuses_is_said(tiny: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"sbatch refuses the job: .*invalid partition specified: nowhere"):
        aqmlab.sweep(tiny, seeds=20, cluster=with_options(tmp_path, 'queue = "nowhere"'))


@pytest.mark.usefixtures("slurm")
def test_jobs_without_a_worker_are_not_asked_for_without_end(tiny: Scenario, tmp_path: Path, node: Node) -> None:
    lines = f'jobs = 1\npython = "/no/python"\nlogs = "{tmp_path}/logs"'
    with pytest.raises(ClusterError, match=r"ended before a worker of theirs answered; .*/no/python: No such file"):
        aqmlab.sweep(tiny, seeds=20, cluster=with_options(tmp_path, lines))
    with pytest.raises(ClusterError, match='with the option logs = "FOLDER" their output says why'):
        aqmlab.sweep(tiny, seeds=20, cluster=with_options(tmp_path, 'jobs = 1\npython = "/no/python"'))
    assert set(node.jobs().values()) <= {"COMPLETING"}


@pytest.mark.usefixtures("slurm")
def test_a_stranger_is_not_let_in(tiny: Scenario, tmp_path: Path) -> None:
    met: list[str] = []

    def knock(_: object) -> None:
        from distributed import SpecCluster

        if not met and (clusters := list(SpecCluster._instances)):
            met.append(clusters[0].scheduler_address)
            stranger = distributed.Security.temporary()
            for address, security in ((met[0], stranger), (met[0].replace("tls:", "tcp:"), None)):
                with pytest.raises(OSError, match=r"[Tt]imed out"):
                    distributed.Client(address, security=security, timeout=1, set_as_default=False)

    aqmlab.sweep(tiny, seeds=20, cluster=with_options(tmp_path, TWO), progress=knock)
    assert met
    assert met[0].startswith("tls://")

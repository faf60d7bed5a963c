"""A SLURM cluster of one node on this machine, of the distribution's packages, set up in a folder and torn down."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "setpriv")

CORES, MEMORY = 8, 8000
"""What the node says that it has, in cores and MB: SLURM places jobs, and the machine shares its cores among them."""

# Neither systemd nor cgroups are needed, so a container is enough.
CONFIGURATION = """\
ClusterName=aqmlab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=60 State=UP
"""


def missing() -> str:
    """Return why this machine cannot be a node; empty if it can."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    return f"{', '.join(absent)} missing (Debian: apt install slurm-wlm munge)" if absent else ""


def wait(reached: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Wait until a condition is reached."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.1)


class Node:
    """A running cluster; commands of SLURM, and programs that call them, need its `environment`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin",
        }

    def call(self, *command: str) -> str:
        """Return what a command of SLURM prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30, check=True)
        return done.stdout

    def jobs(self) -> dict[str, str]:
        """Return the state of each job that waits, runs or ends, by its number."""
        lines = self.call("squeue", "--noheader", "--format", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    def log(self) -> str:
        """Return what the daemons wrote."""
        return "\n".join(file.read_text(errors="replace")[-2000:] for file in sorted(self.folder.glob("*.log")))


@contextmanager
def node(folder: Path) -> Iterator[Node]:
    """Start SLURM in an empty folder, and end it with all its jobs."""
    one = Node(folder)
    folder.chmod(0o755)  # munged refuses a socket that others could not reach
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    controller, daemon = _free_ports(2)
    host = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder,
            host=host,
            user=getpass.getuser(),
            controller=controller,
            daemon=daemon,
            cores=CORES,
            memory=MEMORY,
        )
    )
    files = [("key-file", key), ("socket", folder / "munge.socket"), ("pid-file", folder / "munged.pid")]
    files += [("log-file", folder / "munged.log"), ("seed-file", folder / "munge.seed")]
    with ExitStack() as stack:
        _start(one, stack, "munged", "--foreground", "--force", *(f"--{name}={file}" for name, file in files))
        wait((folder / "munge.socket").exists, "munged")
        _start(one, stack, "slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        _start(one, stack, "slurmd", "-D", "-f", str(folder / "slurm.conf"), "-N", host)
        stack.callback(_end_jobs, one)
        wait(lambda: "idle" in _state(one), f"SLURM\n{one.log()}")
        yield one


def _start(one: Node, stack: ExitStack, *command: str) -> None:
    # The daemon ends with this process, also if that is killed.
    with (one.folder / "daemons.log").open("ab") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command], env=one.environment, stdout=log, stderr=log
        )
    stack.callback(process.wait)
    stack.callback(process.terminate)


def _state(one: Node) -> str:
    with suppress(subprocess.CalledProcessError):
        return one.call("sinfo", "--noheader", "--format", "%t")
    return ""


def _end_jobs(one: Node) -> None:
    if jobs := one.jobs():
        one.call("scancel", *jobs)
        wait(lambda: not one.jobs(), "the end of the jobs")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in servers]

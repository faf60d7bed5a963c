"""Jobs of SLURM whose workers perform tasks: asked for when they are needed, replaced when they end, then cancelled.

The scheduler of Dask is in this process. A key pair made for the sweep identifies it and the workers to each other;
the workers find theirs in the script of their job, which only its user can read.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from aqmlab.execute.dask import ClusterError, Keep, executor_on, require
from aqmlab.execute.task import Executor
from aqmlab.files import read_whole

if TYPE_CHECKING:
    from dask_jobqueue import SLURMCluster
    from dask_jobqueue.slurm import SLURMJob
    from distributed import Client, Security

LOOK = 2.0
"""Seconds between two questions to SLURM about the jobs."""

WORTH = 60.0
"""Seconds of work for each core that another job is worth: its start takes some seconds."""

ATTEMPTS = 3
"""Jobs that may end one after the other without a worker, before the sweep gives up."""

_WALLTIME = re.compile(r"(\d+-)?\d+(:\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the jobs; None leaves one to Dask's configuration, and then to SLURM.

    `jobs` is the least and the greatest number of jobs. The other values are of one job: `cores`, with a worker on
    each; `memory`, such as ``8 GB``; `walltime`, ``HOURS:MINUTES:SECONDS``; `queue` is its partition and `account`
    pays. `interface` is the network's that the workers reach this process by, `python` the interpreter of the workers
    and `scratch` a folder on their disks. `prologue` has lines of shell that precede the worker, and `directives` more
    options of sbatch. The output of the jobs goes to the folder `logs`.
    """

    jobs: tuple[int, int] = (1, 10)
    cores: int | None = None
    memory: str | None = None
    walltime: str | None = None
    queue: str | None = None
    account: str | None = None
    interface: str | None = None
    python: str | None = None
    scratch: str | None = None
    logs: str | None = None
    prologue: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()

    @classmethod
    def load(cls, file: Path) -> Options:
        """Read options from a TOML file; raise ValueError that names file, key, value and the allowed ones."""
        try:
            document = tomllib.loads(read_whole(file).decode())
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{file}: not TOML: {error}") from None
        return cls.parse(document, str(file))

    @classmethod
    def parse(cls, document: Mapping[str, object], where: str) -> Options:
        """Check options; raise ValueError that names place, key, value and the allowed ones."""
        names = [one.name for one in fields(cls)]
        values: dict[str, Any] = {}
        for name, value in document.items():
            if name not in names:
                import difflib

                near = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
                raise ValueError(f"{where}: {name} = {value!r}: no such option; {hint}")
            read, allowed = _READERS.get(name, _TEXT)
            try:
                values[name] = read(value)
            except (TypeError, ValueError):
                raise ValueError(f"{where}: {name} = {value!r}: must be {allowed}") from None
        return cls(**values)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _counts(value: object) -> tuple[int, int]:
    least, most = map(_count, value if isinstance(value, list) else (value, value))
    if least > most:
        raise ValueError
    return least, most


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or not value.replace("\t", " ").isprintable():
        raise ValueError
    return value


def _lines(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))


def _memory(value: object) -> str:
    from dask.utils import parse_bytes

    if parse_bytes(_text(value)) < 1_000_000:
        raise ValueError
    return _text(value)


def _walltime(value: object) -> str:
    if not _WALLTIME.fullmatch(text := _text(value)):
        raise ValueError
    return text


_TEXT: tuple[Callable[[object], Any], str] = (_text, "one line of text, in quotes")
_LINES: tuple[Callable[[object], Any], str] = (_lines, 'a list of lines, such as ["module load python"]')
_READERS: dict[str, tuple[Callable[[object], Any], str]] = {
    "jobs": (_counts, "a number of jobs, 8, or the least and the greatest, [1, 8]"),
    "cores": (_count, "a whole number, 1 or more"),
    "memory": (_memory, 'the memory of a job with its unit, 1 MB or more, such as "8 GB"'),
    "walltime": (_walltime, 'HOURS:MINUTES:SECONDS in quotes, such as "02:00:00"'),
    "prologue": _LINES,
    "directives": (_lines, 'a list of options of sbatch, such as ["--exclusive"]'),
}


def executor(file: str) -> Executor:
    """Return an executor whose workers are jobs; it asks for them when it is called.

    `file` has the options, and is empty for those of Dask's configuration. Raise ClusterError if a package or SLURM is
    missing, ValueError if an option is not valid.
    """
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        for package in ("distributed", "cryptography", "dask_jobqueue"):
            require(package)
    finally:
        if signal.getsignal(signal.SIGINT) is not interrupt:
            signal.signal(signal.SIGINT, interrupt)  # dask_jobqueue lets Ctrl-C end the program when it is imported
    options = Options.load(Path(file)) if file else _configured()
    if missing := [program for program in ("sbatch", "squeue", "scancel") if not shutil.which(program)]:
        raise ClusterError(f"slurm: {missing[0]} is missing: call aqmlab on a machine that submits jobs to SLURM")

    @contextmanager
    def jobs() -> Iterator[tuple[Client, str, Keep]]:
        from distributed import Client, Security

        security = Security.temporary()
        with (
            contextlib.closing(_cluster(options, security)) as cluster,
            Client(cluster.scheduler_address, security=security, set_as_default=False) as client,
        ):
            yield client, "slurm", _Jobs(cluster, options).keep

    return executor_on(jobs)


def _configured() -> Options:
    """Return the options of Dask's configuration alone; it says the number of jobs as ``aqmlab.jobs``."""
    import dask

    jobs = dask.config.get("aqmlab.jobs", None)
    return Options.parse({} if jobs is None else {"jobs": jobs}, "Dask's configuration: aqmlab")


def job_class() -> type[SLURMJob]:
    """Return the class of jobs whose script, which has the keys, only this user can read."""
    from dask_jobqueue.slurm import SLURMJob

    class Job(SLURMJob):  # type: ignore[misc]
        @contextmanager
        def job_file(self) -> Iterator[str]:
            """Write the script to a file of this user alone, for as long as SLURM reads it."""
            with tempfile.NamedTemporaryFile("w", prefix="aqmlab-", suffix=".sh") as file:
                file.write(self.job_script())
                file.flush()
                yield file.name

    return Job


def _cluster(options: Options, security: Security) -> SLURMCluster:
    """Start the scheduler."""
    import dask
    from dask_jobqueue import SLURMCluster

    class Cluster(SLURMCluster):  # type: ignore[misc]
        job_cls = job_class()

        def _get_worker_security(self, security: Security) -> None:
            """Leave out files of keys in a folder that all machines share: the script of a job has the keys."""

    def setting(name: str, value: object, default: object = None) -> Any:
        return value if value is not None else dask.config.get(f"jobqueue.slurm.{name}", None) or default

    cores = setting("cores", options.cores, 1)
    logs = setting("log-directory", options.logs)
    tls = security.get_tls_config_for_role("worker")
    keys = {"CA_FILE": tls["ca_file"], "WORKER__KEY": tls["key"], "WORKER__CERT": tls["cert"]}
    try:
        return Cluster(
            cores=cores,
            processes=setting("processes", None, cores),
            memory=setting("memory", options.memory, f"{2 * cores} GB"),
            walltime=options.walltime,
            queue=options.queue,
            account=options.account,
            interface=options.interface,
            python=options.python,
            local_directory=options.scratch,
            log_directory=logs,
            job_name=setting("name", None, "aqmlab").replace("dask-worker", "aqmlab"),
            job_script_prologue=[
                "export MALLOC_TOP_PAD_=16777216",
                *(f"export DASK_DISTRIBUTED__COMM__TLS__{name}='{text}'" for name, text in keys.items()),
                *setting("job-script-prologue", options.prologue or None, ()),
            ],
            job_extra_directives=[
                *([] if logs else ["--output=/dev/null"]),
                *setting("job-extra-directives", options.directives or None, ()),
            ],
            worker_extra_args=["--no-dashboard", *setting("worker-extra-args", None, ())],
            scheduler_options={
                "dashboard": False,
                "dashboard_address": "127.0.0.1:0",
                **dask.config.get("jobqueue.slurm.scheduler-options", {}),
            },
            protocol="tls://",
            security=security,
        )
    except (ValueError, RuntimeError, OSError) as error:
        if options.interface and options.interface not in (names := psutil.net_if_addrs()):
            raise ClusterError(f"slurm: interface = {options.interface!r}: must be one of {', '.join(names)}") from None
        raise ClusterError(f"slurm: Dask's scheduler does not start: {error}") from error


class _Jobs:
    """The jobs of a sweep."""

    def __init__(self, cluster: SLURMCluster, options: Options) -> None:
        self._cluster = cluster
        self._options = options
        self._cores: int = cluster.new_spec["options"]["cores"]
        self._looked = -math.inf
        self._served: set[str] = set()
        """The jobs that have had a worker."""
        self._in_vain: list[str] = []
        """The numbers of the latest jobs that ended without one."""

    def keep(self, waiting: Callable[[float], float]) -> None:
        """Replace jobs that have ended, ask for more if there is work for them, and let idle ones go at the end."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        least, most = self._options.jobs
        work = waiting(most * self._cores * WORTH)
        wanted = min(max(least, math.ceil(work / (self._cores * WORTH))), most)
        self._cluster.sync(self._correct, wanted, not work, self._ended())

    def _ended(self) -> dict[str, str]:
        """Return the jobs that have ended by themselves or by others, and their numbers."""
        known = {name: job.job_id for name, job in list(self._cluster.workers.items())}
        command = ["squeue", "--noheader", "--format=%A", f"--user={os.getuid()}"]
        try:
            listed = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.split()
        except (OSError, subprocess.SubprocessError):
            return {}  # SLURM does not answer, which says nothing about the jobs
        return {name: number for name, number in known.items() if number not in listed}

    async def _correct(self, wanted: int, idle: bool, ended: Mapping[str, str]) -> None:
        from distributed import Status

        cluster = self._cluster
        there = [worker.name for worker in cluster.scheduler.workers.values()]
        busy = [worker.name for worker in cluster.scheduler.workers.values() if worker.processing]
        served = {name for name in cluster.worker_spec if _serves(name, there)}
        if served:
            self._in_vain.clear()
        self._served |= served
        for name, number in ended.items():
            cluster.workers.pop(name, None)
            cluster.worker_spec.pop(name, None)
            if name not in self._served:
                self._in_vain.append(number)
        if len(self._in_vain) >= ATTEMPTS:
            raise ClusterError(self._why())
        if idle:
            free = [name for name in cluster.worker_spec if not _serves(name, busy)]
            for name in free[: max(0, len(cluster.worker_spec) - wanted)]:
                cluster.worker_spec.pop(name)
        while len(cluster.worker_spec) < wanted:
            cluster.worker_spec.update(cluster.new_worker_spec())
        try:
            await cluster
        except RuntimeError as error:
            for name, job in list(cluster.workers.items()):
                if job.job_id is None:
                    job.status = Status.failed  # or Dask takes it for one that it has left running
                    cluster.workers.pop(name)
                    cluster.worker_spec.pop(name, None)
            if not cluster.workers:  # otherwise it is asked again later
                raise ClusterError(f"slurm: sbatch refuses the job: {_complaint(error)}") from error

    def _why(self) -> str:
        ended = f"slurm: jobs {', '.join(self._in_vain)} ended before a worker of theirs answered"
        logs = self._cluster.new_spec["options"]["log_directory"]
        if not logs:
            return f'{ended}; with the option logs = "FOLDER" their output says why'
        for number in reversed(self._in_vain):
            for file in Path(logs).glob(f"*-{number}.*"):
                if lines := file.read_text(encoding="utf-8", errors="replace").strip().splitlines():
                    return f"{ended}; {file}: {lines[-1]}"
        return f"{ended}, and wrote nothing to {logs}"


def _serves(job: str, workers: Iterable[str]) -> bool:
    """Return whether one of the workers is of this job."""
    return any(worker == job or worker.startswith(f"{job}-") for worker in workers)


def _complaint(error: RuntimeError) -> str:
    """Return what sbatch wrote, given Dask's account of it."""
    found = re.search(r"stderr:\n(.*)", str(error), re.DOTALL)
    text = " ".join((found[1] if found else str(error)).split())
    return f"{text}; `sinfo` shows whether SLURM runs" if "controller" in text or "config" in text else text

"""Tasks on the workers of a Dask cluster, in batches that keep the overhead of small runs low.

The scheduler distributes the batches, and redistributes a batch when its worker dies. Returned outcomes are passed on
at once, from one place, so each counts once. The scheduler holds only the batches that its workers can soon start.
"""

from __future__ import annotations

import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.execute.recordings import files_of, name_of, renamed, unpacked
from aqmlab.execute.task import Executor, Outcome, ScenarioChanged, Task, scenario_of, simulate
from aqmlab.execute.threads import side_by_side
from aqmlab.files import read_json, read_whole

if TYPE_CHECKING:
    from distributed import Client, Future

BATCH = 1.0
"""Seconds that a batch should take: sending it to a worker and back costs the whole cluster some milliseconds."""

THREADS = 100
"""With more threads than this, batches take proportionally longer, and one client can still feed them all."""

SMALLEST = 0.1
"""The smallest size of the last batches, as a fraction of a full batch: small ones let all threads end together."""

DEPTH = 2
"""Batches per thread: one in progress, and the next."""

MOST_RUNS, MOST_AHEAD = 2000, 100_000
"""The most runs in a batch, and the most that are read before a batch has room for them."""

FIXED = 3000.0
"""The fixed cost of a run, in packets, added to that of its packets."""

SPEED = 1e6
"""Packets per second, assumed until the first batch returns."""

CONNECTING = 5.0
"""Seconds within which a scheduler must answer."""

PATIENCE = 300.0
"""Seconds to wait for a worker when there is none."""

_GLANCE = 0.02
"""Seconds between two checks for returned batches."""


class ClusterError(ConnectionError):
    """Raised when a cluster cannot perform the runs, with the reason; the finished runs are in the store."""


def executor(cluster: str) -> Executor:
    """Return an executor that uses a Dask cluster; it connects when it is called.

    `cluster` is the address of the scheduler, ``tcp://host:8786``, or the path of the file that the scheduler wrote it
    to. Raise ClusterError if Dask is not installed, ValueError for something else than an address or a file with one.
    """
    require("distributed")
    address = _address(cluster)

    @contextmanager
    def connected() -> Iterator[tuple[Client, str, None]]:
        with _connected(address) as client:
            yield client, address, None

    return executor_on(connected)


def require(package: str) -> None:
    """Import a package, here and not in the thread that uses it; raise ClusterError if it is not installed."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise ClusterError(f"a cluster needs {error.name}: pip install 'aqmlab[cluster]'") from error


Keep = Callable[[Callable[[float], float]], None]
"""A function that keeps workers there, called as ``keep(waiting)`` about once a second.

``waiting(most)`` is the work that waits for a worker, in seconds of one thread, counted up to `most`. The function
raises ClusterError if there can be no workers.
"""


def executor_on(cluster: Callable[[], AbstractContextManager[tuple[Client, str, Keep | None]]]) -> Executor:
    """Return an executor that uses the cluster which it enters when it is called.

    The cluster gives a client, its name for messages, and what keeps its workers there, if not others do.
    """

    def run(tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]) -> None:
        def drive(cluster: AbstractContextManager[tuple[Client, str, Keep | None]], go_on: Callable[[], bool]) -> None:
            with cluster as (client, name, keep):
                _Drive(client, name, _Ahead(tasks), on_done, keep).run(go_on)

        # In a separate thread: Ctrl-C in the middle of Dask's bookkeeping leaves locks that are never released.
        side_by_side(iter([cluster()]), drive, 1, lambda: watch(0.0))

    return run


def _address(cluster: str) -> str:
    """Return the address of a scheduler, which a file may have; raise ValueError if there is none."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    if ":" not in cluster and (not Path(cluster).exists() or Path(cluster).is_dir()):
        raise ValueError(
            f"cluster = {cluster!r}: must be slurm, slurm:FILE.toml, tcp://HOST:PORT, or the file that "
            "`dask scheduler --scheduler-file` wrote"
        )
    address = cluster if ":" in cluster else str(read_json(Path(cluster)).get("address"))
    try:
        scheme, place = parse_address(address, strict=True)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(place)
    except ValueError as error:
        found = "" if address == cluster else f"address = {address!r}: "
        raise ValueError(
            f"cluster = {cluster!r}: {found}not the address of a scheduler, such as tcp://host:8786: {error}"
        ) from None
    return address


def _connected(address: str) -> Client:
    from distributed import Client, Security

    if address.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise ClusterError(
            f"{address}: a client of TLS needs a certificate: set distributed.comm.tls.ca-file and "
            "distributed.comm.tls.client in ~/.config/dask/tls.yaml"
        )
    try:
        return Client(address, timeout=CONNECTING, set_as_default=False)
    except OSError as error:
        raise ClusterError(
            f"{address}: no Dask scheduler answers within {CONNECTING:g} s; `dask scheduler` starts one"
        ) from error


def content(recording: bytes) -> bytes:
    """Return a recording: Dask sends the result of a task to each worker that needs it, once."""
    return recording


def perform(
    engine: str, seconds: float, batch: bytes, recordings: Mapping[str, bytes] | None = None
) -> tuple[float, list[Outcome]]:
    """Perform a batch in one of a worker's threads; return the seconds it took and the outcomes.

    `batch` is pickled tasks: a scenario that several tasks share is sent once. `recordings` has the contents of the
    files that the scenarios name, by these names. Tasks not begun within `seconds` are left undone. Raise ClusterError
    if this worker's engine is not of version `engine`, or a scenario is a different run here.
    """
    from distributed import get_worker

    worker = get_worker()
    own = worker.get_current_task()
    if _core.engine_version != engine:
        raise ClusterError(
            f"worker {worker.address} has engine {_core.engine_version}, and the client has {engine}: "
            "install the same aqmlab everywhere"
        )

    def go_on(_: float = 0.0) -> bool:
        state = worker.state.tasks.get(own)
        return state is not None and state.state != "cancelled"

    began = time.monotonic()
    outcomes: list[Outcome] = []
    refused: dict[object, Outcome | None] = {}  # by scenario
    for task in _local(pickle.loads(batch), Path(worker.local_directory), recordings or {}):
        if outcomes and not (time.monotonic() - began < seconds and go_on()):
            break
        if task.scenario not in refused:
            refused[task.scenario] = _refusal(task, worker.address)
        outcome = refused[task.scenario] or simulate(task, go_on)
        if outcome is None:
            break
        outcomes.append(outcome)
    return time.monotonic() - began, outcomes


def _local(tasks: Sequence[Task], folder: Path, recordings: Mapping[str, bytes]) -> Sequence[Task]:
    """Return tasks whose recordings are files in a folder here."""
    if not recordings:
        return tasks
    unpacked(folder, recordings)

    def here(name: str) -> str:
        return str(folder / name) if name in recordings else name

    texts = {text: renamed(text, here) for text in {task.scenario for task in tasks} if isinstance(text, str)}
    return [replace(task, scenario=texts[str(task.scenario)]) for task in tasks]


def _refusal(task: Task, worker: str) -> Outcome | None:
    """Return the outcome that refuses a scenario not valid here, or None if it is valid.

    Raise ClusterError if it is a different run here, for instance because a trace has other content.
    """
    try:
        scenario_of(task)
    except ScenarioChanged as error:
        raise ClusterError(
            f"worker {worker}: {task.label} is a different run there: install the client's version of aqmlab there, or "
            "a trace has changed since the sweep was planned: run it again"
        ) from error
    except (_core.ScenarioError, OSError) as error:
        return Outcome(error=f"on worker {worker}: {error}")
    return None


class _Ahead:
    """The next tasks, and their division into batches."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self._tasks = tasks
        self._waiting: dict[object, deque[Task]] = {}  # by scenario: its seeds are sent together
        self._count = 0
        self._work = 0.0
        self._done = SPEED * 1e-6  # negligible: the first returned batch decides the speed
        self._spent = 1e-6

    def learn(self, tasks: Sequence[Task], seconds: float) -> None:
        """Record the seconds that tasks took; the latest tasks weigh most."""
        self._done = 0.9 * self._done + sum(map(_work, tasks))
        self._spent = 0.9 * self._spent + seconds

    def put(self, task: Task) -> None:
        """Add a task."""
        self._waiting.setdefault(task.scenario, deque()).append(task)
        self._count += 1
        self._work += _work(task)

    def _read(self, work: float) -> None:
        """Read tasks until that much work waits."""
        # At least a full batch, whatever the runs cost: small runs may stand between large ones.
        while self._count < (MOST_AHEAD if self._work < work else MOST_RUNS) and (task := next(self._tasks, None)):
            self.put(task)

    def waiting(self, most: float) -> float:
        """Return the seconds that the next tasks will take in one thread; they are counted up to `most` seconds."""
        speed = self._done / self._spent
        self._read(most * speed)
        return min(self._work / speed, most)

    def batch(self, threads: int) -> list[Task]:
        """Take a batch of about a second or, near the end, a fraction of the remaining work of each thread."""
        whole = seconds(threads) * self._done / self._spent
        self._read(DEPTH * threads * whole)
        limit = max(min(whole, self._work / (DEPTH * threads)), SMALLEST * whole)
        taken: list[Task] = []
        work = 0.0
        while self._waiting and len(taken) < MOST_RUNS:
            scenario, tasks = next(iter(self._waiting.items()))
            work += _work(tasks[0])
            if taken and work > limit:
                break
            taken.append(tasks.popleft())
            if not tasks:
                del self._waiting[scenario]
        self._count -= len(taken)
        self._work = self._work - sum(map(_work, taken)) if self._count else 0.0
        return taken


def seconds(threads: int) -> float:
    """Return the seconds that a batch should take, given the number of threads of all workers."""
    return BATCH * max(1.0, threads / THREADS)


def _work(task: Task) -> float:
    return task.cost + FIXED


class _Drive:
    """Performs the tasks of one sweep on the cluster."""

    def __init__(
        self,
        client: Client,
        address: str,
        ahead: _Ahead,
        on_done: Callable[[Task, Outcome], None],
        keep: Keep | None,
    ) -> None:
        from distributed import as_completed

        self._client = client
        self._address = address
        self._ahead = ahead
        self._on_done = on_done
        self._keep = keep
        self._returned = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._under_way: dict[Future[Any], list[Task]] = {}
        self._recordings: dict[str, tuple[str, Future[bytes]]] = {}
        """Their names on the workers, and their contents, by their files."""
        self._suspects: deque[Task] = deque()
        """Tasks of batches whose workers died: each is repeated at the end, alone, to find the cause."""
        self._alone = False
        self._name = uuid.uuid4().hex
        self._sent = 0
        self._threads = 0
        self._asked = self._attended = time.monotonic()

    def run(self, go_on: Callable[[], bool]) -> None:
        """Work until all tasks are done or `go_on` returns False; tasks still under way end with the connection."""
        self._look_for_workers()
        while go_on():
            self._send()
            if not self._under_way:
                return
            if not self._receive():
                time.sleep(_GLANCE)
            self._look_for_workers()
        self._receive()

    def _look_for_workers(self) -> None:
        now = time.monotonic()
        if self._client.status != "running":
            raise self._lost()
        if self._sent and now - self._asked < 1.0:
            return
        self._asked = now
        try:
            self._threads = sum(self._client.nthreads().values())
        except OSError as error:
            raise self._lost() from error
        if self._keep:
            self._keep(self._ahead.waiting)
        if self._threads or self._keep:
            self._attended = now
        elif now - self._attended > PATIENCE:
            raise ClusterError(
                f"{self._address}: the scheduler has had no worker for {PATIENCE:g} s; `dask worker {self._address}` "
                "starts one; the finished runs are kept, and rerunning computes the rest"
            )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"{self._address}: the connection to the scheduler is lost; the runs that it returned are kept, "
            "and rerunning computes the rest"
        )

    def _send(self) -> None:
        threads = max(self._threads, 1)
        while len(self._under_way) < DEPTH * threads and (batch := self._ahead.batch(threads)):
            self._submit(batch, threads)
        if self._suspects and not self._under_way:
            self._alone = True
            self._submit([self._suspects.popleft()], threads)

    def _submit(self, batch: list[Task], threads: int) -> None:
        self._sent += 1
        texts = {task.scenario: str(task.scenario) for task in batch}
        recordings: dict[str, Future[bytes]] = {}
        for text in texts:
            for file in files_of(texts[text]).values():
                recordings.update([self._recording(file)])
            texts[text] = renamed(texts[text], lambda file: self._recording(file)[0])
        future = self._client.submit(
            perform,
            _core.engine_version,
            2 * seconds(threads),
            pickle.dumps([replace(task, scenario=texts[task.scenario]) for task in batch]),
            recordings,
            key=f"aqmlab-{self._name}-{self._sent}",
            pure=False,
        )
        self._under_way[future] = batch
        self._returned.add(future)

    def _recording(self, file: str) -> tuple[str, Future[bytes]]:
        """Return the name of a recording on the workers, and its content, which is read once."""
        import dask

        if file not in self._recordings:
            try:
                read = read_whole(Path(file))
            except OSError as error:
                raise ClusterError(f"{file}: cannot be read any more: {error.strerror}") from error
            name = name_of(file, read)
            key = f"aqmlab-{self._name}-{name}"
            # Dask warns of the size of arguments, which here is that of the recording.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": len(read) + 10_000_000}):
                self._recordings[file] = name, self._client.submit(content, read, key=key, pure=False)
        return self._recordings[file]

    def _receive(self) -> bool:
        """Pass on the returned outcomes; return whether there were any."""
        failure: Exception | None = None
        returned = self._returned.next_batch(block=False)
        for future, result in returned:
            batch = self._under_way.pop(future)
            if future.status == "error":
                failure = self._failed(batch, result[1]) or failure
            elif isinstance(result, BaseException):
                failure = failure or self._lost()
            else:  # whatever the status: it changes if the worker dies after its result has arrived
                self._finish(batch, *result)
        if failure:
            raise failure
        return bool(returned)

    def _finish(self, batch: list[Task], took: float, outcomes: list[Outcome]) -> None:
        for task, outcome in zip(batch, outcomes, strict=False):
            self._on_done(task, outcome)
        self._ahead.learn(batch[: len(outcomes)], took)
        for task in batch[len(outcomes) :]:
            self._ahead.put(task)

    def _failed(self, batch: list[Task], error: BaseException) -> Exception | None:
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            if isinstance(error, ClusterError):
                return error
            cause = error.__cause__ or error
            return ClusterError(f"a batch failed: {type(cause).__name__}: {cause}")
        if self._alone:
            died = error.allowed_failures + 1
            self._on_done(batch[0], Outcome(error=f"killed its worker {died} times: out of memory, or a crash"))
        else:
            self._suspects.extend(batch)
        return None

"""Tasks side by side on the cores of one machine: in threads, which the engine's code leaves free to run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from threading import Lock, Thread
from typing import TypeVar

from aqmlab.execute.task import Engine, Outcome, Task, simulate

T = TypeVar("T")

SLICE = 0.1
"""Seconds between two looks at what the threads do."""


def cores() -> int:
    """Count the cores that this process may use.

    Returns
    -------
    int
        How many.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(
    tasks: Iterator[T], perform: Callable[[T, Callable[[], bool]], None], workers: int, watch: Callable[[], None]
) -> None:
    """Do tasks in several threads, the first first.

    Parameters
    ----------
    tasks : iterator
        The tasks; the threads take them from it, one at a time.
    perform : callable
        Called with each task, and with a function that tells whether to go on.
    workers : int
        How many threads.
    watch : callable
        Called from the calling thread now and then. When it raises an error, or the user presses Ctrl-C, or a task or
        the iterator raises one, the tasks that are under way are told to stop, and the error is raised.
    """
    taking = Lock()  # only the threads take it, in which no KeyboardInterrupt is ever raised
    going = True
    failures: list[BaseException] = []
    # Before Python 3.13 a KeyboardInterrupt in join() marks a thread that works as one that is over (Thread._stop); in
    # 3.13 join() hears of none. So threads tell themselves when they begin and end, and a bell ends the wait.
    begun: list[None] = []
    over: list[None] = []
    bell = Lock()

    def ring() -> None:
        with contextlib.suppress(RuntimeError):  # it rings already
            bell.release()

    def work() -> None:
        nonlocal going
        begun.append(None)
        try:
            while True:
                with taking:
                    if not going:
                        return
                    try:
                        task = next(tasks)
                    except StopIteration:
                        return
                perform(task, lambda: going)
        except BaseException as error:
            failures.append(error)
            going = False
        finally:
            over.append(None)
            ring()

    # Not an executor: a KeyboardInterrupt in the middle of its bookkeeping leaves locks behind that nobody opens.
    try:
        for _ in range(workers):
            Thread(target=work, daemon=True).start()
        while len(over) < workers:
            bell.acquire(timeout=SLICE)
            watch()
    finally:
        going = False  # a thread that begins after this has nothing to do
        while len(over) < len(begun):
            bell.acquire(timeout=SLICE)
    if failures:
        raise failures[0]


def engine(jobs: int) -> Engine:
    """Make an engine of this machine's cores.

    Parameters
    ----------
    jobs : int
        How many runs at a time.

    Returns
    -------
    Engine
        The engine.
    """

    def run(tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]) -> None:
        under_way: dict[bytes, float] = {}
        finishing = Lock()  # as `taking` above: never taken by the main thread

        def perform(task: Task, go_on: Callable[[], bool]) -> None:
            def look(fraction: float) -> bool:
                under_way[task.key] = fraction * task.cost
                return go_on()

            try:
                outcome = simulate(task, look)
                if outcome:
                    with finishing:
                        on_done(task, outcome)
            finally:
                under_way.pop(task.key, None)

        side_by_side(tasks, perform, jobs, lambda: watch(sum(list(under_way.values()))))

    return run

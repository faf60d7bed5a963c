"""Tasks side by side on the cores of one machine: in threads, which the engine's code leaves free to run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from threading import Lock, Thread
from typing import TypeVar

from aqmlab.task import SLICE, Engine, Outcome, Task, simulate

T = TypeVar("T")


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

    def work() -> None:
        nonlocal going
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

    # Not an executor: a KeyboardInterrupt in the middle of its bookkeeping leaves locks behind that nobody opens.
    threads = [Thread(target=work, daemon=True) for _ in range(workers)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(SLICE)
                watch()
    finally:
        going = False
        for thread in threads:
            if thread.ident:
                thread.join()
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

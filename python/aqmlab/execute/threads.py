"""Tasks in parallel on the cores of one machine, in threads: the engine releases the GIL while it simulates."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from threading import Lock, Thread, get_ident
from typing import TypeVar

from aqmlab import _core
from aqmlab.execute.task import Executor, Outcome, Task, simulate

T = TypeVar("T")

SLICE = 0.1
"""Seconds between two checks of the threads."""


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(
    tasks: Iterator[T],
    perform: Callable[[T, Callable[[], bool]], None],
    workers: int,
    watch: Callable[[], None],
    urge: Callable[[], None] = lambda: None,
) -> None:
    """Perform tasks in several threads, starting them in order.

    Each thread takes one task at a time from `tasks` and calls `perform` with it and with a function that returns
    whether to continue. `watch` is called from time to time from the calling thread. If `watch`, a task or the iterator
    raises an error, or the user presses Ctrl-C, the tasks under way are stopped and the error is raised. To tasks that
    do not stop within a second, `urge` is called.
    """
    taking = Lock()  # taken only by the new threads, in which KeyboardInterrupt is never raised
    going = True
    failures: list[BaseException] = []
    # Thread.join() cannot be used: before Python 3.13 a KeyboardInterrupt in it marks a running thread as finished
    # (Thread._stop), and in 3.13 it ignores the interrupt. The threads record their start and end, and ring a bell.
    begun: list[None] = []
    over: list[None] = []
    bell = Lock()

    _core.confine(folders := _core.confine([]))  # that returns where this thread may read, and so may the new ones

    def ring() -> None:
        with contextlib.suppress(RuntimeError):  # it is already released
            bell.release()

    def work() -> None:
        nonlocal going
        begun.append(None)
        _core.confine(folders)
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

    # Not an executor: a KeyboardInterrupt in the middle of its bookkeeping leaves locks that are never released.
    try:
        for _ in range(workers):
            Thread(target=work, daemon=True).start()
        while len(over) < workers:
            bell.acquire(timeout=SLICE)
            watch()
    finally:
        going = False  # a thread that starts after this returns at once
        waited = 0.0
        while len(over) < len(begun):
            if not bell.acquire(timeout=SLICE):
                waited += SLICE
            if waited >= 1.0:
                urge()
    if failures:
        raise failures[0]


def _interrupt_classes() -> None:
    """End the runs of a user's own disciplines that do not return to the engine."""
    if own := sys.modules.get("aqmlab.own.running"):
        own.interrupt()


def executor(jobs: int) -> Executor:
    """Return an executor that uses this machine's cores, with `jobs` runs at a time."""

    def run(tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]) -> None:
        under_way: dict[int, float] = {}  # by thread: each has one task at a time
        finishing = Lock()  # like `taking`, never taken by the main thread

        def perform(task: Task, go_on: Callable[[], bool]) -> None:
            def look(fraction: float) -> bool:
                under_way[get_ident()] = fraction * task.cost
                return go_on()

            try:
                outcome = simulate(task, look)
                if outcome:
                    with finishing:
                        on_done(task, outcome)
            finally:
                under_way.pop(get_ident(), None)

        side_by_side(tasks, perform, jobs, lambda: watch(sum(list(under_way.values()))), _interrupt_classes)

    return run

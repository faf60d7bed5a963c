"""Processes in network namespaces, the virtual clock and the kernel's counters."""

import ctypes
import json
import os
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

CLONE_NEWNET = 0x40000000
PR_SET_TIMERSLACK = 29
_libc = ctypes.CDLL(None, use_errno=True)


class Child:
    """A function at work in a process and a network namespace of its own; it returns what JSON can hold."""

    def __init__(self, namespace: str, work: Callable[..., Any], *arguments: Any) -> None:
        self._read, write = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(write)
            return
        os.close(self._read)
        try:
            enter(namespace)
            result = work(*arguments)
        except BaseException as error:  # reported where the result is looked at
            traceback.print_exc()
            result = {"error": repr(error)}
        with os.fdopen(write, "w") as pipe:
            json.dump(result, pipe)
        os._exit(0)

    def result(self) -> Any:
        with os.fdopen(self._read) as pipe:
            result = json.load(pipe)
        os.waitpid(self._process, 0)
        return result


def enter(namespace: str) -> None:
    file = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if _libc.setns(file, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def be_punctual() -> None:
    """Wake when sleep ends: by default the kernel takes up to 50 us more, to wake several processes at once."""
    if _libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def wait_until(t: float) -> None:
    left = t - time.monotonic()
    if left > 0:
        time.sleep(left)


def counters(names: Iterable[str], *files: str) -> dict[str, int]:
    """The counters of these names in files of /proc/net, each a line of names above a line of values."""
    found = {}
    for file in files:
        lines = Path("/proc/net", file).read_text().splitlines()
        for keys, values in zip(lines[::2], lines[1::2], strict=True):
            for key, value in zip(keys.split()[1:], values.split()[1:], strict=True):
                if key in names:
                    found[key] = int(value)
    return found


def quantile(ordered: Sequence[float], p: float) -> float:
    return ordered[min(len(ordered) - 1, int(p * len(ordered)))]

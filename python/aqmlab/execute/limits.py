"""The memory that this process may still take."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_GROUPS = Path("/sys/fs/cgroup")
"""The folder of the machine's control groups."""

_OWN = Path("/proc/self/cgroup")
"""The file that names those of this process."""


def free_memory() -> int:
    """Return the bytes that this process may still take: free in the machine, and within the limits set for it."""
    available = _bytes("/proc/meminfo", "MemAvailable", lambda psutil: psutil.virtual_memory().available)
    return min([available, *_within_limits()])


def _bytes(file: str, name: str, elsewhere: Callable[[Any], int]) -> int:
    """Return what a file of Linux has under a name in kilobytes; elsewhere, what `psutil` has."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        import psutil  # takes 25 ms

        return elsewhere(psutil)
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _within_limits() -> Iterator[int]:
    """Yield the bytes left of ``ulimit -v``, and of the limits of this process's control groups."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        used = _bytes("/proc/self/status", "VmSize", lambda psutil: psutil.Process().memory_info().vms)
        yield max(soft - used, 0)
    with suppress(OSError):
        for line in _OWN.read_text().splitlines():
            if not line.startswith("0::/"):  # those of the second version
                continue
            group = _GROUPS / line.removeprefix("0::/")
            for folder in (group, *group.parents):
                with suppress(OSError, ValueError):  # "max" is no limit, and the root has no file
                    limit = int((folder / "memory.max").read_text())
                    kept = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                    used = int((folder / "memory.current").read_text()) - int(kept["inactive_file"])
                    yield max(limit - used, 0)


def require_memory() -> None:
    """Raise MemoryError if this process has nearly filled the memory: one that is refused memory would end at once."""
    used = _bytes("/proc/self/status", "VmRSS", lambda psutil: psutil.Process().memory_info().rss)
    if (free := free_memory()) < used / 16:
        raise MemoryError(
            f"{used / 1e9:.1f} GB of memory are in use here, and {free / 1e9:.2f} GB are left: use fewer jobs or "
            "flows, a smaller buffer, or record.series = false"
        )

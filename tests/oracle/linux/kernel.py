"""Runs configurations on the kernel of `make kernel`; `python -m oracle.linux.kernel CONF RESULT` runs one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("AQMLAB_CACHE") or Path.home() / ".cache/aqmlab") / "kernel"
NEEDED = {"ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}
"""Programs that the guest calls, and the Debian package of each."""

PATIENCE = 1800
"""Seconds of real time after which a run is given up."""


class Missing(Exception):  # noqa: N818  nothing went wrong yet
    """Raised when something has to be installed or built first."""


def built() -> Path:
    """The kernel, if everything that a run needs is there."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = {program for program in NEEDED for folder in path.split(":") if os.access(Path(folder, program), os.X_OK)}
    if lacking := sorted({NEEDED[program] for program in NEEDED.keys() - found}):
        raise Missing(f"{' and '.join(lacking)}: not installed (Debian: apt install {' '.join(lacking)})")
    if os.geteuid():
        raise Missing("the guest makes network namespaces as the user who starts it: run this as root")
    kernel = CACHE / "linux"
    if not kernel.exists():
        raise Missing(f"{kernel}: not there yet; `make kernel` builds it, once, in about ten minutes")
    return kernel


def run(conf: Mapping[str, Any]) -> dict[str, Any]:
    """One run: a configuration of points.py with its `seed`."""
    made, said = _boot(conf)
    for part in [made, *made.values(), *made["groups"]]:
        if isinstance(part, dict) and "error" in part:
            raise RuntimeError(f"a part of the guest failed: {part['error']}\n{said}")
    return made


def shown(words: Sequence[str], tc: str = "tc") -> list[dict[str, Any]]:
    """Of each discipline in tc's words the `document` that tc prints, or the text with which it is `refused`."""
    made, _ = _boot({"words": list(words), "tc": tc})
    found: list[dict[str, Any]] = made["shown"]
    return found


def _boot(conf: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The result of a run of the guest, and the end of what it said."""
    with TemporaryDirectory() as folder:
        given, result = Path(folder, "conf.json"), Path(folder, "result.json")
        given.write_text(json.dumps(dict(conf)))
        command = [
            str(built()),
            *("mem=4096M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={HERE / 'init.sh'}"),
            *("time-travel=inf-cpu", "time-travel-start=1000000000", "con=null", "con0=null,fd:1", "quiet"),
            *(f"given={given}", f"result={result}", f"tests={HERE.parent.parent}"),
        ]
        # The guest's memory is a file; where that lies on a disk, it is written there.
        shared = {"TMPDIR": "/dev/shm"} if Path("/dev/shm").is_dir() else {}
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **shared}, check=False
        )
        if not result.exists():
            raise RuntimeError(f"the guest gave no result; it said:\n{ran.stdout[-3000:]}{ran.stderr[-1000:]}")
        return json.loads(result.read_text()), ran.stdout[-3000:]


def run_all(
    confs: Sequence[Mapping[str, Any]], progress: Callable[[float], None] | None = None
) -> list[dict[str, Any]]:
    """Several runs, as many at once as there are processors."""
    done = 0

    def one(conf: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal done
        made = run(conf)
        done += 1
        if progress:
            progress(done / len(confs))
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, confs))


if __name__ == "__main__":
    _, conf_file, result_file = sys.argv
    Path(result_file).write_text(json.dumps(run(json.loads(Path(conf_file).read_text()))))

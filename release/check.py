"""The checks of an installed package: it is this build, it runs, and its results are those of the repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from release import ROOT
from release.account import Account
from release.build import PROGRAMS
from release.install import Installed

RUN = ("-m", "aqmlab", "run", "lred/exp1", "--set", "duration=20 s", "--set", "warmup=5 s", "--json")
"""The run whose results are compared with those of the development build."""
_ABOUT = """
import json, shutil
from aqmlab import _core
about = {"file": _core.__file__, "build": _core.build, "engine": _core.engine_version}
print(json.dumps(about | {"rust": shutil.which("cargo") or shutil.which("rustc")}))
"""


def check(account: Account, found: Installed, name: str, build: str = "", programs: bool = True) -> None:
    """Check an installed package, which is called ``name`` in the account."""
    account.check(f"{name}: installed beside no Rust, it imports the engine of these sources", _identity(found, build))
    account.check(f"{name}: `aqmlab --version`", _version(found, build))
    if programs:
        account.check(f"{name}: has the programs of the Linux engine, which start", _programs(found))
    else:
        account.note(f"        {name}: has no programs of the Linux engine")
    if found.target.native:
        account.check(f"{name}: `aqmlab doctor` finds the packet engine ready", _doctor(found))
    account.check(f"{name}: results of lred/exp1 equal those of the development build", _results(found))


def digests(account: Account, found: Installed, name: str) -> None:
    """Check that the package comes to all recorded digests."""
    done = found.run(
        ["-m", "digests", "--installed"],
        PYTHONPATH=os.pathsep.join([str(found.packages), str(ROOT / "tests")]),
    )
    said = done.stdout.strip() or done.stderr.strip()[-2000:]
    count = said.splitlines()[0].removeprefix("release: ") if done.returncode == 0 else "digests"
    account.check(f"{name}: {count}", "" if done.returncode == 0 else said)


def _identity(found: Installed, build: str) -> str:
    done = found.run(["-c", _ABOUT])
    if done.returncode != 0:
        return done.stderr.strip()
    about = json.loads(done.stdout)
    if about["rust"]:
        return f"{about['rust']} is on its PATH"
    if not Path(about["file"]).is_relative_to(found.packages):
        return f"{about['file']} was imported"
    ours = json.loads(_development("-c", _ABOUT))["engine"]
    if (about["build"], about["engine"]) != (build, ours):
        return f"build {about['build']!r} of {about['engine']} in place of {build!r} of {ours}"
    return ""


def _version(found: Installed, build: str) -> str:
    done = found.run(["-m", "aqmlab", "--version"])
    version = json.loads(_development("-c", _ABOUT))["engine"].split("+")[0]
    wanted = f"{version} ({build})" if build else version
    return "" if done.stdout.partition("\n")[0] == wanted else f"{done.stdout}{done.stderr} in place of {wanted}"


def _programs(found: Installed) -> str:
    for program in PROGRAMS:
        done = found.program(program, "--help")
        if done.returncode != 0 or f"Usage: {program}" not in done.stdout:
            return f"{program} --help: exit status {done.returncode}: {done.stderr.strip()}"
    return ""


def _doctor(found: Installed) -> str:
    done = found.run(["-m", "aqmlab", "doctor"])
    return "" if done.returncode == 0 else f"exit status {done.returncode}: {done.stdout}{done.stderr}"


def _results(found: Installed) -> str:
    done = found.run(RUN)
    if done.returncode != 0:
        return done.stderr.strip()
    ours, theirs = (_timeless(json.loads(text)) for text in (_development(*RUN), done.stdout))
    return "" if ours == theirs else "they differ"


def _timeless(document: object) -> object:
    """Return a document without the CPU time that a run took."""
    if isinstance(document, dict):
        return {key: _timeless(value) for key, value in document.items() if key != "cpu_seconds"}
    return [_timeless(value) for value in document] if isinstance(document, list) else document


@cache
def _development(*arguments: str) -> str:
    """Run the development build; return its output."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout

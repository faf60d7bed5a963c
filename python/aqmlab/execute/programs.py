"""Programs of this machine that are a scenario's traffic, which the linux engine runs in a guest."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

from aqmlab.execute.glance import Glance
from aqmlab.scenario import Scenario

KEYS = ("command", "server")
"""The keys of a traffic entry with the words of a program."""

LONGEST = 120.0
"""Seconds for which programs may compute without any pause before a run is given up: no virtual time goes on then."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the programs of the guest are, behind those that this process would find."""

_DATE = "2026-01-01"
"""The day on which the guest's clock begins, for programs that compare dates."""


def entries(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the traffic entries of a valid scenario that have programs to run."""
    return [entry for entry in scenario.resolved["traffic"] if entry["kind"] == "program" and entry["count"]]


def check(scenario: Scenario) -> None:
    """Raise ScenarioError if a program is not on this machine."""
    for entry in entries(scenario):
        for key in KEYS:
            words = entry.get(key)
            if isinstance(words, list) and "{" not in words[0] and shutil.which(words[0]) is None:
                scenario._core.refuse(
                    f"traffic.{entry['name']}.{key}",
                    json.dumps(words, ensure_ascii=False),
                    f"there is no program {words[0]} on this machine: install it, or give its path",
                )


def surroundings() -> str:
    """Return commands of a shell that give programs the folder and the path of this process."""
    path = f"{os.environ.get('PATH', os.defpath)}:{_PATH}"
    kept = {"PATH": path, "HOME": os.environ.get("HOME", "/")}
    return "".join(
        [
            f"date -u -s {_DATE} > /dev/null\n",
            f"cd {shlex.quote(os.getcwd())}\n",
            *(f"export {name}={shlex.quote(value)}\n" for name, value in kept.items()),
        ]
    )


def watched(
    scenario: Scenario, see: Callable[[Glance], None], goes_on: Callable[[subprocess.Popen[bytes]], bool]
) -> tuple[Callable[[Glance], None], Callable[[subprocess.Popen[bytes]], bool]]:
    """Return functions that call these two, and raise ``RuntimeError`` if no virtual time goes on any more."""
    last = time.monotonic()
    reached = 0.0

    def seeing(glance: Glance) -> None:
        nonlocal last, reached
        last, reached = time.monotonic(), glance.t
        see(glance)

    def going_on(process: subprocess.Popen[bytes]) -> bool:
        if time.monotonic() - last > LONGEST:
            names = ", ".join(f"traffic.{entry['name']}" for entry in entries(scenario))
            raise RuntimeError(
                f"{names}: after {reached:.3f} s of virtual time a program has computed for {LONGEST:g} s without a "
                "pause, in which no virtual time goes on: let it sleep or wait at times"
            )
        return goes_on(process)

    return seeing, going_on

"""The devices of the Linux engine's hosts: one with a queue of its own before the router is refused."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import require

from aqmlab.execute import linux

pytestmark = pytest.mark.linux


@pytest.mark.parametrize(
    ("tool", "script", "message"),
    [
        ("tc", "cat", "aqmlab0: qdisc is noop instead of noqueue: this kernel may delay, drop or join packets"),
        ("ip", "grep -v '^link set' | {ip} \"$@\"", "aqmlab0: qlen is 500 instead of 32767: this kernel may"),
        ("tc", "cat; echo Unknown qdisc >&2; exit 1", "tc: Unknown qdisc (of qdisc replace dev aqmlab0 root noqueue)"),
    ],
)
def test_a_device_with_a_second_queue_is_refused(tmp_path: Path, tool: str, script: str, message: str) -> None:
    require("linux:clock=real")
    attempt = [linux.BIN / "aqmlab-router", "--try-device"]
    assert subprocess.run(attempt, capture_output=True, text=True, check=True).stderr == ""
    file = tmp_path / tool
    file.write_text(f"#!/bin/sh\n{script.format(ip=shutil.which('ip'))}\n")
    file.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(attempt, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 1
    assert message in done.stderr

"""What runs in the guest: prints a line of JSON for each part of what it is given."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from oracle.linux.guest.__main__ import run

FINIT_MODULE = 313


def main(given: str) -> None:
    conf = json.loads(Path(given).read_text())
    for module in conf["modules"]:
        _insert(module)
    if "closed" in conf:
        if "object" in conf:
            _sh(f"bpftool struct_ops register {conf['object']}")
            _sh(f"bpftool map update name devices key 0 0 0 0 value {' '.join(map(str, conf['device']))}")
        _tell(run(conf["closed"]))
    if "replay" in conf:
        folder, *laws = conf["replay"]
        _sh("ip link add va0 type veth peer name vb0")
        for device in ("va0", "vb0"):
            # No packets but those of the test.
            _sh(f"sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1; ip link set {device} arp off up")
        for number, law in enumerate(laws):
            _tell(_replay(Path(folder), law, number))


def _replay(folder: Path, law: str, number: int) -> dict[str, Any]:
    files = [f"{law}.bpf.o", f"aqm_{law}", f"device{number}", "arrivals"]
    ran = subprocess.run(["./replay", *files], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    loading, fates = ran.stdout.splitlines()
    return json.loads(loading) | {"fates": fates}


def _insert(module: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with open(module, "rb") as file:
        if libc.syscall(FINIT_MODULE, file.fileno(), b"", 0):
            raise OSError(ctypes.get_errno(), module)


def _tell(found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)


def _sh(command: str) -> None:
    # What this process prints is its result.
    subprocess.run(command, shell=True, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])

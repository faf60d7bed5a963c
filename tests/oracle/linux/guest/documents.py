"""What tc and the kernel make of disciplines in tc's words: the document that tc prints, or why there is none."""

import json
import socket
import subprocess
from typing import Any

from oracle.linux.guest.network import HANDLE

PACKETS, PAYLOAD = 50, 1472
HERE, THERE, PEER, HARDWARE = "d0", "d1", "10.8.0.2", "02:00:00:00:00:02"


def show(tc: str, words: list[str]) -> list[dict[str, Any]]:
    """For each discipline `document`, after some full packets, or `refused`."""
    _sh(f"ip link set lo up; ip link add {HERE} type veth peer name {THERE}")
    _sh(f"ip addr add 10.8.0.1/24 dev {HERE}; ip link set {HERE} mtu 1500 up; ip link set {THERE} up")
    _sh(f"ip neigh replace {PEER} lladdr {HARDWARE} dev {HERE} nud permanent")
    outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return [_shown(tc, each, outlet) for each in words]


def _shown(tc: str, words: str, outlet: socket.socket) -> dict[str, Any]:
    made = _tc(f"{tc} qdisc add dev {HERE} root handle {HANDLE} {words}")
    if made.returncode:
        return {"refused": made.stderr.strip()}
    for _ in range(PACKETS):
        outlet.sendto(bytes(PAYLOAD), (PEER, 9))
    said = _tc(f"{tc} -j -s qdisc show dev {HERE}").stdout
    _sh(f"{tc} qdisc del dev {HERE} root")
    try:
        return {"document": next(each for each in json.loads(said) if each.get("handle") == HANDLE)}
    except ValueError:
        return {"unknown": "this tc prints no JSON of it"}


def _tc(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)


def _sh(command: str) -> None:
    subprocess.run(command, shell=True, check=True)

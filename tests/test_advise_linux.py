"""The lines of `aqmlab advise`, pasted into a Linux guest, whose tc then says what the kernel has."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_advise import BY_LABEL, CONFIGURATIONS
from test_import import chosen, imported, queues

from aqmlab.execute.preflight import Machine
from aqmlab.execute.preflight.guest import kernel_file
from aqmlab.foreign.scenario import Given

pytestmark = pytest.mark.linux

GUEST = """\
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
WAN=wan0
IFB=lan0
ip link add $WAN type veth peer name $IFB
ip link set $WAN up
ip link set $IFB up
for lines in {folder}/*.sh; do
  . $lines > $lines.said 2>&1
  for device in $WAN $IFB; do
    tc -j qdisc show dev $device > $lines.$device.qdisc
    tc -j class show dev $device > $lines.$device.class
  done
  tc -j qdisc show > $lines.qdiscs
done
echo o > /proc/sysrq-trigger
sleep 5
"""
LEFT_OUT = ("WAN=", "IFB=", "ip link", "$WAN ingress", "ffff: ingress", "tc filter")
"""Lines that name and make the devices, for which the guest has a pair of its own, and lead packets to them."""


@pytest.fixture(scope="module")
def made(guest: None, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The file of the lines of each configuration, beside which the guest has written what tc said and shows."""
    folder = tmp_path_factory.mktemp("guest")
    found = {}
    for number, (label, configuration) in enumerate(CONFIGURATIONS.items()):
        lines = [line for line in configuration.tc.splitlines() if not any(part in line for part in LEFT_OUT)]
        file = folder / f"{number}.sh"
        # The guest's kernel has no table of connections, which `nat` needs.
        file.write_text("\n".join(lines).replace(" nat ", " ") + "\n")
        found[label] = file
    init = folder / "init"
    init.write_text(GUEST.format(folder=folder))
    init.chmod(0o755)
    command = [kernel_file(Machine()), "mem=256M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}"]
    subprocess.run([*command, "con=null", "quiet"], timeout=100, check=False, capture_output=True)
    return found


RESOLUTION = 1.024
"""Microseconds of CoDel's clock: 1024 ns."""


def discipline(file: Path, device: str, kind: str) -> dict[str, Any]:
    (found,) = (one for one in json.loads(Path(f"{file}.{device}.qdisc").read_text()) if one["kind"] == kind)
    return dict(found["options"])


@pytest.mark.parametrize("label", CONFIGURATIONS)
def test_the_kernel_takes_the_lines_and_has_the_values_that_they_state(label: str, made: Mapping[str, Path]) -> None:
    configuration, file = CONFIGURATIONS[label], made[label]
    assert Path(f"{file}.said").read_text() == ""
    for device, half in (("wan0", configuration.up), ("lan0", configuration.down)):
        has = discipline(file, device, configuration.kernel)
        read = 0
        for one in half.attributes:
            key = re.split(r"[._]", one.name)[-1].lower()
            if key in has:
                tolerance = RESOLUTION if one.unit == "µs" else 0
                assert has[key] == pytest.approx(one.value, abs=tolerance, rel=0), one.name
                read += 1
        # tc shows neither RED's max_p nor, by that name, CAKE's rate
        assert read == len(half.attributes) - (configuration.kernel in ("red", "cake"))
        if configuration.kernel == "cake":
            assert has["bandwidth"] * 8 == half.rate
            assert has["diffserv"] == "besteffort"
            assert f" {has['flowmode']} " in half.words
        else:
            rate = f"{half.kbit}Kbit" if half.kbit % 1000 else f"{half.kbit // 1000}Mbit"
            assert f" rate {rate} ceil {rate} " in Path(f"{file}.{device}.class").read_text()
        if configuration.kernel not in ("cake", "bfifo"):
            assert has["ecn"]


AUTOMATIC = {
    "quantum": (1514.0, "bytes"),
    "memory_limit": (float(32 << 20), "bytes"),
    "framing": "raw overhead 0",
}
"""What the kernel shows of values that are automatic here."""


def near(mine: Any, theirs: Any, where: str) -> None:
    """Compare tables whose times the kernel has in units of its own."""
    if isinstance(theirs, Mapping):
        assert mine.keys() == theirs.keys(), where
        for key in theirs:
            near(mine[key], AUTOMATIC.get(key, "auto") if theirs[key] == "auto" else theirs[key], f"{where}.{key}")
    elif isinstance(theirs, tuple) and theirs[1] == "s":
        assert mine[0] == pytest.approx(theirs[0], abs=RESOLUTION * 1e-6, rel=0), where
    else:
        assert mine == theirs, where


@pytest.mark.parametrize("label", CONFIGURATIONS)
def test_what_the_kernel_shows_imported_is_what_advise_chose(
    label: str, made: Mapping[str, Path], tmp_path: Path
) -> None:
    shown = {"qdiscs.json": Path(f"{made[label]}.qdiscs").read_text()}
    for device in ("wan0", "lan0"):
        if classes := Path(f"{made[label]}.{device}.class").read_text().strip(" \n[]"):
            shown[f"{device}.txt"] = f"# tc class show dev {device}\n{classes}\n"
    found = queues(imported(tmp_path, Given(wan="wan0", lan="lan0"), **shown).resolved)
    for mine, theirs in zip(found, chosen(BY_LABEL[label].queues), strict=True):
        if mine["aqm"]["name"] == "cake":
            # It has no limit in packets.
            mine["buffer"] = theirs["buffer"]
        if mine["aqm"]["name"] == "red":
            # tc shows the weight that it has made of these.
            mine["aqm"] |= {word: theirs["aqm"][word] for word in ("burst", "bandwidth", "mean_packet")}
        near(mine, theirs, label)

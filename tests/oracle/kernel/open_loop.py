"""The same packets through the real kernel and through `aqm`, with the same random numbers: each has to fare alike."""

import random
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aqmlab import _core
from aqmlab.kernel.objects import SUFFIX, Object
from oracle.kernel import guest

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
KERNEL = ROOT / "kernel"
LAWS = sorted(file.stem for file in KERNEL.glob("*.c"))

PACKETS = 100_000
RATE = 10_000_000
BUFFER = 60
"""Packets. The kernel sends at most 64 in a row, here between two arrivals."""

SPECS: Mapping[str, Sequence[str]] = {
    # The packets are of class 4 in the kernel, and of class 1 in the library: all classes have the same bound.
    "jobs": ("jobs:delay=['10 ms','10 ms','10 ms','10 ms']",),
    "lred": ("lred:q0=20", "lred:q0=20,bytes=true,exponent=0.7"),
    "pi": ("pi:q_ref=20,a=0.001,b=0.0009",),
    "raqm": ("raqm:q0=20,period=20ms,p=0.02",),
    "red": ("gred", "gredi"),
    "redtail": (
        "redtail:udp_short=false,n=5,t=60s,"
        "long={name='ared',min_bytes='4000 B',max_bytes='16000 B',spacing='wait',bytes=true}",
    ),
    "rem": ("rem:gamma=0.01,b_star=5,phi=1.01",),
}
"""Of a law that is not itself enough: targets within that buffer, and variants."""

BEGIN = 20_000_000
"""The time of the first packet, in ns: a link may be 10 ms late, and the clock begins at 0."""

ARRIVAL = struct.Struct("=QIHBB")
"""Time, random number, size, flow and ECN field, as arrivals.h has them."""

SIZES = (60, 300, 576, 1000, 1514)
LOADS = (0.5, 0.9, 1.1, 1.3, 1.6)
FLOWS = 20


@dataclass(frozen=True)
class Judged:
    """A law before the kernel: how many packets fared as in `aqm`, and what the verifier read."""

    algorithm: str
    packets: int
    equal: int
    first: int | None
    early: int
    full: int
    enqueue: int
    dequeue: int
    seconds: float


def specs(laws: Sequence[str]) -> list[tuple[str, str]]:
    """Each law with what it is to be."""
    return [(law, spec) for law in laws for spec in SPECS.get(law, (law,))]


def arrivals(seed: int, packets: int) -> bytes:
    """Poisson arrivals whose load changes, and now and then a pause."""
    drawn = random.Random(seed)
    at, load, found = float(BEGIN), 1.0, bytearray()
    for number in range(packets):
        if number % 500 == 0:
            load = drawn.choice(LOADS)
            at += drawn.choice((0, 0, 0, 1e8, 3e9))
        size = drawn.choice(SIZES)
        found += ARRIVAL.pack(round(at), drawn.getrandbits(32), size, drawn.randrange(FLOWS), 0)
        at += drawn.expovariate(load * RATE / (8e9 * sum(SIZES) / len(SIZES)))
    return bytes(found)


def judged(laws: Sequence[str], packets: int = PACKETS) -> Iterator[Judged]:
    """Yield the verdict on each law; all run in one guest."""
    guest.check()
    with TemporaryDirectory(prefix="aqmlab-laws-") as name:
        folder = Path(name)
        (folder / "arrivals").write_bytes(arrivals(1, packets))
        sources = [KERNEL / f"{law}.c" for law in laws]
        subprocess.run([KERNEL / "build.sh", folder, "-DAQM_SCRIPT", *sources], check=True)
        library = folder / "c"
        subprocess.run(["make", "--silent", "c-library", f"PREFIX={library}"], cwd=ROOT, check=True)
        _compile(folder / "replay", "-lbpf")
        _compile(folder / "expected", f"-I{library}/include", f"{library}/lib/libaqm.a", "-lm", "-lpthread", "-ldl")
        wanted = specs(laws)
        for number, (law, spec) in enumerate(wanted):
            (folder / f"device{number}").write_bytes(_device(folder, law, spec))
        told = guest.run({"replay": [str(folder), *(law for law, _ in wanted)]}, patience=60 + 60 * len(wanted))
        for (_, spec), found in zip(wanted, told, strict=True):
            yield _compared(spec, found, _expected(folder, spec))


def _compile(program: Path, *options: str) -> None:
    source = HERE / f"{program.name}.c"
    subprocess.run(["cc", "-O2", "-Wall", "-o", program, source, *options], check=True)


def _device(folder: Path, law: str, spec: str) -> bytes:
    """The value of the map `devices`: the link, and the law's numbers."""
    link = {"rate": RATE, "packets": BUFFER}
    numbers = _core.kernel_numbers(spec, link, Object(folder / f"{law}{SUFFIX}").fields)
    return struct.pack(f"={3 + len(numbers)}q", RATE, BUFFER, 0, *numbers)


def _expected(folder: Path, spec: str) -> list[str]:
    """How many packets the algorithm dropped early, and the fates."""
    command = [folder / "expected", spec, str(RATE), str(BUFFER), folder / "arrivals"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def _compared(spec: str, found: dict[str, Any], wanted: Sequence[str]) -> Judged:
    fates, early, expected = found.pop("fates"), int(wanted[0]), wanted[1]
    differing = [number for number, (a, b) in enumerate(zip(fates, expected, strict=True)) if a != b]
    first = differing[0] if differing else None
    return Judged(spec, len(fates), len(fates) - len(differing), first, early, expected.count("x") - early, **found)

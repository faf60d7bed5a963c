"""Damaged recordings: each is rejected with its file and the problem, or played.

An input is the file of a scenario's traffic (CSV, pcap or pcapng) and of its link's rates (CSV or a trace of Mahimahi).
"""

import functools
import random
import re
import struct
from pathlib import Path

from aqmlab import ScenarioError, _core

SUFFIX = ".trace"
TESTED = 4_000
LIMIT = 20.0

SCENARIO = """
duration = "200 ms"
[dumbbell]
[[traffic]]
name = "played"
kind = "trace"
file = "case.trace"
"""
FOLLOWED = """
duration = "200 ms"
[dumbbell]
rates = { file = "case.trace" }
access_rate = "1 Gbit/s"
[[traffic]]
kind = "cbr"
"""
ROOT = Path(__file__).parents[2]


def _pcapng(magic: str) -> bytes:
    """Return a section, an interface with a resolution, and packets."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack(magic + "II", kind, len(body) + 12) + body + struct.pack(magic + "I", len(body) + 12)

    head = struct.pack(magic + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack(magic + "HHI", 1, 0, 262144) + struct.pack(magic + "HHB3xHH", 9, 1, 9, 0, 0)
    frame = bytes(12) + b"\x08\x00" + bytes([0x45, 0, 3, 0xE8]) + bytes(16)
    packets = [block(6, struct.pack(magic + "IIIII", 0, 0, i * 1_000_000, len(frame), 1014) + frame) for i in range(20)]
    return block(0x0A0D0D0A, head) + block(1, interface) + b"".join(packets)


@functools.cache
def originals() -> tuple[bytes, ...]:
    """Return one recording of each kind."""
    capture = (ROOT / "python/aqmlab/library/traffic/conference.pcap").read_bytes()
    csv = "time,size\n" + "".join(f"{i * 0.001:.6f},{40 + i * 7}\n" for i in range(60))
    columns = "\ufeffsize , flow, time\r\n" + "".join(f"{100 + i},a,{1e9 + i / 10}\r\n" for i in range(30))
    recordings = (capture[: 24 + 40 * (16 + 42)], csv.encode(), columns.encode(), _pcapng("<"), _pcapng(">"))
    deliveries = "".join(f"{i * i // 9}\n" for i in range(80))
    rates = "timestamp,down_mbps,dbm\n" + "".join(f"{1.7e9 + i / 50},{i % 7},-90\n" for i in range(40))
    units = "t [ms];rate [kbit/s]\r\n" + "".join(f"{i * 10};{100 * (i % 5)}\r\n" for i in range(40))
    return (*recordings, deliveries.encode(), rates.encode(), units.encode())


ODD = (
    b"nan", b"inf", b"-1", b"1e308", b"1e-320", b"0", b"65535", b"65536", b"99999999999999999999", b"1e7",
    b"10000001", b"", b",", b"\n", b"\r", b"\0", b"time", b"\xff", b'"', b"-0.0",
)  # fmt: skip
WORDS = (0, 1, 4, 12, 28, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x0A0D0D0A, 0xA1B2C3D4, 0xA1B23C4D)


def case(seed: int) -> bytes:
    """Return the recording that a seed makes."""
    draw = random.Random(seed)
    data = bytearray(draw.choice(originals()))
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        how, i = draw.randrange(6), draw.randrange(len(data) + 1)
        if how == 0 and i < len(data):
            data[i] ^= 1 << draw.randrange(8)
        elif how == 1:
            del data[i : i + draw.choice((1, 4, 16, 1000))]
        elif how == 2:
            data[i:i] = data[i : i + draw.choice((4, 16, 60))]
        elif how == 3:
            data[i & ~3 : (i & ~3) + 4] = struct.pack(draw.choice("<>") + "I", draw.choice(WORDS))
        elif how == 4:
            numbers = list(re.finditer(rb"[0-9.]+", data))
            if numbers:
                chosen = draw.choice(numbers)
                data[chosen.start() : chosen.end()] = draw.choice(ODD)
        else:
            del data[i:]
    return bytes(data)


def judge(case: bytes, folder: Path) -> str:
    """Check a scenario with this recording as its traffic, and one with it as its rates, and run them."""
    (folder / "case.trace").write_bytes(case)
    played = _judge(SCENARIO, r"traffic\.played\.file = ", folder)
    followed = _judge(FOLLOWED, r"dumbbell\.rates\.file = ", folder)
    return "played" if "played" in (played, followed) else "refused"


def _judge(scenario: str, at: str, folder: Path) -> str:
    file = folder / "case.toml"
    file.write_text(scenario, encoding="utf-8")
    loaded = _core.Scenario.load(str(file))
    try:
        loaded.check()
    except ScenarioError as error:
        assert re.match(re.escape(str(file)) + r":\d+: " + at, str(error)), f"no place: {error}"
        return "refused"
    run = _core.Simulation(loaded, 1)
    run.advance(1.0)
    run.results()
    return "played"


def attack(seed: int, folder: Path) -> str:
    """Try the recording of a seed."""
    return judge(case(seed), folder)

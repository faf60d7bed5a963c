"""Make python/aqmlab/library/traffic/conference.pcap: ten seconds of one side of a video conference, headers only.

Run it with ``python tests/make_pcap.py``; a test compares the file with it.
"""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

FILE = Path(__file__).parents[1] / "python/aqmlab/library/traffic" / "conference.pcap"

VOICE, VIDEO = 5004, 5006  # ports
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP: the bytes kept of each packet
LARGEST = 1200  # bytes of an IP packet


def packets() -> Iterator[tuple[int, int, int]]:
    """Yield time in us, size of the IP packet in bytes, and port of each packet, in order of time."""
    source = random.Random(1)
    sent = [(20_000 * i + source.randrange(2000), source.randrange(80, 160), VOICE) for i in range(500)]
    for frame in range(200):
        left = source.randrange(8000, 12_000) if frame % 50 == 0 else source.randrange(1500, 4500)
        time = 50_000 * frame + source.randrange(5000)
        while left > 0:
            size = min(left, LARGEST)
            sent.append((time, max(size, 60), VIDEO))
            time += 100  # as a camera's encoder emits them
            left -= size
    yield from sorted(sent)


def checksum(header: bytes) -> int:
    """Return an IPv4 header's checksum."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame(number: int, size: int, port: int) -> bytes:
    """Return the headers of an Ethernet frame that carries an IPv4 packet of this size."""
    ethernet = bytes.fromhex("02000000000202000000000108 00")
    addresses = bytes([192, 0, 2, 1, 198, 51, 100, 1])  # reserved for documentation
    start = struct.pack(">BBHHHBB", 0x45, 0, size, number, 0, 64, 17)
    ip = start + struct.pack(">H", checksum(start + b"\0\0" + addresses)) + addresses
    return ethernet + ip + struct.pack(">HHHH", port, port, size - 20, 0)


def capture() -> bytes:
    """Return the contents of the file."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, HEADERS, 1)]
    for number, (time, size, port) in enumerate(packets()):
        seconds, fraction = divmod(time, 1_000_000)
        parts.append(struct.pack("<IIII", seconds, fraction, HEADERS, max(size + 14, 60)))
        parts.append(frame(number, size, port))
    return b"".join(parts)


if __name__ == "__main__":
    FILE.write_bytes(capture())

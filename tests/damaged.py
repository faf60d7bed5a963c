"""Damaged versions of a file, which no reader may take for the file."""

import random
from collections.abc import Iterator

FLIPS = 100


def damaged(sound: bytes) -> Iterator[bytes]:
    """Yield the content cut short, emptied, replaced, extended, zeroed, and with single bits flipped."""
    yield from (sound[:-1], b"", b"{}", b"PAR1 and no more", sound + b"\n", sound + sound, bytes(len(sound)))
    rng = random.Random(1)
    for _ in range(FLIPS):
        flipped = bytearray(sound)
        flipped[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
        yield bytes(flipped)

"""The keys of many runs, in arrays: a million of them take 32 MB, in a set of bytes 150 MB."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars

SIZE = hashlib.sha256().digest_size
"""The bytes of a key."""

Keys = np.ndarray[Any, np.dtype[np.bytes_]]
"""Keys in an array of texts of `SIZE` bytes. `each` returns them one by one: numpy itself drops zeros at their ends."""


Flags = np.ndarray[Any, np.dtype[np.bool_]]
"""A flag for each key."""


def array(joined: bytes | bytearray) -> Keys:
    """Return the keys that follow each other in `joined`."""
    return np.frombuffer(joined, f"S{SIZE}")


def keys_of(column: polars.Series) -> Keys:
    """Return the keys in a column."""
    return array(b"".join(column.to_list()))


def each(keys: Keys) -> Iterator[bytes]:
    """Yield each key."""
    joined = keys.tobytes()
    return (joined[start : start + SIZE] for start in range(0, len(joined), SIZE))


def distinct(keys: Keys) -> Keys:
    """Return the keys sorted, each once."""
    return np.unique(keys)


def places(keys: Keys, wanted: Keys) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the place of each wanted key in `keys`, which are sorted and distinct; -1 for one that is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[found] == wanted, found, -1)

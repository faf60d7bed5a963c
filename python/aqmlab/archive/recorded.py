"""What a run recorded over time, as a digest of its content that does not depend on how a file stores it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars


def digest(frame: polars.DataFrame) -> str:
    """Return the SHA-256 of the columns of a table: names and values, each number with all its digits."""
    return hashlib.sha256(frame.write_csv(null_value="null").encode()).hexdigest()

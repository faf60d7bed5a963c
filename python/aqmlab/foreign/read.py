"""Files of other programs, whose formats are found out by their content, as one `State`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from aqmlab.foreign.model import State


def read(paths: Sequence[str | os.PathLike[str]]) -> State:
    """Read files and join what they say; raise `Unreadable` for one that no reader knows or whose reader refuses it."""
    raise NotImplementedError

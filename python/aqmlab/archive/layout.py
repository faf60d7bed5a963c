"""The layout of an archive: its files, its head, and the table of its runs."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

HEAD = "seal.json"
"""The head: how the archive was made, and the SHA-256 of every other file."""

CRATE = "ro-crate-metadata.json"
"""The description by RO-Crate."""

PREVIEW = "ro-crate-preview.html"
"""The page for people."""

SEALED = "sealed/"
"""The folder of what sealing adds; everything else is as it was in the folder of the results."""

RUNS = f"{SEALED}runs.csv"
"""The table of runs."""

SCENARIOS = f"{SEALED}scenarios/"
TRACES = f"{SEALED}traces/"

OWN = f"{SEALED}own/"
"""The files of the disciplines of its author's that an evaluation has."""

PAPER = f"{SEALED}paper/"
"""The folder of a paper of its author's."""

STORE = f"{SEALED}store"
"""The folder with the runs of a reproduction or an evaluation, as a store has them."""


@dataclass(frozen=True)
class Record:
    """A run that the archive contains.

    ``scenario`` is its scenario file in the archive and ``engine`` what performed it, as for ``--engine``. The metrics
    are in ``result``, a file in the archive, under the ``seed``; where that is a table, under the ``key``.
    """

    label: str
    scenario: str
    seed: int
    engine: str
    key: str
    result: str

    @property
    def name(self) -> str:
        """The run for messages."""
        return f"{self.label}, seed {self.seed}" if self.label else f"seed {self.seed}"


def counted(verdicts: Iterable[str]) -> dict[str, int]:
    """Count verdicts, each without the numbers in brackets after it."""
    return dict(Counter(text.partition(" (")[0] for text in verdicts))


_SCENARIO = re.compile(re.escape(SCENARIOS) + r"[0-9a-f]{16}\.toml")

_COLUMNS = [one.name for one in fields(Record)]


def table(records: Iterable[Record]) -> bytes:
    """Return the table of runs as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(one) for one in records)
    return text.getvalue().encode()


def records(data: bytes) -> list[Record]:
    """Read the table of runs; raise ValueError if it is none."""
    try:
        rows: Sequence[dict[str, Any]] = list(csv.DictReader(io.StringIO(data.decode())))
        found = [Record(**{**row, "seed": int(row["seed"])}) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{RUNS}: no table of runs: {error}") from None
    for one in found:
        # Only these were looked through for programs and recordings outside of the archive.
        if not _SCENARIO.fullmatch(one.scenario):
            raise ValueError(
                f"{RUNS}: scenario = {one.scenario!r}: must be a file like {SCENARIOS}0123456789abcdef.toml"
            )
    return found

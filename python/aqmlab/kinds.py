"""The kinds of files that aqmlab writes, each with the version of its schema.

A schema is the keys of a document or the columns of a table, with their units and meanings; docs/reference/files.md has
them. Its version goes up by one when a key or column goes or changes its meaning, not when one is added. Files of every
earlier version open, and files without a version are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFIX = "aqmlab."
"""Begins the names of our metadata in a Parquet file."""


class LaterSchema(ValueError, OSError):  # noqa: N818  the file is all right
    """Raised for a file of a later version than this aqmlab can read."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, for people, and the version of the schema in which it is written.

    ``head`` is the file by which a folder that ``--out`` wrote is known to have results of this kind.
    """

    name: str
    version: int
    head: str = ""

    @property
    def called(self) -> str:
        """The kind with its article."""
        return f"an {self.name}" if self.name[0] in "aeiou" else f"a {self.name}"

    def metadata(self) -> dict[str, str]:
        """Return the metadata of a Parquet file."""
        return {f"{_PREFIX}kind": self.name, f"{_PREFIX}schema": str(self.version), f"{_PREFIX}version": _ours()}

    def require_readable(self, path: Path, document: Mapping[str, Any], remedy: str) -> None:
        """Refuse a document without a version or of a later one, given its content; `remedy` is what to do instead."""
        self._require(path, document.get("schema"), document.get("version"), remedy)

    def require_readable_table(self, path: Path, metadata: Mapping[str, str], remedy: str) -> None:
        """Refuse a Parquet file without a version or of a later one, given its metadata; as for a document."""
        schema = metadata.get(f"{_PREFIX}schema")
        known = int(schema) if schema and schema.isdecimal() else schema
        self._require(path, known, metadata.get(f"{_PREFIX}version"), remedy)

    def _require(self, path: Path, schema: object, writer: object, remedy: str) -> None:
        where = os.fspath(path)
        if schema is None:
            raise ValueError(
                f"{where}: no schema, the version of {self.called}: this aqmlab, {_ours()}, does not read it; {remedy}"
            )
        if type(schema) is not int or schema < 1:
            raise ValueError(f"{where}: schema = {schema!r:.50}: must be a whole number; {remedy}")
        if schema > self.version:
            newer = f"aqmlab {writer}" if writer else "the version of aqmlab that wrote it"
            raise LaterSchema(
                f"{where}: schema {schema} of {self.called}; aqmlab {_ours()} reads up to schema "
                f"{self.version}: read it with {newer} or a later one, or {remedy}"
            )


RESULT = Kind("result", 1, "result.json")
COMPARISON = Kind("comparison", 1, "comparison.json")
SWEEP = Kind("sweep", 1, "sweep.json")
SWEEP_TABLE = Kind("table of a sweep", 1)
SERIES = Kind("series", 1)
CWND = Kind("table of congestion windows", 1)
FLOWS = Kind("table of flows", 1)
PART = Kind("part of a store", 1)
JOURNAL = Kind("journal of a store", 1)
EVALUATION = Kind("evaluation", 1, "evaluation.json")
FINDINGS = Kind("reproduction", 1, "findings.json")
FIGURE_DATA = Kind("table of a figure", 1)
EXPORT = Kind("exported table", 1)
ARCHIVE = Kind("archive", 1)

ADVICE, TUNED, ANALYSIS, CALIBRATION = "advice.json", "tune.json", "analysis.json", "calibration.json"
"""The files by which a folder is known to hold the answer of a command; they are of no kind that is read again."""

HEADS = tuple(kind.head for kind in (RESULT, COMPARISON, SWEEP, FINDINGS, EVALUATION))
"""The files by which a folder is known to hold the results of a command."""


def _ours() -> str:
    from aqmlab import _core

    return str(_core.__version__)

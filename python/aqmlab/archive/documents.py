"""Documents of an unpacked archive, compared with those that follow from its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqmlab.scenario import is_own

_OF_FILES = ("files", "sha256", "schema")
"""The keys that a document has in a file alone."""

_DOCUMENTS = "results"
"""The key of a comparison under which each label has a document."""


def require_same(file: str, saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse a document that has something else than what follows from its runs and its scenario.

    It may lack keys that an earlier version of aqmlab did not write.
    """
    for key in saved.keys() - set(_OF_FILES):
        one, other = placeless(saved[key]), placeless(now.get(key))
        if key == _DOCUMENTS and other is not None and one.keys() == other.keys():
            for label in one:
                require_same(f"{file}: {key}.{label}", one[label], other[label])
        elif key not in now or one != other:
            raise ValueError(f"{file}: {key}: not what its runs and its scenario have")


def placeless(value: Any) -> Any:
    """Return a document without the paths of the files that scenarios read: the archive has copies in other places."""
    if isinstance(value, dict):
        # A key that is "auto" may be missing: it did not exist when the document was written.
        return {name: placeless(inside) for name, inside in value.items() if name != "file" and inside != "auto"}
    if isinstance(value, list):
        return [placeless(inside) for inside in value]
    return value.rpartition(":")[2] if isinstance(value, str) and is_own(value) else value

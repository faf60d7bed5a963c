"""Documents of an unpacked archive, compared with those that follow from its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from aqmlab.results.result import KERNEL
from aqmlab.scenario import disciplines, is_own, schema

_OF_FILES = ("files", "sha256", "schema")
"""The keys that a document has in a file alone."""

_DOCUMENTS = "results"
"""The key of a comparison under which each label has a document."""


def require_same(file: str, saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse a document that has something else than what follows from its runs and its scenario.

    It may lack keys that an earlier version of aqmlab did not write.
    """
    for key in saved.keys() - set(_OF_FILES):
        one, other = saved[key], now.get(key)
        if key == _DOCUMENTS and other is not None and one.keys() == other.keys():
            for label in one:
                require_same(f"{file}: {key}.{label}", one[label], other[label])
        elif key not in now or not is_same(one, other):
            raise ValueError(f"{file}: {key}: not what its runs and its scenario have")


def require_own_label(file: str, label: str, discipline: str) -> None:
    """Refuse a label that names another discipline than that of its runs, also with parameters or an engine."""
    if label.startswith(KERNEL):
        words = discipline.removeprefix(KERNEL)
        is_another = discipline == words or not label.removeprefix(KERNEL).strip().startswith(words)
    else:
        name = label.partition(":")[0].partition(",")[0]
        is_another = name in disciplines() and name != discipline
    if is_another:
        raise ValueError(f"{file}: the runs of {label} are of {discipline}")


def is_same(saved: Any, now: Any) -> bool:
    """Return whether a value of an archive is that which this version writes.

    The paths of the files that scenarios read may differ: the archive has copies in other places. A key may be missing
    that did not exist when the archive was made, if it now has its default. Earlier versions left ns-2's rule for
    buffers at "auto".
    """
    if isinstance(saved, dict) and isinstance(now, dict):
        return all(
            is_same(saved[name], now[name]) or (name, saved[name], now[name]) == ("buffer_admission", "auto", "ns2")
            if name in saved and name in now
            else {**saved, **now}[name] == "auto" or (name not in saved and now[name] in _defaults()[name])
            for name in (saved.keys() | now.keys()) - {"file"}
        )
    if isinstance(saved, list) and isinstance(now, list):
        return len(saved) == len(now) and all(map(is_same, saved, now))
    return bool(_placeless(saved) == _placeless(now))


def _placeless(value: Any) -> Any:
    return value.rpartition(":")[2] if isinstance(value, str) and is_own(value) else value


@cache
def _defaults() -> Mapping[str, list[Any]]:
    """Return the defaults that the keys of scenarios and disciplines have."""
    found: dict[str, list[Any]] = defaultdict(list)
    todo: list[Any] = [schema()]
    while todo:
        if isinstance(part := todo.pop(), dict):
            for name, key in part.get("properties", {}).items():
                if isinstance(key, dict) and "default" in key:
                    found[name].append(key["default"])
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return found

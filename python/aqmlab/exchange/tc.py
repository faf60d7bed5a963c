"""Queues in the form of ``tc -j -s qdisc show``, for programs that read what Linux's tc prints.

The names, units and order of the fields are those of iproute2 7.1 on Linux 7.2; `kinds` has those of each discipline.
A field that a result does not know is absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.exchange import kinds
from aqmlab.scenario import algorithms, cables

if TYPE_CHECKING:
    from aqmlab.results.result import Result

Options = Mapping[str, Any]

_NAMES = {"droptail": "pfifo", "headdrop": "pfifo_head_drop", "ared": "red"}
"""The names of disciplines that Linux has under another one; of the others they are the same, or Linux lacks them."""

_LIMITS = {"bfifo": "bytes", "red": "bytes"}
"""The unit of the limit of kinds that do not count packets."""

_UNLIMITED = ("cake", "cake_mq", "drr")
"""The kinds without a limit in packets or bytes."""


def qdiscs(result: Result) -> list[dict[str, Any]]:
    """Describe each queue of the first run of a result, as ``tc -j -s qdisc show`` describes the queues of a machine.

    For each link with a queue ``kind``, ``handle``, ``dev`` (the name of the link), ``root``, ``options``, the counters
    that all kinds have, and the statistics of the kind. Times are in µs, sizes in bytes, rates in bytes a second. The
    counters are those of the measurement window, without the warm-up. A discipline that Linux lacks has its own name.

    >>> import aqmlab
    >>> result = aqmlab.run(aqmlab.Scenario.load("links/home").with_(duration="2 s", warmup="0 s", aqm="codel"))
    >>> [(queue["dev"], queue["kind"]) for queue in qdiscs(result)]
    [('bottleneck', 'codel'), ('bottleneck:reverse', 'codel')]
    """
    links = enumerate(result.runs[0].links, 0x8001)
    return [document for number, link in links for document in _qdiscs(f"{number:x}:", link, result)]


def text(result: Result) -> bytes:
    """Return `qdiscs` as the content of a file, which is JSON in one line, as tc prints it."""
    return json.dumps(qdiscs(result), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _qdiscs(handle: str, link: str, result: Result) -> Iterator[dict[str, Any]]:
    """Describe the queue of a link and, if it has several transmit queues, that of each."""
    discipline, limit = _discipline(link, result.scenario.resolved)
    kind = _kind(discipline, None if limit is None else limit[1])
    counted = limit is not None and limit[1] == _LIMITS.get(kind, "packets") and kind not in _UNLIMITED
    observed = kinds.Observed(link, result, round(limit[0]) if limit and counted else None)
    yield _qdisc({"kind": kind, "handle": handle, "dev": link, "root": True, "refcnt": 2}, discipline, observed)
    if kind == "cake_mq":
        for i in range(int(discipline["queues"])):
            place = {"kind": "cake", "handle": "0:", "dev": link, "parent": f"{handle}{i + 1:x}"}
            yield _qdisc(place, discipline, observed.queue(i))


def _qdisc(place: Mapping[str, Any], discipline: Options, observed: kinds.Observed) -> dict[str, Any]:
    kind = place["kind"]
    document: dict[str, Any] = {
        **place,
        "options": kinds.options(kind, discipline, observed),
        "bytes": observed.sent_bytes,
        "packets": observed.accepted,
        "drops": observed.dropped,
        "overlimits": kinds.overlimits(kind, observed),
        "requeues": 0,
        **kinds.statistics(kind, discipline, observed),
    }
    return {name: value for name, value in document.items() if value is not None}


def _discipline(link: str, resolved: Mapping[str, Any]) -> tuple[Options, tuple[float, str] | None]:
    """Return the discipline of a link with its parameters, and its limit with its unit, if that is one of tc's."""
    cable = link.removesuffix(":reverse")
    back = cable != link
    entries = cables(resolved)
    table = entries.get(cable, resolved.get("dumbbell", {}))
    owner = entries.get(cable, resolved)
    discipline = owner.get("reverse_aqm" if back else "aqm", {"name": "droptail"})
    buffer = table.get("reverse_buffer", "auto") if back else table["buffer"]
    if buffer == "auto":
        buffer = table["buffer"] if cable in entries or "reverse_aqm" in owner else table["access_buffer"]
    amount = _core.in_base_unit(buffer)
    return discipline, amount if amount and amount[1] in ("packets", "bytes") else None


def _kind(discipline: Options, unit: str | None) -> str:
    name = str(discipline["name"])
    if name == "droptail" and unit == "bytes":
        return "bfifo"
    inside = discipline.get("aqm")
    if algorithms().get(name, name) == "fq" and isinstance(inside, Mapping):
        # Linux's `fq` is another discipline.
        within = str(inside["name"])
        return "drr" if within == "droptail" else f"fq_{within}"
    return _NAMES.get(name, name)

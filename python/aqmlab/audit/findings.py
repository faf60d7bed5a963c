"""A finding: a fault, its place, its cost, and the line that mends it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.foreign.model import Class, Filter, Place, Qdisc, Values
from aqmlab.results.summary import Summary


class Grade(enum.Enum):
    """How sure a finding is. One that is unknown asks for another file or option; it and a note count as none."""

    WRONG = "wrong"
    DOUBTFUL = "doubtful"
    UNKNOWN = "cannot tell"
    NOTE = "note"


@dataclass(frozen=True)
class Evidence:
    """Words of a file, and where they stand."""

    place: Place
    words: str

    @classmethod
    def of(cls, what: Qdisc | Class | Filter, *words: str) -> Evidence:
        """Return the line of a discipline, a class or a filter, or these words of what stands there."""
        told = what.text or f"{what.kind} of {what.device}"
        return cls(what.place, f"{told}: {', '.join(words)}" if words else told)


@dataclass(frozen=True)
class Queue:
    """A discipline in tc's words behind a shaper of a rate in bit/s; None is no shaper: the modem's queue fills.

    `framing` has what the shaper adds to each packet, in tc's words for CAKE; CAKE has it in its options.
    """

    kind: str
    options: Values
    rate: float | None
    framing: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Change:
    """What a finding changes in one direction, ``down`` or ``up``: the queue that is there, and the mended one."""

    way: str
    present: Queue
    mended: Queue | None = None
    """None is the queue of `aqmlab advise`: CAKE at 95 % of the link."""
    marked: bool = False
    """Whether it concerns marks, so that the senders must negotiate ECN."""


@dataclass(frozen=True)
class Cost:
    """The delay and the goodput of both queues in simulations over the same seeds, in s and bit/s.

    `delay` and `goodput` have the values of each seed: of the present queue, of the mended one, and the differences.
    """

    way: str
    seeds: int
    delay: tuple[Summary, Summary, Summary]
    goodput: tuple[Summary, Summary, Summary]
    link: str

    def document(self) -> dict[str, Any]:
        """Return the cost as a dictionary for JSON."""
        names = ("present", "mended", "difference")
        return {
            "way": self.way,
            "seeds": self.seeds,
            "link": self.link,
            **{
                measure: {name: one.document() for name, one in zip(names, getattr(self, measure), strict=True)}
                for measure in ("delay", "goodput")
            },
        }


@dataclass(frozen=True)
class Finding:
    """A fault, a doubt, a question that the files leave open, or a note.

    `rule` is the name of the rule, `title` one sentence, `mends` has the lines that mend it by the tool that reads
    them, and `assumed` the facts that are not in the files.
    """

    rule: str
    grade: Grade
    title: str
    evidence: tuple[Evidence, ...] = ()
    mends: Mapping[str, str] | None = None
    assumed: tuple[str, ...] = ()
    change: Change | None = None
    cost: Cost | str | None = None
    """The cost, or why there is none."""

    def costing(self, cost: Cost | str, assumed: tuple[str, ...]) -> Finding:
        """Return the finding with its cost, and with the assumptions for it."""
        return replace(self, cost=cost, assumed=tuple(dict.fromkeys((*self.assumed, *assumed))))

    def document(self) -> dict[str, Any]:
        """Return the finding as a dictionary for JSON."""
        return {
            "rule": self.rule,
            "grade": self.grade.value,
            "title": self.title,
            "evidence": [
                {"file": one.place.file, "line": one.place.line or None, "words": one.words} for one in self.evidence
            ],
            "mend": dict(self.mends or {}),
            "assumed": list(self.assumed),
            "cost": self.cost.document() if isinstance(self.cost, Cost) else None,
            "no_cost": self.cost if isinstance(self.cost, str) else None,
        }

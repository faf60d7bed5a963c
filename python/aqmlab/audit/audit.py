"""The audit: all rules over a router's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from aqmlab import _core
from aqmlab.audit.findings import Finding, Grade
from aqmlab.audit.router import Given, Lane, Router
from aqmlab.audit.rules import RULES, dummynet
from aqmlab.foreign.configured import configured
from aqmlab.foreign.model import State, Unread
from aqmlab.presenters import presented


@dataclass(frozen=True)
class Audit:
    """The findings that are wrong or doubtful; those in `untold` need further files or options, `notes` are none."""

    findings: Sequence[Finding]
    untold: Sequence[Finding]
    notes: Sequence[Finding]
    router: Router

    @property
    def lanes(self) -> list[Lane]:
        """The queues that were understood."""
        return [*self.router.lanes, *dummynet.lanes(self.router)]

    @property
    def unread(self) -> Sequence[Unread]:
        """The words that were not understood."""
        return self.router.state.unread

    def with_(self, findings: Sequence[Finding]) -> Audit:
        """Return the audit with other findings, such as those with costs."""
        return replace(self, findings=findings)

    def document(self) -> dict[str, Any]:
        """Return the audit as a dictionary for JSON."""
        given = self.router.given
        return {
            "version": _core.__version__,
            "findings": [each.document() for each in self.findings],
            "cannot_tell": [each.document() for each in self.untold],
            "notes": [each.document() for each in self.notes],
            "queues": [
                {"device": one.device, "way": one.way, "kind": one.root.kind, "rate": one.rate} for one in self.lanes
            ],
            "link": {"down": given.down, "up": given.up, "rtt": given.rtt, "layer": given.layer},
            "unread": [{"file": one.place.file, "line": one.place.line, "words": one.text} for one in self.unread],
        }

    def __repr__(self) -> str:
        return str(presented("audit.text", self))


def audit(state: State, given: Given | None = None) -> Audit:
    """Find the faults in the queues of a router.

    Parameters
    ----------
    state : State
        What the router's files say, from `aqmlab.foreign.read.read`.
    given : Given, optional
        What they do not say.

    Returns
    -------
    Audit
        The findings without costs; `aqmlab.audit.cost.costed` adds those.
    """
    if not any(each.shown for each in state.qdiscs):
        state = configured(state)  # what would run, as none of the files has what runs
    router = Router(state, given or Given())
    found = [each for rule in RULES for each in rule(router)]
    wrong, doubtful, untold, notes = ([each for each in found if each.grade is grade] for grade in Grade)
    return Audit([*wrong, *doubtful], untold, notes, router)

"""The rules: each looks at a router and yields what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from aqmlab.audit.findings import Finding
from aqmlab.audit.router import Router
from aqmlab.audit.rules import classes, configured, dummynet, framing, ingress, limits, place, queues, shaping

Rule = Callable[[Router], Iterator[Finding]]

RULES: Sequence[Rule] = (
    *shaping.RULES,
    *classes.RULES,
    *place.RULES,
    *ingress.RULES,
    *configured.RULES,
    *framing.RULES,
    *queues.RULES,
    *limits.RULES,
    *dummynet.RULES,
)
"""All rules, in the order of their findings."""

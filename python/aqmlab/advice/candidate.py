"""A configuration in a race, and who can have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from aqmlab.advice.queues import Queues

DEFAULT = "default"
"""The label of the queues that the link has now."""

YOU = "you"
"""The owner of the router and, of a wireless LAN, of the access point."""


@dataclass(frozen=True)
class Candidate:
    """A configuration: its label, its queues, and the discipline of Linux that it is, or None if there are no lines.

    `owner` is who can set it up where that is not the owner of a router with Linux. It is empty for no owner, and for
    those with a `kernel`.
    """

    label: str
    queues: Queues
    kernel: str | None = None
    owner: str = ""


class _Owned(Protocol):
    @property
    def kernel(self) -> str | None: ...
    @property
    def owner(self) -> str: ...


def yours(one: _Owned) -> bool:
    """Return whether the asking user can set up a configuration."""
    return one.kernel is not None or one.owner == YOU

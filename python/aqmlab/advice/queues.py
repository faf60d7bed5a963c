"""The queues at both ends of a link, or those of a router beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aqmlab.scenario import Settings

HEADER = "14 B"
"""Ethernet's header, which Linux counts as part of a packet."""

LAN = 1e9
"""The least rate in bit/s of the link on which a discipline stands that is its own shaper."""

ROUTER, SECOND = "router", "second"
"""The names of the router's link, and of the link to another host behind it, for a load with two."""

FIRST_HOST, SECOND_HOST = "receiver1", "receiver2"
"""The hosts of that load, in its template."""


@dataclass(frozen=True)
class Direction:
    """A queue at one end of the link: a discipline as a scenario's table, its buffer, and its rate in bit/s.

    `framing` has tc's words for what the shaper adds to each packet. `share` is the shaper's part of the link rate.
    """

    aqm: Settings
    buffer: str
    rate: float
    framing: str = ""
    share: float = 1.0

    @property
    def shapes(self) -> bool:
        """Whether the discipline is its own shaper, on a link that is faster."""
        return "bandwidth" in self.aqm and self.aqm["name"] in ("cake", "cake_mq")


@dataclass(frozen=True)
class Queues:
    """The queues of both directions, that of the downlink and that of the uplink.

    They are those of a router's shaper, or, with `device`, those of the link's own devices: the settings of the link
    that come with them.
    """

    down: Direction
    up: Direction
    device: Settings | None = field(default=None, kw_only=True)

    def router(self, lan: float) -> dict[str, Any]:
        """Return the settings of a router's link with these queues; `lan` is its rate beyond that of a shaper."""
        down, up = self.down, self.up
        return {
            "overhead": HEADER,
            "rate": f"{lan if down.shapes else down.rate:.0f} bit/s",
            "buffer": down.buffer,
            "aqm": down.aqm,
            "reverse_rate": f"{lan if up.shapes else up.rate:.0f} bit/s",
            "reverse_buffer": up.buffer,
            "reverse_aqm": up.aqm,
            **({"framing": down.framing} if down.framing else {}),
        }

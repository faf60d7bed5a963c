"""The state of a run under way."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glance:
    """The observed link of a run under way, at one time.

    The counters are since the start of the run, warm-up included: the differences of two glances yield rates and
    means. Every engine sends a glance as one JSON object with these keys.

    Parameters
    ----------
    t : float
        The time in the run, in s.
    queue : int
        Packets that wait.
    queue_area : float
        Their number integrated over the time so far, in packet seconds.
    arrivals : int
        Packets that arrived.
    drops : int
        Packets that were dropped.
    marks : int
        Packets that were marked with CE.
    departures : int
        Packets whose transmission has begun.
    departed_bytes : int
        Their bytes on the link, of a half-duplex link those that were sent.
    waited : float
        The sum of the times that these packets waited, in s.
    """

    t: float
    queue: int
    queue_area: float
    arrivals: int
    drops: int
    marks: int
    departures: int
    departed_bytes: int
    waited: float

    @classmethod
    def read(cls, text: str) -> Glance:
        """Return the glance from the JSON object that an engine sent.

        Raise ValueError if the text is not JSON, and TypeError if a key is missing or unknown.
        """
        return cls(**json.loads(text))

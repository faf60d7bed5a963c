"""What ``irtt client -o`` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aqmlab.exchange.measured.measurement import Failed, Measured, pings, placed


def read(name: str, document: Mapping[str, Any]) -> Iterator[Measured]:
    """Read times in ns, and the delays of packets that came back."""
    trips = document["round_trips"]
    # Losses are "false", "true" (in an unknown direction), "true_up" and "true_down".
    back = [trip for trip in trips if trip["lost"] == "false"]
    if not back:
        raise Failed("irtt got no packet back: check its server, and record it again")
    ways = [(trip["delay"]["send"] / 1e9, trip["delay"]["rtt"] / 1e9) for trip in back if "send" in trip["delay"]]
    probes = pings(name, [_sent(trip, back[0]) for trip in back], ways, 1 - len(back) / len(trips))
    # Of a lost packet the newest irtt has the time of sending, others its number alone.
    places = {id(trip): int(trip.get("seqno", place)) for place, trip in enumerate(trips)}
    sent = [(places[id(trip)], _time(trip, back[0])) for trip in back]
    gone = [places[id(trip)] for trip in trips if trip["lost"] != "false"]
    began = back[0]["timestamps"]["client"]["send"].get("wall")
    yield replace(probes, lost=placed(gone, sent), began=None if began is None else began / 1e9)


def _sent(trip: Mapping[str, Any], first: Mapping[str, Any]) -> tuple[float, float]:
    """Return when a packet was sent, in s since the first one, and its round-trip time."""
    return _time(trip, first), trip["delay"]["rtt"] / 1e9


def _time(trip: Mapping[str, Any], first: Mapping[str, Any]) -> float:
    clocks = [one["timestamps"]["client"]["send"] for one in (trip, first)]
    which = "monotonic" if "monotonic" in clocks[0] else "wall"
    return float(clocks[0][which] - clocks[1][which]) / 1e9

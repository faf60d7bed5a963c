"""Sections 9 and 10: mixes of traffic, traffic in both directions, several managed queues."""

import polars

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.discipline import AT_BOTH, BEFORE_PIE, BOTH_WAYS, ONE_WAY, Discipline
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Plot
from aqmlab_papers.evaluation.describe.subject import Placement


def _qoo() -> m.Measure:
    return m.computed("QoO", "%", "more", 5.0, polars.col("qoo") * 100, 0)


def _two_way(name: str, placement: Placement[Discipline]) -> Case:
    return Case(
        name,
        "rfc7928/two-way",
        [
            m.goodput("bulk", "Goodput, fast way"),
            m.waiting("bulk", "Delay, fast way"),
            m.goodput("back", "Goodput, slow way"),
            m.waiting("back", "Delay, slow way"),
            m.slow_completion("transfers", "Completion p95"),
            m.loss("dns", "DNS loss"),
        ],
        [Plot.of(f"Fast way, {name}", "bulk"), Plot.of(f"Slow way, {name}", "back")],
        placement=placement,
    )


def _two_queues(name: str, placement: Placement[Discipline]) -> Case:
    return Case(
        name,
        "rfc7928/two-queues",
        [
            m.goodput("senders-a", "Goodput, A"),
            m.waiting("senders-a", "Delay, A"),
            m.goodput("senders-b", "Goodput, B"),
            m.waiting("senders-b", "Delay, B"),
            m.fairness(),
        ],
        [Plot.of(f"Senders A, {name}", "senders-a"), Plot.of(f"Senders B, {name}", "senders-b")],
        placement=placement,
    )


_APPLICATIONS = {"bulk": "Bulk", "web": "Web", "voice": "Voice", "video": "Video", "cbr": "CBR", "game": "Game"}

GUIDELINES = [
    Guideline(
        "9.1",
        "Traffic mix",
        "recommended",
        "A call in both directions, six web clients, UDP at 1 Mbit/s, adaptive video, five long NewReno flows; beside "
        "the RFC's example a game's packets and a probe for the quality of outcome.",
        [
            Case(
                "",
                "rfc7928/mix",
                [
                    m.goodput("bulk", "Goodput, bulk"),
                    m.page(),
                    m.voice("voice", "Voice"),
                    m.bitrate("video", "Video bitrate"),
                    m.stalled("video", "Video stalled"),
                    m.waiting("game", "Game delay p99", "p99"),
                    m.loss("game", "Game loss"),
                    _qoo(),
                ],
                [Plot.of(title, entry) for entry, title in _APPLICATIONS.items()],
                distribution="game",
            )
        ],
    ),
    Guideline(
        "9.2",
        "Bidirectional traffic",
        "may be considered",
        "Mild congestion in both directions on a link of 10 and 2 Mbit/s, with short transfers and requests of 84 "
        "bytes; the discipline in the fast direction only, then in both (3.1).",
        [_two_way("one direction", ONE_WAY), _two_way("both directions", BOTH_WAYS)],
        departures=["Drop-tail serves the slow direction in the first case."],
    ),
    Guideline(
        "10.2",
        "Several managed queues in a row",
        "may be considered",
        "Three senders cross two managed queues, three the second alone: mild congestion. The discipline at both, then "
        "at the first before PIE.",
        [_two_queues("same at both", AT_BOTH), _two_queues("before PIE", BEFORE_PIE)],
        departures=["The second discipline with other parameters is left out; 4.3.1 has the range of targets."],
    ),
]

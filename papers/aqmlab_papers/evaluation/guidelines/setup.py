"""Section 4: control knobs, packet sizes, ECN, scheduling."""

from dataclasses import replace

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.discipline import FAIR, MARKING, aimed_at
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Line, Plot
from aqmlab_papers.evaluation.guidelines.transport import ROUND_TRIPS, sender_delays

TARGETS = (5, 10, 20, 40, 80)
"""The targets, in ms."""


def _aimed(target: int) -> Case:
    return Case(
        f"{target} ms",
        "rfc7928/mild",
        [m.goodput("bulk"), m.waiting("bulk"), m.loss("bulk")],
        placement=aimed_at(target / 1e3),
        x=float(target),
        judged=False,
    )


def _marking(round_trip: int) -> Case:
    name = f"RTT {round_trip} ms"
    return Case(
        name,
        "rfc7928/round-trips",
        [
            replace(m.goodput("category1", "Goodput I"), least=0.1),
            replace(m.goodput("category2", "Goodput II"), least=0.1),
            m.waiting("category1", "Delay I"),
            m.loss("category1", "Loss I"),
            m.fairness(),
        ],
        settings={
            "dumbbell.sender_delay": sender_delays(round_trip),
            "traffic.category1.tcp.ecn": True,
            "traffic.category2.tcp.ecn": True,
        },
        placement=MARKING,
        against=("6.2", name),
        x=float(round_trip),
    )


GUIDELINES = [
    Guideline(
        "4.3.1",
        "Control knobs over a range",
        "recommended for a fair comparison",
        "Mild congestion, with the parameter that sets a discipline's delay at 5 to 80 ms: for targets in packets, as "
        "many packets of 1500 bytes as the link sends in this time; for drop-tail, the buffer. Measured, not tested.",
        [_aimed(target) for target in TARGETS],
        lines=[Line(m.waiting("bulk")), Line(m.goodput("bulk")), Line(m.loss("bulk"))],
        x_axis="Target (ms)",
    ),
    Guideline(
        "4.4",
        "Packet sizes",
        "can be evaluated",
        "Mild congestion by six flows, three of which send packets of 500 bytes. A discipline that treats sizes alike "
        "loses the same share of both (RFC 7141).",
        [
            Case(
                "",
                "rfc7928/packet-sizes",
                [m.size_bias("small", "bulk"), m.loss("small", "Loss, 500 B"), m.loss("bulk", "Loss, 1500 B")],
                [Plot.of("1500 bytes", "bulk"), Plot.of("500 bytes", "small")],
            )
        ],
    ),
    Guideline(
        "4.5",
        "Interaction with ECN",
        "must be discussed if supported",
        "Section 6.2 with ECN at the senders and marks in place of drops, compared with the same discipline without.",
        [_marking(each) for each in ROUND_TRIPS],
        lines=[
            Line(m.goodput("category1", "Goodput I")),
            Line(m.goodput("category2", "Goodput II")),
            Line(m.waiting("category1", "Delay I")),
            Line(m.loss("category1", "Loss I")),
        ],
        x_axis="Round-trip time of category II (ms)",
    ),
    Guideline(
        "4.6",
        "Interaction with scheduling",
        "should be discussed",
        "The traffic mix of 9.1 with the discipline on a queue for each flow under fair queueing, compared with the "
        "same discipline on one queue.",
        [
            Case(
                "",
                "rfc7928/mix",
                [
                    m.voice("voice", "Voice"),
                    m.page(),
                    m.waiting("game", "Game delay p99", "p99"),
                    m.bitrate("video", "Video bitrate"),
                    m.goodput("bulk", "Goodput, bulk"),
                ],
                [Plot.of("Bulk, under fair queueing", "bulk")],
                placement=FAIR,
                against=("9.1", ""),
            )
        ],
    ),
]

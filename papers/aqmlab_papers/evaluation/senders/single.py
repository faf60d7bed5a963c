"""Section 5.1: flows of one congestion control alone."""

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Line, Plot
from aqmlab_papers.evaluation.describe.sender import BULK, at
from aqmlab_papers.evaluation.senders.measures import (
    goodput,
    segments_a_round_trip,
    segments_in_silence,
)

_LINES = [Line(m.waiting("bulk")), Line(m.goodput("bulk")), Line(m.loss("bulk"))]

_SHORT = [
    m.completion("short", "Completion"),
    m.slow_completion("short", "Completion p95"),
    m.loss("short", "Loss, short"),
]


def _buffer(size: float, measures: list[m.Measure], seconds: float) -> Case:
    name = f"buffer of {size:g} BDP"
    return Case(
        name,
        "rfc9743/long",
        measures,
        [Plot.of(name.capitalize().replace("bdp", "BDP"), "bulk")],
        settings={"dumbbell.buffer": f"{size:g} BDP", "duration": f"{seconds:g} s", "warmup": "20 s"},
        placement=BULK,
        x=size,
    )


GUIDELINES = [
    Guideline(
        "5.1.1",
        "Protection against congestion collapse",
        "should",
        "A hundred flows on a link that carries 8 packets in a round trip; then four flows to which nothing comes back "
        "for a minute. With full backoff a flow sends one packet a round trip, and then ever more rarely: that bounds "
        "the segments a flow sends in a round trip of the overload by 1, and those of 58 s of silence by 10, as many "
        "as gaps that double from 0.1 s on allow.",
        [
            Case(
                "overload",
                "rfc9743/overload",
                [segments_a_round_trip("bulk", 60.0), m.loss("bulk"), goodput("bulk", 1.0), m.fairness()],
                [Plot.of("Overload", "bulk")],
                placement=BULK,
            ),
            Case(
                "loss of all feedback",
                "rfc9743/silence",
                [segments_in_silence("bulk", 4, 32.0, 90.0)],
                placement=BULK,
                series=True,
            ),
        ],
        departures=["The acknowledgements wait at a link without a rate instead of being lost, and come in the end."],
    ),
    Guideline(
        "5.1.2",
        "Protection against bufferbloat",
        "should",
        "Four long flows in front of buffers of 2, 4 and 8 bandwidth-delay products, which is up to 0.8 s. The RFC has "
        "no bound; Reno and CUBIC, it says, do not address this.",
        [
            _buffer(size, [m.waiting("bulk"), m.waiting("bulk", "Delay p99", "p99"), m.goodput("bulk")], 120.0)
            for size in (2.0, 4.0, 8.0)
        ],
        lines=_LINES,
        x_axis="Buffer (BDP)",
    ),
    Guideline(
        "5.1.3",
        "Protection against high packet loss",
        "should",
        "Four long flows in front of buffers of a quarter to one and a half bandwidth-delay products: below the "
        "latter, says the RFC, several flows of BBR's first version caused a sustained loss.",
        [_buffer(size, [m.loss("bulk"), m.goodput("bulk")], 80.0) for size in (0.25, 0.5, 1.0, 1.5)],
        lines=_LINES,
        x_axis="Buffer (BDP)",
    ),
    Guideline(
        "5.1.4",
        "Fairness within the algorithm",
        "should be explored",
        "Four long flows with the same round trip; with round trips of 20, 50, 100 and 200 ms; a fourth flow 40 s "
        "after the others, measured from 20 s after its start on. The bias is the exponent of the round trip to which "
        "goodput is proportional, without its sign.",
        [
            Case("same round trip", "rfc9743/long", [m.fairness()], placement=BULK),
            Case(
                "different round trips",
                "rfc9743/long",
                [m.fairness(), m.computed("RTT bias", "", "less", 0.1, m.metric("bulk", "rtt_bias").abs(), 2)],
                settings={
                    "dumbbell.delay": "uniform(2 ms, 3 ms)",
                    "dumbbell.sender_delay": ["5 ms", "20 ms", "45 ms", "95 ms"],
                    "dumbbell.receiver_delay": "2.5 ms",
                },
                placement=BULK,
            ),
            Case(
                "a late flow",
                "rfc9743/late",
                [m.fairness(), m.share("late", ["bulk"], "Share of the late flow", "more")],
                placement=at("bulk", "late"),
            ),
        ],
    ),
    Guideline(
        "5.1.5",
        "Short flows",
        "must be considered",
        "Flows of 15 to 150 kB, two a second: alone, and beside two long flows of the same sender.",
        [
            Case(
                "alone",
                "rfc9743/short",
                _SHORT,
                settings={"traffic.bulk.count": 0},
                placement=at("bulk", "short"),
            ),
            Case(
                "beside long flows",
                "rfc9743/short",
                [
                    *_SHORT,
                    m.goodput("bulk", "Goodput, long"),
                    m.waiting("bulk", "Delay, long"),
                    m.loss("bulk", "Loss, long"),
                ],
                [Plot.of("Long flows beside short ones", "bulk")],
                placement=at("bulk", "short"),
            ),
        ],
    ),
]

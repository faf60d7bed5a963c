"""Section 7: special cases."""

from dataclasses import replace

from aqmlab.scenario import Value
from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Plot
from aqmlab_papers.evaluation.describe.sender import BULK, at
from aqmlab_papers.evaluation.senders.measures import acknowledgements, goodput, long_flows
from aqmlab_papers.evaluation.senders.mixed import MARKING, STANDARD

_AQMS = {"PIE": MARKING["aqm"], "FQ-CoDel": "fq_codel", "DualPI2": "dualpi2"}
"""The disciplines that the RFC names; DualPI2 is that of L4S. All of them mark."""

_REORDERING: dict[str, dict[str, Value]] = {
    "1 % early": {"dumbbell.reorder.probability": 0.01},
    "jitter of 20 ms": {"dumbbell.jitter.deviation": "20 ms", "dumbbell.overtaking": True},
}
"""Paths on which packets overtake each other."""

_ONCE = 1e6
"""A period, in s, in which a phase comes once."""

_WARMUP = 10.0


def _wait(name: str, start: float, length: float) -> m.Measure:
    """Return the wait of the long flows in a part of the run."""
    return m.phase_waiting(m.Phase(name, start, length, _ONCE), "bulk", _WARMUP)


def _use(name: str, start: float, length: float, capacity: float) -> m.Measure:
    """Return their utilisation of a capacity, in Mbit/s, in a part of the run."""
    return m.phase_throughput(m.Phase(name, start, length, _ONCE), ["bulk"], capacity, _WARMUP)


def _over_time(name: str, scenario: str, measures: list[m.Measure], over: tuple[float, float]) -> Case:
    return Case(name, f"rfc9743/{scenario}", measures, placement=BULK, series=True, over_time=over)


GUIDELINES = [
    Guideline(
        "7.1",
        "Active queue management",
        "should be evaluated",
        "Four long flows at PIE, FQ-CoDel and DualPI2, which mark packets with ECN; then two beside two of CUBIC "
        "without ECN.",
        [
            *(
                Case(
                    name,
                    "rfc9743/long",
                    long_flows(),
                    [Plot.of(name, "bulk")],
                    settings={"aqm": aqm},
                    placement=BULK,
                )
                for name, aqm in _AQMS.items()
            ),
            *(
                Case(
                    f"{name}, beside CUBIC",
                    "rfc9743/beside",
                    STANDARD,
                    [Plot.of(f"CUBIC at {name}", "standard")],
                    settings={"aqm": aqm},
                    placement=BULK,
                    series=True,
                )
                for name, aqm in _AQMS.items()
            ),
        ],
    ),
    Guideline(
        "7.2",
        "Operation with the envelope set by network circuit breakers",
        "ought to",
        "A well-designed algorithm reacts before a circuit breaker does. 5.1.1 and 7.8 have the losses and rates by "
        "which one would trip.",
        open=["Circuit breakers (RFC 8084) are not modelled."],
    ),
    Guideline(
        "7.3",
        "Paths with varying delay",
        "should be evaluated",
        "A significant change of the least delay: four long flows when the round trip of a path of 10 Mbit/s grows by "
        "100 ms at 30 s, and falls back at 60 s. 6.4 has jitter.",
        [
            _over_time(
                "",
                "delay",
                [
                    _use("10 s after the rise", 30.0, 10.0, 10.0),
                    _wait("10 s after the fall", 60.0, 10.0),
                    _use("10 s after the fall", 60.0, 10.0, 10.0),
                ],
                (25.0, 80.0),
            )
        ],
    ),
    Guideline(
        "7.4",
        "Internet of Things and constrained nodes",
        "to be considered",
        "Two flows of packets of 500 bytes on 100 kbit/s with a round trip of 200 ms, which is five packets, and a "
        "buffer of ten. Packets that come back stand for the volume of control packets.",
        [
            Case(
                "",
                "rfc9743/constrained",
                [goodput("bulk", 0.1), m.waiting("bulk"), m.loss("bulk"), acknowledgements()],
                [Plot.of("", "bulk")],
                placement=BULK,
            )
        ],
        open=["Power, memory and processors of nodes are not modelled."],
    ),
    Guideline(
        "7.5",
        "Paths with high delay",
        "ought to be considered",
        "A geostationary satellite: 20 Mbit/s and a round trip of 600 ms. One long flow; then transfers of 1 MB, one "
        "every 15 s, alone.",
        [
            Case(
                "long flow",
                "rfc9743/satellite",
                long_flows(20.0)[:3],
                [Plot.of("Long flow", "bulk")],
                placement=at("bulk", "transfers"),
            ),
            Case(
                "transfers of 1 MB",
                "rfc9743/satellite",
                [replace(m.completion("transfers", "Completion"), least=100.0)],
                settings={"traffic.bulk.count": 0, "traffic.transfers.count": 1},
                placement=at("bulk", "transfers"),
            ),
        ],
    ),
    Guideline(
        "7.6",
        "Misbehaving nodes",
        "should be explored",
        "One long flow beside UDP at three quarters of the capacity; two beside two of CUBIC that keep 95 % of the "
        "window at a loss. 5.3.2 and 6.2 have routers that treat ECN wrongly.",
        [
            Case(
                "unresponsive sender",
                "rfc7928/unresponsive",
                [m.goodput("bulk"), m.waiting("bulk"), m.loss("bulk")],
                [Plot.of("Beside UDP", "bulk")],
                placement=BULK,
            ),
            Case(
                "greedy sender",
                "rfc9743/beside",
                [m.goodput("bulk"), m.waiting("bulk"), m.loss("bulk")],
                [Plot.of("Beside a greedy sender", "bulk")],
                settings={"traffic.standard.tcp": "cubic:beta=0.95"},
                placement=BULK,
            ),
        ],
        open=[
            "Receivers that acknowledge what has not arrived, or that split acknowledgements, and attackers who forge "
            "feedback are not modelled."
        ],
    ),
    Guideline(
        "7.7",
        "Extreme packet reordering",
        "ought to be considered",
        "Four long flows where one packet in a hundred overtakes all that were sent in the 20 to 30 ms before it, "
        "and where jitter of up to 20 ms lets packets overtake others.",
        [
            Case(
                name,
                "rfc9743/long",
                long_flows(10.0)[:3],
                [Plot.of(name[0].upper() + name[1:], "bulk")],
                settings=settings,
                placement=BULK,
            )
            for name, settings in _REORDERING.items()
        ],
    ),
    Guideline(
        "7.8",
        "Transient events",
        "should be considered",
        "Four long flows when UDP takes 8 of 10 Mbit/s from 30 to 50 s, and when the link fails from 30 to 35 s.",
        [
            _over_time(
                "onset of congestion",
                "onset",
                [_wait("first 5 s", 30.0, 5.0), m.loss("udp", "Loss, UDP"), _use("5 s after", 50.0, 5.0, 10.0)],
                (25.0, 65.0),
            ),
            _over_time("failure of the link", "outage", [_use("5 s after", 35.0, 5.0, 10.0)], (25.0, 55.0)),
        ],
    ),
    Guideline(
        "7.9",
        "Sudden changes in the path",
        "must be evaluated",
        "Four long flows when the rate falls from 10 to 2 Mbit/s at 30 s, and rises again at 60 s; then when the round "
        "trip is also longer by 100 ms meanwhile.",
        [
            _over_time(
                "rate",
                "reroute",
                [
                    _wait("10 s after the fall", 30.0, 10.0),
                    _use("10 s after the fall", 30.0, 10.0, 2.0),
                    _use("10 s after the rise", 60.0, 10.0, 10.0),
                ],
                (25.0, 80.0),
            ),
            replace(
                _over_time(
                    "rate and delay",
                    "reroute",
                    [
                        _wait("10 s after the fall", 30.0, 10.0),
                        _use("10 s after the fall", 30.0, 10.0, 2.0),
                        _use("10 s after the rise", 60.0, 10.0, 10.0),
                    ],
                    (25.0, 80.0),
                ),
                settings={"dumbbell.delays": ["30 s: 75 ms", "60 s: 25 ms"]},
            ),
        ],
    ),
    Guideline(
        "7.10",
        "Multipath transport",
        "must be evaluated, of multipath",
        "Flows over several paths at once, or over one after another.",
        open=["A connection has one path."],
    ),
    Guideline(
        "7.11",
        "Data centers",
        "should indicate what coexists",
        "A rack of 1 Gbit/s with a round trip of about 0.2 ms: twenty hosts answer at the same moment with 20 kB "
        "each, every 20 ms, beside two long flows. The switch marks above 20 packets, and drops when 200 "
        "wait.",
        [
            Case(
                "",
                "rfc9743/incast",
                [
                    replace(m.completion("answers", "Completion"), least=0.2, digits=2),
                    replace(m.slow_completion("answers", "Completion p95"), least=0.5, digits=2),
                    m.loss("answers", "Loss, answers"),
                    goodput("bulk", 1000.0, "Goodput, long"),
                    replace(m.waiting("bulk", "Delay, long"), least=0.05, digits=2),
                ],
                [Plot.of("Long flows", "bulk")],
                placement=at("bulk", "answers"),
            )
        ],
    ),
]

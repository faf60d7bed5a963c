"""Sections 5 to 7: transport protocols, round-trip fairness, bursts."""

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Line, Plot

_BULK = (m.goodput("bulk"), m.waiting("bulk"), m.waiting("bulk", "Delay p99", "p99"), m.loss("bulk"))
"""The measures of long flows."""

_TRADEOFF = Plot.of("", "bulk")


def _initial_window(window: int) -> Case:
    return Case(
        f"IW {window}",
        "rfc7928/initial-window",
        [
            m.completion("transfers", "Completion"),
            m.slow_completion("transfers", "Completion p95"),
            m.goodput("bulk", "Goodput, long"),
        ],
        [Plot.of(f"Long flow, IW {window}", "bulk")],
        settings={"traffic.transfers.tcp.initial_window": window},
    )


ROUND_TRIPS = (5, 50, 100, 200, 560)
"""The round-trip times of the second category, in ms."""

_DRAWN = (50, 560)
"""Those whose trade-offs are drawn."""

_BUFFER_WAIT = 560.0
"""The longest wait in the buffer of 6.2, in ms."""


def sender_delays(round_trip: int) -> list[str]:
    """Return the delays of both senders' links for a round-trip time, in ms, of the second category."""
    rest = 2.0
    return [f"{100 / 2 - rest:g} ms", f"{round_trip / 2 - rest:g} ms"]


def _round_trip(round_trip: int) -> Case:
    both = f"RTT {round_trip} ms"
    return Case(
        both,
        "rfc7928/round-trips",
        [m.fairness(), m.loss("category1", "Loss I"), m.loss("category2", "Loss II")],
        [
            Plot.of(f"Category {numeral}, {both}", entry)
            for numeral, entry in (("I", "category1"), ("II", "category2"))
            if round_trip in _DRAWN
        ],
        settings={"dumbbell.sender_delay": sender_delays(round_trip)},
        x=float(round_trip),
    )


def _burst(case: str, scenario: str, video: bool, bulk: bool) -> Case:
    measures = [m.page("web", "Page"), m.waiting("cbr", "CBR delay p99", "p99"), m.jitter("cbr", "CBR jitter")]
    measures += [m.loss("cbr", "CBR loss")]
    if video:
        measures += [m.waiting("video", "Video delay p99", "p99"), m.loss("video", "Video loss")]
    if bulk:
        measures += [m.goodput("bulk", "Goodput, bulk")]
    entries = ["web", "cbr", *(["video"] if video else []), *(["bulk"] if bulk else [])]
    return Case(
        f"case {case}",
        f"rfc7928/{scenario}",
        measures,
        [Plot.of(f"Case {case}, {entry}", entry) for entry in entries],
        distribution="cbr",
    )


GUIDELINES = [
    Guideline(
        "5.1.1",
        "TCP-friendly sender, same initial window",
        "must be considered",
        "One long NewReno flow with an initial window of 3.",
        [Case("", "rfc7928/friendly", _BULK, [_TRADEOFF], distribution="bulk")],
    ),
    Guideline(
        "5.1.2",
        "TCP-friendly sender, different initial windows",
        "must be considered",
        "Beside a long NewReno flow, transfers of 11 to 99 segments, whose initial window is 3 or 10.",
        [_initial_window(3), _initial_window(10)],
        departures=["The RFC has one transfer. Here one begins every five seconds, which makes about ten in a run."],
    ),
    Guideline(
        "5.2",
        "Aggressive transport sender",
        "must be considered",
        "One long CUBIC flow.",
        [Case("", "rfc7928/aggressive", _BULK, [_TRADEOFF], distribution="bulk")],
    ),
    Guideline(
        "5.3",
        "Unresponsive transport sender",
        "must be considered",
        "UDP at 1.5 times the capacity alone; then UDP at three quarters of the capacity beside one long NewReno flow.",
        [
            Case(
                "flood",
                "rfc7928/flood",
                [m.goodput("udp"), m.waiting("udp"), m.loss("udp")],
                [Plot.of("UDP alone", "udp")],
                distribution="udp",
            ),
            Case(
                "beside TCP",
                "rfc7928/unresponsive",
                [m.goodput("bulk", "Goodput, TCP"), m.waiting("udp", "UDP delay"), m.loss("udp", "UDP loss")],
                [Plot.of("TCP beside UDP", "bulk"), Plot.of("UDP beside TCP", "udp")],
            ),
        ],
        departures=[
            "The gaps of the UDP flow are exponential: with equal gaps all seeds would be one run, and could fall into "
            "step with the queue."
        ],
    ),
    Guideline(
        "5.4",
        "Less-than-best-effort sender",
        "may be considered",
        "One long NewReno flow and one LEDBAT flow with a target of 5 ms and a gain of 10. LEDBAT is meant to yield: "
        "its share of the goodput is better the smaller it is.",
        [
            Case(
                "",
                "rfc7928/background",
                [
                    m.goodput("bulk", "Goodput, NewReno"),
                    m.waiting("bulk"),
                    m.share("background", ["bulk"], "LEDBAT's share", "less"),
                ],
                [Plot.of("NewReno", "bulk"), Plot.of("LEDBAT", "background")],
            )
        ],
    ),
    Guideline(
        "6.2",
        "Round-trip time fairness",
        "must be considered",
        "A long NewReno flow with a round trip of 100 ms (category I) and one with a round trip from 5 to 560 ms "
        "(category II). Jain's index stands for the ratio of the goodputs in the tests, as it stays finite.",
        [_round_trip(each) for each in ROUND_TRIPS],
        lines=[
            Line(m.ratio("category1", "category2", "Goodput II / I"), log=True),
            Line(m.fairness()),
            Line(m.loss("category1", "Loss I")),
            Line(m.loss("category2", "Loss II")),
        ],
        x_axis="Round-trip time of category II (ms)",
        departures=[
            f"The buffer holds {_BUFFER_WAIT:g} ms, the bandwidth-delay product of the longest round trip (3.2), at "
            "every round trip of category II, so that only the round trip varies."
        ],
    ),
    Guideline(
        "7.2",
        "Burst absorption",
        "must be considered",
        "Web pages of 50 objects on six connections with an initial window of 10, and UDP at 1 Mbit/s; in cases III "
        "and IV video with key frames of 30 kB, in II and IV a long NewReno flow.",
        [
            _burst("I", "burst-1", video=False, bulk=False),
            _burst("II", "burst-2", video=False, bulk=True),
            _burst("III", "burst-3", video=True, bulk=False),
            _burst("IV", "burst-4", video=True, bulk=True),
        ],
    ),
]

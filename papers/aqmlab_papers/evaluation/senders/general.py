"""Section 6: paths of general use."""

from aqmlab.scenario import Value
from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Plot
from aqmlab_papers.evaluation.describe.sender import BULK, marked_at
from aqmlab_papers.evaluation.senders.measures import goodput, long_flows, path
from aqmlab_papers.evaluation.senders.mixed import MARKING


def _path(rate: float, round_trip: float) -> Case:
    name = f"{rate:g} Mbit/s, RTT {round_trip:g} ms"
    return Case(
        name,
        "rfc9743/long",
        long_flows(rate),
        [Plot.of(name, "bulk")],
        settings=path(rate, round_trip),
        placement=BULK,
    )


def _radio(name: str, settings: dict[str, Value], scenario: str = "long", rate: float = 10.0) -> Case:
    return Case(
        name,
        f"rfc9743/{scenario}",
        [goodput("bulk", rate), m.waiting("bulk"), m.waiting("bulk", "Delay p99", "p99")],
        [Plot.of(name[0].upper() + name[1:], "bulk")],
        settings={"traffic.bulk.count": 1, **settings},
        placement=BULK,
    )


GUIDELINES = [
    Guideline(
        "6.1",
        "Paths with tail-drop queues",
        "must be evaluated",
        "Four long flows over a range of rates and delays, with a buffer of one bandwidth-delay product; 5.1.2 and "
        "5.1.3 have the range of buffers. All of section 5 is behind tail drop.",
        [_path(*each) for each in ((2.0, 50.0), (10.0, 10.0), (10.0, 50.0), (10.0, 200.0), (50.0, 50.0))],
    ),
    Guideline(
        "6.2",
        "Tunnel behavior",
        "must be considered, of explicit signals",
        "A tunnel in front of a router with PIE whose outer header is not ECN-capable, and one that loses the marks "
        "of the outer header at its end; compared with the same sender without the tunnel (7.1). For senders with ECN.",
        [
            Case(
                name,
                "rfc9743/long",
                [m.goodput("bulk"), m.waiting("bulk"), m.loss("bulk")],
                settings={**MARKING, "dumbbell.ecn_path": treatment},
                placement=marked_at("bulk"),
                against=("7.1", "PIE"),
            )
            for name, treatment in (("without ECN", "clear"), ("marks lost", "clear-marks"))
        ],
        open=["Congestion control of the tunnel itself, around that of the flow, is not modelled."],
    ),
    Guideline(
        "6.3",
        "Wired paths",
        "a baseline",
        "Four long flows on 100 Mbit/s with a round trip of 20 ms, without other losses than the queue's.",
        [
            Case(
                "",
                "rfc9743/long",
                long_flows(100.0),
                [Plot.of("", "bulk")],
                settings={**path(100.0, 20.0), "duration": "30 s"},
                placement=BULK,
            )
        ],
    ),
    Guideline(
        "6.4",
        "Wireless paths",
        "should be evaluated",
        "One long flow with losses by radio, of 0.1 and 1 % at random and in bursts of five packets on average; with "
        "a rate of 4 to 16 Mbit/s that changes twice a second; with a jitter of 10 ms in both directions; and over a "
        "wireless LAN with lost frames, alone and beside an upload.",
        [
            _radio("losses of 0.1 %", {"dumbbell.loss": 0.001}),
            _radio("losses of 1 %", {"dumbbell.loss": 0.01}),
            _radio(
                "losses in bursts",
                {"dumbbell.loss.good_to_bad": 0.001, "dumbbell.loss.bad_to_good": 0.2},
            ),
            _radio(
                "varying rate",
                {
                    "dumbbell.changes": ["0.5 s: 4 Mbit/s", "1 s: 16 Mbit/s", "1.5 s: 8 Mbit/s"],
                    "dumbbell.changes_period": "2 s",
                },
            ),
            _radio("jitter", {"dumbbell.jitter.deviation": "10 ms", "dumbbell.reverse_jitter.deviation": "10 ms"}),
            _radio("Wi-Fi", {}, "wifi", 100.0),
            _radio("Wi-Fi beside an upload", {"traffic.upload.count": 1}, "wifi", 100.0),
        ],
        open=["Access to the medium and retransmissions by the link layer of cellular networks are not modelled."],
    ),
]

"""A network that is no dumbbell on the Linux engine and the packet engine: three links with queues in a row."""

from collections.abc import Mapping

import pytest

import aqmlab
from aqmlab import Result, Scenario
from aqmlab.results.result import Run

pytestmark = pytest.mark.linux

BUFFERS = {"first": 40, "second": 20, "third": 40}
"""The links with a queue, each with its buffer in packets."""

FULL = 1500
"""Bytes of a full packet."""

LINK = '[[link]]\nname = "{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\ndelay = "{delay} ms"\n'
QUEUE = 'rate = "{rate} Mbit/s"\nbuffer = "{buffer} packets"\naqm = "{aqm}"\n'
FLOWS = (
    '[[traffic]]\nname = "{name}"\ncount = 2\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nstart = "uniform(0 s, 0.5 s)"\n'
    'tcp = {{ preset = "linux", congestion = "{congestion}" }}\n'
)

#   source -- r1 ==(first)== r2 ==(second)== r3 ==(third)== r4 -- sink
#             |              |               |              |
#             h1             h2              h3             h4
PARKING_LOT = "".join(
    [
        'duration = "10 s"\nwarmup = "0 s"\nseed = 5\nobserve = "second"\nrecord.series = false\n',
        *(
            LINK.format(name=name, ends=ends, delay=5) + QUEUE.format(rate=rate, buffer=BUFFERS[name], aqm=aqm)
            for name, ends, rate, aqm in (
                ("first", ("r1", "r2"), 5, "codel"),
                ("second", ("r2", "r3"), 4, "droptail"),
                ("third", ("r3", "r4"), 5, "pie"),
            )
        ),
        *(
            LINK.format(name=host, ends=ends, delay=1)
            for host, ends in {
                "source": ("source", "r1"),
                "sink": ("r4", "sink"),
                **{f"h{i}": (f"h{i}", f"r{i}") for i in (1, 2, 3, 4)},
            }.items()
        ),
        *(
            FLOWS.format(name=name, ends=ends, congestion=congestion)
            for name, ends, congestion in (
                ("long", ("source", "sink"), "cubic"),
                ("cross1", ("h1", "h2"), "reno"),
                ("cross2", ("h2", "h3"), "cubic"),
                ("cross3", ("h3", "h4"), "reno"),
            )
        ),
        '[[traffic]]\nname = "call"\nkind = "cbr"\nfrom = "h2"\nto = "h3"\n',
        'rate = "400 kbit/s"\npacket_size = "500 B"\n',
    ]
)


@pytest.fixture(scope="module")
def both(guest: None) -> Mapping[str, Run]:
    scenario = Scenario.parse(PARKING_LOT, "lot")
    results: dict[str, Result] = {engine: aqmlab.run(scenario, engine=engine) for engine in ("linux", "packet")}
    return {engine: result.runs[0] for engine, result in results.items()}


@pytest.mark.parametrize("name", BUFFERS)
def test_each_link_is_like_that_of_the_packet_engine(both: Mapping[str, Run], name: str) -> None:
    found, expected = (both[engine].links[name] for engine in ("linux", "packet"))
    assert found.keys() == expected.keys()
    for metric, tolerance in (
        ("arrivals", 0.02),
        ("utilisation", 0.01),
        ("queue_mean", 0.08),
        ("queue_delay_mean", 0.08),
        ("loss_ratio", 0.3),
    ):
        assert found[metric] == pytest.approx(expected[metric], rel=tolerance), metric


def test_each_class_gets_its_share_of_each_link(both: Mapping[str, Run]) -> None:
    found, expected = (both[engine].classes for engine in ("linux", "packet"))
    for name, tolerance in {"long": 0.4, "cross1": 0.1, "cross2": 0.1, "cross3": 0.1, "call": 0.05}.items():
        assert found[name]["goodput"] == pytest.approx(expected[name]["goodput"], rel=tolerance), name
    # Two links have a share of the long flows' losses that the observed one does not see.
    for name in ("cross1", "cross3"):
        assert found[name]["arrivals"] == 0
        assert (found[name]["retransmits_total"] or 0) > 50


def test_the_second_link_loses_packets_for_want_of_room(both: Mapping[str, Run]) -> None:
    for run in both.values():
        second, others = run.links["second"], (run.links["first"], run.links["third"])
        assert second["drops_overflow"] > 30
        assert second["drops_early"] == 0
        # Their disciplines keep their queues short; only slow start fills their buffers.
        assert all(link["drops_early"] > 2 * link["drops_overflow"] for link in others)


@pytest.mark.parametrize("engine", ["linux", "packet"])
def test_what_came_to_a_link_left_it_or_was_lost(both: Mapping[str, Run], engine: str) -> None:
    run = both[engine]
    for name, buffer in BUFFERS.items():
        link = run.links[name]
        took = link["arrivals"] - link["drops_early"] - link["drops_overflow"]
        if name == "second":
            classes = {name: of for name, of in run.classes.items() if of["arrivals"]}
            assert classes.keys() == {"long", "cross2", "call"}
            assert sum(of["arrivals"] for of in classes.values()) == link["arrivals"]
            assert sum(of["drops_overflow"] for of in classes.values()) == link["drops_overflow"]
            call = classes["call"]
            # Three datagrams are a full packet's bytes.
            took -= 2 / 3 * (call["arrivals"] - call["drops_overflow"])
        sent = link["throughput"] * 10 / 8 / FULL
        # The queue at the end; the first packets of a connection have no data.
        assert -4 <= took - sent <= buffer + 8, name


def test_what_the_long_flows_delivered_has_passed_the_second_link(both: Mapping[str, Run]) -> None:
    for run in both.values():
        long = run.classes["long"]
        assert 0 < (long["goodput"] or 0) < (long["throughput"] or 0)
        # Of what has passed, the third link has lost little.
        assert (long["goodput"] or 0) > 0.85 * (long["throughput"] or 0)

"""``tc -j -s qdisc show`` of the Linux guest beside ours, for every discipline that both have.

The recorded documents are those of iproute2 7.1 on the kernel of `make kernel`: `python -m oracle.linux.documents`.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from conftest import SMALL, TINY
from oracle.linux import documents, kernel, tc

import aqmlab
from aqmlab import Scenario, ScenarioError
from aqmlab.exchange import tc as exchange

RECORDED = documents.recorded()

PLAIN = """
duration = "2 s"
warmup = "0 s"
[dumbbell]
rate = "10 Mbit/s"
overhead = "14 B"
[[traffic]]
name = "long"
packet_size = "1500 B"
count = 2
"""

UNKNOWN = {
    "": {"backlog", "qlen"},
    "sfq": {"prob_mark", "prob_mark_head", "prob_drop", "forced_mark", "forced_mark_head", "forced_drop", "overlimits"},
    "sfb": {"overlimits"},
    "cake": {"overlimits"},
    "fq_pie": {"memory_used"},
    "dualpi2": {"memory-used", "max-memory-used"},
}
"""What a result does not know, of all kinds and of some."""


def document(words: str) -> dict[str, Any]:
    """Ours of the discipline that these words of tc mean."""
    made = tc.discipline(words)
    result = aqmlab.run(Scenario.parse(PLAIN).with_({"aqm": dict(made.aqm), "dumbbell.buffer": made.buffer}))
    return exchange.qdiscs(result)[0]


def form(value: Any) -> Any:
    """The names of a document with the types of their values."""
    if isinstance(value, Mapping):
        return {name: form(each) for name, each in value.items()}
    if isinstance(value, list):
        return [form(each) for each in value]
    # A number without a fraction is printed as a whole one.
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def agree(words: str, theirs: Mapping[str, Any]) -> None:
    ours = document(words)
    unknown = UNKNOWN[""] | UNKNOWN.get(theirs["kind"], set())
    options = {name: value for name, value in theirs["options"].items() if name not in unknown}
    assert ours["options"] == options
    assert list(ours["options"]) == list(options)
    known = {name: value for name, value in theirs.items() if name not in unknown}
    assert form(ours) == form({**known, "dev": "bottleneck", "options": options})
    assert [name for name in ours if name != "dev"] == list(known)
    for name in ("kind", "refcnt", "memory_limit", "capacity_estimate", "memory-limit"):
        assert ours.get(name) == theirs.get(name)
    for mine, other in zip(ours.get("tins", ()), theirs.get("tins", ()), strict=True):
        for name in ("threshold_rate", "target_us", "interval_us", "flow_quantum"):
            assert mine[name] == other[name]


@pytest.mark.parametrize("words", [words for words, said in RECORDED.items() if "refused" in said])
def test_what_linux_refuses_is_refused(words: str) -> None:
    with pytest.raises(ScenarioError):
        document(words)


@pytest.mark.parametrize("words", [words for words, said in RECORDED.items() if "refused" not in said])
def test_a_document_is_that_of_linux(words: str) -> None:
    agree(words, RECORDED[words])


@pytest.mark.oracle
def test_the_recorded_documents_are_those_that_the_guest_prints_today() -> None:
    try:
        found = kernel.shown(list(RECORDED))
    except kernel.Missing as reason:
        pytest.skip(str(reason))
    for words, reply in zip(RECORDED, found, strict=True):
        if "refused" in RECORDED[words]:
            assert "refused" in reply, words
            continue
        # A tc that does not know a discipline yet has nothing to say of it.
        if "document" in reply:
            theirs, stored = reply["document"], RECORDED[words]
            assert theirs["options"] == stored["options"], words
            names = [name for name in stored if name in theirs or name != "active_queues"]  # of iproute2 7.0
            assert form(theirs) == form({name: stored[name] for name in names}), words
        else:
            assert words.startswith("dualpi2"), (words, reply)


def queue(aqm: str, **settings: Any) -> dict[str, Any]:
    """The document of a run with a warm-up of a second."""
    result = aqmlab.run(Scenario.parse(SMALL).with_(aqm=aqm).with_({"traffic.long.tcp": "linux", **settings}))
    (found,) = exchange.qdiscs(result)
    return found


def test_the_numbers_of_a_queue_are_those_of_the_result_in_units_of_tc() -> None:
    result = aqmlab.run(Scenario.parse(SMALL).with_(aqm="pie:ecn=true,target=20 ms"))
    (found,), metrics = exchange.qdiscs(result), result.runs[0].metrics
    assert found["options"] == {
        **{"limit": 50, "target": 20000, "tupdate": 15000, "alpha": 2, "beta": 20},
        "ecn": True,
    }
    assert found["pkts_in"] == metrics["arrivals"] - metrics["drops_early"] - metrics["drops_overflow"]
    assert (found["dropped"], found["overlimit"]) == (metrics["drops_early"], metrics["drops_overflow"])
    assert found["drops"] == found["dropped"] + found["overlimit"]
    assert found["bytes"] == pytest.approx(metrics["throughput"] * 4 / 8)
    assert 0 < found["maxq"] <= 50
    assert 0 < found["delay"] <= 50 * 1000 * 8 / 4


@pytest.mark.parametrize(
    ("aqm", "kind"),
    [
        ("lred", "lred"),
        ("fq:aqm=lred", "fq_lred"),
        ("drr", "drr"),
        ("headdrop", "pfifo_head_drop"),
        ("tbf", "tbf"),
        ("tbf:aqm=codel", "tbf"),
        ("police:aqm=fq_codel", "police"),
    ],
)
def test_what_linux_lacks_keeps_its_name(aqm: str, kind: str) -> None:
    assert queue(aqm)["kind"] == kind


def test_a_buffer_of_bytes_makes_a_bfifo() -> None:
    found = queue("droptail", **{"dumbbell.buffer": "25 kB"})
    assert (found["kind"], found["options"]) == ("bfifo", {"limit": 25000})
    # PIE's limit is in packets.
    assert "limit" not in queue("pie", **{"dumbbell.buffer": "25 kB"})["options"]


def test_every_link_with_a_queue_is_described_and_series_are_not_needed() -> None:
    scenario = Scenario.parse(TINY).with_(aqm="codel").with_({"reverse_aqm": "pie", "record.series": False})
    there, back = exchange.qdiscs(aqmlab.run(scenario))
    assert (there["dev"], there["kind"], there["handle"]) == ("bottleneck", "codel", "8001:")
    assert (back["dev"], back["kind"], back["handle"]) == ("bottleneck:reverse", "pie", "8002:")
    assert "maxq" not in back


def test_each_transmit_queue_of_cake_mq_is_a_cake() -> None:
    settings = {"traffic.long.count": 9, "traffic.long.tcp": "linux"}
    scenario = Scenario.parse(SMALL).with_(aqm="cake_mq:bandwidth=3 Mbit/s,queues=3").with_(settings)
    root, *queues = exchange.qdiscs(aqmlab.run(scenario))
    assert [(each["kind"], each["parent"]) for each in queues] == [("cake", f"8001:{i}") for i in (1, 2, 3)]
    assert root["drops"] == sum(each["drops"] for each in queues) > 0
    assert root["packets"] == sum(each["packets"] for each in queues)
    assert not any("bytes" in each for each in queues)
    assert [each["active_queues"] for each in queues] == [3, 3, 3]
    assert {each["capacity_estimate"] for each in queues} == {0}


@pytest.mark.parametrize("aqm", ["cake:bandwidth=3 Mbit/s", "cake:diffserv=besteffort", "choke", "sfb:preset=linux"])
def test_the_counters_of_a_discipline_are_those_of_the_window_too(aqm: str) -> None:
    found = queue(aqm, warmup="2 s")
    tins = found.get("tins", [])
    drops = sum(found[name] for name in ("earlydrop", "penaltydrop", "bucketdrop", "queuedrop") if name in found)
    drops += sum(found[name] for name in ("early", "pdrop") if name in found) + 2 * found.get("matched", 0)
    assert found["drops"] == drops + sum(tin["drops"] + tin["ack_drops"] for tin in tins)
    assert found["drops"] > 0
    if tins:
        assert found["packets"] + found["drops"] == sum(tin["sent_packets"] for tin in tins)


def test_bulk_is_first_and_its_threshold_is_in_bytes_a_second() -> None:
    cake = "cake:bandwidth=809 kbit/s,rtt=30 ms,atm=atm,overhead=10,ack_filter=on"
    bulk, best, voice = queue(cake)["tins"]
    times = [(tin["threshold_rate"], tin["target_us"], tin["interval_us"]) for tin in (bulk, best, voice)]
    assert times == [(6320, 359335, 718670), (101125, 22457, 50957), (25281, 89830, 179660)]
    assert best["sent_packets"] > 100
    assert (bulk["sent_packets"], voice["sent_packets"]) == (0, 0)

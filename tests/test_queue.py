"""Queues for other programs in Python: calls, errors, and a model in SimPy beside a law and the packet engine."""

import csv
import gc
import random
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import simpy
from conftest import ROOT

import aqmlab
from aqmlab import Ecn, Queue
from examples.link import Link, Packet, poisson

RATE = 10e6
SERVICE = 1500 * 8 / RATE


def test_packets_are_the_same_objects_with_their_marks_when_they_leave() -> None:
    queue = Queue("codel:ecn=true", RATE, packets=1000)
    packets = [object() for _ in range(300)]
    for packet in packets:
        assert queue.enqueue(0, packet, ecn=Ecn.ECT0)
    sent = [queue.dequeue(i * SERVICE) for i in range(300)]
    assert [entry[0] for entry in sent if entry] == packets
    assert {entry[1] for entry in sent if entry} == {Ecn.ECT0, Ecn.CE}
    assert queue.dequeue(1) is None
    assert len(queue) == queue.bytes == 0


def test_what_is_dropped_is_handed_back_once_with_the_reason() -> None:
    queue = Queue("codel", RATE, bytes="150 kB")
    lost = []
    for number in range(400):
        queue.enqueue(0, number)
        lost += queue.dropped()
    assert lost == [(number, "full") for number in range(100, 400)]
    sent = []
    for slot in range(200):
        sent += [] if (entry := queue.dequeue(0.01 * slot)) is None else [entry[0]]
        lost += queue.dropped()
    early = [number for number, reason in lost if reason == "early"]
    assert len(early) > 5
    assert sorted(sent + early) == list(range(100))
    assert queue.dropped() == []


def test_a_shaper_says_when_to_ask_again() -> None:
    queue = Queue("tbf:rate=1 Mbit/s,burst=1500 B", RATE, packets=10)
    queue.enqueue(5, "first")
    queue.enqueue(5, "second")
    assert queue.dequeue(5) == ("first", Ecn.NOT_ECT)
    assert queue.dequeue(5) is None
    until = queue.paused_until
    assert until == pytest.approx(5.012)
    assert queue.dequeue(until - 1e-6) is None
    assert queue.dequeue(until) == ("second", Ecn.NOT_ECT)
    assert queue.paused_until is None


def test_flows_of_negative_hashes_are_flows() -> None:
    queue = Queue("drr", RATE, packets=10)
    for flow in (-7, -7, 7):
        queue.enqueue(0, flow, flow=flow)
    assert [entry[0] for entry in (queue.dequeue(0), queue.dequeue(0)) if entry] == [-7, 7]


def test_a_class_of_ones_own_decides_and_its_exception_ends_the_queue(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import aqmlab\n\n\n"
        'class Own(aqmlab.AQM):\n    """Drop all behind the first `room`."""\n\n'
        '    room = aqmlab.param(3, "packets", "Room", low=0)\n\n'
        "    def on_enqueue(self, packet, queue):\n"
        "        return aqmlab.DROP if queue.packets >= 1 // self.room * self.room + self.room - 1 else aqmlab.PASS\n"
    )
    queue = Queue(f"{file}:Own:room=4", RATE, packets=10, interpreted=True)
    assert [queue.enqueue(0, number) for number in range(5)] == [True, True, True, False, False]
    broken = Queue(f"{file}:Own:room=0", RATE, packets=10, interpreted=True)
    with pytest.raises(aqmlab.AqmError, match=r"own\.py:10: .*division"):
        broken.enqueue(0, "packet")
    with pytest.raises(RuntimeError, match="the queue has ended"):
        broken.enqueue(0, "packet")


def test_a_circle_of_a_queue_and_its_packet_is_freed() -> None:
    class Holder:
        queue: Queue

    packet = Holder()
    packet.queue = Queue("codel", RATE, packets=10)
    packet.queue.enqueue(0, packet)
    gone = weakref.ref(packet)
    del packet
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Queue("codle", RATE, packets=1), r"aqm = codle: must be one of .*codel"),
        (lambda: Queue("codel:target=-5ms", RATE, packets=1), "target"),
        (lambda: Queue("nowhere.py:Mine", RATE, packets=1), r"nowhere\.py"),
        (lambda: Queue("codel", 0, packets=1), 'rate = "0 bit/s": must be'),
        (lambda: Queue("codel", float("nan"), packets=1), 'rate = "NaN bit/s": must be'),
        (lambda: Queue("codel", "10 apples", packets=1), 'rate = "10 apples": must be'),
        (lambda: Queue("codel", RATE), "give either packets or bytes"),
        (lambda: Queue("codel", RATE, packets=1, bytes=1), "give either packets or bytes"),
        (lambda: Queue("codel", RATE, packets=0), "packets = 0: must be"),
        (lambda: Queue("codel", RATE, packets=2**32), "packets = 4294967296: must be"),
        (lambda: Queue("codel", RATE, packets=1, delay=-1), 'delay = "-1 s": must be'),
        (lambda: Queue("cake:ack_filter=on", RATE, packets=1), "ack_filter"),
        (lambda: Queue("codel", RATE, packets=1).enqueue(float("nan"), ""), "now = NaN: must be a time in seconds"),
        (lambda: Queue("codel", RATE, packets=1).dequeue(-1), "now = -1: must be a time in seconds"),
    ],
)
def test_errors_name_the_value_and_what_is_allowed(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("size", 1, 2**32 - 1),
        ("ecn", 0, 3),
        ("dscp", 0, 63),
        ("source", 0, 2**32 - 1),
        ("destination", 0, 2**32 - 1),
        ("service", 1, 4),
    ],
)
def test_a_packet_is_refused_that_cannot_be(name: str, low: int, high: int) -> None:
    queue = Queue("droptail", RATE, packets=10)
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"^{name} = {value}: must be {low} to {high}$"):
            queue.enqueue(0, "packet", **{name: value})  # type: ignore[arg-type]
    assert len(queue) == 0
    for value in (low, high):
        assert queue.enqueue(0, "packet", **{name: value})  # type: ignore[arg-type]


def test_a_link_with_constant_service_has_the_waits_of_m_d_1() -> None:
    env = simpy.Environment()
    link = Link(env, RATE, Queue("droptail", RATE, packets=100_000))
    arrivals: list[float] = []
    send = link.send
    link.send = lambda packet: (arrivals.append(packet.sent), send(packet))[1]  # type: ignore[method-assign]
    load = 0.8
    env.process(poisson(env, link, 0, load * RATE, seed=1))
    env.run(until=120)
    waits = link.waits[0]
    wait, before = 0.0, arrivals[0]
    for arrival, found in zip(arrivals, waits, strict=False):
        wait = max(wait + SERVICE - (arrival - before), 0) if arrival > before else wait
        before = arrival
        assert found == pytest.approx(wait, abs=1e-8)
    # The standard error of the mean of 80 000 dependent waits is 2 %.
    assert sum(waits) / len(waits) == pytest.approx(load / (2 * (1 - load)) * SERVICE, rel=0.08)


@pytest.mark.parametrize("aqm", ["droptail", "codel", "fq_codel"])
def test_a_model_in_simpy_loses_the_packets_that_the_packet_engine_loses(aqm: str, tmp_path: Path) -> None:
    draws = random.Random(3)
    flows: list[list[float]] = []
    for rate in (11e6, 0.7e6):
        times, now = [], 0.0
        while now < 20:
            times.append(round(now, 9))  # few packets arrive as others leave
            now += 2e-6 + draws.expovariate(rate / (8 * 1500))
        flows.append(times)
    env = simpy.Environment()
    link = Link(env, RATE, Queue(aqm, RATE, packets=100))

    def sender(flow: int):  # type: ignore[no-untyped-def]
        for time in flows[flow]:
            yield env.timeout(time - env.now)
            link.send(Packet(flow, env.now))

    entries = []
    for flow, times in enumerate(flows):
        env.process(sender(flow))
        with (tmp_path / f"{flow}.csv").open("w") as file:
            csv.writer(file).writerows([("time", "size"), *((f"{time:.9f}", 1500) for time in times)])
        file_name, start = str(tmp_path / f"{flow}.csv"), f"{times[0]:.9f} s"
        entries.append({"name": f"f{flow}", "kind": "trace", "file": file_name, "start": start})
    env.run(until=25)
    tables = {
        "duration": "25 s",
        "warmup": "0 s",
        "dumbbell": {"rate": "10 Mbit/s", "delay": "1 ms", "buffer": "100 packets", "access_rate": "100 Gbit/s"},
        "aqm": aqm,
        "traffic": entries,
    }
    (run,) = aqmlab.run(aqmlab.Scenario.from_dict(tables), seeds=1).runs
    for flow, waits in link.waits.items():
        lost = {reason: count for (of, reason), count in link.lost.items() if of == flow}
        values = run.classes[f"f{flow}"]
        found = {"early": values["drops_early"], "full": values["drops_overflow"]}
        assert found == {"early": lost.get("early", 0), "full": lost.get("full", 0)}
        assert values["queue_delay_mean"] == pytest.approx(sum(waits) / len(waits), rel=1e-6)
    assert sum(link.lost.values()) > 1000


def test_the_example_runs() -> None:
    command = [sys.executable, str(ROOT / "examples" / "link.py"), "fq_codel"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "fq_codel: flow 1 has 2487 packets sent and 0 lost" in done.stdout

"""Invariants of any queue under any traffic: Little's law, and an account of every packet."""

from collections.abc import Mapping
from typing import Any

import pytest

import aqmlab
from aqmlab import Scenario, run
from aqmlab.results.result import Run

ENTRIES = aqmlab.catalogue()["aqms"]
AQMS = [entry["name"] for entry in ENTRIES]


def decides_at(entry: Mapping[str, Any]) -> str:
    """Return the moments at which a queue discipline decides, according to its page."""
    doc = " ".join(entry["doc"].split())
    return str(doc.partition("Decides at: ")[2].partition(" Timer: ")[0])


LATE = {
    entry["name"]
    for entry in ENTRIES
    if any(moment in decides_at(entry) for moment in ("dequeue", "overflow", "packets that wait"))
}
"""Disciplines that may drop a packet after it waited: it counts in the queue, but the mean wait is of sent packets."""

# Long-lived and transient TCP, page fetches, and datagrams of several sizes.
EVERYTHING = """\
duration = "105 s"
warmup = "5 s"
seed = 7
record = { series = false }
[dumbbell]
rate = "2 Mbit/s"
buffer = "50 packets"
receiver_delay = ["5 ms", "20 ms", "45 ms"]
[[traffic]]
name = "long"
count = 6
tcp = "rfc5681"
packet_size = "500 B"
start = "uniform(0 s, 1 s)"
[[traffic]]
name = "short"
kind = "short"
arrival_rate = "2 /s"
lifetime = "uniform(1 s, 2 s)"
tcp = "rfc5681"
packet_size = "500 B"
[[traffic]]
name = "web"
kind = "web"
count = 10
think = "exponential(2 s)"
tcp = "rfc5681"
packet_size = "1000 B"
[[traffic]]
name = "bursts"
kind = "on-off"
count = 3
rate = "200 kbit/s"
packet_size = "200 B"
"""

DATAGRAMS = """\
duration = "40 s"
record = { series = false }
[dumbbell]
rate = "2 Mbit/s"
buffer = "20 packets"
[[traffic]]
name = "steady"
kind = "cbr"
rate = "600 kbit/s"
packet_size = "700 B"
stop = "30 s"
[[traffic]]
name = "random"
kind = "poisson"
rate = "800 kbit/s"
packet_size = "400 B"
stop = "30 s"
[[traffic]]
name = "bursts"
kind = "on-off"
count = 5
rate = "400 kbit/s"
packet_size = "100 B"
stop = "30 s"
"""

SIZES = {"steady": 700, "random": 400, "bursts": 100}

# A period at a fifth of the rate, with many drops, then at twice the rate.
CHANGES = {"dumbbell.changes": ["10 s: 400 kbit/s", "20 s: 4 Mbit/s"]}
LOSS = {"dumbbell.loss": 0.05}
BURSTS = {"dumbbell.loss": {"good_to_bad": 0.01, "bad_to_good": 0.3}}


def observed(scenario: Scenario) -> Run:
    return run(scenario).runs[0]


def everything(aqm: str) -> Scenario:
    return Scenario.parse(EVERYTHING, "everything.toml").with_(aqm=aqm)


def drained(aqm: str, changes: dict[str, object] | None = None) -> Run:
    """Run datagrams that end early, which leaves the queue empty at the end as at the start."""
    return observed(Scenario.parse(DATAGRAMS, "datagrams.toml").with_({"aqm": aqm, **(changes or {})}))


def drops(metrics: dict[str, float | None]) -> float:
    return (metrics["drops_early"] or 0) + (metrics["drops_overflow"] or 0)


# The queue's time integral is the sum of the waits, except for waits across the window's ends.
@pytest.mark.parametrize("aqm", AQMS)
def test_the_mean_queue_is_throughput_times_mean_delay(aqm: str) -> None:
    metrics = observed(everything(aqm)).metrics
    sent = ((metrics["arrivals"] or 0) - drops(metrics)) / 100
    assert (metrics["queue_mean"] or 0) > 1
    by_delay = sent * (metrics["queue_delay_mean"] or 0)
    assert (metrics["queue_mean"] or 0) >= 0.999 * by_delay
    assert aqm in LATE or (metrics["queue_mean"] or 0) <= 1.001 * by_delay


# No wait crosses the ends: only rounding remains.
@pytest.mark.parametrize("changes", [{}, CHANGES, LOSS], ids=["plain", "changes", "loss"])
@pytest.mark.parametrize("aqm", AQMS)
def test_from_empty_to_empty_littles_law_is_exact(aqm: str, changes: dict[str, object]) -> None:
    made = drained(aqm, changes)
    total_wait = (made.engine["packets"] or 0) * (made.metrics["queue_delay_mean"] or 0)
    area = (made.metrics["queue_mean"] or 0) * 40
    assert area >= total_wait * (1 - 1e-9)
    assert aqm in LATE or area <= total_wait * (1 + 1e-9)


@pytest.mark.parametrize("changes", [{}, CHANGES, LOSS, BURSTS], ids=["plain", "changes", "loss", "bursts"])
@pytest.mark.parametrize("aqm", AQMS)
def test_every_byte_that_arrived_was_sent_or_dropped(aqm: str, changes: dict[str, object]) -> None:
    made = drained(aqm, changes)
    assert drops(made.metrics) > 0
    assert made.metrics["arrivals"] == (made.engine["packets"] or 0) + drops(made.metrics)
    assert made.metrics["loss_ratio"] == pytest.approx(drops(made.metrics) / (made.metrics["arrivals"] or 0))
    for name, size in SIZES.items():
        of_class = made.classes[name]
        left = ((of_class["arrivals"] or 0) - drops(of_class)) * size
        assert (of_class["throughput"] or 0) * 40 / 8 == pytest.approx(left, rel=1e-9)
    for metric in ("arrivals", "drops_early", "drops_overflow", "throughput"):
        assert made.metrics[metric] == pytest.approx(sum(of[metric] or 0 for of in made.classes.values()))


@pytest.mark.parametrize("loss", [LOSS, BURSTS], ids=["single", "bursts"])
@pytest.mark.parametrize("aqm", AQMS)
def test_what_was_offered_arrived_or_was_lost_by_chance(aqm: str, loss: dict[str, object]) -> None:
    offered, lossy = drained(aqm).metrics, drained(aqm, loss).metrics
    assert offered["random_losses"] == 0
    assert (lossy["random_losses"] or 0) > 100
    assert (lossy["arrivals"] or 0) + (lossy["random_losses"] or 0) == offered["arrivals"]


# The queue holds at most 50 packets at either end of a run that begins empty.
@pytest.mark.parametrize("changes", [{}, CHANGES, LOSS], ids=["plain", "changes", "loss"])
@pytest.mark.parametrize("aqm", AQMS)
def test_what_arrived_was_sent_or_dropped_or_waits(aqm: str, changes: dict[str, object]) -> None:
    made = observed(everything(aqm).with_({"warmup": "0 s", "duration": "30 s", **changes}))
    lost = drops(made.metrics)
    assert lost > 0
    assert 0 <= (made.metrics["arrivals"] or 0) - lost - (made.engine["packets"] or 0) <= 50


# 2 Mbit/s from 5 s to 10 s, 0.4 Mbit/s for 10 s, 4 Mbit/s for the last 20. A packet in transmission when the rate rises
# is completed at a tenth of it, within 14 ms: the total sent may be lower by that much.
@pytest.mark.parametrize("aqm", AQMS)
def test_utilisation_is_what_was_sent_over_what_could_be(aqm: str) -> None:
    rates = 5 * 2e6 + 10 * 0.4e6 + 20 * 4e6
    for changes, capacity, rounding in (({}, 35 * 2e6, 1e-9), (CHANGES, rates, 14e-3 * 3.6e6 / rates)):
        metrics = drained(aqm, {"warmup": "5 s", **changes}).metrics
        by_rates = (metrics["throughput"] or 0) * 35 / capacity
        assert metrics["utilisation"] == pytest.approx(by_rates, rel=rounding)
        assert 0 < (metrics["utilisation"] or 0) <= 1


# Adjacent windows add up to the whole.
@pytest.mark.parametrize("aqm", AQMS)
def test_what_was_counted_before_a_moment_and_after_is_all_there_was(aqm: str) -> None:
    whole, late = (observed(everything(aqm).with_({"warmup": warmup})).metrics for warmup in ("0 s", "40 s"))
    early = observed(everything(aqm).with_({"warmup": "0 s", "duration": "40 s"})).metrics
    for metric in ("arrivals", "drops_early", "drops_overflow", "marks", "retransmits", "timeouts"):
        assert whole[metric] == (early[metric] or 0) + (late[metric] or 0), metric
    for metric in ("throughput", "queue_mean", "goodput"):
        assert (whole[metric] or 0) * 105 == pytest.approx((early[metric] or 0) * 40 + (late[metric] or 0) * 65), metric


# Every sent bit is goodput, a header, a SYN, a retransmission or in flight: utilisation and loss leave nothing else.
@pytest.mark.parametrize("aqm", AQMS)
def test_goodput_is_what_was_sent_less_headers_and_repetitions(small: Scenario, aqm: str) -> None:
    metrics = observed(small.with_({"duration": "105 s", "warmup": "0 s", "record.series": False}, aqm=aqm)).metrics
    payload = (metrics["throughput"] or 0) * 460 / 500
    # A retransmission is wasted only if the first copy arrived.
    repeated = (metrics["retransmits"] or 0) * 460 * 8 / 105
    assert payload - repeated <= (metrics["goodput"] or 0) * 1.001
    assert (metrics["goodput"] or 0) <= payload

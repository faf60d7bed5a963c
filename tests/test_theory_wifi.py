"""Contention for a wireless medium: the chain of Bianchi's model, and stations of the packet engine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aqmlab
from aqmlab import Scenario
from aqmlab.theory import wifi

# 802.11n, one stream at 20 MHz, MCS 7: 260 bits in a symbol of 4 us. A packet of 1500 bytes takes 1544 with headers.
SLOT, SIFS, AIFS = 9e-6, 16e-6, 43e-6
DATA = 36e-6 + 48 * 4e-6
# At 24 Mbit/s: 14 bytes of ACK or CTS, 20 of RTS.
ACK = CTS = RTS = 28e-6
W, M = 16, 6


def aggregated(n: int) -> float:
    """Return the bits per second of n stations that send 27 packets at a time, whose answer takes 3 symbols."""
    bits = 16 + 6 + 8 * 1544 * 27
    exchange = 36e-6 + math.ceil(bits / 260) * 4e-6 + SIFS + 32e-6 + AIFS
    return wifi.throughput(n, W, M, payload=27 * 12000, slot=SLOT, success=exchange, collision=exchange)


def expected(n: int, reserves: bool) -> float:
    """Return the bits per second of n stations that send one packet at a time."""
    exchange = DATA + SIFS + ACK + AIFS
    reservation = RTS + SIFS + CTS + AIFS
    success = RTS + SIFS + CTS + SIFS + exchange if reserves else exchange
    collision = reservation if reserves else exchange
    return wifi.throughput(n, W, M, payload=12000, slot=SLOT, success=success, collision=collision)


def stations(n: int, reserves: bool, frames: int = 1) -> Scenario:
    """Return n stations that always have packets for their access point."""
    names = [f"s{i + 1}" for i in range(n)]
    return Scenario.from_dict(
        {
            "duration": 40.0,
            "observe": "air-s1:reverse",
            "wifi": [
                {
                    "name": "air",
                    "ap": "ap",
                    "stations": names,
                    "standard": "n",
                    "mcs": 7,
                    "frames": frames,
                    "longest": 5.484e-3,
                    "retries": 255,
                    "rts": reserves,
                }
            ],
            "traffic": [
                {
                    "name": "all",
                    "kind": "cbr",
                    "from": names,
                    "to": "ap",
                    "count": n,
                    "rate": 90e6 / n,
                    "packet_size": 1500,
                }
            ],
            "record": {"series": False},
        }
    )


@settings(deadline=None, max_examples=40)
@given(st.floats(0, 0.9), st.integers(1, 8), st.integers(0, 3))
def test_the_chance_to_send_is_that_of_the_chain(p: float, W: int, m: int) -> None:
    # As Bianchi defines it: a stage and a count. At 0 a station sends, and draws from the next stage or first.
    states = [(i, k) for i in range(m + 1) for k in range(W * 2**i)]
    place = {state: j for j, state in enumerate(states)}
    moves = np.zeros((len(states), len(states)))
    for (i, k), j in place.items():
        if k > 0:
            moves[j, place[i, k - 1]] = 1
            continue
        for stage, chance in ((0, 1 - p), (min(i + 1, m), p)):
            for count in range(W * 2**stage):
                moves[j, place[stage, count]] += chance / (W * 2**stage)
    equations = np.vstack([moves.T - np.eye(len(states)), np.ones(len(states))])
    stationary = np.linalg.lstsq(equations, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    sends = sum(stationary[place[i, 0]] for i in range(m + 1))
    assert float(wifi.attempt(p, W, m)) == pytest.approx(sends, rel=1e-6)


def test_alone_a_station_waits_for_half_of_its_window() -> None:
    # Of W slots to draw from, the mean wait is (W - 1)/2 slots.
    alone = 12000 / ((W - 1) / 2 * SLOT + DATA + SIFS + ACK + AIFS)
    assert expected(1, False) == pytest.approx(alone, rel=1e-12)
    assert wifi.collisions(1, W, M) == 0
    # More stations collide more often.
    chances = [wifi.collisions(n, W, M) for n in range(1, 31)]
    assert chances == sorted(chances)
    with pytest.raises(ValueError, match="n = 0"):
        wifi.collisions(0, W, M)


@pytest.mark.parametrize("reserves", [False, True], ids=["data", "rts"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 20, 30])
def test_stations_of_the_engine_carry_what_the_model_says(n: int, reserves: bool) -> None:
    run = aqmlab.run(stations(n, reserves))
    links = run.owned("links")
    up = [links[f"air-s{i + 1}:reverse"] for i in range(n)]
    sent = sum(link["throughput"].mean or 0.0 for link in up)
    assert sent == pytest.approx(expected(n, reserves), rel=0.03)
    # Without a warm-up the packets sent are those of the whole run, as are the collisions.
    collided = sum(link["collisions"].mean or 0.0 for link in up)
    chance = collided / (collided + sent * run.scenario.duration / 12000)
    assert chance == pytest.approx(wifi.collisions(n, W, M), abs=0.02)


@pytest.mark.parametrize("n", [1, 5, 20])
def test_stations_that_send_aggregates_carry_what_the_model_says(n: int) -> None:
    links = aqmlab.run(stations(n, False, frames=27)).owned("links")
    sent = sum(links[f"air-s{i + 1}:reverse"]["throughput"].mean or 0.0 for i in range(n))
    assert sent == pytest.approx(aggregated(n), rel=0.03)

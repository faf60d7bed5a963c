"""CAKE: each measured row has a run, and what is computed beside the runs is as counted."""

import numpy as np
import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab_papers.cake.measures import ENTRIES, PAYLOAD, PUBLISHED, QUEUES, TRIPLE, WAYS, expected
from aqmlab_papers.describe import library

EXPERIMENTS = {one.name: one for one in library.load("cake").experiments}


def test_every_measured_row_has_a_run() -> None:
    for row in PUBLISHED:
        assert row.mode in EXPERIMENTS[row.two].aqms, row
        assert sum(row.goodputs) == pytest.approx(50 * PAYLOAD, abs=0.2), row
    assert sum(TRIPLE) == pytest.approx(50 * PAYLOAD, abs=0.2)


def test_short_runs_have_each_flow_between_its_hosts() -> None:
    three = EXPERIMENTS["three-sources"]
    resolved = Scenario.load(three.scenario).with_(three.settings).resolved
    pairs = {one["name"]: (*one["from"], *one["to"], one["count"]) for one in resolved["traffic"]}
    ends = [("sender1", "receiver1"), ("sender1", "receiver2"), ("sender2", "receiver1"), ("sender3", "receiver2")]
    assert [pairs[name] for name in ENTRIES] == [(*pair, 2) for pair in ends]


def test_segments_have_the_headers_that_parts_of_a_shaper_count() -> None:
    alone = EXPERIMENTS["voice-alone"]
    brief = {"traffic.voice.count": 1, "duration": "12 s"}
    metrics = aqmlab.run(Scenario.load(alone.scenario).with_({**alone.settings, **brief})).metrics
    assert metrics["link_goodput"] / PAYLOAD == pytest.approx(metrics["throughput"], rel=0.005)


@pytest.mark.parametrize("ways", [1, WAYS])
def test_expected_collisions_are_those_of_an_even_hash(ways: int) -> None:
    rng, count = np.random.default_rng(1), 800
    trials = [np.minimum(np.bincount(rng.integers(QUEUES // ways, size=count)), ways).sum() for _ in range(400)]
    assert expected(count, ways) == pytest.approx(100 * (1 - np.mean(trials) / count), abs=0.15)

"""The study of tail drop, RED, GRED and GRED-I: its traffic, its model, and its cheapest figure with real runs."""

import math
from pathlib import Path

import numpy as np
import polars
import pytest

from aqmlab import Scenario
from aqmlab_papers import Effect, Evidence, Outcome, Verdict
from aqmlab_papers.describe import library
from aqmlab_papers.impact import choices, measures, theory
from aqmlab_papers.impact.measures import APPROXIMATED, HERO, RED, SWING, TD
from aqmlab_papers.judge import findings
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort, Findings, Setting

PAPER = library.load("impact")
EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}


@pytest.fixture(scope="module")
def averaging(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    store: Path = tmp_path_factory.mktemp("store")
    return sweep.run(PAPER, Effort(seeds=1, quick=True, only=frozenset({"fig7"})), store, jobs=1)


def test_the_averaging_weight_moves_the_queue_and_not_the_goodput(averaging: Findings) -> None:
    assessed = findings.assess(averaging)
    (figure,) = assessed.drawn
    goodput, loss = (curve for curve in figure.curves)
    assert list(goodput.x) == list(loss.x) == [0.001, 0.01, 0.1, 1.0]
    # 960 of 1000 bytes are payload; UDP offers 1 Mbit/s and loses some.
    assert all(9.6 * 0.88 < told < 9.6 - 0.96 * 0.7 for told in goodput.y)
    rulings = {ruling.claim.name: ruling for ruling in assessed.rulings}
    assert set(rulings) == {
        "small-w-overflows",
        "goodput-whatever-w",
        "udp-loss-falls-with-w",
        "best-without-average",
    }
    assert rulings["goodput-whatever-w"].verdict == Verdict.REPRODUCED
    runs = averaging.evidence["paper"]["averaging"]
    swing = [runs.per_seed(**SWING, label=RED, at={"aqm.w_q": w}).mean for w in goodput.x]
    assert swing[0] > 2 * swing[-1]


def test_counted_runs_of_losses_have_the_mean_that_the_run_says(averaging: Findings) -> None:
    runs = averaging.evidence["paper"]["averaging"]
    for owner, metric in (("udp", "classes.udp.loss_run_mean"), ("bottleneck", "links.bottleneck.loss_burst_mean")):
        at = {"aqm.w_q": 1.0}
        (counts,) = measures.by_length(runs, RED, at, owner)
        assert counts @ np.arange(1, len(counts) + 1) / counts.sum() == pytest.approx(
            runs.per_seed(metric, RED, at).mean
        )
        longest = measures.longest(runs, RED, at, owner).mean
        assert counts[int(longest) - 1] > 0
        assert not counts[int(longest) :].any()


def test_what_tcp_gets_and_loses_is_what_the_run_says_of_its_class(averaging: Findings) -> None:
    runs = averaging.evidence["paper"]["averaging"]
    at = {"aqm.w_q": 0.001}
    for quantity, metric in (
        (measures.tcp_loss(runs), "classes.tcp.loss_ratio"),
        (measures.tcp_goodput(runs), "classes.tcp.goodput"),
    ):
        assert runs.per_seed(**quantity, label=RED, at=at).mean == pytest.approx(runs.per_seed(metric, RED, at).mean)
    # What arrives is what is sent and what is lost; the link is full.
    lost = runs.per_seed("loss_ratio", RED, at).mean / 100
    assert runs.per_seed(**measures.load(runs), label=RED, at=at).mean == pytest.approx(1 / (1 - lost), rel=1e-3)


UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6}


def _number(text: str) -> float:
    value, unit = text.split()
    return float(value) * UNITS[unit]


def _offered(count: int, rate: str, on: str, off: str) -> float:
    """Return the rate of on-off flows, in Mbit/s."""
    sends, silent = _number(on), _number(off.removeprefix("uniform(0 s, ").removesuffix(")")) / 2
    packets = _number(rate) * sends / 8000  # of 1000 B
    assert packets == pytest.approx(round(packets))
    return count * 8e-3 * packets / (sends + silent)


def test_udp_is_a_tenth_of_the_link_however_it_is_split_and_bunched() -> None:
    for name in ("mixed", "simulation"):
        entries = {entry["name"]: entry for entry in Scenario.load(f"impact/{name}").resolved["traffic"]}
        udp = entries["udp"]
        assert _offered(udp["count"], udp["rate"], udp["on"], udp["off"]) == pytest.approx(1.0)
    bursty = entries["bursty"]
    assert _offered(10, bursty["rate"], bursty["on"], bursty["off"]) == pytest.approx(1.0)
    assert _offered(10, *map(str, choices.BURSTS.values())) == pytest.approx(1.0)
    split = EXPERIMENTS["split"].vary
    keys = ("traffic.udp.count", "traffic.udp.rate", "traffic.udp.on", "traffic.udp.off")
    for count, rate, on, off in zip(*(split[key] for key in keys), strict=True):
        assert _offered(int(str(count)), str(rate), str(on), str(off)) == pytest.approx(1.0)
    alone = EXPERIMENTS["isolation"].settings
    assert _offered(*(alone[key] for key in keys)) == pytest.approx(5.0)


def test_the_model_is_that_of_the_theory_pages() -> None:
    tail_drop, error = theory.modelled(TD, theory.FLOWS)
    assert not error.any()
    assert tail_drop[[1, 5]] == pytest.approx([0.2214, 5.32e-4], rel=2e-3)
    assert theory.modelled(HERO, 1)[0][5] == pytest.approx(4.48e-4, rel=2e-3)
    red, scatter = theory.modelled(RED, theory.FLOWS)
    assert abs(red[5] - 0.00669) < 4 * scatter[5]
    ten = theory.in_model("x", RED, TD, 6, theory.FLOWS, "higher", measures.TWICE)
    assert ten.outcome == Outcome.HOLDS
    assert ten.value == pytest.approx(math.log10(red[5] / tail_drop[5]))
    assert (ten.half or 0) > 0


def test_orders_of_magnitude_have_an_interval_that_covers_the_truth_though_runs_cluster() -> None:
    random = np.random.default_rng(1)
    seeds, inside = 10, 0
    for _ in range(400):
        some, less = np.zeros((2, seeds, measures.LAST_BIN))
        for counts, p in ((some, 1e-3), (less, 1e-4)):
            # Clusters: the chance itself varies by seed, so that Poisson's interval would be far too narrow.
            chance = p * random.gamma(4, 1 / 4, seeds)
            counts[:, 5] = random.binomial(20_000, chance)
            counts[:, 0] = 20_000 - counts[:, 5]
        found = Effect("x").of(measures.orders(some, less, 6), least=0)
        inside += abs(found.value - 1) <= (found.half or 0)
    assert 0.92 < inside / 400 <= 1
    nothing = np.zeros((3, measures.LAST_BIN))
    assert Effect("x").of(measures.orders(nothing, nothing, 6), least=0).outcome == Outcome.OPEN
    few = nothing + np.eye(3, measures.LAST_BIN, 5)
    assert Effect("x").of(measures.orders(few, few, 6), least=0).outcome == Outcome.OPEN


def test_cycle_lag_and_answer_are_read_off_a_series() -> None:
    t = np.arange(0, 220, 0.02)
    queue = 80 + 20 * np.sin(2 * np.pi * t / 2)
    late = 80 + 20 * np.sin(2 * np.pi * (t - 0.2) / 2)
    frame = polars.DataFrame(
        {
            "t": t,
            "queue.mean": queue,
            "queue.max": queue,
            "avg.mean": late,
            "avg.max": late,
            "drops": (queue > 80).astype(int),
        }
    )
    assert measures.crossings(frame, 90) == pytest.approx(30, rel=0.01)
    assert measures.lag(frame) == pytest.approx(0.2)
    driving = frame.with_columns(drops=(10 - 10 * np.cos(np.pi * (t + 0.2))).round())
    assert measures.answer(frame) > measures.answer(driving)
    assert measures.answer(driving) == pytest.approx(-1, abs=0.05)
    assert measures.drops(frame, 100, 104) == pytest.approx(100, abs=2)
    assert measures.drops(frame, 100, 104, below=80) == 0
    assert measures.first_drop(frame.with_columns(drops=polars.when(polars.col("t") > 103).then(1).otherwise(0))) == (
        pytest.approx(3, abs=0.03)
    )
    assert measures.first_drop(frame.with_columns(drops=0)) == measures.RETURNS - measures.FAILS
    assert measures.likeness(frame) == pytest.approx(math.cos(2 * np.pi * 0.2 / 2), abs=0.01)
    assert measures.lateness(frame, 90) == pytest.approx(0.2)
    assert measures.lateness(frame.with_columns(**{"avg.mean": 0.0}), 61) == pytest.approx(5, abs=0.03)
    assert measures.lateness(frame, 101) == 0


def test_the_experiments_have_the_paper_s_sources_and_delays() -> None:
    def sources(name: str) -> list[int]:
        vary = EXPERIMENTS[name].vary
        kinds = [vary[f"traffic.{kind}.count"] for kind in ("ftp", "gif", "text")]
        return [sum(map(int, point)) for point in zip(*kinds, strict=True)]

    assert sources("tcp") == sources("presets") == [256, 128, 64, 32, 16]
    assert sources("mixed") == [400, 200, 200]
    for name in ("tcp", "mixed"):
        dumbbell = Scenario.load(f"impact/{name}").resolved["dumbbell"]
        other = sum(float(delay.split()[0]) for delay in (dumbbell["delay"], *dumbbell["receiver_delay"]))
        round_trips = [2 * (float(delay.split()[0]) + other) for delay in dumbbell["sender_delay"]]
        assert (min(round_trips), max(round_trips)) == (10, 200)
        assert np.diff(round_trips) == pytest.approx(190 / (len(round_trips) - 1), abs=2)
    links = Scenario.load("impact/links").resolved
    assert links["dumbbell"]["hosts"] == 16, "each flow draws its own round trip"
    for entry, trip in zip(links["traffic"], (10, 74, 136, 200), strict=True):
        assert (entry["name"], entry["count"]) == (f"rtt{trip}", 16)
        (delay,) = entry["sender_delay"]
        low, high = (
            2 * (float(end.split()[0]) + 2) for end in delay.removeprefix("uniform(").removesuffix(")").split(", ")
        )
        assert (low + high) / 2 == pytest.approx(trip, abs=0.01)
        assert (high - low) / trip == pytest.approx(0.2, abs=0.001)


def test_every_variant_and_every_tried_setting_has_runs_of_some_experiment() -> None:
    needs = frozenset(EXPERIMENTS)
    for variant in (*choices.VARIANTS, *choices.CALIBRATION.tried):
        setting = Setting(variant.name, True, 1, needs, variant)
        assert any(setting.study(PAPER, experiment) for experiment in PAPER.experiments), variant.name
    tried = Setting("x", True, 1, needs, choices.OTHER_NUMBER)
    assert {e.name for e in PAPER.experiments if tried.study(PAPER, e)} == {
        name for name in choices.BED if EXPERIMENTS[name].varied
    }


def test_the_disciplines_are_where_the_design_space_has_them() -> None:
    table = next(item for item in PAPER.items if item.name == "table1")
    frame = findings.drawn(table, Evidence({}, PAPER.hero, quick=True)).frame
    for what in ("queue size", "dropping function"):
        assert frame[f"{what} (paper)"].to_list() == frame[what].to_list()
    assert frame["mechanism"].to_list()[:3] == [TD, RED, APPROXIMATED]

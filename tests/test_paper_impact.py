"""The study of tail drop, RED, GRED and GRED-I: its traffic, its model, and its cheapest figure with real runs."""

import math
from pathlib import Path

import numpy as np
import pytest

from aqmlab import Scenario
from aqmlab.library.impact import measures, theory
from aqmlab.library.impact.measures import APPROXIMATED, HERO, RED, TD
from aqmlab.papers import Evidence, Outcome, Verdict
from aqmlab.papers.describe import library
from aqmlab.papers.judge import findings
from aqmlab.papers.run import sweep
from aqmlab.papers.run.seeds import mean
from aqmlab.papers.run.sweep import Effort, Findings

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
    assert set(rulings) == {"goodput-whatever-w", "udp-loss-falls-with-w", "averaging-lengthens"}
    assert rulings["goodput-whatever-w"].verdict == Verdict.REPRODUCED
    swing = [mean(measures.swing(averaging.evidence["paper"]["averaging"], RED, {"aqm.w_q": w})) for w in goodput.x]
    assert swing[0] > 2 * swing[-1]


def test_counted_runs_of_losses_have_the_mean_that_the_run_says(averaging: Findings) -> None:
    runs = averaging.evidence["paper"]["averaging"]
    for owner, metric in (("udp", "classes.udp.loss_run_mean"), ("bottleneck", "links.bottleneck.loss_burst_mean")):
        at = {"aqm.w_q": 1.0}
        counts = measures.counted(runs, RED, at, owner)
        assert counts @ np.arange(1, len(counts) + 1) / counts.sum() == pytest.approx(runs.values(metric, RED, at)[0])


def test_what_tcp_loses_is_what_the_run_says_of_its_class(averaging: Findings) -> None:
    runs = averaging.evidence["paper"]["averaging"]
    at = {"aqm.w_q": 0.001}
    assert measures.tcp_loss(runs, RED, at) == pytest.approx(runs.values("classes.tcp.loss_ratio", RED, at, scale=100))


@pytest.mark.parametrize(("spacing", "gap"), [("1993", (1, 20)), ("wait", (20, 40))])
def test_red_drops_one_packet_in_a_mean_gap(spacing: str, gap: tuple[int, int]) -> None:
    p = 0.05
    gaps, count = [], 0
    random = np.random.default_rng(1)
    for draw in random.random(400_000):
        count += 1
        # As at an arrival after `count` - 1 packets without a drop.
        lead = (count - 1) * p if spacing == "1993" else count * p
        chance = p / (1 - lead) if spacing == "1993" else (0 if lead < 1 else p / (2 - lead) if lead < 2 else 1)
        if draw < chance:
            gaps.append(count)
            count = 0
    assert gap[0] <= min(gaps) <= max(gaps) <= gap[1]
    assert measures.dropped_at(p, spacing) == pytest.approx(1 / np.mean(gaps), rel=0.04)
    assert measures.dropped_at(p, "none") == p


def test_udp_is_a_tenth_of_the_link_however_it_is_split() -> None:
    def offered(count: int, rate: str, on: str, off: str) -> float:
        peak, unit = rate.split()
        sends = float(on.removesuffix(" ms"))
        silent = float(off.removeprefix("uniform(0 s, ").removesuffix(" ms)")) / 2
        assert float(peak) * {"kbit/s": 1.0, "Mbit/s": 1000.0}[unit] * sends == 8000  # one packet of 1000 B
        return count * 8.0 / (sends + silent)

    for name in ("mixed", "simulation"):
        udp = next(entry for entry in Scenario.load(f"impact/{name}").resolved["traffic"] if entry["name"] == "udp")
        assert offered(udp["count"], udp["rate"], udp["on"], udp["off"]) == pytest.approx(1.0)
    split = EXPERIMENTS["split"].vary
    keys = ("traffic.udp.count", "traffic.udp.rate", "traffic.udp.on", "traffic.udp.off")
    for count, rate, on, off in zip(*(split[key] for key in keys), strict=True):
        assert offered(int(str(count)), str(rate), str(on), str(off)) == pytest.approx(1.0)


def test_the_model_is_that_of_the_theory_pages() -> None:
    tail_drop, error = theory.modelled(TD, theory.FLOWS, quick=True)
    assert not error.any()
    assert tail_drop[[1, 5]] == pytest.approx([0.2214, 5.32e-4], rel=2e-3)
    assert theory.modelled(HERO, 1, quick=True)[0][5] == pytest.approx(4.48e-4, rel=2e-3)
    red, scatter = theory.modelled(RED, theory.FLOWS, quick=True)
    assert abs(red[5] - 0.00669) < 4 * scatter[5]
    ten = theory.in_model("x", RED, TD, 6, theory.FLOWS, quick=True, least=0.5)
    assert ten.outcome == Outcome.HOLDS
    assert ten.value == pytest.approx(math.log10(red[5] / tail_drop[5]))
    assert (ten.ci95 or 0) > 0


def test_orders_of_magnitude_have_an_interval_that_covers_the_truth() -> None:
    random = np.random.default_rng(1)
    runs, chance, other = 20_000, 1e-3, 1e-4
    inside = 0
    for _ in range(400):
        some, less = (np.zeros(measures.LONGEST) for _ in range(2))
        for counts, p in ((some, chance), (less, other)):
            counts[5] = random.binomial(runs, p)
            counts[0] = runs - counts[5]
        found = measures.orders("x", some, less, 6, least=0)
        inside += abs(found.value - 1) <= (found.ci95 or 0)
    assert 0.92 < inside / 400 < 0.99
    nothing = np.zeros(measures.LONGEST)
    assert measures.orders("x", nothing, nothing, 6, least=0).outcome == Outcome.OPEN


def test_the_experiments_have_the_paper_s_sources_and_delays() -> None:
    def sources(name: str) -> list[int]:
        vary = EXPERIMENTS[name].vary
        kinds = [vary[f"traffic.{kind}.count"] for kind in ("ftp", "gif", "text")]
        return [sum(map(int, point)) for point in zip(*kinds, strict=True)]

    assert sources("tcp") == [256, 128, 64, 32, 16]
    assert sources("mixed") == [400, 200, 200]
    for name in ("tcp", "mixed"):
        dumbbell = Scenario.load(f"impact/{name}").resolved["dumbbell"]
        other = sum(float(delay.split()[0]) for delay in (dumbbell["delay"], *dumbbell["receiver_delay"]))
        round_trips = [2 * (float(delay.split()[0]) + other) for delay in dumbbell["sender_delay"]]
        assert (min(round_trips), max(round_trips)) == (10, 200)
        assert np.diff(round_trips) == pytest.approx(190 / 7, abs=2)


def test_the_disciplines_are_where_the_design_space_has_them() -> None:
    table = next(item for item in PAPER.items if item.name == "table1")
    frame = findings.drawn(table, Evidence({}, PAPER.hero, quick=True)).frame
    for what in ("queue size", "dropping function"):
        assert frame[f"{what} (paper)"].to_list() == frame[what].to_list()
    assert frame["mechanism"].to_list()[:3] == [TD, RED, APPROXIMATED]

"""Against ns-2.35: experiment 1 of the LRED paper, whose stored runs stand beside the repository."""

import csv
from pathlib import Path

import pytest

import aqmlab

REFERENCE = Path(__file__).parents[2] / "shared" / "oracle" / "ns2" / "reference.csv"

# Both simulators run three seeds. What is left between them is chance and the order of simultaneous events;
# the queue is held to a share of the buffer of 200 packets, the ratios to a share of themselves.
QUEUE, RATIO = 0.03 * 200, 0.05

# DropTail and REM of ns-2 test after they have put the packet in, so they hold one packet less.
CASES = {"DropTail": ("droptail", 199), "PI": ("pi:q_ref=100", 200), "REM": ("rem:b_star=100,form=ns2", 199)}


def reference(name: str) -> dict[str, float]:
    with REFERENCE.open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["name"] == name)
    return {key: float(row[key]) for key in ("q_mean", "loss", "goodput", "util")}


@pytest.mark.oracle
@pytest.mark.skipif(not REFERENCE.is_file(), reason="the stored ns-2 runs are not beside the repository")
@pytest.mark.parametrize("flows", [100, 800])
@pytest.mark.parametrize("discipline", CASES)
def test_experiment_1_agrees_with_ns2(discipline: str, flows: int) -> None:
    spec, buffer = CASES[discipline]
    scenario = aqmlab.Scenario.load("lred/exp1").with_(
        {"traffic.long.count": flows, "dumbbell.buffer": f"{buffer} packets"}, aqm=spec
    )
    ours, ns2 = aqmlab.run(scenario, seeds=3).metrics, reference(f"exp1_{discipline}_N{flows}")
    assert ours["queue_mean"] == pytest.approx(ns2["q_mean"], abs=QUEUE)
    assert ours["loss_ratio"] == pytest.approx(ns2["loss"], rel=RATIO)
    assert ours["utilisation"] == pytest.approx(ns2["util"], rel=RATIO)
    # ns-2's goodput counts the 40 bytes of headers in each 500.
    assert ours["goodput"] == pytest.approx(ns2["goodput"] * 1e6 * 460 / 500, rel=RATIO)

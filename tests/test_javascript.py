"""The engine compiled to WebAssembly, run by node, has the results of the engine that Python calls, bit for bit.

`make javascript` builds the package; without it, nothing is compared.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from aqmlab import Scenario, _core
from aqmlab.scenario import shipped

NODE = shutil.which("node")
PACKAGE = ROOT / "js" / "dist" / "index.js"
SMALL_RUN = 1_500_000
"""Packets of the largest scenario that is compared."""

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed"),
    pytest.mark.skipif(not PACKAGE.exists(), reason="js/dist is missing: make javascript"),
]


def in_node(openings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(opening) + "\n" for opening in openings)
    command = [str(NODE), str(ROOT / "js" / "test" / "results.mjs")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [without_time(json.loads(line)) for line in done.stdout.splitlines()]


def in_python(scenario: Scenario, seed: int) -> dict[str, Any]:
    run = _core.Simulation(scenario.core, seed)
    run.advance(scenario.core.duration)
    return without_time(json.loads(run.results()))


def without_time(results: dict[str, Any]) -> dict[str, Any]:
    results.pop("seed", None)
    results.get("engine", {}).pop("cpu_seconds", None)
    return results


def small_scenarios() -> list[str]:
    names = []
    for name in shipped():
        scenario = Scenario.load(name)
        recorded = any(entry["kind"] == "trace" for entry in scenario.resolved["traffic"])
        if not recorded and scenario.core.packet_estimate < SMALL_RUN:
            names.append(name)
    return names


def test_every_small_scenario_has_the_same_results() -> None:
    names = small_scenarios()
    assert len(names) > 20
    for name, found in zip(names, in_node({"name": name, "seed": 3} for name in names), strict=True):
        assert found == in_python(Scenario.load(name), 3), name


def test_every_discipline_has_the_same_results() -> None:
    settings = {"duration": "20 s", "warmup": "5 s"}
    disciplines = [aqm["name"] for aqm in json.loads(_core.catalogue())["aqms"]]
    assert len(disciplines) >= 30
    openings = [{"name": "quickstart", "aqm": aqm, "set": settings, "seed": 1} for aqm in disciplines]
    for aqm, found in zip(disciplines, in_node(openings), strict=True):
        scenario = Scenario.load("quickstart").with_aqm(aqm)
        for path, value in settings.items():
            scenario = scenario.with_text(path, value)
        assert found == in_python(scenario, 1), aqm


def test_a_scenario_that_is_not_valid_has_the_message_of_the_command_line(tmp_path: Path) -> None:
    text = 'extends = "quickstart"\naqm.name = "codell"\n'
    [found] = in_node([{"text": text, "name": "mine.toml"}])
    with pytest.raises(_core.ScenarioError) as refused:
        Scenario.parse(text, "mine.toml").check()
    assert found == {"error": str(refused.value)}

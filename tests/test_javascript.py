"""The engine in WebAssembly has the results of the engine that Python calls, bit for bit: in node and in the page."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from conftest import ROOT

from aqmlab import Scenario, _core
from aqmlab.scenario import shipped

NODE = shutil.which("node")
BUILT = {
    "node": (ROOT / "js" / "dist" / "index.js", "make javascript"),
    "Chromium": (ROOT / "out" / "playground" / "index.html", "make playground"),
}
"""What a place needs, and the command that builds it."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SMALL_RUN = 1_500_000
"""Packets of the largest scenario that is compared."""

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed"),
]

RESULTS = {"node": ROOT / "js" / "test" / "results.mjs", "Chromium": ROOT / "playground" / "test" / "results.mjs"}

Place = Callable[[Iterable[Mapping[str, Any]]], list[dict[str, Any]]]


@pytest.fixture(params=list(BUILT))
def place(request: pytest.FixtureRequest) -> Place:
    """Run openings where JavaScript runs, and return their results."""
    file, command = BUILT[request.param]
    if not file.exists():
        pytest.skip(f"{file.relative_to(ROOT)} is missing: {command}")
    if request.param == "Chromium" and not ("CHROMIUM" in os.environ or any(map(shutil.which, BROWSERS))):
        pytest.skip("Chromium is not installed")

    def results(openings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        lines = "".join(json.dumps(opening) + "\n" for opening in openings)
        words = [str(NODE), str(RESULTS[request.param])]
        done = subprocess.run(words, input=lines, stdout=subprocess.PIPE, text=True, check=True)
        return [without_time(json.loads(line)) for line in done.stdout.splitlines()]

    return results


def in_python(scenario: Scenario, seed: int) -> dict[str, Any]:
    run = _core.Simulation(scenario._core, seed)
    run.advance(scenario._core.duration)
    return without_time(json.loads(run.results()))


def without_time(results: dict[str, Any]) -> dict[str, Any]:
    results.pop("seed", None)
    results.get("engine", {}).pop("cpu_seconds", None)
    return results


def small_scenarios() -> list[str]:
    names = []
    for name in shipped():
        scenario = Scenario.load(name)
        # A browser reads no recordings.
        recorded = '"file": "' in json.dumps(scenario.resolved)
        if not recorded and scenario._core.packet_estimate < SMALL_RUN:
            names.append(name)
    return names


def test_every_small_scenario_has_the_same_results(place: Place) -> None:
    names = small_scenarios()
    assert len(names) > 20
    for name, found in zip(names, place({"name": name, "seed": 3} for name in names), strict=True):
        assert found == in_python(Scenario.load(name), 3), name


def test_every_discipline_has_the_same_results(place: Place) -> None:
    settings = {"duration": "20 s", "warmup": "5 s"}
    disciplines = [aqm["name"] for aqm in json.loads(_core.catalogue())["aqms"]]
    assert len(disciplines) >= 30
    openings = [{"name": "quickstart", "aqm": aqm, "set": settings, "seed": 1} for aqm in disciplines]
    for aqm, found in zip(disciplines, place(openings), strict=True):
        scenario = Scenario.load("quickstart").with_(aqm=aqm)
        for path, value in settings.items():
            scenario = scenario._with_text(path, value)
        assert found == in_python(scenario, 1), aqm


def test_a_scenario_that_is_not_valid_has_the_message_of_the_command_line(place: Place) -> None:
    text = 'extends = "quickstart"\naqm.name = "codell"\n'
    [found] = place([{"text": text, "name": "mine.toml"}])
    with pytest.raises(_core.ScenarioError) as refused:
        Scenario.parse(text, "mine.toml").check()
    assert found == {"error": str(refused.value)}

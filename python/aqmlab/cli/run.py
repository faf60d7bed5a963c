"""The command ``aqmlab run``."""

from __future__ import annotations

from aqmlab.cli import options, replications, scenarios


def run(
    scenario: options.Scenario,
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: options.Out = None,
    check: options.Check = False,
    engine: options.Engine = "packet",
) -> None:
    """Simulate a scenario."""
    chosen = scenarios.changed(scenarios.seeded(scenario, seed, seeds), aqm, set_)
    replications.perform({chosen.aqm: chosen}, [engine], seeds, jobs, check, json, out, single=True)

"""One run in a separate process: reads the run from its argument, prints the measurements as a line of JSON.

It imports only the engine, which keeps the process small before the run; its growth is then the run's.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from aqmlab import _core
from aqmlab.scenario import Scenario


def peak_memory() -> int:
    """Return the peak resident memory of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage includes the parent's memory at the fork
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def main() -> None:
    """Run the scenario."""
    asked = json.loads(sys.argv[1])
    memory = peak_memory()
    start = time.process_time()
    scenario = Scenario.load(asked["scenario"])
    if asked["aqm"]:
        scenario = scenario.with_(aqm=asked["aqm"])
    scenario = scenario.with_(asked["settings"])
    if (algorithms := scenario._core.own_algorithms) and not asked["interpreted"]:
        from aqmlab.own.compiled import compiled
        from aqmlab.own.source import declared

        for one in algorithms:
            compiled(declared(*one))  # a process compiles a class once, whatever it runs
        start = time.process_time()
    simulation = _core.Simulation(scenario._core, scenario.seed, interpreted=asked["interpreted"])
    simulation.advance(0.0)  # the set-up
    ready = time.process_time()
    simulation.advance(scenario.duration)
    results = json.loads(simulation.results())
    done = time.process_time()
    took = {
        "packets": results["engine"]["packets"],
        "events": results["engine"]["events"],
        "loop": results["engine"]["cpu_seconds"],
        "whole": done - start,
        "set_up": ready - start,
        "memory": peak_memory() - memory,
        "estimate": scenario._memory,
        "lost": results["metrics"]["loss_ratio"],
    }
    print(json.dumps(took))


if __name__ == "__main__":
    main()

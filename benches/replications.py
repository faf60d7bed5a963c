"""Speed-up of replications on several cores: ``python benches/replications.py``, on an otherwise idle machine.

Runs 16 seeds of LRED experiment 1 with one job and with one per core, in turn, and prints the median ratio.
"""

from __future__ import annotations

import statistics
import time

import aqmlab
from aqmlab.execute.threads import cores

SEEDS, TIMES = 16, 5


def seconds(scenario: aqmlab.Scenario, jobs: int) -> float:
    """Time the seeds once."""
    began = time.perf_counter()
    aqmlab.run(scenario, seeds=SEEDS, jobs=jobs)
    return time.perf_counter() - began


def main() -> None:
    """Time both in turn, and print the ratio."""
    scenario = aqmlab.Scenario.load("lred/exp1").with_({"record.series": False})
    pairs = [(seconds(scenario, 1), seconds(scenario, cores())) for _ in range(TIMES)]
    ratios = [one / all_ for one, all_ in pairs]
    for (one, all_), ratio in zip(pairs, ratios, strict=True):
        print(f"1 job {one:6.2f} s   {cores()} jobs {all_:6.2f} s   {ratio:.2f} times")
    print(f"median: {statistics.median(ratios):.2f} times one core, of {cores()}")


if __name__ == "__main__":
    main()

"""A laboratory for Active Queue Management.

>>> import aqmlab
>>> scenario = aqmlab.Scenario.load("lred/exp1").with_(duration="20 s", warmup="2 s")
>>> result = aqmlab.run(scenario, seeds=3)                              # doctest: +SKIP
>>> result.summary["queue_mean"].mean, result.series                    # doctest: +SKIP
>>> aqmlab.compare(scenario, ["lred", "pi:q_ref=100"]).plot()           # doctest: +SKIP

Quantities are in seconds, bit/s, bytes, packets and fractions.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab._core import ScenarioError, __version__
    from aqmlab.analysis import Analysis, analyse
    from aqmlab.cluster import ClusterError
    from aqmlab.comparison import Comparison
    from aqmlab.fluid_engine import integrate as fluid
    from aqmlab.metrics import DISTRIBUTIONS, METRICS, Distribution, Metric
    from aqmlab.replication import Interrupted, RunFailed, compare, run
    from aqmlab.result import Result, Run
    from aqmlab.scenario import Scenario, catalogue, disciplines, schema, shipped
    from aqmlab.summary import Summary
    from aqmlab.sweeping import SweepInterrupted, sweep
    from aqmlab.sweeps import Sweep

__all__ = [
    "DISTRIBUTIONS",
    "METRICS",
    "Analysis",
    "ClusterError",
    "Comparison",
    "Distribution",
    "Interrupted",
    "Metric",
    "Result",
    "Run",
    "RunFailed",
    "Scenario",
    "ScenarioError",
    "Summary",
    "Sweep",
    "SweepInterrupted",
    "__version__",
    "analyse",
    "catalogue",
    "compare",
    "disciplines",
    "fluid",
    "run",
    "schema",
    "shipped",
    "sweep",
]

_HOME = {
    "_core": ("ScenarioError", "__version__"),
    "analysis": ("Analysis", "analyse"),
    "cluster": ("ClusterError",),
    "comparison": ("Comparison",),
    "metrics": ("DISTRIBUTIONS", "METRICS", "Distribution", "Metric"),
    "replication": ("Interrupted", "RunFailed", "compare", "run"),
    "result": ("Result", "Run"),
    "scenario": ("Scenario", "catalogue", "disciplines", "schema", "shipped"),
    "summary": ("Summary",),
    "sweeping": ("SweepInterrupted", "sweep"),
    "sweeps": ("Sweep",),
}


def __getattr__(name: str) -> object:
    # Nothing is imported before it is used (PEP 562): the command line starts in a tenth of a second.
    if name == "fluid":
        return import_module("aqmlab.fluid_engine").integrate
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"aqmlab.{module}"), name)
    raise AttributeError(f"module 'aqmlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

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
    from aqmlab.analysis.loop import Analysis, analyse
    from aqmlab.archive.container import ArchiveError
    from aqmlab.archive.seal import seal
    from aqmlab.archive.verify import verify
    from aqmlab.diffs.diff import Diff, diff
    from aqmlab.exchange.export import export
    from aqmlab.execute.cases import Interrupted, RunFailed
    from aqmlab.execute.caution import MachineWarning
    from aqmlab.execute.dask import ClusterError
    from aqmlab.execute.engine import EngineUnavailable
    from aqmlab.execute.fluid import fluid
    from aqmlab.execute.replication import compare, run
    from aqmlab.execute.until import NotReached
    from aqmlab.execute.warmup import NotSettled
    from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, ns, param, signal
    from aqmlab.own.running import AqmError
    from aqmlab.references.cite import Citations, cite
    from aqmlab.results.comparison import Comparison
    from aqmlab.results.metrics import DISTRIBUTIONS, METRICS, Distribution, Metric
    from aqmlab.results.result import Result, Run
    from aqmlab.results.summary import Summary
    from aqmlab.scenario import Scenario, catalogue, disciplines, schema, shipped
    from aqmlab.sweeps.result import Sweep
    from aqmlab.sweeps.runner import SweepInterrupted, sweep

__all__ = [
    "AQM",
    "DISTRIBUTIONS",
    "DROP",
    "MARK",
    "METRICS",
    "PASS",
    "Analysis",
    "AqmError",
    "ArchiveError",
    "Citations",
    "ClusterError",
    "Comparison",
    "Diff",
    "Distribution",
    "EngineUnavailable",
    "Interrupted",
    "MachineWarning",
    "Metric",
    "NotReached",
    "NotSettled",
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
    "cite",
    "compare",
    "diff",
    "disciplines",
    "export",
    "fluid",
    "ns",
    "param",
    "run",
    "schema",
    "seal",
    "shipped",
    "signal",
    "sweep",
    "verify",
]

_HOME = {
    "ScenarioError": "_core",
    "__version__": "_core",
    "ArchiveError": "archive.container",
    "seal": "archive.seal",
    "verify": "archive.verify",
    "Analysis": "analysis.loop",
    "analyse": "analysis.loop",
    "export": "exchange.export",
    "MachineWarning": "execute.caution",
    "Diff": "diffs.diff",
    "diff": "diffs.diff",
    "ClusterError": "execute.dask",
    "EngineUnavailable": "execute.engine",
    "Interrupted": "execute.cases",
    "RunFailed": "execute.cases",
    "compare": "execute.replication",
    "run": "execute.replication",
    "fluid": "execute.fluid",
    "AQM": "own.algorithm",
    "DROP": "own.algorithm",
    "MARK": "own.algorithm",
    "PASS": "own.algorithm",
    "ns": "own.algorithm",
    "param": "own.algorithm",
    "signal": "own.algorithm",
    "AqmError": "own.running",
    "NotReached": "execute.until",
    "NotSettled": "execute.warmup",
    "Citations": "references.cite",
    "cite": "references.cite",
    "Comparison": "results.comparison",
    "DISTRIBUTIONS": "results.metrics",
    "Distribution": "results.metrics",
    "METRICS": "results.metrics",
    "Metric": "results.metrics",
    "Result": "results.result",
    "Run": "results.result",
    "Summary": "results.summary",
    "Scenario": "scenario",
    "catalogue": "scenario",
    "disciplines": "scenario",
    "schema": "scenario",
    "shipped": "scenario",
    "Sweep": "sweeps.result",
    "SweepInterrupted": "sweeps.runner",
    "sweep": "sweeps.runner",
}


def __getattr__(name: str) -> object:
    # Names are imported when first used (PEP 562): the command line starts in a tenth of a second.
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab' has no attribute {name!r}")
    value = getattr(import_module(f"aqmlab.{_HOME[name]}"), name)
    globals()[name] = value  # a user's own queue discipline asks for some of them at every packet
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

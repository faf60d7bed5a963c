"""The clusters that `aqmlab.sweep` and the command line name."""

from __future__ import annotations

from aqmlab.execute.task import Executor

SLURM = "slurm"
"""The name that has workers started as jobs; a file of options may follow a colon."""


def executor(cluster: str) -> Executor:
    """Return an executor that uses a cluster; it connects when it is called.

    `cluster` is ``slurm``, ``slurm:NAME.toml``, the address of a Dask scheduler, or the path of the file that the
    scheduler wrote it to. Raise ClusterError if a package is not installed, ValueError if an option is not valid.
    """
    name, _, file = cluster.partition(":")
    if name == SLURM:
        from aqmlab.execute import slurm

        return slurm.executor(file)
    from aqmlab.execute import dask

    return dask.executor(cluster)

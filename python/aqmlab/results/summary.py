"""Statistics of a metric over several replications."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.results.student import quantile


@dataclass(frozen=True, slots=True)
class Summary:
    """One metric over several replications.

    Parameters
    ----------
    mean : float or None
        Mean of the replications that have a value; None if none has.
    std : float or None
        Standard deviation with n - 1; None for n < 2.
    ci95 : float or None
        Half the width of the 95 % confidence interval of the mean (Student's t); None for n < 2.
    n : int
        The number of replications that have a value.
    """

    mean: float | None
    std: float | None
    ci95: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Summary:
        """Summarise the values of one metric.

        Parameters
        ----------
        values : sequence of float or None
            One value per replication; None where the metric is not defined.

        Returns
        -------
        Summary
            Mean, standard deviation and confidence interval.
        """
        defined = [float(value) for value in values if value is not None]
        n = len(defined)
        if n == 0:
            return cls(None, None, None, 0)
        mean = math.fsum(defined) / n
        if n == 1:
            return cls(mean, None, None, 1)
        std = math.sqrt(math.fsum((value - mean) ** 2 for value in defined) / (n - 1))
        return cls(mean, std, quantile(0.95, n - 1) * std / math.sqrt(n), n)

    def document(self) -> dict[str, float | None]:
        """Return the summary as a dictionary for JSON.

        Returns
        -------
        dict
            ``mean``, ``std``, ``ci95`` and ``n``.
        """
        return {"mean": self.mean, "std": self.std, "ci95": self.ci95, "n": self.n}


def share(summary: Summary, runs: int) -> str:
    """Return `` (3 of 4)`` if only some of the runs have a value, an empty string if all or none have."""
    return f" ({summary.n} of {runs})" if 0 < summary.n < runs else ""

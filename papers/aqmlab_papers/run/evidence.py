"""Evidence: the runs of all experiments of a paper.

* names: those of some experiments.
"""

from collections.abc import Iterator, Mapping, Sequence

from aqmlab_papers.describe.claim import Claim
from aqmlab_papers.run.runs import Runs


class Evidence(Mapping[str, Runs]):
    """The runs of a paper's experiments, by their names.

    * runs: the runs of each experiment.
    * hero: the label of the discipline that the paper advocates.
    * quick: whether the points are the fewest that still judge the claims.
    """

    def __init__(self, runs: Mapping[str, Runs], hero: str, quick: bool) -> None:
        self._runs = dict(runs)
        self.hero = hero
        self.quick = quick

    def __getitem__(self, name: str) -> Runs:
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def has(self, names: Sequence[str]) -> bool:
        """Check whether experiments have all their runs: a subset could yield a different figure or verdict."""
        return all(name in self._runs and self._runs[name].whole for name in names)

    def suffices(self, claim: Claim) -> bool:
        """Check whether a ``claim`` can be judged.

        The experiments that it needs must be complete, and its optional ones complete or absent.
        """
        return self.has(claim.needs) and all(self[name].whole for name in claim.optional if name in self)

"""The runs of several studies: those that a store has and those to perform, each once however many studies have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from aqmlab.execute.task import Task
from aqmlab.runs.key_arrays import Flags, array, each, places
from aqmlab.runs.plan import Plan
from aqmlab.runs.store import Store

Errors = dict[tuple[bytes, str], str]
"""The reason of each failure, by the task's key and the name of its series."""


@dataclass(frozen=True)
class Stock:
    """The runs of each plan of a pool that are there, and those to perform for it.

    A run of a study with series is there if its series are. A run that several plans lack is performed for the first.
    """

    there: list[Flags]
    todo: list[Flags]

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return sum(int(flags.sum()) for flags in self.todo)


class Pool:
    """The runs of several studies. `keys` has those of all, sorted, each once."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = plans
        self.keys, ranks = np.unique(np.concatenate([plan.keys for plan in plans]), return_inverse=True)
        # The place in `keys` of each run of each plan.
        self._ranks = np.split(ranks, np.cumsum([len(plan.keys) for plan in plans])[:-1])

    def stock(self, store: Store, errors: Errors) -> Stock:
        """Return the runs that a store has, and those to perform, which are all others that have not failed."""
        stored = np.zeros(len(self.keys), bool)
        for keys in store.every_key():
            found = places(self.keys, keys)
            stored[found[found >= 0]] = True
        recorded: Set[str] = store.recorded() if any(plan.study.series for plan in self.plans) else frozenset()
        pending = ~stored
        pending[places(self.keys, array(b"".join(key for key, _ in errors)))] = False
        there = [stored[ranks] for ranks in self._ranks]
        todo = [np.zeros(len(ranks), bool) for ranks in self._ranks]
        taken: set[str] = set()
        # Runs with series also serve the studies without.
        for place in sorted(range(len(self.plans)), key=lambda place: not self.plans[place].study.series):
            plan, ranks = self.plans[place], self._ranks[place]
            wanted = pending[ranks]
            if plan.study.series:
                names = [plan.study.series_name(key) for key in each(plan.keys)]
                there[place] &= [name in recorded for name in names]
                wanted = ~there[place]
                wanted &= [(key, name) not in errors for key, name in zip(each(plan.keys), names, strict=True)]
            # A run may be there more than once: that of a discipline without the parameter that varies.
            chosen = np.flatnonzero(wanted)
            chosen = chosen[np.unique(ranks[chosen], return_index=True)[1]]
            if plan.study.series:
                chosen = np.array([one for one in chosen if names[one] not in taken], int)
                taken |= {names[one] for one in chosen}
            todo[place][chosen] = True
            pending[ranks[chosen]] = False
        return Stock(there, todo)

    def counts(self, stock: Stock, failed: Set[bytes]) -> tuple[int, Counter[bytes]]:
        """Count the runs without a task that have not failed, and the further tasks of those with several."""
        flagged = [ranks[flags] for ranks, flags in zip(self._ranks, stock.todo, strict=True)]
        times = np.bincount(np.concatenate(flagged), minlength=len(self.keys))
        busy = times > 0
        busy[places(self.keys, array(b"".join(failed)))] = True
        several = times > 1
        further = zip(each(self.keys[several]), (times[several] - 1).tolist(), strict=True)
        return len(self.keys) - int(busy.sum()), Counter(dict(further))

    def work(self, stock: Stock) -> float:
        """Return the work of the runs to perform; see `Engine.work`."""
        each_plan = zip(self.plans, stock.todo, strict=True)
        return sum(float(np.repeat(plan.costs, len(plan.study.seeds))[flags].sum()) for plan, flags in each_plan)

    def tasks(self, stock: Stock, here: bool) -> Iterator[Task]:
        """Yield a task for each run to perform, those with series first; `here` is that of `Plan.tasks`."""
        pairs = sorted(zip(self.plans, stock.todo, strict=True), key=lambda pair: not pair[0].study.series)
        for plan, flags in pairs:
            yield from plan.tasks(flags, here)

"""The race of all configurations of a link, over all loads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.advice import devices
from aqmlab.advice.answer import Advice, Standing, Verdict, verdict
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidate import DEFAULT, YOU, Candidate, yours
from aqmlab.advice.candidates import EXCLUDED, candidates
from aqmlab.advice.configuration import ETHERNET, AccessPoint, Configuration, Half
from aqmlab.advice.link import Link
from aqmlab.advice.queues import ROUTER
from aqmlab.advice.race import EACH, FIRST, MOST, Stopped, Verdicts, differences, judged
from aqmlab.advice.routers import ROUTERS, Lacking, Router
from aqmlab.advice.runs import Course, Rows, Runs
from aqmlab.advice.score import LOADS, Measure, gain, measures
from aqmlab.results.summary import Summary
from aqmlab.runs.until import OutOfTime
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    import polars

WITHIN = 90.0
"""Seconds that a race may take, unless the call sets another limit."""

EQUAL = math.log2(1.02)
"""Configurations whose scores differ by less than 2 % are equally good."""


class _Field:
    """The configurations of a race, their scenarios and their results."""

    def __init__(self, link: Link, every: bool, router: str | None = None) -> None:
        self.link = link
        self.router = ROUTERS[router] if router else None
        self.candidates: list[Candidate] = []
        self.courses: dict[tuple[str, str], Course] = {}
        self.left_out = {} if every else dict(EXCLUDED)
        if link.medium:
            self.left_out |= devices.EXCLUDED.get(link.medium.table, {})
        for one in candidates(link, every):
            try:
                _require_lines(one, link, self.router)
                own = {
                    (one.label, load): Course.of(f"{one.label}, {load}", link.scenario(load, one.queues))
                    for load in LOADS
                }
            except _core.ScenarioError as error:
                if one.label == DEFAULT:
                    raise
                self.left_out[one.label] = error.problems[0]["text"]
                continue
            except Lacking as lacking:
                elsewhere = self.router and one.kernel not in self.router.disciplines
                self.left_out[str(one.kernel) if elsewhere else one.label] = str(lacking)
                continue
            if one.label != DEFAULT and all(
                course.digest == self.courses[DEFAULT, load].digest for (_, load), course in own.items()
            ):
                self.left_out[one.label] = "it is your default"
                continue
            self.candidates.append(one)
            self.courses |= own
        if not any(yours(one) for one in self.candidates):
            raise BadLink("--router", f"{router}: it has no configuration for this link")
        shape = {load: self.courses[DEFAULT, load].scenario for load in LOADS}
        self._shape = {
            load: (one.duration, [entry["name"] for entry in one.resolved["traffic"]]) for load, one in shape.items()
        }
        self.seeds: list[int] = []
        self.measures: dict[str, list[dict[str, list[Measure]]]] = {one.label: [] for one in self.candidates}
        self.gains: dict[str, list[float]] = {one.label: [] for one in self.candidates}

    def take(self, rows: Rows, running: Sequence[str], seed: int) -> bool:
        """Take in the runs of a seed if all that are running have them; return whether they have."""
        keys = {(label, load): self.courses[label, load].key(seed) for label in running for load in LOADS}
        if any(key not in rows for key in keys.values()):
            return False
        for label in running:
            found = {load: measures(rows[keys[label, load]], *self._shape[load]) for load in LOADS}
            self.measures[label].append(found)
        for label in running:
            mine, present = self.measures[label][-1], self.measures[DEFAULT][-1]
            self.gains[label].append(math.fsum(gain(mine[load], present[load]) for load in LOADS) / len(LOADS))
        self.seeds.append(seed)
        return True

    def judged(self, running: Sequence[str]) -> tuple[list[str], tuple[str, ...], bool]:
        """Judge those that have not dropped out.

        Return those that drop out now, yours that are as good as the best of them, and whether the race is over.

        Each owner's are judged among themselves and beside the present queues, as no owner can choose for another. One
        that no owner has may drop out for any, but none drops out for it.
        """
        groups = {owner: self._of(owner, running) for owner in (YOU, *self._elsewhere())}
        found = {owner: judged(self.gains, group, EQUAL) for owner, group in groups.items()}
        worse = list(found[YOU].worse)
        for owner in self._elsewhere():
            worse += [one for one in found[owner].worse if one != DEFAULT]
        owned = {one for group in groups.values() for one in group}
        worse += [one for one in judged(self.gains, running, EQUAL).worse if one not in owned]
        over = all(self._decided(found[owner], group, worse) for owner, group in groups.items())
        return worse, found[YOU].equal, over

    def _decided(self, found: Verdicts, group: Sequence[str], worse: Sequence[str]) -> bool:
        """Return whether the best of an owner's is known, and what to do."""
        left = [one for one in group if one not in worse]
        gains = [Summary.of(self.gains[one]) for one in left if one != DEFAULT]
        best = max(gains, key=lambda gain: gain.mean or 0.0, default=None)
        decided = best is None or verdict(best, len(self.gains)) is not Verdict.UNDECIDED
        return decided and all(one in (found.best, DEFAULT) or one in found.equal for one in left)

    def _of(self, owner: str, labels: Sequence[str]) -> list[str]:
        """Return those of labels that an owner can have, or that the link has now."""
        having = {one.label for one in self.candidates if (yours(one) if owner == YOU else one.owner == owner)}
        return [one for one in labels if one in having | {DEFAULT}]

    def _elsewhere(self) -> list[str]:
        """Return the owners besides the asking user."""
        return list(dict.fromkeys(one.owner for one in self.candidates if one.owner and not yours(one)))

    def advice(self, rows: Rows, worse: Sequence[str], equal: Sequence[str], ended: str) -> Advice:
        """Return the advice of the seeds that were taken in."""
        best = judged(self.gains, self._of(YOU, [one for one in self.gains if one not in worse]), EQUAL).best
        standings = [
            Standing(
                one.label, one.kernel, self.gains[one.label], self.measures[one.label], one.label in worse, one.owner
            )
            for one in self.candidates
        ]
        behind = {one: math.fsum(differences(self.gains, best, one)) / len(own) for one, own in self.gains.items()}
        ranked = sorted(standings, key=lambda one: (one.label != best, behind[one.label]))
        ranked = [replace(one, worse=one.worse and behind[one.label] >= EQUAL) for one in ranked]
        near = tuple(one.label for one in ranked if yours(one) and one.label != best and behind[one.label] < EQUAL)
        scenarios = {place: course.scenario for place, course in self.courses.items()}
        configured = {
            one.label: _configuration(one, scenarios[one.label, _ANY]) for one in self.candidates if one.kernel
        }
        return Advice(
            self.link,
            ranked,
            near if equal or worse else (),
            self.left_out,
            ended,
            self._frame(rows),
            scenarios,
            configured,
            router=self.router,
        )

    def _frame(self, rows: Rows) -> polars.DataFrame:
        """Return the metrics of all runs: ``label``, ``load``, ``seed`` and those of `Result.frame`."""
        import polars

        table = [
            {"label": label, "load": load, **rows[course.key(seed)]}
            for (label, load), course in self.courses.items()
            for seed in self.seeds[: len(self.gains[label])]
        ]
        return polars.DataFrame(table, infer_schema_length=None)


def advise(
    link: Link,
    store: Path,
    within: float = WITHIN,
    most: int = MOST,
    jobs: int | None = None,
    every: bool = False,
    progress: Callable[[str, float], None] | None = None,
    router: str | None = None,
) -> Advice:
    """Race the configurations of a link until the best is known, for at most `within` seconds and `most` seeds.

    `store` is the folder of the finished runs, `jobs` the number of runs at a time; `every` adds the disciplines that
    no router has, and `router` is a name of `ROUTERS`, which leaves out the configurations that it lacks. `progress` is
    called with the state in words and the part of the time that has passed. Raise `Stopped` after Ctrl-C, if a run
    aborts, and if the time is over before the first seed is complete.
    """
    field = _Field(link, every, router)
    running = [one.label for one in field.candidates]
    first = len(running) * len(LOADS)
    state = ""
    runs = Runs(store, jobs, within, (lambda passed: progress(state, passed)) if progress else None)
    worse: list[str] = []
    equal: tuple[str, ...] = ()
    while True:
        count = min(len(field.seeds) + EACH if field.seeds else FIRST, most)
        state = f"{len(running)} of {len(field.candidates)} configurations, {count} seeds"
        seeds = range(len(field.seeds) + 1, count + 1)
        stopped = runs.perform(
            (field.courses[label, load], seed) for seed in seeds for label in running for load in LOADS
        )
        complete = [field.take(runs.rows, running, seed) for seed in seeds] if seeds else []
        if any(complete):
            dropped, equal, over = field.judged([one for one in running if one not in worse])
            worse += dropped
            running = [one for one in running if one not in worse or one == DEFAULT]
        if stopped and (not field.seeds or not isinstance(stopped, OutOfTime)):
            finished = field.advice(runs.rows, worse, equal, "early") if field.seeds else None
            raise Stopped(stopped, finished, (len(runs.rows), first))
        if stopped or over or len(field.seeds) >= most:
            reason = f"after {within:g} s" if stopped else "with the best known" if over else f"after {most} seeds"
            return field.advice(runs.rows, worse, equal, reason)


_ANY = next(iter(LOADS))
"""A load: all have the same queues."""


def configurations(link: Link, router: str | None = None) -> dict[str, Configuration]:
    """Return each configuration that a router can have on a link, by its label; without a router, Linux."""
    found = {}
    for one in candidates(link):
        if one.kernel:
            with suppress(_core.ScenarioError, Lacking):  # the race leaves it out too
                _require_lines(one, link, ROUTERS[router] if router else None)
                found[one.label] = _configuration(one, link.scenario(_ANY, one.queues))
    return found


def _require_lines(one: Candidate, link: Link, router: Router | None) -> None:
    """Raise `Lacking` if a router that is not Linux cannot have a configuration."""
    if router and one.queues.device is not None:
        raise Lacking(f"in a device of the link, not in {router.title}")
    if router and one.kernel:
        router.lines(_configuration(one, link.scenario(_ANY, one.queues)))


def _configuration(one: Candidate, scenario: Scenario) -> Configuration:
    assert one.kernel
    if one.queues.device is not None:
        table = next(entry for entry in scenario.resolved["wifi"] if entry["name"] == scenario.resolved["observe"])
        half = Half.of(one.kernel, table["aqm"], one.queues.down)
        return AccessPoint(one.kernel, half, half)
    router = next(link for link in scenario.resolved["link"] if link["name"] == ROUTER)
    framing = (scenario.resolved.get("dumbbell") or {}).get("framing", "")
    ppp = re.search(r"\bppp(oe|oa)-", framing)
    down, up = (
        Half.of(one.kernel, router[key], way, 0 if ppp else ETHERNET)
        for key, way in (("aqm", one.queues.down), ("reverse_aqm", one.queues.up))
    )
    return Configuration(one.kernel, down, up, f"{ppp[0]}wan" if ppp else "")

"""The answer of `aqmlab advise`: the configurations by rank, and what to do."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.advice.candidate import DEFAULT, YOU, yours
from aqmlab.advice.configuration import Configuration
from aqmlab.advice.link import Link
from aqmlab.advice.race import FEWEST, bound
from aqmlab.advice.routers import ROUTERS, Router
from aqmlab.advice.score import LOADS, VIDEO, Measure, gain
from aqmlab.files import write_text
from aqmlab.presenters import presented
from aqmlab.results.summary import Summary
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    import polars

ROUTER, SQM = "router.sh", "sqm"
"""The files of the configuration: the lines for a shell, and those of ``/etc/config/sqm``."""

FILES = (ROUTER, SQM, *(one.file for one in ROUTERS.values()))
"""All files of lines that there may be."""

WORTH = 0.05
"""The score of a configuration must certainly exceed 1 by this for it to be advised."""


class Verdict(enum.Enum):
    """What to do: use the best, keep the present queues, or spend more time, as the seeds do not decide."""

    USE = "use"
    KEEP = "keep"
    UNDECIDED = "undecided"


def verdict(found: Summary, runners: int) -> Verdict:
    """Return what to do, given the binary logarithm of the best score of a race with a number of runners."""
    if found.mean is None or found.n < FEWEST:
        return Verdict.UNDECIDED
    if found.mean - bound(found, runners) >= math.log2(1 + WORTH):
        return Verdict.USE
    return Verdict.KEEP if found.mean < math.log2(1 + WORTH) else Verdict.UNDECIDED


def helps(found: Summary, runners: int) -> Verdict:
    """Return whether a score is better by `WORTH` with the certainty of the race: USE; KEEP if it certainly is not."""
    if found.mean is None:
        return Verdict.UNDECIDED
    half, least = bound(found, runners), math.log2(1 + WORTH)
    if found.mean - half >= least:
        return Verdict.USE
    return Verdict.KEEP if found.mean + half < least else Verdict.UNDECIDED


@dataclass(frozen=True)
class Standing:
    """A configuration and its results.

    `gains` has the binary logarithm of the score of each seed, `runs` the measures of each seed by load. `kernel` and
    `owner` are those of the `Candidate`. `worse` is whether it has dropped out of the race.
    """

    label: str
    kernel: str | None
    gains: Sequence[float]
    runs: Sequence[Mapping[str, Sequence[Measure]]]
    worse: bool
    owner: str = ""

    @property
    def summary(self) -> Summary:
        """The binary logarithm of the score."""
        return Summary.of(self.gains)

    @property
    def score(self) -> float:
        """How many times better than the present queues."""
        return float(2 ** (self.summary.mean or 0.0))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the score, which is symmetric in its logarithm; None for a single seed."""
        found = self.summary
        if found.mean is None or found.ci95 is None:
            return None
        return float(2 ** (found.mean - found.ci95)), float(2 ** (found.mean + found.ci95))

    @cached_property
    def means(self) -> Mapping[str, Sequence[Measure]]:
        """The measures of each load, averaged over the seeds."""
        return {load: [_mean(one) for one in zip(*(run[load] for run in self.runs), strict=True)] for load in LOADS}

    def first(self, seeds: int) -> Standing:
        """Return the standing after the first seeds."""
        return replace(self, gains=self.gains[:seeds], runs=self.runs[:seeds])

    def worst(self, kind: str) -> float:
        """Return the longest mean time of a kind, ``calls`` or ``pages``, of all loads, in s."""
        return max(
            one.value for load in self.means.values() for one in load if one.kind == kind and one.entry not in VIDEO
        )

    def lost(self, video: bool = False) -> float:
        """Return the greatest fraction of packets that voice, or video, lost in a load."""
        measured = (one for load in self.means.values() for one in load)
        return max((one.lost for one in measured if (one.entry in VIDEO) == video), default=0.0)

    @property
    def late(self) -> float:
        """The longest mean delay of a video call of all loads, in s."""
        return max((one.value for load in self.means.values() for one in load if one.entry in VIDEO), default=0.0)

    def share(self, kind: str, present: Standing) -> float:
        """Return a goodput over that of the present queues: the geometric mean of the loads that have this kind.

        Both are of the seeds that this standing has.
        """
        present_means = present.first(len(self.runs)).means
        gains = [
            own.gain(other)
            for load, measured in self.means.items()
            for own, other in zip(measured, present_means[load], strict=True)
            if own.kind == kind
        ]
        return float(2 ** (math.fsum(gains) / len(gains)))

    def document(self, present: Standing) -> dict[str, Any]:
        """Return the standing as a dictionary for JSON, given that of the present queues."""
        present_means = present.first(len(self.runs)).means
        return {
            "kernel": self.kernel,
            "owner": YOU if yours(self) else self.owner,
            "score": self.score,
            "interval": self.interval,
            "seeds": len(self.gains),
            "worse": self.worse,
            "loads": {
                load: {
                    "score": 2 ** gain(measured, present_means[load]),
                    **{one.entry: {one.kind: one.value, "lost": one.lost} for one in measured},
                }
                for load, measured in self.means.items()
            },
        }


def _mean(each: Sequence[Measure]) -> Measure:
    value = math.fsum(one.value for one in each) / len(each)
    return Measure(each[0].entry, each[0].kind, value, math.fsum(one.lost for one in each) / len(each))


@dataclass(frozen=True)
class Advice:
    """The ranked configurations for a link.

    `standings` begins with the best, and ends with those that dropped out; the present queues are among them. `equal`
    has the labels of those that are as good as `leader`, `left_out` those that were not tried with the reason, `ended`
    how the race ended, and `frame` the metrics of all runs. `scenarios` has each scenario by the label of its
    configuration and its load.
    """

    link: Link
    standings: Sequence[Standing]
    equal: Sequence[str]
    left_out: Mapping[str, str]
    ended: str
    frame: polars.DataFrame
    scenarios: Mapping[tuple[str, str], Scenario]
    configurations: Mapping[str, Configuration]
    shown: str | None = None
    """The label of the configuration whose lines are wanted, in place of the best."""
    router: Router | None = None
    """The system that the lines are for, if it is not Linux."""

    def showing(self, label: str | None) -> Advice:
        """Return the advice with the lines of a configuration."""
        return replace(self, shown=label)

    @property
    def present(self) -> Standing:
        """The present queues."""
        return next(one for one in self.standings if one.label == DEFAULT)

    @property
    def leader(self) -> Standing:
        """The best of the present queues and those that the asking user can have."""
        return next(one for one in self.standings if yours(one) or one.label == DEFAULT)

    @property
    def best(self) -> Standing:
        """The best of those that the user can have besides the present queues; if all dropped out, the present lead."""
        return next(one for one in self.standings if yours(one) and one.label != DEFAULT)

    @property
    def elsewhere(self) -> Mapping[str, Standing]:
        """The best of those that others can set up, by their owner."""
        others = [one for one in self.standings if one.owner and not yours(one)]
        owners = dict.fromkeys(one.owner for one in others)
        return {
            owner: max((one for one in others if one.owner == owner), key=lambda one: (not one.worse, one.score))
            for owner in owners
        }

    @property
    def verdict(self) -> Verdict:
        """What to do."""
        return Verdict.KEEP if self.best.worse else verdict(self.best.summary, len(self.standings))

    @property
    def configuration(self) -> Configuration | None:
        """The lines that set up the one that was asked for, or the best; None if there is no reason to, or no lines."""
        if self.shown is not None:
            return self.configurations[self.shown]
        return None if self.verdict is Verdict.KEEP else self.configurations.get(self.best.label)

    def document(self) -> dict[str, Any]:
        """Return the advice as a dictionary for JSON."""
        return {
            "version": _core.__version__,
            "link": self.link.named,
            "users": self.link.users,
            "default": self.link.yours,
            "verdict": self.verdict.value,
            "best": self.best.label,
            "equal": list(self.equal),
            "ended": self.ended,
            "loads": dict(LOADS),
            "ranking": {one.label: one.document(self.present) for one in self.standings},
            "left_out": dict(self.left_out),
            "link_layer": self.link.layer,
            "router": self.router.name if self.router else "linux",
            "configuration": self.configuration.document() if self.configuration else None,
            "configurations": {label: one.document() for label, one in self.configurations.items()},
        }

    def save(self, folder: Path) -> list[str]:
        """Write the scenarios, and the configuration of the best if it is better; return the names of the files."""
        for (label, load), scenario in self.scenarios.items():
            file = folder / "scenarios" / load / f"{label.replace(' ', '_')}.toml"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, scenario.to_toml())
        written = self._files()
        for name in FILES:
            if text := written.get(name):
                write_text(folder / name, f"{text}\n")
            else:
                (folder / name).unlink(missing_ok=True)  # from earlier advice
        return ["scenarios/*/*.toml", *(name for name, text in written.items() if text)]

    def _files(self) -> dict[str, str | None]:
        """Return the files of the lines and what they have."""
        if not self.configuration:
            return {}
        if self.router:
            return {self.router.file: self.router.lines(self.configuration).text}
        return {ROUTER: self.configuration.tc, SQM: self.configuration.uci}

    def __repr__(self) -> str:
        return str(presented("advice.text", self))

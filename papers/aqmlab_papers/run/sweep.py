"""Run a paper: all its experiments as one sweep, in the paper's setting and in others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.progress import OnProgress, Progress
from aqmlab.runs.plan import Study
from aqmlab.runs.runner import run_all, stored
from aqmlab.runs.store import Store
from aqmlab.runs.study import study
from aqmlab.runs.swept import Failure
from aqmlab.scenario import Scenario, Settings
from aqmlab_papers.describe.calibration import Variant
from aqmlab_papers.describe.check import LOOKS
from aqmlab_papers.describe.claim import Claim
from aqmlab_papers.describe.paper import Aqms, Experiment, Item, Paper
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.runs import Cell, Runs

More = Mapping[str, Mapping[Cell, int]]
"""Larger numbers of seeds than those of a setting, by experiment and cell."""

FEW_SEEDS = 4
"""The most seeds for calibration, sensitivity table and later disciplines: each repeats the runs of a paper."""

CONTROL = "as chosen, fewest points"
"""The name of the paper's own setting with the seeds and points of the others, which are compared with it."""

SIMULATED = "simulated"
"""The name of the setting with the stored runs of the packet engine, beside those of another."""

CALIBRATION = "calibration: "
"""The beginning of the names of the settings that were tried for the calibration."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much of a paper to do.

    ``seeds`` is the number of seeds of each run, ``most_seeds`` that to which the runs of undecided claims go on.
    ``quick`` takes the fewest points that still judge each claim, and no variants. ``only`` names the figures and
    tables to make; all if empty. ``engine`` performs the runs: of another than the packet engine the paper is one from
    `Paper.on`.
    """

    seeds: int = 5
    most_seeds: int = 20
    quick: bool = False
    only: frozenset[str] = frozenset()
    engine: Engine = PACKETS

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Effort:
        """Return the effort whose `document` this is."""
        only, engine = frozenset(document["only"]), Engine.parse(document["engine"])
        return cls(**{**document, "only": only, "engine": engine})

    @property
    def looks(self) -> list[int]:
        """The numbers of seeds with which claims are judged, until each is decided: 5, 10, 20."""
        if self.quick or self.seeds < 2:
            return [self.seeds]
        return sorted({min(self.seeds * 2**look, max(self.seeds, self.most_seeds)) for look in range(LOOKS)})

    def document(self) -> dict[str, Any]:
        """Return the effort for JSON."""
        return asdict(self) | {"only": sorted(self.only), "engine": str(self.engine)}

    def items(self, paper: Paper) -> list[Item]:
        """Select the figures and tables to make; raise `ValueError` if the paper lacks one named in ``only``."""
        names = [item.name for item in paper.items]
        if strange := sorted(self.only.difference(names)):
            raise ValueError(f"{', '.join(strange)}: {paper.name} has {', '.join(names)}")
        return [item for item in paper.items if not self.only or item.name in self.only]

    def claims(self, paper: Paper) -> list[Claim]:
        """Select the claims to judge: all, or those that the selected figures and tables show."""
        return [claim for claim in paper.claims if not self.only or self.only.intersection(claim.shown)]


@dataclass(frozen=True)
class Setting:
    """A setting in which a paper's experiments are run.

    ``name`` is ``paper``, ``later``, `CONTROL`, the name of the variant, or that of a setting of the calibration.
    ``needs`` names the experiments. With ``later`` the paper's discipline is run with later ones in place of those of
    the paper. ``engine`` performs the runs.
    """

    name: str
    quick: bool
    seeds: int
    needs: frozenset[str]
    variant: Variant | None = None
    later: bool = False
    more: More = field(default_factory=dict)
    engine: Engine = PACKETS

    def studies(self, paper: Paper, experiment: Experiment) -> list[Study]:
        """List the studies of an experiment in this setting: with the seeds that all its cells have, then with more."""
        deep = self.more.get(experiment.name, {})
        wanted = self.study(paper, experiment, max(deep.values(), default=self.seeds))
        if wanted is None:
            return []
        cells = {
            (label, number): min(deep.get((label, number), self.seeds), len(wanted.seeds))
            for label in wanted.variants
            for number in range(len(wanted.design.points))
        }
        least = min(cells.values())
        further: dict[tuple[str, int], list[int]] = {}
        for (label, number), seeds in cells.items():
            if seeds > least:
                further.setdefault((label, seeds), []).append(number)
        return [replace(wanted, seeds=wanted.seeds[:least])] + [
            replace(
                wanted,
                variants={label: wanted.variants[label]},
                design=replace(wanted.design, points=[wanted.design.points[number] for number in numbers]),
                seeds=wanted.seeds[least:seeds],
                named=tuple(name for name in wanted.named if name == label),
            )
            for (label, seeds), numbers in further.items()
        ]

    def study(self, paper: Paper, experiment: Experiment, seeds: int | None = None) -> Study | None:
        """Return the study of all cells of an experiment in this setting, or None if the experiment has none."""
        aqms = experiment.aqms
        if self.later:
            if paper.hero not in aqms or not experiment.rivals:
                return None
            aqms = {paper.hero: aqms[paper.hero], **experiment.rivals}
        changed: Settings = {}
        if self.variant:
            if not experiment.varied:
                return None
            changed = self.variant.only.get(experiment.name, self.variant.settings)
            if not changed:
                return None
        base = Scenario.load(experiment.scenario)._base
        base = base.with_(spread(experiment.settings, base))
        vary = {**experiment.vary, **experiment.quick} if self.quick else experiment.vary
        seeds = seeds or self.seeds
        seeds = min(seeds, experiment.most_seeds or seeds)
        series = experiment.series
        changed = spread(changed, base)
        aqms = _spread_all(aqms, base)
        return study(base.with_(changed), vary, aqms, seeds, experiment.method, series=series, engine=self.engine)


def _spread_all(aqms: Aqms, base: Scenario) -> dict[str, str | Settings]:
    return {label: aqm if isinstance(aqm, str) else spread(aqm, base) for label, aqm in aqms.items()}


def spread(settings: Settings, base: Scenario) -> Settings:
    """Expand each path that begins with ``traffic.*`` to the traffic entries of a scenario that have such a key.

    ``traffic.*.tcp.min_rto`` applies to all entries with a ``tcp``. ``*.delay`` is expanded to all delays.
    """
    found: dict[str, Any] = {}
    for path, value in settings.items():
        if path == "*.delay" and isinstance(value, float):
            found |= _moved(base, value)
            continue
        head, star, rest = path.partition("traffic.*.")
        if head or not star:
            found[path] = value
            continue
        for entry in base.resolved["traffic"]:
            if rest.partition(".")[0] in entry:
                found[f"traffic.{entry['name']}.{rest}"] = value
    return found


def settings(paper: Paper, effort: Effort, more: More | None = None) -> list[Setting]:
    """List the settings in which to run a paper: its own, later disciplines, and unless quick variants and calibration.

    Verdicts of variants are compared with those of `CONTROL`, whose runs its own setting has as well. With ``only``, or
    on another engine, the paper's own setting is the only one; ``more`` is for it alone.
    """
    items, claims = effort.items(paper), effort.claims(paper)
    read = frozenset(name for item in items for name in item.needs)
    own = Setting("paper", effort.quick, effort.seeds, read | _read(claims), more=more or {}, engine=effort.engine)
    if effort.only or paper.simulated:
        return [own]
    few = min(FEW_SEEDS, effort.seeds)
    found = [own]
    if compared := _read(claim for claim in claims if claim.comparative):
        found.append(Setting("later", True, few, compared, later=True))
    if effort.quick:
        return found
    sensitive = _read(claim for claim in claims if claim.sensitive) if paper.variants else frozenset()
    tried = paper.calibration.tried if paper.calibration else ()
    printed = frozenset(one.experiment for one in paper.calibration.printed) if paper.calibration else frozenset()
    if sensitive | printed:
        found.append(Setting(CONTROL, True, few, sensitive | printed))
    found += [Setting(variant.name, True, few, sensitive, variant) for variant in paper.variants if sensitive]
    return found + [Setting(CALIBRATION + one.name, True, few, printed, one) for one in tried]


def _read(claims: Iterable[Claim]) -> frozenset[str]:
    return frozenset(name for claim in claims for name in claim.reads)


def _moved(base: Scenario, part: float) -> dict[str, Any]:
    """Return a law for each delay of a scenario that has one value, by which it differs by at most a ``part``."""

    def law(delay: str) -> str:
        number, _, unit = delay.partition(" ")
        if not number.replace(".", "", 1).isdigit():
            return delay
        low, high = (float(number) * (1 + sign * part) for sign in (-1, 1))
        return f"uniform({low:.9g} {unit}, {high:.9g} {unit})" if high else delay

    tables = {"dumbbell": base.resolved.get("dumbbell", {})}
    tables |= {
        f"{kind}.{one['name']}": one for kind in ("link", "wifi", "traffic") for one in base.resolved.get(kind, [])
    }
    found: dict[str, Any] = {}
    for name, table in tables.items():
        for key in ("delay", "sender_delay", "receiver_delay"):
            given = table.get(key, "auto")
            moved = [law(one) for one in given] if isinstance(given, list) else law(given)
            if moved != given:
                found[f"{name}.{key}"] = moved
    return found


def studies(paper: Paper, effort: Effort, more: More | None = None) -> list[tuple[Setting, str, Study]]:
    """List the studies of a paper, each with its setting and the name of its experiment; see `Setting.studies`.

    ``more`` is as for `settings`. Raises `ScenarioError` if a scenario is not valid, and `ValueError` if a requested
    figure does not exist or the varied values cannot be parsed.
    """
    found = []
    for setting in settings(paper, effort, more):
        for experiment in paper.experiments:
            if experiment.name in setting.needs:
                found += [(setting, experiment.name, one) for one in setting.studies(paper, experiment)]
    return found


@dataclass(frozen=True)
class Findings:
    """The runs of a paper.

    ``evidence`` has the runs by the name of the setting. On another engine, `SIMULATED` has the simulated runs that are
    in the store. ``wanted`` and ``done`` count a run shared by several experiments once. ``simulated`` counts the runs
    that were not in the store; there, a shared run counts in each experiment. ``more`` is as for `settings`. ``damage``
    is the number of unreadable runs by the file of the store that held them.
    """

    paper: Paper
    effort: Effort
    evidence: Mapping[str, Evidence]
    wanted: int
    done: int
    simulated: int
    failures: Sequence[Failure]
    interrupted: bool
    more: More = field(default_factory=dict)
    damage: Mapping[str, int] = field(default_factory=dict)

    @property
    def judging(self) -> Evidence:
        """The runs by which claims are judged, and figures drawn, in the paper's own setting.

        On another engine these are its runs, and the simulated ones of the experiments that the paper simulated too.
        """
        own = self.evidence["paper"]
        if self.paper.simulated is None:
            return own
        measured = self.paper.measured(self.effort.engine.name).experiments
        beside = {name: one for name, one in self.evidence[SIMULATED].items() if name not in measured}
        return Evidence({**beside, **own}, own.hero, own.quick)

    def after(self, earlier: Findings) -> Findings:
        """Return these findings with the earlier runs of experiments that lack some of their new ones."""
        own, before = self.evidence["paper"], earlier.evidence["paper"]
        runs = {name: one if one.whole else before.get(name, one) for name, one in own.items()}
        return replace(
            self,
            evidence={**self.evidence, "paper": Evidence(runs, own.hero, own.quick)},
            simulated=earlier.simulated + self.simulated,
        )


def run(
    paper: Paper,
    effort: Effort,
    store: Path,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: OnProgress | None = None,
    more: More | None = None,
) -> Findings:
    """Run the missing runs of a paper.

    ``more`` is as for `settings`. ``store``, ``jobs``, ``cluster`` and ``progress`` are as for `aqmlab.sweep`. After
    Ctrl-C the findings have the runs that were finished. Raises `ScenarioError` if a scenario is not valid,
    `ValueError` if a requested figure does not exist or the varied values cannot be parsed, and `ClusterError` if the
    cluster cannot do the runs.
    """
    last: Progress | None = None

    def noted(standing: Progress) -> None:
        nonlocal last
        last = standing
        if progress:
            progress(standing)

    asked = studies(paper, effort, more)
    sweeps = run_all([study for _, _, study in asked], store, jobs, cluster, progress=noted)
    kept = Store(store)
    found: dict[str, dict[str, Runs]] = {setting.name: {} for setting in settings(paper, effort)}
    made = zip(asked, sweeps, strict=True)
    for (setting, name), each in itertools.groupby(made, lambda one: (one[0][0].name, one[0][1])):
        ((_, _, wanted), sweep), *further = each
        found[setting][name] = Runs(wanted, sweep, kept, paper.hero, name, [one for _, one in further])
    quick = {setting.name: setting.quick for setting in settings(paper, effort)}
    if paper.simulated:
        found[SIMULATED] = _simulated(paper.simulated, effort, kept)
        quick[SIMULATED] = False
    done = len({key for sweep in sweeps for key in sweep.frame["key"]})
    failures = [failure for sweep in sweeps for failure in sweep.failures]
    return Findings(
        paper,
        effort,
        {name: Evidence(runs, paper.hero, quick[name]) for name, runs in found.items()},
        wanted=last.wanted if last else done,
        done=done,
        simulated=sum(sweep.simulated for sweep in sweeps),
        failures=failures,
        interrupted=any(sweep.interrupted for sweep in sweeps),
        more=more or {},
        damage={file: runs for sweep in sweeps for file, runs in sweep.damage.items()},
    )


_STORED_SEEDS = (20, 10, 5, 1)
"""The numbers of seeds with which the store may have the runs of the packet engine."""


def _simulated(paper: Paper, effort: Effort, store: Store) -> dict[str, Runs]:
    """Return the runs of the packet engine that the store has, of each experiment with the most seeds that are whole.

    They are those of the claims and figures of ``effort``; experiments without whole runs are left out.
    """
    items = {item.name for item in paper.items}
    own = Effort(only=effort.only & items)
    (setting, *_) = settings(paper, own)
    found = {}
    for experiment in paper.experiments:
        for seeds in _STORED_SEEDS if experiment.name in setting.needs else ():
            wanted = setting.study(paper, experiment, seeds)
            assert wanted  # of the paper's own setting each experiment has a study
            sweep = stored(wanted, store)
            if sweep.done == sweep.wanted:
                found[experiment.name] = Runs(wanted, sweep, store, paper.hero, experiment.name)
            if sweep.done in (0, sweep.wanted):
                break
    return found

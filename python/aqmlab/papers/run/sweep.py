"""Running a paper: all its experiments as one sweep, in the settings of the paper and in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.papers.describe.paper import Aqms, Claim, Experiment, Item, Paper, Variant
from aqmlab.papers.run.evidence import Evidence, Runs
from aqmlab.scenario import Scenario, Settings
from aqmlab.sweeps.result import Failure
from aqmlab.sweeps.runner import Progress, Standing, run_all
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Study, study

FEW_SEEDS = 3
"""How many seeds the sensitivity table and later disciplines have at most: each has the runs of a paper once more."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much to do.

    Parameters
    ----------
    seeds : int
        How many seeds.
    quick : bool
        Whether to take the fewest points that still judge each claim, and no variants.
    only : frozenset of str
        The names of the figures and tables to make; all if empty.
    """

    seeds: int = 5
    quick: bool = False
    only: frozenset[str] = frozenset()

    def items(self, paper: Paper) -> list[Item]:
        """Choose figures and tables.

        Parameters
        ----------
        paper : Paper
            Of this paper.

        Returns
        -------
        list of Figure or Table
            Those to make.

        Raises
        ------
        ValueError
            If one that is asked for is not there.
        """
        names = [item.name for item in paper.items]
        if strange := sorted(self.only.difference(names)):
            raise ValueError(f"{', '.join(strange)}: {paper.name} has {', '.join(names)}")
        return [item for item in paper.items if not self.only or item.name in self.only]

    def claims(self, paper: Paper) -> list[Claim]:
        """Choose claims.

        Parameters
        ----------
        paper : Paper
            Of this paper.

        Returns
        -------
        list of Claim
            Those to judge: all, or those that the chosen figures and tables show.
        """
        return [claim for claim in paper.claims if not self.only or self.only.intersection(claim.shown)]


@dataclass(frozen=True)
class Setting:
    """In what setting a paper's experiments are run.

    Parameters
    ----------
    name : str
        ``paper``, ``later``, or a variant's name.
    quick : bool
        Whether with few points.
    seeds : int
        With how many seeds.
    needs : frozenset of str
        Which experiments.
    variant : Variant or None
        What is changed.
    later : bool
        Whether the paper's discipline is beside later ones, instead of those of the paper.
    """

    name: str
    quick: bool
    seeds: int
    needs: frozenset[str]
    variant: Variant | None = None
    later: bool = False

    def study(self, paper: Paper, experiment: Experiment) -> Study | None:
        """Say what is to be run of an experiment.

        Parameters
        ----------
        paper : Paper
            The paper.
        experiment : Experiment
            The experiment.

        Returns
        -------
        Study or None
            What to run; none if it makes no sense in this setting.
        """
        aqms = experiment.aqms
        if self.later:
            if paper.hero not in aqms or not experiment.rivals:
                return None
            aqms = {paper.hero: aqms[paper.hero], **experiment.rivals}
        changed: Settings = {}
        if self.variant:
            changed = self.variant.only.get(experiment.name, self.variant.settings)
            if not changed:
                return None
        base = Scenario.load(experiment.scenario).base
        base = base.with_(spread(experiment.settings, base))
        vary = {**experiment.vary, **experiment.quick} if self.quick else experiment.vary
        seeds = min(self.seeds, experiment.most_seeds or self.seeds)
        series = experiment.series and self.name == "paper"
        changed = spread(changed, base)
        return study(base.with_(changed), vary, _spread_all(aqms, base), seeds, experiment.method, series=series)


def _spread_all(aqms: Aqms, base: Scenario) -> dict[str, str | Settings]:
    return {label: told if isinstance(told, str) else spread(told, base) for label, told in aqms.items()}


def spread(settings: Settings, base: Scenario) -> Settings:
    """Put every traffic entry that it may mean in the place of ``traffic.*``.

    Parameters
    ----------
    settings : mapping
        Values by dotted path; ``traffic.*.tcp.min_rto`` stands for that of all entries with a TCP.
    base : Scenario
        The scenario.

    Returns
    -------
    mapping
        The same, by the paths of this scenario.
    """
    found: dict[str, Any] = {}
    for path, value in settings.items():
        head, star, rest = path.partition("traffic.*.")
        if head or not star:
            found[path] = value
            continue
        for entry in base.resolved["traffic"]:
            if rest.partition(".")[0] in entry:
                found[f"traffic.{entry['name']}.{rest}"] = value
    return found


def settings(paper: Paper, effort: Effort) -> list[Setting]:
    """Say in which settings to run a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    effort : Effort
        How much to do.

    Returns
    -------
    list of Setting
        The paper's own; beside later disciplines; and its variants, unless it is to be quick.
    """
    items, claims = effort.items(paper), effort.claims(paper)
    needs = frozenset(name for one in (*items, *claims) for name in one.needs)
    found = [Setting("paper", effort.quick, effort.seeds, needs)]
    if effort.only:
        return found
    few = min(FEW_SEEDS, effort.seeds)
    compared = frozenset(name for claim in claims if claim.comparative for name in claim.needs)
    if compared:
        found.append(Setting("later", True, few, compared, later=True))
    sensitive = frozenset(name for claim in claims if claim.sensitive for name in claim.needs)
    if sensitive and not effort.quick:
        found += [Setting(variant.name, True, few, sensitive, variant) for variant in paper.variants]
    return found


def studies(paper: Paper, effort: Effort) -> list[tuple[Setting, str, Study]]:
    """Say what to run for a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    effort : Effort
        How much to do.

    Returns
    -------
    list of tuple
        The setting, the experiment's name, and what to run of it there.

    Raises
    ------
    ScenarioError
        If a scenario is not valid.
    ValueError
        If a figure is asked for that the paper does not have, or what varies cannot be read.
    """
    found = []
    for setting in settings(paper, effort):
        for experiment in paper.experiments:
            wanted = setting.study(paper, experiment) if experiment.name in setting.needs else None
            if wanted:
                found.append((setting, experiment.name, wanted))
    return found


@dataclass(frozen=True)
class Findings:
    """What was run for a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    effort : Effort
        How much was done.
    evidence : mapping
        By the setting's name.
    wanted : int
        How many runs were asked for; one that several experiments mean counts once.
    done : int
        How many there are, counted so.
    simulated : int
        How many were not in the store; one that several experiments mean counts in each.
    failures : sequence of Failure
        What could not be done.
    interrupted : bool
        Whether the user stopped it.
    damage : mapping
        How many runs could not be read, by the file of the store that they were in.
    """

    paper: Paper
    effort: Effort
    evidence: Mapping[str, Evidence]
    wanted: int
    done: int
    simulated: int
    failures: Sequence[Failure]
    interrupted: bool
    damage: Mapping[str, int] = field(default_factory=dict)


def run(
    paper: Paper,
    effort: Effort,
    store: Path,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Run what is missing of a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    effort : Effort
        How much to do.
    store : Path
        Where finished runs are kept.
    jobs : int
        As for `aqmlab.sweep`.
    cluster : str
        As for `aqmlab.sweep`.
    progress : callable
        As for `aqmlab.sweep`.

    Returns
    -------
    Findings
        What there is; if the user pressed Ctrl-C, what was finished.

    Raises
    ------
    ScenarioError
        If a scenario is not valid.
    ValueError
        If a figure is asked for that the paper does not have, or what varies cannot be read.
    ClusterError
        If the cluster cannot do the runs.
    """
    last: Standing | None = None

    def noted(standing: Standing) -> None:
        nonlocal last
        last = standing
        if progress:
            progress(standing)

    asked = studies(paper, effort)
    sweeps = run_all([one for _, _, one in asked], store, jobs, cluster, progress=noted)
    kept = Store(store)
    found: dict[str, dict[str, Runs]] = {setting.name: {} for setting in settings(paper, effort)}
    for (setting, name, wanted), sweep in zip(asked, sweeps, strict=True):
        found[setting.name][name] = Runs(wanted, sweep, kept, paper.hero)
    quick = {setting.name: setting.quick for setting in settings(paper, effort)}
    done = len({key for sweep in sweeps for key in sweep.frame["key"]})
    failures = [failure for sweep in sweeps for failure in sweep.failures]
    return Findings(
        paper,
        effort,
        {name: Evidence(own, paper.hero, quick[name]) for name, own in found.items()},
        wanted=last.wanted if last else done,
        done=done,
        simulated=sum(sweep.simulated for sweep in sweeps),
        failures=failures,
        interrupted=any(sweep.interrupted for sweep in sweeps),
        damage={file: runs for sweep in sweeps for file, runs in sweep.damage.items()},
    )

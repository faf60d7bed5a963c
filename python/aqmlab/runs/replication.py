"""Running scenarios: replications in parallel on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from aqmlab.execute.engine import PACKETS, Engine, different
from aqmlab.execute.glance import Glance
from aqmlab.execute.progress import OnProgress
from aqmlab.execute.variants import labelled, repeated, spelled_out, with_discipline
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import PACKET, Result
from aqmlab.runs.cases import Case, Interrupted, performed
from aqmlab.runs.seeds import seeds_on
from aqmlab.runs.stages import Until, reached
from aqmlab.runs.until import Looks
from aqmlab.runs.warmup import AUTO, PILOTS, replaced, settled
from aqmlab.scenario import Scenario, require_scenario


def run(
    scenario: Scenario,
    *,
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: OnProgress | None = None,
    check: bool = False,
    engine: str = PACKET,
    until: str | None = None,
    most_seeds: int | None = None,
    within: str | float | None = None,
    long_run: bool = False,
    warmup: str | None = None,
) -> Result:
    """Simulate a scenario, or let another engine perform it.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    seeds : int or iterable of int
        The number of replications, which have the seeds s, s + 1, … where s is the scenario's seed; or the seeds
        themselves. By default one run with the scenario's seed.
    jobs : int
        The number of runs at a time; by default the number of cores. An engine whose clock runs in real time has one.
    progress : callable
        Called from time to time, from the calling thread, with the `Progress`.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result. Only the packet engine can.
    engine : str
        The engine: ``packet``, ``fluid`` (one run, whatever the seeds) or ``linux``, with options as in
        ``linux:clock=real``.
    until : str
        Run until 95 % intervals are this narrow: ``goodput ±1 %, queue_delay_mean ±2 ms``, with ``+-`` or ``+/-`` in
        place of ``±`` if you like, and names as in `aqmlab.METRICS` or ``classes.NAME.METRIC`` and the like. `seeds` is
        then the least number of runs, 20 by default; their series are kept, and no others.
    most_seeds : int
        With `until`, the most runs, 1000 by default; for a long run, the most times the scenario's measured time.
    within : str or float
        With `until`, a limit on the time that the runs take: ``2 min``, or a number of seconds.
    long_run : bool
        With `until`, make one long run in place of many, and take its intervals from batch means.
    warmup : str
        ``auto`` for the warm-up that MSER-5 finds in five pilot runs; by default that of the scenario.

    Returns
    -------
    Result
        Metrics and series.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or the engine cannot perform it.
    ValueError
        If there is no such engine or option.
    EngineUnavailable
        If this machine lacks what the engine needs.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    NotReached
        If a limit is reached before the intervals are as narrow as `until` asks; it carries the finished runs.
    NotSettled
        If a run is too short to find the end of its warm-up.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    scenario = replaced(scenario, warmup)
    label = scenario.aqm
    asked = Until.of(until, seeds, most_seeds, within, long_run)
    engines = [Engine.parse(engine)]
    return compare_scenarios({label: scenario}, seeds, jobs, progress, check, engines, until=asked, warmup=warmup)[
        label
    ]


def compare(
    scenario: Scenario,
    *,
    aqms: Iterable[str] | None = None,
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: OnProgress | None = None,
    check: bool = False,
    engines: Sequence[str] = (PACKET,),
    until: str | None = None,
    most_seeds: int | None = None,
    within: str | float | None = None,
    long_run: bool = False,
    warmup: str | None = None,
) -> Comparison:
    """Simulate a scenario with several queue disciplines, on one engine or several.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    aqms : iterable of str
        The disciplines, each ``name`` or ``name:key=value,key=value``; these strings label the results. ``all`` stands
        for every name in `aqmlab.disciplines`. ``kernel:words`` is a discipline of Linux in tc's words, which only the
        linux engine performs. By default, with several engines, that of the scenario.
    seeds : int or iterable of int
        As for `run`; all disciplines have the same seeds.
    jobs : int
        As for `run`.
    progress : callable
        Called from time to time, from the calling thread, with the `Progress`.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result. Only the packet engine can.
    engines : sequence of str
        The engines, each as for `run`. If there are several, they follow the disciplines in the labels, as in
        ``lred, fluid``, and `Comparison.differences` compares them.
    until : str
        As for `run`; each discipline stops when its own intervals are narrow.
    most_seeds : int
        As for `run`, for each discipline.
    within : str or float
        As for `run`, for all disciplines together.
    long_run : bool
        As for `run`, one for each discipline.
    warmup : str
        As for `run`; the longest of all disciplines and engines is the warm-up of all.

    Returns
    -------
    Comparison
        A result for each discipline and engine.

    Raises
    ------
    ScenarioError
        If the scenario is not valid with one of the disciplines, or an engine cannot perform it.
    ValueError
        If there is nothing to compare, or there is no such engine or option.
    EngineUnavailable
        If this machine lacks what an engine needs.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    NotReached
        If a limit is reached before the intervals are as narrow as `until` asks; it carries the finished runs.
    NotSettled
        If a run is too short to find the end of its warm-up.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    scenario = replaced(scenario, warmup)
    chosen = different(engines)
    if aqms is None and len(chosen) == 1:
        raise ValueError("nothing to compare: give aqms, or several engines")
    specs = None if aqms is None else spelled_out(aqms)
    variants = {scenario.aqm: scenario} if specs is None else {spec: with_discipline(scenario, spec) for spec in specs}
    asked = Until.of(until, seeds, most_seeds, within, long_run)
    return compare_scenarios(variants, seeds, jobs, progress, check, chosen, until=asked, warmup=warmup)


def compare_scenarios(
    scenarios: Mapping[str, Scenario],
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: OnProgress | None = None,
    check: bool = False,
    engines: Sequence[Engine] = (PACKETS,),
    on_glance: Callable[[Glance], None] | None = None,
    fates: Path | None = None,
    until: Until | None = None,
    warmup: str | None = None,
    on_look: Callable[[Looks], None] | None = None,
) -> Comparison:
    """Simulate several scenarios, by label, on several engines as `labelled` combines them.

    The other arguments are those of `run`; `until` has those of its name. `on_glance` and `fates` are those of
    `performed`, and `on_look` is that of `aqmlab.runs.until.reach`.
    """
    if not scenarios:
        raise ValueError("nothing to simulate")
    scenarios = {label: scenario._reloaded() for label, scenario in scenarios.items()}
    combined = labelled(scenarios, engines)
    for scenario, engine in combined.values():
        engine.check(scenario)
    if check and (other := next((engine for engine in engines if engine != PACKETS), None)):
        raise ValueError(f"check = True: the {other.name} engine does not account for packets; omit it")
    if same := repeated(scenarios):
        raise ValueError(f"{same[0]} and {same[1]} are the same")
    if isinstance(seeds, Iterable):
        seeds = list(seeds)  # each scenario iterates over them
    if warmup is not None:
        combined = labelled(_settled(scenarios, engines, jobs, warmup), engines)
    if until:
        finished, stopped = reached(until, combined, jobs, progress, check, on_glance, fates, on_look)
    else:
        cases = {
            label: Case(scenario, engine, seeds_on(engine, scenario, seeds))
            for label, (scenario, engine) in combined.items()
        }
        finished, stopped = performed(cases, jobs, progress, check, on_glance, fates)
    if stopped:
        raise stopped
    return finished


def _settled(
    scenarios: Mapping[str, Scenario], engines: Sequence[Engine], jobs: int | None, warmup: str
) -> dict[str, Scenario]:
    """Return the scenarios with the warm-up that the slowest of them needs on the slowest engine."""
    if warmup != AUTO:
        raise ValueError(f"warmup = {warmup!r}: must be {AUTO!r}; a time is a key of the scenario")

    def perform(pilots: Mapping[str, Scenario]) -> Comparison:
        cases = {
            label: Case(scenario, engine, seeds_on(engine, scenario, PILOTS))
            for label, (scenario, engine) in labelled(pilots, engines).items()
        }
        finished, stopped = performed(cases, jobs)
        if isinstance(stopped, Interrupted):
            raise Interrupted(Comparison({}), sum(len(case.seeds) for case in cases.values()))
        if stopped:
            raise stopped
        return finished

    return settled(scenarios, perform)

"""What a finding costs: simulations of the queue that is there and of the mended one, over the same seeds.

The link is as given; the load is that of `aqmlab advise` with calls while both directions are full, and the other
direction has the queue that `aqmlab advise` starts with, CAKE at 95 % of its rate. All else that was found in the
direction is mended in both, as far as that changes the same discipline: the cost is that of one fault.

The delay is the 95th percentile of the one-way delays of voice calls in the finding's direction, the goodput that of
the transfers in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from aqmlab import _core
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidates import candidates
from aqmlab.advice.link import Link
from aqmlab.advice.queues import LAN, Direction, Queues
from aqmlab.advice.runs import Course, Runs, RunsFailed
from aqmlab.audit.findings import Change, Cost, Finding, Queue
from aqmlab.audit.router import OTHER, Router
from aqmlab.foreign.disciplines import NoCounterpart, discipline
from aqmlab.results.summary import Summary

LOAD = "calls"
CAKES = ("cake", "cake_mq")
SEEDS = 5
RTT = "40ms"
"""The round trip where --rtt does not tell."""

NO_MODEL = "not simulated: it depends on devices or traffic that the simulation does not have"

ENTRIES = {"down": ("call", "downloads"), "up": ("call-up", "uploads")}
"""The traffic whose delay, and whose goodput, count in a direction."""


def costed(
    findings: Sequence[Finding],
    router: Router,
    store: Path,
    seeds: int = SEEDS,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[list[Finding], BaseException | None]:
    """Return findings with their costs, and the reason if not all could be had.

    Parameters
    ----------
    findings : sequence of Finding
        Those without a change stay as they are.
    router : Router
        The router, with its link.
    store : path
        The folder of the runs.
    seeds : int
        The number of seeds.
    jobs : int, optional
        The number of simultaneous runs.
    progress : callable, optional
        Called with the part of the findings that is done.

    Returns
    -------
    list of Finding
        In the same order; the last ones are as before if something stopped the simulations.
    RunsFailed or KeyboardInterrupt or None
        That: a run that aborted, or Ctrl-C.
    """
    runs = Runs(store, jobs)
    found = []
    for place, one in enumerate(findings):
        if progress:
            progress(place / len(findings))
        if one.change is None:
            found.append(one.costing(NO_MODEL, ()))
            continue
        rest = [
            each.change for each in findings if each is not one and each.change and each.change.way == one.change.way
        ]
        try:
            cost, assumed = _cost(_alone(one.change, rest), router, runs, seeds)
        except (BadLink, NoCounterpart, _core.ScenarioError) as error:
            cost, assumed = f"not simulated: {str(error).splitlines()[0]}", ()
        except (KeyboardInterrupt, RunsFailed) as reason:
            return [*found, *findings[place:]], reason
        found.append(one.costing(cost, assumed))
    return found, None


def _alone(change: Change, rest: Sequence[Change]) -> Change:
    """Return a change on top of the other changes of its direction: what one fault costs where it is the only one."""
    if change.mended is None or any(each.mended is None for each in rest):
        return change
    present, mended = change.present, change.mended
    for each in rest:
        assert each.mended
        if each.present.kind != present.kind or each.mended.kind != mended.kind:
            continue
        rate, framing = each.mended.rate, each.mended.framing
        moved = rate if rate != each.present.rate else None, framing if framing != each.present.framing else None
        differing = {
            name: each.mended.options.get(name)
            for name in {*each.present.options, *each.mended.options}
            if each.present.options.get(name) != each.mended.options.get(name)
        }
        own = {
            name: value
            for name, value in differing.items()
            if change.present.options.get(name) == change.mended.options.get(name)
        }
        present, mended = (
            replace(
                queue,
                rate=queue.rate if moved[0] is None or change.present.rate != change.mended.rate else moved[0],
                framing=queue.framing
                if moved[1] is None or change.present.framing != change.mended.framing
                else moved[1],
                options={name: value for name, value in {**queue.options, **own}.items() if value is not None},
            )
            for queue in (present, mended)
        )
    return replace(change, present=present, mended=mended)


def _cost(change: Change, router: Router, runs: Runs, seeds: int) -> tuple[Cost | str, tuple[str, ...]]:
    way = change.way
    own, said = router.link_rate(way)
    if own is None:
        return f"not simulated: the link's rate {way} is not known: give --{way}", ()
    other, more = router.link_rate(OTHER[way])
    assumed = [*said, *more]
    if other is None:
        other = own
        assumed.append(f"the link is as fast {OTHER[way]}: give --{OTHER[way]}")
    trip = router.given.rtt
    if trip is None:
        assumed.append(f"round trips of {RTT}: give --rtt")
    rates = {way: own, OTHER[way]: other}
    link = Link.given(
        f"{rates['down']:.0f}bit",
        f"{rates['up']:.0f}bit",
        f"{(router.given.shortest or trip) * 1e6:.0f}us-{trip * 1e6:.0f}us" if trip else RTT,
        "home",
        router.given.layer,
    )
    # A link has one framing, so that a shaper without CAKE's stands on both ends.
    caked = change.present.rate is None or change.present.kind in CAKES or change.mended is None
    best = next(each.queues for each in candidates(link) if each.label == ("cake" if caked else "fq_codel"))
    courses = []
    for queue in (change.present, change.mended):
        own_way, other_way = _direction(queue) if queue else getattr(best, way), getattr(best, OTHER[way])
        if not caked:
            other_way = replace(other_way, framing=own_way.framing)
        scenario = link.scenario(LOAD, Queues(**{way: own_way, OTHER[way]: other_way}))
        if change.marked:
            scenario = scenario.with_({f"traffic.{bulk}.tcp.ecn": True for _, bulk in ENTRIES.values()})
        courses.append(Course.of(f"{way} {queue.kind if queue else 'cake'}", scenario))
    stopped = runs.perform((course, seed) for seed in range(1, seeds + 1) for course in courses)
    if stopped is not None:
        raise stopped
    call, bulk = ENTRIES[way]
    measured = [
        [[runs.rows[course.key(seed)].get(f"classes.{name}") for seed in range(1, seeds + 1)] for course in courses]
        for name in (f"{call}.delay_p95", f"{bulk}.goodput")
    ]
    delay, goodput = (_summaries(present, mended) for present, mended in measured)
    return Cost(way, seeds, delay, goodput, link.named), tuple(assumed)


def _summaries(present: Sequence[float | None], mended: Sequence[float | None]) -> tuple[Summary, Summary, Summary]:
    pairs = zip(present, mended, strict=True)
    differences = [None if one is None or other is None else one - other for one, other in pairs]
    return Summary.of(present), Summary.of(mended), Summary.of(differences)


def _direction(queue: Queue) -> Direction:
    """Return a queue as a direction of a scenario's link."""
    options = {name: value for name, value in queue.options.items() if name != "limit" or value}
    rate = LAN if queue.rate is None else queue.rate
    if queue.kind in CAKES and queue.rate is not None:
        options["bandwidth"] = queue.rate
    made = discipline(queue.kind, options, queue.shown)
    return Direction(made.aqm, made.buffer, rate, queue.framing)

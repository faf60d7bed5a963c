"""Claims on the future work that the authors list: marks instead of drops, fractional Gaussian noise, priorities."""

from __future__ import annotations

import math

from aqmlab.library.lred.measures import CLASSES, DROPS, EQUAL, FLOWS, HURST, MARKS, PI_MARKS, Q0, WEIGHTS, off_target
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import difference

_NOTHING = 0.1
"""The ratio that counts as no loss (%): one packet in a thousand."""


def _near(effect: str, values: list[float | None]) -> Check:
    """Check that a mean queue is within a fifth of its target, the band of response times."""
    return Check.of(effect, values, unit="packets", least=0.8 * Q0, most=1.2 * Q0)


def _marks_are_lossless(evidence: Evidence) -> Judgement:
    """Check mean queue and loss ratio with marks, for each number of flows."""
    runs = evidence["marks"]
    checks = []
    for count in runs.points(FLOWS):
        at = {FLOWS: count}
        checks += [
            _near(f"mean queue, {count:g} flows", runs.values("queue_mean", MARKS, at)),
            Check.of(
                f"loss ratio, {count:g} flows",
                runs.values("loss_ratio", MARKS, at, scale=100),
                unit="%",
                most=_NOTHING,
            ),
        ]
    marked = ", ".join(
        f"{(runs.mean('mark_ratio', MARKS, {FLOWS: count}).mean or 0):.0%} with {count:g}"
        for count in runs.points(FLOWS)
    )
    return Judgement(
        checks,
        f"Marked are {marked} flows. A mark cannot bring a window below one segment, so N flows of round trip R send "
        "N / R segments whatever is marked; and SYNs and segments that are sent again must not be marked, so LRED "
        "drops them with its p.",
    )


def _marks_gain_goodput(evidence: Evidence) -> Judgement:
    """Compare goodput with marks and with drops."""
    runs = evidence["marks"]
    checks = [
        Check.of(
            f"goodput, marks minus drops, {count:g} flows",
            runs.differences("goodput", MARKS, DROPS, {FLOWS: count}, scale=1e-6),
            unit="Mbit/s",
            least=0,
        )
        for count in runs.points(FLOWS)
    ]
    again = [runs.mean("retransmits", label).mean or 0 for label in (DROPS, MARKS)]
    return Judgement(
        checks,
        "The link is busy either way; what is delivered twice makes the difference: "
        f"{again[0]:.0f} segments were sent again in a run with drops, {again[1]:.0f} with marks.",
    )


def _marks_respond(evidence: Evidence) -> Judgement:
    """Compare response times with marks, with drops, and of PI with marks."""
    runs = evidence["marks"]
    fill = runs.duration
    checks = []
    for count in runs.points(FLOWS):
        at = {FLOWS: count}
        late = runs.differences("response_time", MARKS, DROPS, at, fill)
        lead = runs.differences("response_time", PI_MARKS, MARKS, at, fill)
        checks += [
            Check.of(f"response time, marks minus drops, {count:g} flows", late, unit="s", most=5),
            Check.of(f"response time, PI minus LRED, both marks, {count:g} flows", lead, unit="s", least=1),
        ]
    return Judgement(
        checks,
        "As fast is taken as within 5 s, for which a queue has to stay near its target to count as settled, faster as "
        "by the second that it is averaged over; a queue that never settles has the run's length. The loss ratio that "
        "LRED measures has marks in it, so its loop is the same until windows of one segment answer no more.",
    )


def _marks_are_fair(evidence: Evidence) -> Judgement:
    """Compare Jain's index with marks and with drops."""
    runs = evidence["marks"]
    checks = [
        Check.of(
            f"Jain's index, marks minus drops, {count:g} flows",
            runs.differences("jain", MARKS, DROPS, {FLOWS: count}),
            least=0,
        )
        for count in runs.points(FLOWS)
    ]
    times = [runs.mean("timeouts", label).mean or 0 for label in (DROPS, MARKS)]
    return Judgement(
        checks,
        f"There are {times[0]:.0f} time-outs in a run with drops, {times[1]:.0f} with marks. Round trips from 30 to "
        "410 ms set flows apart, and a time-out, of 200 ms at least, costs those with a short one most, which evens "
        "them out: marks take that away. And who does time out sends again what must not be marked, and loses it with "
        "LRED's p.",
    )


def _fgn_target(evidence: Evidence) -> Judgement:
    """Check LRED's mean queue, and compare its distance from the target with that of the others."""
    runs = evidence["fgn"]
    checks = [
        _near(f"mean queue, H = {hurst:g}", runs.values("queue_mean", runs.hero, {HURST: hurst}))
        for hurst in runs.points(HURST)
    ]
    hero = off_target(runs, runs.hero)
    for other in runs.others:
        farther = difference(off_target(runs, other), hero)
        checks.append(Check.of(f"|mean queue - q0|, {other} minus {runs.hero}", farther, unit="packets", least=0))
    queues = ", ".join(f"{one} {runs.mean('queue_mean', one).mean:.0f}" for one in runs.labels)
    return Judgement(
        checks,
        f"Mean queues over all Hurst parameters (packets): {queues}. An integrator that has not arrived after the "
        "warm-up of 20 s is off target whatever the noise.",
    )


def _fgn_steadiest(evidence: Evidence) -> Judgement:
    """Compare queue deviations, over all Hurst parameters and at the highest."""
    runs = evidence["fgn"]
    longest = runs.points(HURST)[-1]
    places: list[tuple[str, At]] = [("all H", {}), (f"H = {longest:g}", {HURST: longest})]
    checks = [
        Check.of(
            f"queue deviation, {other} minus {runs.hero}, {place}",
            runs.differences("queue_mad", other, runs.hero, at),
            unit="packets",
            least=0,
        )
        for other in runs.others
        for place, at in places
    ]
    return Judgement(
        checks,
        "Paired differences of each seed. Noise moves the queue at once; beta sqrt(L) of LRED answers within the same "
        "round trip, and the more, the more is lost. A queue near the end of the buffer deviates less for want of "
        "room.",
    )


def _fgn_memory(evidence: Evidence) -> Judgement:
    """Compare LRED's advantage in deviation between the ends of the Hurst parameters."""
    runs = evidence["fgn"]
    points = runs.points(HURST)
    checks = []
    for other in runs.others:
        first, last = (
            runs.differences("queue_mad", other, runs.hero, {HURST: hurst}) for hurst in (points[0], points[-1])
        )
        growth = difference(last, first)
        checks.append(
            Check.of(
                f"growth of LRED's advantage in deviation over {other} from H = {points[0]:g} to {points[-1]:g}",
                growth,
                unit="packets",
                least=0,
            )
        )
    deviations = [runs.mean("queue_mad", runs.hero, {HURST: hurst}).mean or 0 for hurst in (points[0], points[-1])]
    return Judgement(
        checks,
        f"LRED's own deviation is {deviations[0]:.1f} packets at H = {points[0]:g} and {deviations[1]:.1f} at "
        f"{points[-1]:g}. With memory the load stays high or low for seconds: LRED's window is as long, and an "
        "integrator needs longer.",
    )


def _proportional(evidence: Evidence) -> Judgement:
    """Compare the loss ratios of the classes with their weights."""
    runs = evidence["priorities"]
    checks = []
    for label in runs.labels:
        if label == EQUAL:
            continue
        weights = WEIGHTS[label]
        best = runs.values("classes.first.loss_ratio", label)
        for name, weight in zip(CLASSES[1:], weights[1:], strict=True):
            losses = runs.values(f"classes.{name}.loss_ratio", label)
            ratios = [a / b * weights[0] / weight if a and b else None for a, b in zip(losses, best, strict=True)]
            checks.append(
                Check.of(
                    f"loss ratio of the {name} class over that of the first, over {weight}, weights {label}",
                    ratios,
                    least=0.9,
                    most=1.1,
                )
            )
    return Judgement(
        checks,
        "In proportion is taken as within 10 %. Each class's p is LRED's times its weight over the mean weight of "
        "what came in the window of 4 s; it is in proportion as long as none is clipped at 1 and the buffer has room.",
    )


def _neutral(evidence: Evidence) -> Judgement:
    """Compare mean queue and loss ratio of all classes together with those of equal weights."""
    runs = evidence["priorities"]
    checks, changes = [], []
    equal = runs.values("loss_ratio", EQUAL)
    for label in runs.labels:
        if label == EQUAL:
            continue
        losses = runs.values("loss_ratio", label)
        change = [100 * (a / b - 1) if a is not None and b else None for a, b in zip(losses, equal, strict=True)]
        checks += [
            _near(f"mean queue, weights {label}", runs.values("queue_mean", label)),
            Check.of(f"change of the loss ratio of all, weights {label}", change, unit="%", least=-10, most=10),
        ]
        roots = [math.sqrt(weight) for weight in WEIGHTS[label]]
        law = sum(roots) * sum(1 / root for root in roots) / len(roots) ** 2 - 1
        changes.append(f"{law:+.0%} and {_steepness(runs, label):.2f} with {label}")
    return Judgement(
        checks,
        "The queue's target does not know of classes, the loss ratio that holds it there does. Where all flows' rates "
        "fall as p^-a the loss of all together rises if a < 1 and falls if a > 1. The square-root law (a = 1/2) "
        f"would change it by, and between the first and the third class a was, {'; '.join(changes)}: time-outs make "
        "rates fall steeply where much is lost.",
    )


def _steepness(runs: Runs, label: str) -> float:
    """Return a of arrivals ~ p^-a between the first and the third class."""

    def mean(name: str, metric: str) -> float:
        return runs.mean(f"classes.{name}.{metric}", label).mean or math.nan

    arrivals = mean("first", "arrivals") / mean("third", "arrivals")
    return math.log(arrivals) / math.log(mean("third", "loss_ratio") / mean("first", "loss_ratio"))


_MARKS_WHERE = "Section 7 leaves marks instead of drops to the future"
_FGN_WHERE = "Section 6.2 leaves fractional Gaussian noise to the future"
_PRIORITIES_WHERE = "Section 7 leaves priorities to the future"

BEYOND = [
    Claim(
        name="marks-lossless",
        text="LRED that marks holds its target and loses nothing.",
        where=_MARKS_WHERE,
        judge=_marks_are_lossless,
        needs=["marks"],
        shown=["marks"],
        beyond=True,
    ),
    Claim(
        name="marks-goodput",
        text="LRED has more goodput with marks than with drops.",
        where=_MARKS_WHERE,
        judge=_marks_gain_goodput,
        needs=["marks"],
        shown=["marks"],
        beyond=True,
    ),
    Claim(
        name="marks-response",
        text="LRED responds as fast with marks as with drops, and faster than PI with marks.",
        where=_MARKS_WHERE,
        judge=_marks_respond,
        needs=["marks"],
        shown=["marks"],
        beyond=True,
    ),
    Claim(
        name="marks-fair",
        text="Marks make LRED no less fair to the flows.",
        where=_MARKS_WHERE,
        judge=_marks_are_fair,
        needs=["marks"],
        shown=["marks"],
        beyond=True,
    ),
    Claim(
        name="fgn-target",
        text="Beside fractional Gaussian noise LRED holds its target, whatever the Hurst parameter, and better than "
        "PI, PI* and REM.",
        where=_FGN_WHERE,
        judge=_fgn_target,
        needs=["fgn"],
        shown=["fgn"],
        beyond=True,
    ),
    Claim(
        name="fgn-steadiest",
        text="Beside fractional Gaussian noise LRED's queue deviates least.",
        where=_FGN_WHERE,
        judge=_fgn_steadiest,
        needs=["fgn"],
        shown=["fgn"],
        beyond=True,
    ),
    Claim(
        name="fgn-memory",
        text="The longer the noise's memory, the greater LRED's advantage.",
        where=_FGN_WHERE,
        judge=_fgn_memory,
        needs=["fgn"],
        shown=["fgn"],
        beyond=True,
    ),
    Claim(
        name="priorities-proportional",
        text="With weights each class of LRED loses in proportion to its own.",
        where=_PRIORITIES_WHERE,
        judge=_proportional,
        needs=["priorities"],
        shown=["priorities"],
        beyond=True,
    ),
    Claim(
        name="priorities-neutral",
        text="Weights leave LRED's queue and the loss ratio of all classes together as they are.",
        where=_PRIORITIES_WHERE,
        judge=_neutral,
        needs=["priorities"],
        shown=["priorities"],
        beyond=True,
    ),
]

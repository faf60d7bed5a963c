"""Claims of experiment 2 (Fig. 6): few flows with a long round trip, many with a short one."""

from __future__ import annotations

from functools import partial

from aqmlab.library.lred.measures import Seconds, away, lower, rivals
from aqmlab.library.lred.theory import response_bound
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

_WHERE = "Section 6.1, Experiment 2, Fig. 6"
_SECOND = Tolerance(1, "s", "response times are whole seconds")
_PACKETS = Tolerance(5, "packets", "a fortieth of the figure's axis")


def _time(runs: Runs, label: str) -> PerSeed:
    """Return the response time (s); a queue that never settles counts with the whole run."""
    return runs.per_seed("response_time", label, fill=runs.duration)


@claim(
    quote="(a) light congestion (p0 = 0.0025), (b) heavy congestion (p0 = 0.165)",
    where=_WHERE,
    tolerance=Tolerance(25, "% of it", "the TCP is another version than theirs"),
    shown="fig6 numbers",
)
def printed_loss(p0_light: Runs, p0_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """The light load loses 0.25 %, the heavy one 16.5 %."""
    return Judgement(
        [],
        "They depend on the TCP, which is fitted to these two numbers: how near they come says nothing of LRED, and is "
        "no verdict. The calibration has them with other TCPs.",
        [
            Check.near(f"loss of LRED, {load} load", runs.per_seed("loss_ratio", "LRED"), printed, tolerance)
            for load, runs, printed in (("light", p0_light, 0.25), ("heavy", p0_heavy, 16.5))
        ],
    )


@claim(
    quote="the queue length of REM drastically oscillates and almost out of control",
    where=_WHERE,
    tolerance=Tolerance(1.5, "", "half more than LRED's, which swings too: a difference that the figure shows"),
    shown="fig6",
)
def rem_oscillates(exp2_light: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under light load REM's queue swings far more than LRED's, almost out of control."""
    parts, beside = (
        [
            Check.of(
                f"deviation of {label} over that of LRED",
                exp2_light.per_seed("queue_mad", label) / exp2_light.per_seed("queue_mad", "LRED"),
                least=tolerance.value,
            )
        ]
        for label in ("REM", "REM (36)")
    )
    beside.append(Check.of("time in which REM's queue is empty", exp2_light.per_seed("queue_empty", "REM"), least=10))
    return Judgement(
        parts, "REM's loop is unstable for 80 flows of 550 ms: its gain would have to be several times less.", beside
    )


@claim(
    quote="LRED and PI can still stably regulate the queue",
    where=_WHERE,
    tolerance=Tolerance(20, "packets", "the band in which a queue counts as settled"),
    shown="fig6",
)
def light_held(exp2_light: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under light load LRED and PI hold the queue."""
    return Judgement(
        [
            Check.near(f"mean queue of {label}", exp2_light.per_seed("queue_mean", label), 100, tolerance)
            for label in ("LRED", "PI")
        ],
        "LRED's gain is far above what its theorem allows for this load, which is sufficient and not necessary.",
        beside=[
            Check.of(f"deviation of {label}", exp2_light.per_seed("queue_mad", label), most=50)
            for label in ("LRED", "PI")
        ],
    )


@claim(
    quote="LRED is relatively better",
    where=_WHERE,
    tolerance=_PACKETS,
    shown="fig6",
)
def light_better(exp2_light: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under light load LRED holds the queue better than PI."""
    read = partial(away, exp2_light, at=None, begin=20, end=exp2_light.duration)
    loss = exp2_light.per_seed("loss_ratio", "PI", unit="").mean
    return Judgement(
        lower("|queue - q0|", read, ["PI"], tolerance)
        + exp2_light.compare("queue_mad", "LRED", ["PI"], better="lower", tolerance=tolerance),
        f"With PI the load loses {100 * loss:.2g} %, which PI's integrator reaches in "
        f"{response_bound('PI', loss, 80):.0f} s of a full buffer: here it is not slow.",
    )


@claim(
    quote="the response time of LRED slightly increases in the light congestion case",
    where="Sections 5.2 and 6.1, Experiment 2, Fig. 6",
    tolerance=Tolerance(40, "s", "slight: at most a fifth of the figure's axis of 200 s"),
    shown="fig6",
)
def light_slower(exp2_light: Runs, exp2_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED takes slightly longer to respond under light load than under heavy load."""
    more = _time(exp2_light, "LRED") - _time(exp2_heavy, "LRED")
    return Judgement(
        [Check.of("LRED's response time, light minus heavy load", more, least=_SECOND.value, most=tolerance.value)],
        "A second has six drops to measure, and five seconds in a row near the target come by chance.",
    )


@claim(
    quote="its response time is still comparable to that to PI or PI*",
    where="Sections 5.2 and 6.1, Experiment 2, Fig. 6",
    tolerance=Tolerance(20, "s", "a tenth of the figure's axis of 200 s"),
    shown="fig6",
)
def light_response(exp2_light: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under light load LRED's response time is comparable to those of PI and PI*."""
    compared = partial(
        exp2_light.compare,
        "response_time",
        "LRED",
        better="not higher",
        tolerance=tolerance,
        fill=exp2_light.duration,
    )
    share = ", ".join(
        f"{label} {len(exp2_light.of(label)['response_time'].drop_nulls())}" for label in exp2_light.labels
    )
    return Judgement(
        compared(["PI", "PI*"]),
        f"Of {len(exp2_light.study.seeds)} runs settle: {share}; a queue that never does counts with 200 s.",
        compared(["REM", "REM (36)"]),
    )


@claim(
    quote="under heavy congestion, LRED achieves a shorter response time",
    where=_WHERE,
    tolerance=_SECOND,
    shown="fig6",
    comparative=True,
)
def heavy(exp2_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under heavy load LRED responds faster than PI and REM."""
    parts, beside = (
        exp2_heavy.compare(
            "response_time", "LRED", others, better="lower", tolerance=tolerance, fill=exp2_heavy.duration
        )
        for others in (rivals(exp2_heavy, "PI*"), [one for one in ("REM (36)",) if one in exp2_heavy.labels])
    )
    loss = exp2_heavy.per_seed("loss_ratio", "LRED", unit="").mean
    takes = " and ".join(f"{response_bound(label, loss, 800):.0f} s ({label})" for label in ("PI", "REM"))
    return Judgement(parts, f"At LRED's loss, {loss:.2f}, integrators take {takes} of a full buffer.", beside)


@claim(
    quote="and better stability than PI and REM",
    where=_WHERE,
    tolerance=_PACKETS,
    shown="fig6",
    comparative=True,
)
def heavy_stable(exp2_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """Under heavy load LRED is more stable than PI and REM: its queue is nearer to the target."""
    read = partial(away, exp2_heavy, at=None, begin=0, end=exp2_heavy.duration)
    parts, beside = (
        lower("|queue - q0|", read, others, tolerance)
        for others in (rivals(exp2_heavy, "PI*"), [one for one in ("REM (36)",) if one in exp2_heavy.labels])
    )
    means = ", ".join(f"{label} {exp2_heavy.per_seed('queue_mean', label):.3g}" for label in exp2_heavy.labels)
    return Judgement(parts, f"Mean queues from 20 s on: {means} packets.", beside)


@claim(
    quote="LRED and PI* have similar response times",
    where=_WHERE,
    tolerance=Tolerance(10, "s", "a twentieth of the figure's axis of 200 s"),
    shown="fig6",
)
def like_pistar(exp2_light: Runs, exp2_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED and PI* have similar response times under both extreme loads."""
    compared = [
        runs.compare(
            "response_time",
            "LRED",
            [label],
            better="equal",
            tolerance=tolerance,
            fill=runs.duration,
            name=f"response time, {load} load,",
        )
        for load, runs, label in (
            ("light", exp2_light, "PI*"),
            ("heavy", exp2_heavy, "PI*"),
            ("heavy", exp2_heavy, "PI* (0.7 s)"),
        )
    ]
    return Judgement(
        [*compared[0], *compared[1]],
        "As printed, PI*'s gain under heavy load makes p 0 or 1: an on-off switch at the target, there at once. Under "
        "light load PI*'s gain is a fifth of PI's.",
        compared[2],
    )


def _peak(runs: Runs, label: str) -> PerSeed:
    return runs.from_series(label, lambda frame: Seconds(frame).overshoot(5), unit="packets")


@claim(
    quote="LRED has less overshoots and smaller queue deviations",
    where=_WHERE,
    tolerance=_PACKETS,
    shown="fig6",
)
def less_overshoot(exp2_light: Runs, exp2_heavy: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED overshoots less than PI* and has smaller queue deviations, under both extreme loads."""
    light, heavy, beside = (
        lower(f"overshoot, {load} load", partial(_peak, runs), [label], tolerance)
        + runs.compare(
            "queue_mad", "LRED", [label], better="lower", tolerance=tolerance, name=f"deviation, {load} load,"
        )
        for load, runs, label in (
            ("light", exp2_light, "PI*"),
            ("heavy", exp2_heavy, "PI*"),
            ("heavy", exp2_heavy, "PI* (0.7 s)"),
        )
    )
    return Judgement(
        light + heavy, "The highest mean of a second above q0, from 5 s on, when slow starts are over.", beside
    )

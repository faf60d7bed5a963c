"""Claims on PI: sections 2.5 and 4.2, and ours on its gains."""

from dataclasses import replace

import numpy as np
import polars

from aqmlab.theory import pi
from aqmlab_papers import Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import LOSS, QUEUE, TIME
from aqmlab_papers.survey import measures, theory
from aqmlab_papers.survey import measures as m


@claim("let the queue occupancy converge to a target value", "Section 2.5", "learning")
@tolerance(QUEUE)
def pi_target(long: Runs, schemes: Runs) -> Judgement:
    """PI brings the queue to its target."""
    found = long.from_series("PI", m.between(150, 200, m.BACKLOG_NOW), unit="kB")
    early = m.backlog(schemes, "PI")
    return Judgement(
        [Effect("backlog in the last 50 s of 200").near(found, theory.TARGET, QUEUE)],
        f"Means of 5 s stay within a tenth of it from {long.from_series('PI', settles):.0f} s on; in the survey's 20 s "
        f"it keeps {early:.0f} kB.",
        beside=[Effect("backlog in the survey's 20 s").near(early, theory.TARGET, QUEUE)],
    )


def settles(frame: polars.DataFrame) -> float:
    """Return the time from which the backlog in 5 s stays within a tenth of the target (s)."""
    off = np.abs(m.intervals(frame, m.BACKLOG_NOW, 5.0) / theory.TARGET - 1) > 0.1
    return 5.0 * (off.nonzero()[0][-1] + 1) if off.any() else 0.0


@claim(
    "The latter can be achieved by means of integral (I)-control, while the former can be achieved by means of "
    "proportional (P)-control",
    "Section 2.5",
)
@tolerance(replace(TIME, reason=f"{TIME.reason}; {QUEUE.value:g} % of a queue"))
def pi_proportional(long: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI's integral part alone brings the queue to its target; the proportional part makes it respond faster."""
    with_p, without = (long.from_series(label, rises, unit="s") for label in long.labels)
    needed = long.from_series("PI", m.between(150, 200, measures.P))
    rest = long.from_series("PI, integral alone", m.between(150, 200, m.BACKLOG_NOW), unit="kB")
    return Judgement(
        [
            Effect("backlog in the last 50 s of 200, integral alone").near(rest, theory.TARGET, QUEUE),
            Effect("time to nine tenths of its p, PI over integral alone").better(with_p, without, "lower", tolerance),
        ],
        f"The integral part alone does reach the target. How much time the proportional part saves is open, and this "
        "start can hardly show it: a full buffer is only 30 packets above the target, for which that part adds "
        f"{30 * theory.B:.4f} to a probability that has to reach {needed:.2f}. A load that changes near the target "
        "could show more; the survey has none.",
    )


def rises(frame: polars.DataFrame) -> float:
    """Return the time until PI's probability, in steps of 1 s, first is nine tenths of its mean in the last 50 s."""
    p = m.intervals(frame, measures.P, 1.0)
    return float(np.argmax(p >= 0.9 * p[-50:].mean()))


@claim(
    "a crudely configured PI algorithm drops almost as much traffic as Drop-Tail",
    "Section 4.2, Fig. 2c (the text says 2b)",
    "fig2 schemes",
)
@tolerance(20, "% of it", "'almost as much': to a fifth")
def pi_like_droptail(schemes: Runs, *, tolerance: Tolerance) -> Judgement:
    """A crudely configured PI drops almost as much traffic as drop tail."""
    checks = [
        Effect(f"loss of {reading}, PI over DropTail").better(
            m.lost(schemes, reading, "PI"), m.lost(schemes, reading, "DropTail"), "equal", tolerance
        )
        for reading in m.READINGS
    ]
    aqms = [label for label in schemes.labels if label not in ("PI", "DropTail")]
    beside = schemes.compare(m.LOST, "PI", aqms, better="higher", tolerance=LOSS, name="loss of TCP packets")
    return Judgement(
        checks,
        f"The queue is at most 30 packets above its target, which raise PI's probability by {30 * GAIN:.3f} a second. "
        "Until it is as high as the load needs, the buffer overflows, so that TCP loses fewer packets than with drop "
        "tail but still many, while PI drops UDP as often as it marks TCP. Counted in bytes the two make up for each "
        "other, and only this reading holds.",
        beside=beside,
    )


GAIN = (theory.A - theory.B) * theory.FREQUENCY
"""The rise of PI's probability per second and packet above its target."""


@claim("very sensitive to the parameter selection", "Section 4.2", "gains configuration")
@tolerance(100, "% of it", "'very sensitive': the loss doubles within the range")
def pi_sensitive(gains: Runs, configuration: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI is very sensitive to its parameters."""
    of = {
        name: [
            configuration.per_seed(m.LOST, label) for label in configuration.labels if label == "PI" or part in label
        ]
        for name, part in (("Q_ref from 20 to 85 kB", "PI, Q_ref"), ("frequency from 16 to 500 Hz", " Hz"))
    }
    of["gains of its rule for 60 to 360 ms"] = [
        gains.per_seed(m.LOST, "PI", {"aqm.a": a}) for a in gains.points("aqm.a")
    ]
    return Judgement(
        [m.range_of(losses, name, tolerance) for name, losses in of.items()],
        "The run ends before PI has learnt its probability, and the faster it learns the fewer packets are lost. "
        "Greater gains and a higher frequency make it faster; so does a lower target, which adds to the error that is "
        "integrated. The ranges are our choice: with the frequency alone the loss does not double, if nearly.",
    )


@ours("ours; Section 4.2 has the tuning account for uncertain round trips", "gains")
@tolerance(LOSS)
def pi_crude(gains: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI's crude tuning, for round trips of 180 ms, costs losses: for those of the runs it would lose fewer."""
    (a, b), (a_fit, b_fit) = rules = [theory.rule_gains(theory.GAINS_FOR, rtt) for rtt in (theory.RTT_MAX, 0.09)]
    crude, fit = (gains.per_seed(m.LOST, "PI", {"aqm.a": nearest(gains, rule[0])}) for rule in rules)
    return Judgement(
        [Effect("loss of TCP packets, gains for 180 ms over those for 90 ms").better(crude, fit, "higher", tolerance)],
        f"TCP loses {crude:.1f} % with the gains for 180 ms and {fit:.1f} % with those for 90 ms. The rule's gains "
        "fall with about the cube of the round trip, and their difference, by which a probability is learnt, with "
        f"more: for twice the round trip it is {(a_fit - b_fit) / (a - b):.0f} times smaller.",
    )


def nearest(runs: Runs, a: float) -> float:
    """Return the gain of the runs that is nearest to one."""
    return float(min(runs.points("aqm.a"), key=lambda one: abs(one - a)))


@ours("ours", "plant", arithmetic=True)
def gains_hot() -> Judgement:
    """PI's gains are several times too large for its link by its own rule."""
    a, b = theory.rule_gains()
    origin = theory.rule_gains(theory.GAINS_FOR)
    checks = [
        Effect("printed a over that of PI's rule for 60 flows, 180 ms, 45 Mbit/s").exact(theory.A / a, least=2),
        Effect("phase margin there with the printed gains").exact(theory.margin(theory.A, theory.B), unit="°", most=0),
        Effect("phase margin there with the rule's").exact(theory.margin(a, b), unit="°", least=0),
    ]
    return Judgement(
        checks,
        f"The printed gains are the rule's for 2500 packets a second ({origin[0]:.4g}, {origin[1]:.4g}); the link "
        f"carries 5625 of 1000 bytes, for which it has {a:.3g} and {b:.3g}.",
    )


@ours("ours", "learning")
@tolerance(0, "s", "the length of the survey's runs is exact")
def gains_slow(long: Runs) -> Judgement:
    """20 s are too short for PI to learn its probability."""
    found = long.from_series("PI", rises, unit="s")
    needed = long.from_series("PI", m.between(150, 200, measures.P))
    room = measures.BUFFER / measures.TCP_SIZE
    bound = float(pi.response_bound(needed.mean, theory.A, theory.B, theory.FREQUENCY, theory.TARGET, room))
    return Judgement(
        [Effect("time to nine tenths of its probability").of(found, least=20)],
        f"PI needs a probability of {needed:.2f}, by its own last 50 s of 200. Even if its buffer were full all the "
        f"time it would be there only after p / ((a - b)(Q - q_ref) f) = {bound:.0f} s.",
    )

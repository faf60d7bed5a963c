"""Claims of experiment 2 (Fig. 6): few flows with a long round trip, many with a short one."""

from __future__ import annotations

from aqmlab.library.lred.experiments import DESIGNED
from aqmlab.library.lred.measures import CORRECTED, LITERAL, PRINTED, against_others, mean_text, off_target
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, difference, ratio


def printed(evidence: Evidence) -> Judgement:
    """Compare LRED's loss ratios with the two that the figure's captions print."""
    checks = [
        # A quarter: the captions give two and three digits, and our TCP is another version than theirs.
        Check.of(
            f"loss ratio of LRED, {name.removeprefix('exp2-')} load, over the printed {value:g}",
            evidence[name].values("loss_ratio", "LRED", scale=1 / value),
            least=0.75,
            most=1.25,
        )
        for name, value in PRINTED.items()
    ]
    light, heavy = (mean_text(evidence[name], "loss_ratio", "LRED") for name in PRINTED)
    why = (
        f"Measured are {light} and {heavy}. For the light load (6) gives 0.0051, and half of it if each ACK is for two "
        "packets; ns-2's window limit of 20, little above the 17 that fill the link, would cut it too. For the heavy "
        "one (6) gives no probability: flows live on time-outs there, and Padhye's rate gives 0.28 with a least "
        "time-out of 0.2 s, 0.17 with 1 s, the default of ns-2 until October 2004."
    )
    return Judgement(checks, why)


def oscillates(evidence: Evidence) -> Judgement:
    """Judge REM's queue under light load."""
    runs = evidence["exp2-light"]
    swing = ratio(runs.values("queue_mad", "REM"), runs.values("queue_mad", "LRED"))
    checks = [
        # Half more than LRED's, which also swings, and empty often enough to be visible in the figure.
        Check.of("REM's deviation over LRED's", swing, least=1.5),
        Check.of("share of the time in which REM's queue is empty", runs.values("queue_empty", "REM"), least=0.1),
    ]
    why = (
        f"REM's deviation is {mean_text(runs, 'queue_mad', 'REM')} packets, LRED's "
        f"{mean_text(runs, 'queue_mad', 'LRED')}. At 80 flows of 550 ms REM's loop has a phase margin of -45 degrees: "
        "its gain would have to be five times less."
    )
    return Judgement(checks, why)


def held(evidence: Evidence) -> Judgement:
    """Judge mean queues and deviations of LRED and PI under light load."""
    runs = evidence["exp2-light"]
    checks = [
        # The response time's band: within 20 % of the target.
        Check.of(f"mean queue of {label}", runs.values("queue_mean", label), unit="packets", least=80, most=120)
        for label in ("LRED", "PI")
    ]
    checks += against_others(runs, "deviation", "queue_mad", unit="packets", others=["PI"])
    why = (
        "LRED's gain is 59 times what its theorem allows here and its margin, with the queue's pole, 9 degrees: it "
        f"swings, with a deviation of {mean_text(runs, 'queue_mad', 'LRED')} packets around a mean of "
        f"{mean_text(runs, 'queue_mean', 'LRED')}; PI with one of {mean_text(runs, 'queue_mad', 'PI')} around "
        f"{mean_text(runs, 'queue_mean', 'PI')}. The load loses 0.005, for which PI takes 5 s of a full buffer: its "
        "slow integrator is no drawback."
    )
    return Judgement(checks, why)


def _times(runs: Runs, label: str) -> Values:
    """Return the response time of each seed (s); a queue that never settles counts with the whole run."""
    return runs.values("response_time", label, fill=runs.duration)


def light_response(evidence: Evidence) -> Judgement:
    """Compare LRED's response times under light and heavy load, and with those of PI and PI* under light load."""
    light, heavy = evidence["exp2-light"], evidence["exp2-heavy"]
    hero = _times(light, "LRED")
    # The paper calls the increase slight at response times of tens of seconds.
    more = difference(hero, _times(heavy, "LRED"))
    checks = [Check.of("response time of LRED under light load minus under heavy", more, unit="s", least=0, most=20)]
    for runs, other in ((light, "PI"), (evidence["exp2-light-pistar"], LITERAL)):
        effect = f"response time of LRED minus that of {other}, light load"
        checks.append(Check.of(effect, difference(hero, _times(runs, other)), unit="s", most=20))
    why = (
        "At a loss of 0.005 a second has a dozen drops to measure. TCP itself takes 4.7 s, longer than LRED's "
        "estimate, and the loop is close to its limit, so that five seconds in a row within 20 % of the target come "
        "by chance; the same holds for the others."
    )
    return Judgement(checks, why)


def heavy(evidence: Evidence) -> Judgement:
    """Compare response times and deviations under heavy load."""
    runs = evidence["exp2-heavy"]
    checks = against_others(runs, "response time", "response_time", unit="s", fill=runs.duration)
    checks += [
        Check.of(
            f"distance of the mean queue from its target, {label} minus {runs.hero}",
            difference(off_target(runs, label), off_target(runs, runs.hero)),
            unit="packets",
            least=0,
        )
        for label in runs.others
    ]
    means = ", ".join(f"{label} {mean_text(runs, 'queue_mean', label)}" for label in runs.labels)
    why = (
        "A quarter of the packets has to be dropped, which PI's gain needs more than the 200 s for. Mean queues: "
        f"{means} packets. A full buffer has a small deviation, so that stability is judged by the distance from the "
        "target."
    )
    return Judgement(checks, why)


def like_pistar(evidence: Evidence) -> Judgement:
    """Compare LRED with PI* under both loads."""
    checks = []
    for name, labels in DESIGNED.items():
        runs, designed = evidence[name], evidence[f"{name}-pistar"]
        where = f"{name.removeprefix('exp2-')} load"
        for label in labels:
            # A twentieth of the run: indistinguishable in the figure.
            later = difference(_times(runs, "LRED"), _times(designed, label))
            effect = f"response time of LRED minus that of {label}, {where}"
            checks.append(Check.of(effect, later, unit="s", least=-10, most=10))
            for quantity, metric, scale, unit in (
                ("95th percentile of the wait", "queue_delay_p95", 1e3, "ms"),
                ("deviation", "queue_mad", 1.0, "packets"),
            ):
                gap = difference(designed.values(metric, label, scale=scale), runs.values(metric, "LRED", scale=scale))
                checks.append(Check.of(f"{where}: {quantity} of {label} minus that of LRED", gap, unit=unit, least=0))
    light, heavy, undesigned = (evidence[name] for name in ("exp2-light-pistar", "exp2-heavy-pistar", "exp2-heavy"))
    swinging = (light.mean("queue_empty", LITERAL).mean or 0) > 0.1
    caught = (
        f" Under light load PI* holds {mean_text(light, 'queue_mean', LITERAL)} packets on average and is empty for "
        f"{mean_text(light, 'queue_empty', LITERAL, 2)} of the time: its linear margin is 77 degrees, but with a fifth "
        "of PI's gain it takes 24 s of a full buffer to reach 0.005, and each overflow makes the flows back off "
        "together and empties the queue long before."
    )
    why = (
        "PI*'s gains for 800 flows of 100 ms are outside their rule: a = 1.26, so that p is 0 or 1 by the sign of the "
        "error, a drop-tail buffer that ends at the target. Its mean queue is "
        f"{mean_text(heavy, 'queue_mean', LITERAL)} packets with a deviation of "
        f"{mean_text(heavy, 'queue_mad', LITERAL)}, LRED's {mean_text(undesigned, 'queue_mad', 'LRED')}; with 0.7 s, "
        f"inside the rule, {mean_text(heavy, 'queue_mad', CORRECTED)}.{caught if swinging else ''}"
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="printed-loss",
        text="The light load loses 0.25 %, the heavy one 16.5 %.",
        where="Section 6.1, Experiment 2, Fig. 6",
        judge=printed,
        needs=["exp2-light", "exp2-heavy"],
        shown=["fig6", "numbers"],
        sensitive=True,
    ),
    Claim(
        name="rem-oscillates",
        text="Under light load REM's queue oscillates almost out of control.",
        where="Section 6.1, Experiment 2, Fig. 6a",
        judge=oscillates,
        needs=["exp2-light"],
        shown=["fig6"],
        sensitive=True,
    ),
    Claim(
        name="light-held",
        text="Under light load LRED and PI still regulate the queue, LRED relatively better.",
        where="Section 6.1, Experiment 2, Fig. 6a",
        judge=held,
        needs=["exp2-light"],
        shown=["fig6"],
    ),
    Claim(
        name="light-response",
        text="LRED's response time is slightly longer under light load, but comparable to that of PI and PI*.",
        where="Sections 5.2 and 6.1, Experiment 2, Fig. 6a",
        judge=light_response,
        needs=["exp2-light", "exp2-light-pistar", "exp2-heavy"],
        shown=["fig6"],
    ),
    Claim(
        name="heavy",
        text="Under heavy load LRED responds faster and is more stable than PI and REM.",
        where="Section 6.1, Experiment 2, Fig. 6b",
        judge=heavy,
        needs=["exp2-heavy"],
        shown=["fig6"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="like-pistar",
        text="LRED and PI* have similar response times, but LRED has less overshoot and smaller deviations.",
        where="Section 6.1, Experiment 2, Fig. 6",
        judge=like_pistar,
        needs=["exp2-light", "exp2-light-pistar", "exp2-heavy", "exp2-heavy-pistar"],
        shown=["fig6"],
    ),
)

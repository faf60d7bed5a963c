"""Claims on REM: section 2.4."""

import numpy as np
import polars

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import GOODPUT
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.measures import BACKLOG_NOW, IDLE, between, intervals

FORMS = ("REM", "REM, in bytes", "REM, by the queue")


@claim("cost is directly proportional to the queue occupancy", "Section 2.4", "learning")
@tolerance(0.1, "", "proportional quantities correlate by 1; 0.9 leaves room for noise")
def rem_cost(configuration: Runs, *, tolerance: Tolerance) -> Judgement:
    """REM's cost is directly proportional to the queue."""
    own, *others = (
        Effect(f"correlation of price and backlog in 0.5 s, {form}").of(
            configuration.from_series(form, together), least=1 - tolerance.value
        )
        for form in FORMS
    )
    return Judgement(
        [own],
        "The price adds up the excess of the queue and of the rate over time: it grows as long as the backlog is above "
        "b*, also while that falls. Beside are REM that counts bytes, and REM's form that reads the queue alone.",
        others,
    )


def together(frame: polars.DataFrame) -> float:
    """Return the correlation of REM's price with the backlog after the first second."""
    price, backlog = (intervals(frame, value)[2:] for value in (polars.col("price.mean").mean(), BACKLOG_NOW))
    return float(np.corrcoef(price, backlog)[0, 1])


@claim(
    "maximize a utility function subject to the constraint that the output link has a finite capacity", "Section 2.4"
)
@tolerance(IDLE)
def rem_optimum(rem_long: Runs, configuration: Runs, schemes: Runs, *, tolerance: Tolerance) -> Judgement:
    """REM's price maximises the flows' utility within the link's capacity."""
    beside = [
        Effect(f"utilisation, 20 nodes, 50 to 100 s, {form}").of(
            rem_long.per_seed("utilisation", form), least=100 - tolerance.value
        )
        for form in FORMS
    ]
    # The flows start in these 20 s: no discipline can use them in full.
    full = schemes.per_seed("utilisation", "DropTail")
    beside += [
        Effect(f"utilisation over that of DropTail, as in the survey, 20 s, {form}").better(
            configuration.per_seed("utilisation", form), full, "not lower", GOODPUT
        )
        for form in FORMS
    ]
    return Judgement(
        [],
        "This is REM's objective: the survey names no utility, does not say that its run attains it, and ends before "
        "the price has settled (claim `rem-ramp`). Beside is one condition of an optimum, that a link with a price "
        "above 0 is used in full. In the survey's 20 s its many flows fill the link with any price; with 20 nodes, our "
        "choice, the settled price is too high where REM counts packets, as UDP's small ones count like large ones.",
        beside,
    )


@ours("ours", "learning")
@tolerance(20, "%", "a settled probability does not rise by a fifth in the last 5 s")
def rem_ramp(configuration: Runs, *, tolerance: Tolerance) -> Judgement:
    """REM's probability is not settled after 20 s, whichever way it counts."""
    checks, last = [], []
    for form in FORMS:
        before, after = (configuration.from_series(form, between(*part, measures.P)) for part in ((10, 15), (15, 20)))
        checks.append(
            Effect(f"p in the last 5 s over that in the 5 s before, {form}").of(
                after / before, least=1 + tolerance.value / 100
            )
        )
        last.append(f"{after:.2f} ({form})")
    return Judgement(
        checks,
        "gamma = 0.001 moves the price by some 0.03 in 2 ms, and phi = 1.001 asks a price of 400 for p = 0.33. In "
        f"the last 5 s p is {', '.join(last)}, and rises. Counted in packets, UDP's bursts of small ones are an excess "
        "for ever.",
    )

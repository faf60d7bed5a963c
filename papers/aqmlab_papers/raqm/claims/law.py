"""Claims on the law in packets: the queue-independent mode, its gain and its period (section 2), and its start."""

from dataclasses import replace

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.raqm.measures import half_way, input_rate, loads, mean_of, panels, spread_of_p, spread_of_rate
from aqmlab_papers.raqm.theory import FOLLOWED, followed, periods_to_settle

CLOSE = Tolerance(5, "% of it", "'close': a twentieth is what a reader of a curve can tell apart")
STEP = Tolerance(0.01, "", "a hundredth of the link, the precision of the paper's only rate, .96")
SOON = Tolerance(5, "s", "five periods of measurement")
ABOUT_R0 = 0.2
"""The deviation of r / r0 up to which the rate counts as stable: a fifth, as the band of the queue."""
STEADY_AND_SOON = replace(
    SOON, reason=f"{SOON.reason}; in the paper's model any; stable: a deviation of r / r0 of at most {ABOUT_R0:g}"
)
NEAR, SMOOTHED = 0.9, 0.1
"""eps, and the weight f' with which the simulations smooth the rate."""


def near_r0(runs: Runs, where: At | None, about: str, by: Tolerance, gamma: float = 1.0) -> Check:
    """Check that the rate of arrivals is the expected one."""
    return Effect(f"rate of arrivals over C, {about}").near(runs.per_seed(input_rate(), runs.hero, where), gamma, by)


@claim("so as to make the input rate close to the expected value r0", "Sections 1 and 2.1", "rate-mode")
@tolerance(CLOSE)
def mode_rate(case1_rate: Runs, case2_rate: Runs, case3_rate: Runs) -> Judgement:
    """In the queue-independent mode the rate of arrivals is held at r0."""
    every = panels(case1_rate, case2_rate, case3_rate)
    spread = [runs.from_series(runs.hero, spread_of_rate, where).mean for _, runs, where in every]
    return Judgement(
        [near_r0(runs, where, name, CLOSE) for name, runs, where in every],
        "The law integrates the error of the rate and rests where it is 0 on average. From second to second the rate "
        f"varies about r0 with a standard deviation of {min(spread):.2g} to {max(spread):.2g} of it.",
    )


@claim("r0 can be set as the link capacity C or gamma C", "Section 2.1")
@tolerance(STEP)
def part_of_capacity(gamma: Runs, *, tolerance: Tolerance) -> Judgement:
    """r0 may be set to a part of the link's capacity; the rate is then held there."""
    parts = gamma.points("aqm.gamma")
    checks = [near_r0(gamma, {"aqm.gamma": part}, f"gamma = {part:g}", tolerance, part) for part in parts]
    return Judgement(
        checks, "It is the same law with another constant. The link idles for the rest of its time, and for the losses."
    )


@claim(
    "if alpha is too large, p_k will oscillate. On the contrary, p_k will adapt slowly if alpha is too small",
    "Section 2.1",
    "static",
)
@tolerance(SOON)
def alpha_words(static: Runs, *, tolerance: Tolerance) -> Judgement:
    """If alpha is too large p_k oscillates, if it is too small p_k adapts slowly."""
    gains = static.points("aqm.m")
    middle, small, big = {"aqm.m": 2}, {"aqm.m": gains[0]}, {"aqm.m": gains[-1]}
    late, soon = (reached(static, "static", where) for where in (small, middle))
    wide, narrow = (static.from_series("static", spread_of_p, where) for where in (big, middle))
    checks = [
        # A law that only passes on the noise of the rate makes as many times more of it as alpha is greater.
        Effect(f"deviation of ln p_k, alpha r0 = {gains[-1]:g} over 2: more than in proportion to alpha").of(
            wide / narrow, least=gains[-1] / 2
        ),
        Effect(f"time of p_k half way to its rest, alpha r0 = {gains[0]:g} minus 2").better(
            late, soon, "higher", tolerance
        ),
    ]
    return Judgement(
        checks,
        "A period changes ln p_k by alpha (r - r0): with a small alpha p_k needs many periods, with a large one each "
        f"goes too far. With alpha r0 = 2 p_k is half way to its rest after {soon}, and ln p_k then deviates by "
        f"{narrow:.2g}. The load, 40 flows of case 1 by the rate alone, is ours.",
    )


@claim(
    "needs to be conservatively set using a small value, which will cause slow convergence and response",
    "Section 2.4",
    "static convergence",
)
@tolerance(replace(SOON, reason=f"{SOON.reason}; in the paper's model one period"))
def static_is_slow(static: Runs, *, tolerance: Tolerance) -> Judgement:
    """A static alpha, which must be small, makes convergence and response slower than the adaptive alpha does."""
    gains = [m for m in static.points("aqm.m") if m < 4]
    # A small value is at most half of the bound, 4 / r0.
    small, large = ([m for m in gains if (m <= 2) is low] for low in (True, False))
    adaptive = periods_to_settle(eps=NEAR)

    def responds(m: float) -> Check:
        slow, fast = (reached(static, label, {"aqm.m": m}) for label in ("static", "adaptive"))
        return Effect(f"time half way, static alpha r0 = {m:g} minus adaptive").better(slow, fast, "higher", tolerance)

    def converges(m: float, words: str = "", weight: float = 0.0) -> Check:
        longer = periods_to_settle(m=m, weight=weight) - periods_to_settle(eps=NEAR, weight=weight)
        effect = f"periods from r0 / 2 to 1 % of r0{words}, static alpha r0 = {m:g} minus adaptive"
        return Effect(effect).exact(longer, unit="periods", least=1)

    counts = ", ".join(f"{periods_to_settle(m=m):.0f} periods with {m:g} / r0" for m in small)
    return Judgement(
        [*map(responds, small), *map(converges, small)],
        "In the packet model (40 flows of case 1, by the rate alone) p_k, which starts far too low, is half way to "
        "its rest later with at most half of the bound, 4 / r0, than with the adaptive alpha, .9 of it. But from half "
        f"of r0 the paper's analysis converges no later: it takes {counts}, and {adaptive:.0f} with the adaptive "
        "alpha, which corrects too much near r0. Larger static ones, and the analysis with the rate smoothed, are "
        "beside.",
        [*map(responds, large), *(converges(m, ", rate smoothed", SMOOTHED) for m in small)],
    )


def reached(runs: Runs, label: str, where: At) -> PerSeed:
    """Return the time of p_k half way to the rest of the adaptive alpha, the run's if it does not get there (s)."""
    ends = mean_of("p_1.mean", runs.duration - 50, runs.duration)
    half = PerSeed.average(runs.from_series("adaptive", ends, {"aqm.m": m}) for m in runs.points("aqm.m")).mean / 2

    def read(frame: polars.DataFrame) -> float:
        there = frame["p_1.mean"].to_numpy() >= half
        return float(frame["t"][int(np.argmax(there))]) if there.any() else runs.duration

    return runs.from_series(label, read, where, unit="s")


@claim(
    "if and only if it is a bit smaller than alpha^, so as to keep stability and fast convergence simultaneously",
    "Section 2.4",
    "convergence start",
)
@tolerance(STEADY_AND_SOON)
def adaptive_gain(gain: Runs, gain_rate: Runs, *, tolerance: Tolerance) -> Judgement:
    """alpha a little below alpha^ keeps stability and fast convergence at once: r stays about r0, and is there no later
    than with half of alpha^.
    """
    near, half = {"aqm.eps": NEAR}, {"aqm.eps": 0.5}
    checks: list[Check] = []
    beside: list[Check] = []
    for load, runs in (("40 flows", gain), ("400 flows, by the rate alone", gain_rate)):
        soon, late = (runs.from_series(runs.hero, half_way, where, unit="s") for where in (near, half))
        wide, narrow = (runs.from_series(runs.hero, spread_of_rate, where) for where in (near, half))
        checks += [
            Effect(f"time of p_k half way to its rest, eps = .9 minus .5, {load}").better(
                soon, late, "lower", tolerance
            ),
            Effect(f"deviation of r / r0 at rest, eps = .9, {load}").of(wide, most=ABOUT_R0),
        ]
        beside.append(
            Effect(f"deviation of r / r0 at rest, eps = .9 minus .5, {load}").better(wide, narrow, "not higher", STEP)
        )
    analysed, smooth = (
        {eps: periods_to_settle(eps=eps, weight=weight) for eps in (NEAR, 0.5)} for weight in (0.0, SMOOTHED)
    )
    effect = "periods from r0 / 2 to 1 % of r0{}, eps = .9 minus .5"
    checks.append(Effect(effect.format("")).exact(analysed[NEAR] - analysed[0.5], unit="periods", most=0))
    beside.append(Effect(effect.format(", rate smoothed")).exact(smooth[NEAR] - smooth[0.5], unit="periods", most=0))
    return Judgement(
        checks,
        "In the packet model a larger gain brings p_k sooner from its low start to its place, and the rate stays "
        "within a fifth of r0 there. But from half of r0 the paper's analysis is at r0 later: near r0 a period leaves "
        f"|1 - 2 eps| of the distance, so that eps = .9 needs {analysed[NEAR]:.0f} periods where .5 needs "
        f"{analysed[0.5]:.0f}. With the rate smoothed, as in the simulations, both need {smooth[NEAR]:.0f}.",
        beside,
    )


@claim("The period T can be set as several RTTs to track the variation of input rate", "Section 2.4", "periods")
@tolerance(STEP)
def period(period: Runs, *, tolerance: Tolerance) -> Judgement:
    """A period of several round trips is enough to track the rate: the rate of arrivals is held at r0."""
    short = min(period.points("aqm.period"))
    spread = {
        T: period.from_series(period.hero, spread_of_rate, {"aqm.period": T}) for T in period.points("aqm.period")
    }
    long = (1.0, 2.0)
    widths = ", ".join(f"{one:.2g} with {T:g} s" for T, one in spread.items())
    return Judgement(
        [near_r0(period, {"aqm.period": T}, f"T = {T:g} s", tolerance) for T in long],
        "Round trips are .03 to .41 s without the queue, so that 1 s and 2 s are several of them; the load, 100 flows "
        "of case 3 by the rate alone, is ours. To track is read as to hold the mean rate, which the law, an "
        "integrator, does with any T at which it is stable. Shorter periods, beside, hold it more steadily: from "
        f"second to second r / r0 deviates by {widths}.",
        [
            Effect(f"deviation of r / r0, T = {T:g} s minus {short:g} s").better(
                spread[T], spread[short], "not higher", STEP
            )
            for T in long
        ],
    )


@ours("Fig. 1", "fig1")
def procedures(case1: Runs) -> Judgement:
    """The engine follows the paper's procedures: p_k of a run is that of Figure 1 for the run's arrivals."""

    def worst(frame: polars.DataFrame) -> float:
        _, ours, theirs = followed(frame)
        return float(np.max(np.abs(theirs / ours - 1)))

    checks = [
        Effect(f"greatest difference of p_k, of itself, {load}").of(case1.from_series("RAQM", worst, where), most=1e-6)
        for load, where in loads(case1)
    ]
    return Judgement(
        checks,
        "p_k is computed from a run's arrivals by lines 1 to 5 of the pseudocode, with the alpha of (3) in the "
        f"exponent, from {FOLLOWED:g} s on. With 400 flows p_k is then at its bound of 1.",
    )

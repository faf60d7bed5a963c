"""Claims of sections 3 to 5 that no run decides: the stability of proportional control, the gain, PI*'s design rule."""

import numpy as np

from aqmlab.theory import loop, pi
from aqmlab_papers import Effect, Judgement, Tolerance, claim, ours, tolerance
from aqmlab_papers.lred.theory import BETA, EXAMPLE, FREQUENCY, LOADS, C
from aqmlab_papers.theory import lred
from aqmlab_papers.theory.lred import proportional


@claim("strictly lies in the left half-complex plane irrespective of", "Section 4.2, (14)", "gains", arithmetic=True)
def zero_delay() -> Judgement:
    """Without delay both roots of the characteristic equation are in the left half plane."""
    flows, trips, gains = np.meshgrid(np.geomspace(20, 2000, 8), np.geomspace(0.02, 1, 8), np.geomspace(1e-6, 1e-2, 5))
    first, last = 2 * flows / (trips**2 * C), C**2 / (1.5 * flows) * gains
    root = np.sqrt((first**2 - 4 * last).astype(complex))
    worst = float(np.maximum((-first + root).real, (-first - root).real).max() / 2)
    why = "Coefficients are positive. K11 = 2 N / (R^2 C) has no value at R = 0: the loop loses its delay, not its lag."
    return Judgement([Effect(f"rightmost root at {first.size} points").exact(worst, unit="1/s", most=0)], why)


@claim("then the system is stable for", "Section 4.2, Lemmas 1 to 4, Theorem 1", "gains")
def lemmas() -> Judgement:
    """A proportional AQM that is stable at the fewest flows, the longest round trip and the largest gain is so at more
    flows, shorter round trips and smaller gains.
    """
    flows, trips = np.geomspace(20, 2000, 8), np.geomspace(0.02, 1, 8)
    boundary = proportional.check_boundary(flows, trips, C, np.geomspace(1e-6, 1e-2, 5))
    limit = float(loop.critical_gain(EXAMPLE.N, EXAMPLE.R, C))
    region = np.geomspace(EXAMPLE.N, 3000, 5), np.geomspace(0.02, EXAMPLE.R, 5)
    theorem = proportional.check_theorem1(*region, C, limit * np.array([0.01, 0.5, 0.999]))
    return Judgement(
        [
            Effect(f"least slack of Lemmas 1 to 4 at {boundary.points} points").exact(boundary.slack, least=0),
            Effect(f"least slack of Theorem 1 at {theorem.points} points").exact(theorem.slack, least=0),
        ],
        "The slack is of the rightmost root of (13), which is computed, and not of the frequency response by which "
        "the paper proves the lemmas. They are about the paper's simplified loop, with w(t) for w(t - R) and a "
        "constant round trip.",
    )


@claim("the system is stable for any", "Section 5.1, Lemma 5, Theorem 2", "gains")
def theorem2() -> Judgement:
    """With beta up to beta*, LRED is stable for all N >= N- and R <= R+."""
    flows, trips = np.geomspace(20, 2000, 10), np.geomspace(0.02, 1, 10)
    lemma = lred.check_lemma5(flows, trips, C, np.geomspace(1e-6, 1e-1, 10))
    checks = [Effect(f"least slack of Lemma 5 at {lemma.points} points").exact(lemma.slack, least=0)]
    for load in (EXAMPLE, LOADS[0], LOADS[10]):
        star = float(lred.beta_star(load.N, load.R, C))
        region = np.geomspace(load.N, 10 * load.N, 5), np.geomspace(load.R / 10, load.R, 5)
        found = lred.check_theorem2(*region, C, star * np.array([0.01, 0.3, 0.9999]))
        effect = f"least slack of Theorem 2 from {load.N:g} flows and up to {load.R:g} s"
        checks.append(Effect(effect).exact(found.slack, least=0))
    return Judgement(
        checks,
        "In our copy the bound lacks its root signs. We took the one that follows from the derivative of (30), beta <= "
        "sqrt(2 eta) (2 N)^2 / (R C)^3: exactly there y stops rising with R.",
    )


@claim("The AQM parameter ... is thus 0.001", "Section 5.1", "gains numbers")
@tolerance(0.0005, "1/packet", "half of the only printed digit")
def example(*, tolerance: Tolerance) -> Judgement:
    """For 300 flows, 0.35 s and 2500 packets/s beta* is 0.001."""
    found = lred.design(N_min=EXAMPLE.N, R_max=EXAMPLE.R, C=C, beta=BETA)
    near = {"least": BETA - tolerance.value, "most": BETA + tolerance.value}
    return Judgement(
        [Effect("beta* of the example").exact(found.beta_star, unit="1/packet", **near)],
        "It is 9.3e-4, rounded to the printed digit. The theorem thus does not cover the 0.001 that the paper uses, "
        "with which its simplified loop is stable all the same.",
        beside=[
            Effect("phase margin with 0.001").exact(found.phase_margin_deg, unit="degrees", least=0),
            Effect("beta* over 0.001").exact(found.beta_star / BETA, least=1),
            Effect("beta_0 with w(t - R), over 0.001").exact(found.beta0_without_merging / BETA, least=1),
        ],
    )


@claim("is set to 0.001 according to Theorem 2", "Section 6", "gains")
def guaranteed() -> Judgement:
    """beta = 0.001 is within Theorem 2's bound in the simulations."""
    bounds = {load: float(lred.beta_star(load.N, load.R, C)) for load in LOADS if load.name != "Experiment 2, heavy"}
    return Judgement(
        [Effect(f"0.001 over beta*, {load.name}").exact(BETA / bound, most=1) for load, bound in bounds.items()],
        "beta* grows with the square of N and falls with the cube of R, and most loads have fewer flows or longer "
        "round trips than the paper's example. Their queues are stable all the same, since a longer queue lengthens "
        "the round trips and so slows TCP, which the theorem leaves out. Experiment 2's heavy load is not judged, as "
        "(6) gives no probability for it.",
    )


@claim("derived according to the design rules in [12]", "Section 6; Experiments 1 and 2", "gains")
def pistar_rule() -> Judgement:
    """The rule from which PI*'s gains are derived covers the network of each experiment: R+ C / N- is at least 2, a
    relation that is not readable in our copy and is our reading of it.
    """
    a, _ = pi.tustin(*pi.rule(800, 0.1, C), FREQUENCY)
    return Judgement(
        [Effect(f"R+ C / N-, {load.name}").exact(load.R * C / load.N, least=2) for load in LOADS],
        "The rule takes it that TCP's window changes more slowly than the queue, which below 2 it does not. For 800 "
        f"flows of 100 ms the rule gives a = {a:.3g}: p is 0 or 1 by the sign of the error, as in a drop-tail buffer "
        "that ends at the target.",
    )


@ours("Section 5.1, Theorem 2", "gains")
def lemma5_needless() -> Judgement:
    """Lemma 5's bound is not needed: beta up to beta_0 at the corner is enough for all N >= N-, R <= R+."""
    corner = lred.check_corner(np.geomspace(20, 2000, 20), np.geomspace(0.02, 1, 20), C)
    checks = [Effect("least slack of beta_0 rising with N and falling with R").exact(corner.slack, least=0)]
    for load in (LOADS[0], EXAMPLE):
        limit = float(lred.beta0(load.N, load.R, C))
        region = np.geomspace(load.N, 10 * load.N, 5), np.geomspace(load.R / 10, load.R, 5)
        found = lred.check_theorem2(*region, C, limit * np.array([0.1, 0.999]))
        effect = f"least slack of stability at 0.999 beta_0 from {load.N:g} flows and up to {load.R:g} s"
        checks.append(Effect(effect).exact(found.slack, least=0))
    return Judgement(
        checks,
        "beta_0, up to which a load is stable, is itself least at the corner of the fewest flows and the longest "
        "round trip. For large windows the bound costs a factor of 2 sqrt(2) / w0.",
    )

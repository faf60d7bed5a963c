"""Claims of sections 3 to 5: the stability of proportional control, the gain, PI's design rule."""

from __future__ import annotations

import numpy as np

from aqmlab.library.lred.theory import BETA, EXAMPLE, FREQUENCY, LOADS, C
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.theory import loop, lred, pi
from aqmlab.theory.lred import proportional


def root(_: Evidence) -> Judgement:
    """Compare the loop's gain at few and many flows with the square root of the loss ratio."""
    flows = np.array([100.0, 1000.0])
    few, many = C**2 / (1.5 * flows) * lred.gain(flows, 0.35, C, BETA)
    change = float(many / few)
    why = (
        "Kc Hc = beta C / (sqrt(eta) R) by (6), (13) and (29): with the root the number of flows drops out, so that a "
        "queue above its target meets the same relative answer at any load. A gain without the root of L would "
        "make the loop's gain ten times less at 1000 flows than at 100, one proportional to L ten times more."
    )
    return Judgement(
        [Check.exact("gain of the loop at 1000 flows over that at 100", change, least=0.99, most=1.01)], why
    )


def lemmas(_: Evidence) -> Judgement:
    """Scan Lemmas 1 to 4 and Theorem 1 by the roots of (13)."""
    flows, trips = np.geomspace(20, 2000, 8), np.geomspace(0.02, 1, 8)
    boundary = proportional.check_boundary(flows, trips, C, np.geomspace(1e-6, 1e-2, 5))
    limit = float(loop.critical_gain(EXAMPLE.N, EXAMPLE.R, C))
    region = np.geomspace(EXAMPLE.N, 3000, 5), np.geomspace(0.02, EXAMPLE.R, 5)
    theorem = proportional.check_theorem1(*region, C, limit * np.array([0.01, 0.5, 0.999]))
    why = (
        "Stability is judged by the rightmost root of (13), found by collocation and not by the frequency response "
        "that the proofs use. The proofs are about the plant that takes w(t - R) for w(t) and the round trip for "
        "constant; they do not cover LRED's estimate, which Theorem 1 takes for exact."
    )
    return Judgement(
        [
            Check.exact(f"least slack of Lemmas 1 to 4 at {boundary.points} points", boundary.slack, least=0),
            Check.exact(f"least slack of Theorem 1 at {theorem.points} points", theorem.slack, least=0),
        ],
        why,
    )


def theorem2(_: Evidence) -> Judgement:
    """Scan Lemma 5 and Theorem 2."""
    flows, trips = np.geomspace(20, 2000, 10), np.geomspace(0.02, 1, 10)
    lemma = lred.check_lemma5(flows, trips, C, np.geomspace(1e-6, 1e-1, 10))
    checks = [Check.exact(f"least slack of Lemma 5 at {lemma.points} points", lemma.slack, least=0)]
    for load in (EXAMPLE, LOADS[0], LOADS[3]):
        star = float(lred.beta_star(load.N, load.R, C))
        region = np.geomspace(load.N, 10 * load.N, 5), np.geomspace(load.R / 10, load.R, 5)
        found = lred.check_theorem2(*region, C, star * np.array([0.01, 0.3, 0.9999]))
        effect = f"least slack of Theorem 2 from {load.N:g} flows and up to {load.R:g} s"
        checks.append(Check.exact(effect, found.slack, least=0))
    why = (
        "The printed bound is garbled in two places; with the derivative of (30) worked out it is "
        "beta <= sqrt(2 eta) (2 N)^2 / (R C)^3, exactly where y stops rising with R."
    )
    return Judgement(checks, why)


def example(_: Evidence) -> Judgement:
    """Compute the example: 300 flows, 0.35 s, 2500 packets/s."""
    found = lred.design(N_min=EXAMPLE.N, R_max=EXAMPLE.R, C=C, beta=BETA)
    why = (
        f"beta_0 = {found.beta0:.3e}, but Lemma 5 allows {found.beta_bound:.3e} only, so that the paper's own theorem "
        f"does not cover 0.001: it was rounded up. The paper's plant is stable with it, by "
        f"{found.phase_margin_deg:.2g} degrees; without taking w(t - R) for w(t) beta_0 is "
        f"{found.beta0_without_merging:.2e}, and it is not."
    )
    return Judgement(
        [
            Check.exact("beta* of the example", found.beta_star, unit="1/packet", least=BETA),
            Check.exact(
                "phase margin with 0.001 on the paper's plant", found.phase_margin_deg, unit="degrees", least=0
            ),
            Check.exact(
                "beta_0 without taking w(t - R) for w(t)", found.beta0_without_merging, unit="1/packet", least=BETA
            ),
        ],
        why,
    )


def guaranteed(_: Evidence) -> Judgement:
    """Compare the gain of all experiments with the bound of Theorem 2 for each."""
    checks = [
        Check.exact(f"0.001 over beta*: {load.name}", BETA / float(lred.beta_star(load.N, load.R, C)), most=1)
        for load in LOADS
        if load.name != "Experiment 2, heavy"  # whose p0 by (6) is 15: not a probability, hence no plant
    ]
    light = lred.design(N_min=80, R_max=0.55, C=C, beta=BETA)
    why = (
        "beta* falls with N^2 and 1/R^3, and the experiments have fewer flows or longer round trips than the example. "
        f"What keeps the queue is not the theorem but the queue's own pole, which its plant leaves out: at 80 flows of "
        f"0.55 s the margin is {light.phase_margin_deg:.0f} degrees without it and "
        f"{light.phase_margin_queue_pole_deg or 0:.0f} with it."
    )
    return Judgement(checks, why)


def rule(_: Evidence) -> Judgement:
    """Judge where PI*'s design rule is valid: R+ C / N- of at least 2."""
    checks = [Check.exact(f"R+ C / N- of PI*: {load.name}", load.R * C / load.N, least=2) for load in LOADS]
    a, b = pi.tustin(*pi.rule(800, 0.1, C), FREQUENCY)
    why = (
        "Below 2 TCP's pole is not below the queue's, on which the rule rests. Where it is printed for 800 flows of "
        f"100 ms it gives a = {a:.3g} and b = {b:.3g}: p is 0 or 1 by the sign of the error, which is no control of a "
        "probability but a drop-tail buffer that ends at the target."
    )
    return Judgement(checks, why)


def needless(_: Evidence) -> Judgement:
    """Scan stability above Lemma 5's bound, up to beta_0 of the corner."""
    corner = lred.check_corner(np.geomspace(20, 2000, 20), np.geomspace(0.02, 1, 20), C)
    checks = [Check.exact("least slack of beta_0 rising with N and falling with R", corner.slack, least=0)]
    for load in (LOADS[0], EXAMPLE):
        limit = float(lred.beta0(load.N, load.R, C))
        region = np.geomspace(load.N, 10 * load.N, 5), np.geomspace(load.R / 10, load.R, 5)
        found = lred.check_theorem2(*region, C, limit * np.array([0.1, 0.999]))
        effect = f"least slack of stability at 0.999 beta_0 from {load.N:g} flows and up to {load.R:g} s"
        checks.append(Check.exact(effect, found.slack, least=0))
    return Judgement(
        checks,
        "beta_0 itself is least at the corner, so that beta <= beta_0 there is enough: Lemma 5's bound is of the "
        "proof, and for large windows costs a factor 2 sqrt(2) / w0.",
    )


CLAIMS = (
    Claim(
        name="root",
        text="The square root makes LRED's correction proportional to the relative change of the traffic's rate.",
        where="Section 3, (3)",
        judge=root,
        shown=["gains"],
    ),
    Claim(
        name="lemmas",
        text="A proportional AQM that is stable at the fewest flows, the longest round trip and the largest gain is so "
        "at more flows, shorter round trips and smaller gains.",
        where="Section 4.2, Lemmas 1 to 4, Theorem 1",
        judge=lemmas,
        shown=["gains"],
    ),
    Claim(
        name="theorem2",
        text="With beta up to beta*, LRED is stable for all N >= N- and R <= R+.",
        where="Section 5.1, Lemma 5, Theorem 2",
        judge=theorem2,
        shown=["gains"],
    ),
    Claim(
        name="example",
        text="For 300 flows, 0.35 s and 2500 packets/s beta* is 0.001, and the system is stable up to it.",
        where="Section 5.1",
        judge=example,
        shown=["gains"],
    ),
    Claim(
        name="guaranteed",
        text="beta = 0.001 follows from Theorem 2 for the simulations.",
        where="Section 6",
        judge=guaranteed,
        shown=["gains"],
    ),
    Claim(
        name="pistar-rule",
        text="PI*'s gains follow from the design rule for each experiment.",
        where="Section 6; Experiments 1 and 2",
        judge=rule,
        shown=["gains"],
    ),
)

BEYOND = (
    Claim(
        name="lemma5-needless",
        text="Lemma 5's bound is not needed: beta up to beta_0 at the corner is enough for all N >= N-, R <= R+.",
        where="Section 5.1, Theorem 2",
        judge=needless,
        shown=["gains"],
        beyond=True,
    ),
)

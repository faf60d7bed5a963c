"""Claims on the model of the long queue: section VI-B (Figs. 17 to 21)."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np

from aqmlab.library.redtail import theory
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import ratio
from aqmlab.theory import redtail


def consistent(evidence: Evidence) -> Judgement:
    """Compare the model's steady state with that of the packet engine."""
    checks = []
    for flows in theory.FLOWS:
        chain = theory.chain(flows)
        seen = theory.steady(evidence, theory.MOVING, flows)
        means = [chain.mean / float(one.queue.mean()) for one in seen]
        # "consistent": a tenth
        checks.append(Check.of(f"mean queue of the model over the engine's, N = {flows}", means, least=0.9, most=1.1))
    losses = [fmean(one.loss for one in theory.steady(evidence, theory.MOVING, flows)) for flows in theory.FLOWS]
    return Judgement(
        checks,
        f"The model takes P = 0.014. The engine loses {losses[0]:.4f} with 20 flows and {losses[1]:.4f} with 40: "
        "ns-2's spacing of drops turns a band of 1 to 2 % for p into one of 0.67 to 1.33 % for losses.",
    )


def distributions_agree(evidence: Evidence) -> Judgement:
    """Compare the chain, the Gaussian and the packet engine: the three curves of Fig. 21."""
    checks, lift, swapped, means = [], 0.0, [], []
    for flows in theory.FLOWS:
        queue_model, sigma = theory.model(flows), redtail.paper_sigma(flows)
        chain = theory.chain(flows)
        linear, lift = queue_model.linear_sd(sigma), chain.mean - queue_model.q_e
        checks += [
            Check.exact(
                f"mean of the Gaussian over the chain's, N = {flows}",
                queue_model.q_e / chain.mean,
                least=0.95,
                most=1.05,
            ),
            Check.exact(
                f"deviation of the Gaussian over the chain's, N = {flows}", linear / chain.sd, least=0.9, most=1.1
            ),
        ]
        seen = theory.steady(evidence, theory.MOVING, flows)
        ratios = [chain.sd / float(one.queue.std()) for one in seen]
        swapped.append(theory.interchanged(flows).sd / fmean(float(one.queue.std()) for one in seen))
        means.append(chain.mean / fmean(float(one.queue.mean()) for one in seen))
        # two bell curves with equal means look alike up to a fifth of their widths
        checks.append(Check.of(f"deviation of the chain over the engine's, N = {flows}", ratios, least=0.8, most=1.25))
    return Judgement(
        checks,
        "Chain and Gaussian are one model, and agree but for the map's curvature, which lifts the mean of 40 flows "
        f"by {lift:.0f} packets. The chain is drawn with the printed sigmas; with these two interchanged it has "
        f"{swapped[0]:.2f} and {swapped[1]:.2f} of the engine's deviation. Its mean is {means[0]:.2f} and "
        f"{means[1]:.2f} of the engine's.",
    )


def chaotic(_: Evidence) -> Judgement:
    """Compare the queue's deviation with slots of two round trips and of one."""
    one, two = theory.chain(40), theory.chain(40, 2.0)
    checks = [
        # "small variation": a fifth of the mean; "much more chaotic": twice as much
        Check.exact("deviation over the mean, S = RTT", one.sd / one.mean, most=0.2),
        Check.exact("deviation with S = 2 RTT over that with S = RTT", two.sd / one.sd, least=2),
    ]
    return Judgement(
        checks,
        f"At S = RTT the slope at the equilibrium is 0 and the noise of a slot alone moves the queue, {one.sd:.0f} "
        f"packets; at 2 RTT it is -1, the limit of stability, and the deviation {two.sd:.0f}.",
    )


def contraction(_: Evidence) -> Judgement:
    """Check Propositions 6.1 and 6.3 below their limit: every pair of queues converges under the same noise."""
    checks = []
    for flows in theory.FLOWS:
        limit = theory.model(flows).contraction_limit()
        rtt = theory.model(flows).rtt
        queue_model = theory.model(flows, 0.99 * limit / rtt)
        rho = queue_model.contraction(theory.BUFFER)
        queues = np.array([0.0, float(theory.BUFFER)])
        noise = np.random.default_rng(1).normal(0, queue_model.noise(redtail.paper_sigma(flows)), 600)
        for xi in noise:
            queues = np.clip(queue_model.f(queues) + xi, 0, theory.BUFFER)
        checks += [
            Check.exact(f"rho on [0, 800], S at 0.99 of (10), N = {flows}", rho, most=1 - 1e-9),
            Check.exact(
                f"distance after 600 slots of two queues that were 800 packets apart, N = {flows}",
                float(queues[1] - queues[0]),
                unit="packets",
                most=0.01,
            ),
        ]
    return Judgement(checks, "(10) is f'(0) > -1, and f is convex with f' < 1, so that |f'| < 1 everywhere on [0, B].")


def settling(_: Evidence) -> Judgement:
    """Check Proposition 6.2 with S = RTT: its claim, and the inequality of its proof."""
    checks = []
    q = np.arange(theory.BUFFER + 1.0)
    for flows in theory.FLOWS:
        queue_model = theory.model(flows)
        checks.append(
            Check.exact(
                f"share of the queues that come to q_e, N = {flows}", float(np.mean(queue_model.settles(q))), least=1
            )
        )
    low = [float(np.mean(theory.model(flows).nearer(q))) for flows in theory.FLOWS]
    checks += [
        Check.exact(f"share of the queues that are nearer to q_e a slot later, N = {flows}", share, least=1)
        for flows, share in zip(theory.FLOWS, low, strict=True)
    ]
    empty = float(theory.model(40).f(0.0))
    return Judgement(
        checks,
        "The claim is true: below q_e the queue rises, above it falls without passing. The inequality of the proof "
        f"is not: from an empty queue 40 flows go to {empty:.0f} packets in a slot, were the buffer as long.",
    )


def mixed(_: Evidence) -> Judgement:
    """Check the condition for different round-trip times, as restored."""
    queue_model = theory.model(40)
    several = type(queue_model)(C=queue_model.C, d=np.linspace(0.016, 0.240, 40), N=40, W=queue_model.W)
    part = several.sufficient_limit() / several.monotone_limit()
    return Judgement(
        [
            Check.exact(
                "S of the condition over the largest S with f'(q_e) >= 0, d from 16 to 240 ms", part, least=0, most=1
            )
        ],
        "As printed, (C/W - N (N - 1)/(q_e + D_m)^2)^-1, the units do not fit; with factors W C and C restored it "
        "follows from the sum of rates at the equilibrium.",
    )


def least_variance(_: Evidence) -> Judgement:
    """Compare the normalised variance (21) over the slot."""
    sigma = redtail.paper_sigma(40)

    def normalised(slots: float) -> float:
        queue_model = theory.model(40, slots)
        return (queue_model.linear_sd(sigma) / queue_model.slot) ** 2

    least = normalised(1.0)
    checks = [
        Check.exact(f"variance of Q/S at S = {slots:g} RTT over that at RTT", normalised(slots) / least, least=1)
        for slots in (0.25, 0.5, 0.9, 1.1, 1.5)
    ]
    return Judgement(
        checks,
        "N sigma^2/(1 - f'^2) is least where f' = 0. Of the queue itself, not over S, it is least at smaller slots.",
    )


def interchanged(evidence: Evidence) -> Judgement:
    """Compare the deviation of a flow's rate with the printed ones, as printed and interchanged."""
    few, many = ([one.sigma for one in theory.steady(evidence, theory.MOVING, flows)] for flows in theory.FLOWS)
    printed = [redtail.paper_sigma(flows) for flows in theory.FLOWS]
    # half way between the two, in ratio
    between = math.sqrt(printed[0] * printed[1])
    checks = [
        Check.of("sigma of 20 flows over that of 40", ratio(few, many), least=1),
        Check.of("sigma of 20 flows over the middle of the printed two", [one / between for one in few], least=1),
        Check.of("sigma of 40 flows over the middle of the printed two", [one / between for one in many], most=1),
    ]
    shares = [
        100 * fmean(sigmas) * flows / theory.CAPACITY for sigmas, flows in zip((few, many), theory.FLOWS, strict=True)
    ]
    return Judgement(
        checks,
        f"20 flows have {fmean(few) / fmean(many):.2f} times the sigma of 40; as printed it is "
        f"{printed[0] / printed[1]:.2f}, interchanged {printed[1] / printed[0]:.2f}. A flow of 40 has half the rate, "
        f"and windows that halve make sigma a share of it: {shares[0]:.0f} % with 20 flows and {shares[1]:.0f} % with "
        "40; the printed are 26 and 86 %, and 43 and 51 % if they change places.",
    )


def fixed_loss(evidence: Evidence) -> Judgement:
    """Compare the model with the packet engine where every packet has the same loss probability."""
    checks, high, wide = [], [], []
    for flows in theory.FLOWS:
        seen = theory.steady(evidence, theory.FIXED_LOSS, flows)
        chains = [one.slots.chain(one.sigma, theory.BUFFER) for one in seen]
        means = [chain.mean / float(one.queue.mean()) for chain, one in zip(chains, seen, strict=True)]
        spreads = [chain.sd / float(one.queue.std()) for chain, one in zip(chains, seen, strict=True)]
        high.append(100 * (fmean(means) - 1))
        wide.append(fmean(spreads))
        checks += [
            Check.of(f"mean of the model over the engine's, N = {flows}", means, least=1.0),
            Check.of(f"deviation of the model over the engine's, N = {flows}", spreads, least=0.8, most=1.25),
        ]
    return Judgement(
        checks,
        f"The means differ by {high[0]:+.0f} and {high[1]:+.0f} %: the square-root law knows no time-outs. With the "
        f"measured sigma the deviations are {wide[0]:.2f} and {wide[1]:.2f} of the engine's.",
    )


def uncovered(_: Evidence) -> Judgement:
    """Compare the slot of the figures with the limit (10)."""
    checks = [
        Check.exact(
            f"S = RTT of the figures over the limit (10), N = {flows}",
            theory.model(flows).rtt / theory.model(flows).contraction_limit(),
            least=1,
        )
        for flows in theory.FLOWS
    ]
    return Judgement(
        checks,
        "That S is covered by 6.2, which is about the queue without noise. That the distribution converges, for "
        "which 6.3 asks (10), is seen in the chain and not derived there.",
    )


CLAIMS = (
    Claim(
        name="model-consistent",
        text="The model's steady state is consistent with the simulation's, for 20 and for 40 connections.",
        where="Section VI-B, Figs. 10 and 17",
        judge=consistent,
        needs=["steady"],
        shown=["fig17"],
    ),
    Claim(
        name="contraction",
        text="With S below (10) the equilibrium is globally stable, and with noise the distribution converges.",
        where="Propositions 6.1, 6.3",
        judge=contraction,
        shown=["fig18"],
    ),
    Claim(
        name="settling",
        text="If f'(q_e) >= 0 the equilibrium is globally stable: every slot brings the queue nearer.",
        where="Proposition 6.2",
        judge=settling,
        shown=["fig18", "fig19"],
    ),
    Claim(
        name="mixed-delays",
        text="A sufficient condition holds for round-trip times that differ.",
        where="after Proposition 6.2",
        judge=mixed,
    ),
    Claim(
        name="erratic",
        text="With S = RTT the queue stays about the equilibrium, with S = 2 RTT it is much more chaotic.",
        where="Section VI-B, Fig. 20",
        judge=chaotic,
        shown=["fig20"],
    ),
    Claim(
        name="least-variance",
        text="The normalised variance is least where f'(q_e) = 0, at S = RTT.",
        where="eq. (21)",
        judge=least_variance,
    ),
    Claim(
        name="distributions",
        text="The distributions of simulation, Markov chain and linear approximation agree well.",
        where="Section VI-B, Fig. 21",
        judge=distributions_agree,
        needs=["steady"],
        shown=["fig21"],
    ),
)

BEYOND = (
    Claim(
        name="sigmas-interchanged",
        text="The printed deviations of a flow's rate, of 20 and of 40 flows, have changed places.",
        where="ours",
        judge=interchanged,
        needs=["steady"],
        shown=["fig21"],
        beyond=True,
    ),
    Claim(
        name="model-at-fixed-loss",
        text="Where the loss is fixed, as the model assumes, its deviation is right, and its mean too high.",
        where="ours",
        judge=fixed_loss,
        needs=["steady"],
        shown=["fig21-fixed"],
        beyond=True,
    ),
    Claim(
        name="limit-of-figures",
        text="The figures' slots are several times above the limit (10) of Propositions 6.1 and 6.3.",
        where="ours",
        judge=uncovered,
        shown=["fig17", "fig21"],
        beyond=True,
    ),
)

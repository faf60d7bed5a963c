"""Simulated runs of losses: queues that drop by an average, which has too many values for a chain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import positive, whole
from aqmlab_papers.theory.drops.chain import Policy, Queue, followed_by, runs

Array = NDArray[np.float64]


def run_lengths(lost: ArrayLike, longest: int, flows: float = 1, ahead: int = 0) -> Array:
    """Return the expected number of loss runs, of one flow, over all assignments of a sequence of packets to flows.

    Runs of at least 1, ..., ``longest`` packets in each sequence; shape (..., longest). Losses before the first
    accepted packet are ignored. For the packets from i on, let a_n(i) be the probability that a flow's next n are lost:
    with s = 1/flows, a_n(i) = s x_i a_(n-1)(i+1) + (1-s) a_n(i+1), a recursive filter backwards in time.
    """
    from scipy.signal import lfilter  # takes a second to import; commands that only list papers avoid it

    whole(longest=longest)
    if not (np.isfinite(flows) and flows >= 1):
        raise ValueError(f"flows = {flows:g}: must be at least 1")
    x = np.asarray(lost, dtype=float)
    if x.size == 0:
        raise ValueError("lost is empty: give at least one packet")
    if not np.all((x == 0) | (x == 1)):
        raise ValueError("lost: must be 0 or 1 for each packet")
    share = 1 / flows
    before = 1 - x[..., ::-1]
    chance = np.ones_like(x)
    counts = np.empty((*x.shape[:-1], longest))
    for n in range(longest):
        shifted = np.concatenate([np.full_like(chance[..., :1], 1.0 if n == 0 else 0.0), chance[..., :-1]], axis=-1)
        chance = lfilter([share], [1, share - 1], x[..., ::-1] * shifted, axis=-1)
        after = np.concatenate([np.zeros_like(chance[..., :1]), chance[..., :-1]], axis=-1)
        counts[..., n] = share * np.sum((before * after)[..., ahead:], axis=-1)
    return counts


@dataclass(frozen=True, kw_only=True)
class Simulated(Queue):
    """Result of a simulation, with standard errors from its independent runs.

    * warnings: conditions of the formulas that fail here, and the consequence.
    * loss: fraction of arrivals dropped.
    * queue_mean: mean number of packets present.
    * queue_sd: standard deviation of the number of packets present.
    * delay: mean time of an accepted packet in the queue and in service, in mean service times.
    * runs: P(run >= 1), P(run >= 2), ... of one flow.
    * loss_error: standard error of ``loss``.
    * mean_error: standard error of ``queue_mean``, packets.
    * sd_error: standard error of ``queue_sd``, packets.
    * runs_error: standard errors of ``runs``.
    """

    runs: Array
    loss_error: float
    mean_error: float
    sd_error: float
    runs_error: Array


def simulate(
    rho: float,
    policy: Policy,
    K: int = 200,
    longest: int = 20,
    flows: float = 1,
    arrivals: int = 400_000,
    seed: int = 1,
    service: str = "exponential",
    replicas: int = 32,
) -> Simulated:
    """Simulate a queue that drops by its average length.

    Statistics of the packets seen by arrivals, which equal time averages. The first 6/w arrivals, at least 1000, are
    discarded, in which the average forgets its start: the queue is initially built up and the average has its length.
    The average does not age while the queue is empty, which is rare at loads with losses.
    """
    positive(rho=rho)
    whole(K=K, longest=longest, arrivals=arrivals, replicas=replicas)
    followed_by(rho, service)
    if replicas < 2:
        raise ValueError(f"replicas = {replicas}: must be at least 2, or there are no standard errors")
    random = np.random.default_rng(seed)
    skipped, counted = int(max(1000, 6 / policy.w)), -(-arrivals // replicas)
    ahead = int(flows * (longest + 6 * np.sqrt(longest)))
    level = min(float(K), policy.max_th)
    # Exponential: a geometric number of services ends between two arrivals. Constant: counted by the remaining work.
    work = np.full(replicas, level)
    average = np.full(replicas, level)
    shape = (skipped + counted + ahead, replicas)
    exponential = service == "exponential"
    served = random.geometric(rho / (1 + rho), shape) - 1 if exponential else random.exponential(1 / rho, shape)
    draws = random.random(shape)
    present = np.empty(shape)
    lost = np.empty(shape, dtype=bool)
    for i in range(shape[0]):
        work = np.maximum(work - served[i], 0)
        present[i] = found = work if exponential else np.ceil(work)
        average = average + policy.w * (found - average)
        lost[i] = drop = (draws[i] < policy.chance(average)) | (found >= K)
        work = work + ~drop
    counts = run_lengths(lost[skipped:].T, longest, flows, ahead)
    present, lost = present[skipped : skipped + counted], lost[skipped : skipped + counted]
    means, spreads, losses = present.mean(axis=0), present.std(axis=0), lost.mean(axis=0)
    total = counts.sum(axis=0)
    if total[0] == 0:
        raise ValueError(f"rho = {rho:g}: nothing was lost in {arrivals} arrivals, and there are no runs")
    ratio = total / total[0]
    # The ratio's error by the delta method.
    scatter = np.sqrt(np.sum((counts - ratio * counts[:, :1]) ** 2, axis=0) * replicas / (replicas - 1)) / total[0]
    mean = float(present.mean())

    def error(values: Array) -> float:
        return float(values.std(ddof=1) / np.sqrt(replicas))

    loss = float(losses.mean())
    return Simulated(
        loss=loss,
        queue_mean=mean,
        queue_sd=float(present.std()),
        delay=mean / (rho * (1 - loss)),
        runs=ratio,
        loss_error=error(losses),
        mean_error=error(means),
        sd_error=error(np.asarray(spreads)),
        runs_error=scatter,
    )


def curve(
    rho: float, policy: Policy, K: int = 200, longest: int = 20, flows: float = 1, arrivals: int = 400_000
) -> tuple[Array, Array]:
    """Return the distribution of loss run lengths of a policy: by the chain if it drops by the queue, else simulated.

    P(run >= n) and its standard error for n = 1, ..., ``longest``; each of shape (longest,). The error is 0 where the
    chain computes the curve.
    """
    if policy.w == 1:
        return runs(rho, policy.of(K), longest, flows), np.zeros(longest)
    found = simulate(rho, policy, K, longest, flows, arrivals)
    return found.runs, found.runs_error

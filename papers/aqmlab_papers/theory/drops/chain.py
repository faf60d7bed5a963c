"""Runs of consecutive losses: open-loop queues with a drop function of their length or of its average.

Poisson packets arrive at a buffer of K places, including the one in service. An arrival that finds k packets is
dropped with probability d(k). rho is the offered load: the arrival rate divided by the service rate.

Symbols, beside those of `aqmlab.theory`:

* K: places in the buffer.
* d: drop probability of an arrival that finds k packets; shape (K + 1,), the last one 1.
* q: queue or average queue (packets).
* flows: flows to which packets belong at random; 1 counts consecutive losses regardless of flow.
* longest: the longest run to report.
* service: ``exponential`` or ``constant``: M/M/1/K or M/D/1/K.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, diags_array, eye_array
from scipy.sparse.linalg import splu
from scipy.special import gammainc, logsumexp

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import not_negative, positive, whole

Array = NDArray[np.float64]

# Probability below which further arrivals in one constant service are neglected.
_RARE = 1e-14
# Maximum number of states, for which the solution takes some seconds.
_STATES = 15_000


@dataclass(frozen=True)
class Policy:
    """The probability with which an arrival is dropped at a queue, or at an average queue, of q packets.

    It is 0 below ``min_th`` and rises linearly to ``max_p`` at ``max_th``. From there on it is 1, or if gentle it
    rises linearly to 1 at 2 ``max_th``. With ``min_th`` = ``max_th`` it is a step: tail drop.

    * min_th: queue (packets) above which packets are dropped.
    * max_th: upper threshold (packets); not below ``min_th``.
    * max_p: probability at ``max_th``, in (0, 1].
    * gentle: whether the probability rises from ``max_p`` to 1 instead of stepping.
    * w: weight of the current queue in the average; 1 means the queue itself.
    """

    min_th: float
    max_th: float
    max_p: float = 1.0
    gentle: bool = False
    w: float = 1.0

    def __post_init__(self) -> None:
        positive(min_th=self.min_th, max_th=self.max_th, max_p=self.max_p, w=self.w)
        if self.max_th < self.min_th:
            raise ValueError(f"max_th = {self.max_th:g}: must not be below min_th = {self.min_th:g}")
        for name, value in (("max_p", self.max_p), ("w", self.w)):
            if value > 1:
                raise ValueError(f"{name} = {value:g}: must be in (0, 1]")

    def drop(self, q: ArrayLike) -> Array:
        """Return the drop probability at queue ``q``."""
        not_negative(q=q)
        return self.chance(np.asarray(q, dtype=float))

    def chance(self, q: Array) -> Array:
        """Return the drop probability of queues that need no check."""
        wide = self.max_th - self.min_th
        rising = self.max_p * (q - self.min_th) / wide if wide > 0 else np.zeros_like(q)
        above = self.max_p + (1 - self.max_p) * (q - self.max_th) / self.max_th if self.gentle else np.ones_like(q)
        return np.asarray(np.clip(np.where(q >= self.max_th, above, np.where(q >= self.min_th, rising, 0)), 0, 1))

    def of(self, K: int) -> Array:
        """Return the drop probability for every number of packets in a buffer: d(0), ..., d(K) = 1; shape (K + 1,)."""
        whole(K=K)
        d = self.drop(np.arange(int(K) + 1))
        d[-1] = 1
        return d


# RED's thresholds are those of the texts that the paper cites; the paper's thresholds are missing in print.
POLICIES: Mapping[str, Policy] = {
    "Tail Drop": Policy(200, 200),
    "RED": Policy(30, 90, 0.1, w=0.002),
    "gentle RED": Policy(30, 90, 0.1, gentle=True, w=0.002),
    "GRED": Policy(30, 130, w=0.002),
    "GRED-I": Policy(30, 200),
}
"""The paper's four policies, and Floyd's Gentle RED: the testbed's "GRED" was sharp RED from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Queue(Answer):
    """Long-run behaviour of a queue.

    * warnings: conditions of the formulas that fail here, and the consequence.
    * loss: fraction of arrivals dropped.
    * queue_mean: mean number of packets present.
    * queue_sd: standard deviation of the number of packets present.
    * delay: mean time of an accepted packet in the queue and in service, in mean service times; 0 if none is accepted.
    """

    loss: float
    queue_mean: float
    queue_sd: float
    delay: float


def stationary(rho: float, d: ArrayLike) -> Array:
    """Return the distribution of the number of packets present in M/M/1/K, which arrivals see too; shape (K + 1,).

    pi(k+1) / pi(k) = rho (1 - d(k)), summed as logarithms, which allows any load and buffer.
    """
    positive(rho=rho)
    d = probabilities(d)
    with np.errstate(divide="ignore"):
        weight = np.concatenate([[0.0], np.cumsum(np.log(rho) + np.log1p(-d[:-1]))])
    return np.asarray(np.exp(weight - logsumexp(weight)))


def mm1k(rho: float, d: ArrayLike) -> Queue:
    """Return loss (by PASTA), queue and delay (by Little's law) of M/M/1/K with a drop function."""
    pi, d = stationary(rho, d), probabilities(d)
    k = np.arange(pi.size)
    mean, accepted = float(pi @ k), float(pi @ (1 - d))
    return Queue(
        loss=float(pi @ d),
        queue_mean=mean,
        queue_sd=float(np.sqrt(pi @ (k - mean) ** 2)),
        delay=mean / (rho * accepted) if accepted > 0 else 0.0,
    )


def runs(rho: float, d: ArrayLike, longest: int, flows: float = 1, service: str = "exponential") -> Array:
    """Return P(run >= 1) = 1, ..., P(run >= longest) at a queue that drops by its present length; shape (longest,).

    By the chain of states seen by arrivals. Runs depend only on the order of arrivals and departures; for constant
    service it suffices to count the arrivals since service began. Between two packets of a flow the chain makes a
    geometric number of steps.
    """
    positive(rho=rho)
    whole(longest=longest)
    d = probabilities(d)
    if not (np.isfinite(flows) and flows >= 1):
        raise ValueError(f"flows = {flows:g}: must be at least 1")
    followed = followed_by(rho, service)
    if d.size * followed.size > _STATES:
        raise ValueError(
            f"rho = {rho:g}, K = {d.size - 1}: {d.size * followed.size} states by {service} services, must be at most "
            f"{_STATES}; take fewer places or exponential services, or simulate"
        )
    dropped, kept, lost = _chain(rho, d, followed)
    size = dropped.size
    step = kept + lost
    found = stationary(rho, d) if service == "exponential" else _balanced(step)
    others = splu(csc_array(eye_array(size) - (1 - 1 / flows) * step.T))

    def next_of_flow(start: Array) -> Array:
        return np.asarray(others.solve(start) / flows)

    # State seen by the first packet after an accepted one; runs begin with the lost packets among these.
    state = next_of_flow(kept.T @ found)
    alive = np.empty(longest)
    for n in range(longest):
        alive[n] = state @ dropped
        state = next_of_flow(lost.T @ state)
    # The chain of constant services is solved to the last digit of its likeliest states.
    if alive[0] < (1e-300 if service == "exponential" else 1e-12):
        raise ValueError(f"rho = {rho:g}: no losses, or too few to evaluate")
    return np.asarray(alive / alive[0])


def probabilities(d: ArrayLike) -> Array:
    """Return drop probabilities as an array; ValueError if they are none, or d(K) is not 1."""
    d = np.asarray(d, dtype=float)
    if d.ndim != 1 or d.size < 2:
        raise ValueError(f"d has shape {d.shape}: must be (K + 1,), with K at least 1")
    if not np.all((d >= 0) & (d <= 1)):
        raise ValueError(f"d = {d}: must be probabilities")
    if d[-1] != 1:
        raise ValueError(f"d(K) = {d[-1]:g}: must be 1, because a full buffer drops; see Policy.of")
    return d


def followed_by(rho: float, service: str) -> Array:
    """Return the probability that an arrival is followed by another before the present service ends.

    Indexed by the number of arrivals since service began, from 0; a single value if service is exponential.
    """
    if service == "exponential":
        return np.array([rho / (1 + rho)])
    if service != "constant":
        raise ValueError(f"service = {service!r}: must be 'exponential' or 'constant'")
    # P(A > j) of a Poisson count is the incomplete gamma function; j = 0 is the start of the service.
    longest = int(min(rho + 12 * np.sqrt(rho) + 30, 1e6))
    beyond = gammainc(np.arange(1, longest + 1), rho)
    beyond = beyond[beyond > _RARE]
    return np.asarray(beyond / np.concatenate([[1.0], beyond[:-1]]))


def _balanced(step: csc_array) -> Array:
    """Return the stationary distribution of a chain: balance, the last equation replaced by the sum."""
    size = step.shape[0]
    balance = (step.T - eye_array(size)).tolil()
    balance[[size - 1], :] = np.ones((1, size))
    right = np.zeros(size)
    right[-1] = 1
    return np.asarray(splu(csc_array(balance)).solve(right))


def _chain(rho: float, d: Array, followed: Array) -> tuple[Array, csc_array, csc_array]:
    """Return the chain of states seen by arrivals: d of each state, and the steps after accepted and lost arrivals.

    A state is (k, j): k packets seen by the j-th arrival in the present service; j is 0 if service is exponential.
    """
    K, J = d.size - 1, followed.size
    k, j = (index.ravel() for index in np.meshgrid(np.arange(K + 1), np.arange(J), indexing="ij"))

    def steps(after: NDArray[np.int64], seen: NDArray[np.int64]) -> csc_array:
        """Return the steps from ``after`` packets left behind, ``seen`` arrivals into the service."""
        rows, columns, chances = [], [], []
        at = np.arange(k.size)

        def add(which: NDArray[np.bool_], to_k: ArrayLike, to_j: ArrayLike, chance: ArrayLike) -> None:
            rows.append(at[which])
            columns.append((np.asarray(to_k) * J + np.minimum(to_j, J - 1))[which])
            chances.append(np.broadcast_to(chance, at.shape)[which])

        # The next arrival occurs in the same service ...
        more = followed[np.minimum(seen, J - 1)]
        add(after > 0, after, seen + 1 if J > 1 else seen, more)
        # ... or m services later: each service in between has no arrival, with probability 1 - followed[0].
        left = np.where(after > 0, 1 - more, 0)
        none = 1 - followed[0]
        for m in range(1, K + 1):
            rest = after - m
            add(rest > 0, rest, 1 if J > 1 else 0, left * none ** (m - 1) * followed[0])
        # ... or when the queue is empty.
        empty = np.where(after > 0, left * none ** np.maximum(after - 1, 0), 1.0)
        add(np.ones(k.size, dtype=bool), np.zeros_like(k), np.zeros_like(k), empty)
        shape = (k.size, k.size)
        return csc_array((np.concatenate(chances), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    dropped = d[k]
    # An arrival at an empty queue begins a service; a full buffer accepts none.
    kept = diags_array(1 - dropped) @ steps(np.minimum(k + 1, K), np.where(k == 0, 0, j))
    lost = diags_array(dropped) @ steps(k, j)
    return dropped, csc_array(kept), csc_array(lost)

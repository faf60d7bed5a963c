"""Who loses how many packets in a row: open-loop queues with a drop function of their length or of its average.

Poisson packets come to a buffer of K places, the one in service counted; an arrival that finds k is dropped with the
probability d(k). rho is the offered load: arrivals for each that the link could serve.
"""

from __future__ import annotations

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

# Arrivals in one constant service beyond which there are no more, as a probability.
_RARE = 1e-14
# States beyond which the chain is not solved: it takes some seconds.
_STATES = 15_000


@dataclass(frozen=True)
class Policy:
    """Say with which probability an arrival is dropped at a queue, or at an average queue, of q packets.

    0 below ``min_th``, rising straight to ``max_p`` at ``max_th``; from there on 1, or if gentle rising straight to 1
    at 2 ``max_th``. With ``min_th`` = ``max_th`` it is a step: tail drop.

    Parameters
    ----------
    min_th : float
        Packets; drops begin above.
    max_th : float
        Packets; not below ``min_th``.
    max_p : float
        Probability at ``max_th``, in (0, 1].
    gentle : bool
        Whether it rises from ``max_p`` to 1 instead of stepping there.
    w : float
        Weight of the queue that an arrival finds in the average; 1 is the queue itself.

    Raises
    ------
    ValueError
        If an argument is out of its range.
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
        """Give the probability.

        Parameters
        ----------
        q : array_like
            Packets, or their average; of any shape.

        Returns
        -------
        ndarray
            Probabilities, in the shape of ``q``.

        Raises
        ------
        ValueError
            If ``q`` is negative or not finite.
        """
        not_negative(q=q)
        return self.chance(np.asarray(q, dtype=float))

    def chance(self, q: Array) -> Array:
        """Give the same of queues that need no check.

        Parameters
        ----------
        q : ndarray
            Packets, or their average; of any shape.

        Returns
        -------
        ndarray
            Probabilities, in the shape of ``q``.
        """
        wide = self.max_th - self.min_th
        rising = self.max_p * (q - self.min_th) / wide if wide > 0 else np.zeros_like(q)
        above = self.max_p + (1 - self.max_p) * (q - self.max_th) / self.max_th if self.gentle else np.ones_like(q)
        return np.asarray(np.clip(np.where(q >= self.max_th, above, np.where(q >= self.min_th, rising, 0)), 0, 1))

    def of(self, K: int) -> Array:
        """Give it for every number of packets that a buffer may hold, as `mm1k` and `runs` take it.

        Parameters
        ----------
        K : int
            Places in the buffer.

        Returns
        -------
        ndarray
            d(0), ..., d(K); shape (K + 1,). A full buffer drops: d(K) = 1.
        """
        whole(K=K)
        d = self.drop(np.arange(int(K) + 1))
        d[-1] = 1
        return d


# The thresholds of RED are those of the texts that the paper cites; its own are lost in print.
POLICIES: Mapping[str, Policy] = {
    "Tail Drop": Policy(200, 200),
    "RED": Policy(30, 90, 0.1, w=0.002),
    "gentle RED": Policy(30, 90, 0.1, gentle=True, w=0.002),
    "GRED": Policy(30, 130, w=0.002),
    "GRED-I": Policy(30, 200),
}
"""The paper's four, and Gentle RED as Floyd has it: on the testbed "GRED" was sharp RED from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Queue(Answer):
    """What a queue does in the long run.

    Parameters
    ----------
    warnings : tuple of str
        Which conditions of the formulas fail here, and what that means.
    loss : float
        Share of the arrivals that are dropped.
    queue_mean : float
        Mean of the packets present, packets.
    queue_sd : float
        Their standard deviation, packets.
    delay : float
        Mean time of an accepted packet in the queue and in service, in mean services; 0 if none is.
    """

    loss: float
    queue_mean: float
    queue_sd: float
    delay: float


def stationary(rho: float, d: ArrayLike) -> Array:
    """Give the distribution of the number of packets present in M/M/1/K with a drop function.

    Parameters
    ----------
    rho : float
        Offered load.
    d : array_like
        Probability that an arrival is dropped that finds k packets; shape (K + 1,), the last one 1.

    Returns
    -------
    ndarray
        pi(0), ..., pi(K); shape (K + 1,). Arrivals find the same (PASTA).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    pi(k+1) / pi(k) = rho (1 - d(k)), added up as logarithms: any load and buffer.
    """
    positive(rho=rho)
    d = _drops(d)
    with np.errstate(divide="ignore"):
        weight = np.concatenate([[0.0], np.cumsum(np.log(rho) + np.log1p(-d[:-1]))])
    return np.asarray(np.exp(weight - logsumexp(weight)))


def mm1k(rho: float, d: ArrayLike) -> Queue:
    """Give loss, queue and delay of M/M/1/K with a drop function.

    Parameters
    ----------
    rho : float
        Offered load.
    d : array_like
        Probability that an arrival is dropped that finds k packets; shape (K + 1,), the last one 1.

    Returns
    -------
    Queue
        Loss by PASTA, delay by Little's law.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    pi, d = stationary(rho, d), _drops(d)
    k = np.arange(pi.size)
    mean, accepted = float(pi @ k), float(pi @ (1 - d))
    return Queue(
        loss=float(pi @ d),
        queue_mean=mean,
        queue_sd=float(np.sqrt(pi @ (k - mean) ** 2)),
        delay=mean / (rho * accepted) if accepted > 0 else 0.0,
    )


def tail_drop_runs(rho: float, n: ArrayLike) -> Array:
    """Give how many runs of losses at a full buffer are at least n packets long, whatever their flows.

    Parameters
    ----------
    rho : float
        Offered load.
    n : array_like
        Lengths from 1 on.

    Returns
    -------
    ndarray
        P(run >= n), in the shape of ``n``: (rho / (1 + rho))^(n - 1), the next event being another arrival each time.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive(rho=rho)
    whole(n=n)
    return np.asarray((rho / (1 + rho)) ** (np.asarray(n, dtype=float) - 1))


def independent_runs(rho: float, n: ArrayLike) -> Array:
    """Give the same for an average that never moves (w -> 0), so that every packet is lost with the same probability.

    Parameters
    ----------
    rho : float
        Offered load, above 1: below, such a queue drops nothing.
    n : array_like
        Lengths from 1 on.

    Returns
    -------
    ndarray
        P(run >= n), in the shape of ``n``: p^(n - 1) with p = 1 - 1/rho; of one flow or of all.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive(rho=rho)
    whole(n=n)
    if rho <= 1:
        raise ValueError(f"rho = {rho:g}: must be above 1, or nothing is dropped")
    return np.asarray((1 - 1 / rho) ** (np.asarray(n, dtype=float) - 1))


def runs(rho: float, d: ArrayLike, longest: int, flows: float = 1, service: str = "exponential") -> Array:
    """Give the lengths of the runs of losses at a queue that drops by its present length.

    A run is of consecutive packets of one flow; every packet is of each of the flows with the same chance.

    Parameters
    ----------
    rho : float
        Offered load.
    d : array_like
        Probability that an arrival is dropped that finds k packets; shape (K + 1,), the last one 1.
    longest : int
        The longest run to tell of.
    flows : float
        How many flows there are; 1 counts losses in a row whatever their flow.
    service : str
        ``exponential`` or ``constant`` times of service: M/M/1/K or M/D/1/K.

    Returns
    -------
    ndarray
        P(run >= 1) = 1, ..., P(run >= longest); shape (longest,).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The chain of what arrivals find. Runs depend on the order of arrivals and departures only, so that a constant
    service takes no more than counting the arrivals since it began: the j-th is followed by another before the
    departure with probability P(A > j | A >= j), A Poisson with mean rho. From one packet of a flow to its next the
    chain makes a geometric number of steps.
    """
    positive(rho=rho)
    whole(longest=longest)
    d = _drops(d)
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

    # What the first packet after an accepted one finds; the runs begin with the lost ones among these.
    state = next_of_flow(kept.T @ found)
    alive = np.empty(longest)
    for n in range(longest):
        alive[n] = state @ dropped
        state = next_of_flow(lost.T @ state)
    # The constant services' chain is solved to the last digit of its likeliest states.
    if alive[0] < (1e-300 if service == "exponential" else 1e-12):
        raise ValueError(f"rho = {rho:g}: nothing is lost, or too little to tell how")
    return np.asarray(alive / alive[0])


def _drops(d: ArrayLike) -> Array:
    d = np.asarray(d, dtype=float)
    if d.ndim != 1 or d.size < 2:
        raise ValueError(f"d has shape {d.shape}: must be (K + 1,), with K at least 1")
    if not np.all((d >= 0) & (d <= 1)):
        raise ValueError(f"d = {d}: must be probabilities")
    if d[-1] != 1:
        raise ValueError(f"d(K) = {d[-1]:g}: must be 1, for a full buffer drops; see Policy.of")
    return d


def followed_by(rho: float, service: str) -> Array:
    """Give with which probability an arrival is followed by another before the present service ends.

    Parameters
    ----------
    rho : float
        Offered load.
    service : str
        ``exponential`` or ``constant``.

    Returns
    -------
    ndarray
        By the number of arrivals since the service began, from 0 on; one for all if it is exponential.

    Raises
    ------
    ValueError
        If there is no such law of service.
    """
    if service == "exponential":
        return np.array([rho / (1 + rho)])
    if service != "constant":
        raise ValueError(f"service = {service!r}: must be 'exponential' or 'constant'")
    # P(A > j) of a Poisson count is the incomplete gamma function; j = 0 is the service's start.
    longest = int(min(rho + 12 * np.sqrt(rho) + 30, 1e6))
    beyond = gammainc(np.arange(1, longest + 1), rho)
    beyond = beyond[beyond > _RARE]
    return np.asarray(beyond / np.concatenate([[1.0], beyond[:-1]]))


def _balanced(step: csc_array) -> Array:
    """Give the stationary distribution of a chain: balance, the last equation replaced by the sum."""
    size = step.shape[0]
    balance = (step.T - eye_array(size)).tolil()
    balance[[size - 1], :] = np.ones((1, size))
    right = np.zeros(size)
    right[-1] = 1
    return np.asarray(splu(csc_array(balance)).solve(right))


def _chain(rho: float, d: Array, followed: Array) -> tuple[Array, csc_array, csc_array]:
    """Give the chain of what arrivals find: d of each state, and the steps that an accepted and a lost one make.

    A state is (k, j): k packets found by the j-th arrival in the present service; of exponential ones j is 0.
    """
    K, J = d.size - 1, followed.size
    k, j = (index.ravel() for index in np.meshgrid(np.arange(K + 1), np.arange(J), indexing="ij"))

    def steps(after: NDArray[np.int64], seen: NDArray[np.int64]) -> csc_array:
        """From ``after`` packets left behind, ``seen`` arrivals into the service."""
        rows, columns, chances = [], [], []
        at = np.arange(k.size)

        def add(which: NDArray[np.bool_], to_k: ArrayLike, to_j: ArrayLike, chance: ArrayLike) -> None:
            rows.append(at[which])
            columns.append((np.asarray(to_k) * J + np.minimum(to_j, J - 1))[which])
            chances.append(np.broadcast_to(chance, at.shape)[which])

        # The next arrival comes in the same service ...
        more = followed[np.minimum(seen, J - 1)]
        add(after > 0, after, seen + 1 if J > 1 else seen, more)
        # ... or m services later: each of those between has no arrival, with probability 1 - followed[0].
        left = np.where(after > 0, 1 - more, 0)
        none = 1 - followed[0]
        for m in range(1, K + 1):
            rest = after - m
            add(rest > 0, rest, 1 if J > 1 else 0, left * none ** (m - 1) * followed[0])
        # ... or when all is served.
        empty = np.where(after > 0, left * none ** np.maximum(after - 1, 0), 1.0)
        add(np.ones(k.size, dtype=bool), np.zeros_like(k), np.zeros_like(k), empty)
        shape = (k.size, k.size)
        return csc_array((np.concatenate(chances), (np.concatenate(rows), np.concatenate(columns))), shape=shape)

    dropped = d[k]
    # An arrival that finds nobody begins a service; none is accepted by a full buffer.
    kept = diags_array(1 - dropped) @ steps(np.minimum(k + 1, K), np.where(k == 0, 0, j))
    lost = diags_array(dropped) @ steps(k, j)
    return dropped, csc_array(kept), csc_array(lost)

"""The life of a short TCP flow: the packets sent by any time, from its SYN through slow start and losses.

Packets are lost independently with probability p. Time advances in steps of a quarter of a round trip, and
probability moves between the states of a NewReno sender; nothing is random.

Symbols, beside those of `aqmlab.theory`:

* age: age to follow it to (s), from its SYN.
* sender: its TCP, by default ns-2's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import binom

from aqmlab.theory.domain import caution, positive, probability

Array = NDArray[np.float64]

# Steps per round trip; probabilities that are neglected; number of times a time-out is doubled.
_STEPS = 4
_LITTLE = 1e-12
_BACKOFFS = 6


@dataclass(frozen=True)
class Sender:
    """TCP settings of a flow; the defaults are those of ns-2, which the papers used.

    * IW: window after the SYN's ACK (packets).
    * W: the largest window (packets).
    * T_syn: time-out of the SYN (s), which doubles.
    * T_min: the least time-out of data (s).
    * syn: size of a SYN relative to a data packet; 0 if there is no SYN to send.
    * impatient: whether only the first partial ACK restarts the timer in fast recovery (RFC 6582).
    """

    IW: int = 2
    W: int = 1000
    T_syn: float = 3.0
    T_min: float = 0.2
    syn: float = 0.08
    impatient: bool = True

    def __post_init__(self) -> None:
        positive(IW=self.IW, W=self.W, T_syn=self.T_syn, T_min=self.T_min)
        if self.IW > self.W:
            raise ValueError(f"IW = {self.IW:g}: must not be above W = {self.W:g}")
        if not 0 <= self.syn <= 1:
            raise ValueError(f"syn = {self.syn:g}: must be in [0, 1] packets")

    def timeout(self, age: float, R: float) -> float:
        """Return the time-out of a flow that has measured the same round trip R since its SYN.

        In seconds. The deviation starts at R/2 and loses a quarter with every measurement (RFC 6298), one per round.
        """
        return float(max(self.T_min, R * (1 + 2 * 0.75 ** max(0.0, age / R - 1))))


@dataclass(frozen=True)
class Life:
    """The mean behaviour of a flow by its age.

    * step: time (s) between entries of the arrays; the first is of age 0.
    * sent: packets sent for the first time by each age; each of them arrives eventually.
    * repeated: packets that arrive twice, because everything is sent again after a time-out, due to losses by each age.
    * timeouts: time-outs by each age, without the SYN's.
    * waiting: fraction of flows that then wait for that timer, which alone can resume them.
    """

    step: float
    sent: Array
    repeated: Array
    timeouts: Array
    waiting: Array

    def at(self, age: float) -> int:
        """Return the index of an age: the last entry that is not later."""
        return min(int(age / self.step + 1e-9), self.sent.size - 1)


def life(p: float, R: float, age: float, sender: Sender | None = None) -> Life:
    """Follow a flow that always has data until a given age.

    States: first slow start (window IW 2^k), slow start after a time-out (window 2^k, threshold s), congestion
    avoidance (window w), a detected loss (F packets in flight from the first lost one on), a time-out (threshold s,
    doubled k times). `docs/theory/short-flows.md` has what leads from each to the next.
    """
    probability(p=p)
    positive(R=R, age=age)
    sender = sender or Sender()
    meant_for(p)
    return _followed(float(p), float(R), float(age), sender)


def meant_for(p: float) -> None:
    """Warn of a loss for which the model of a flow's life is not meant."""
    if p > 0.4:
        caution(f"p = {p:.3g}: the model of a flow's life is not valid for losses above 0.4")


@lru_cache(maxsize=64)
def _followed(p: float, R: float, age: float, sender: Sender) -> Life:
    step = R / _STEPS
    last = int(np.ceil(age / step)) + 1
    # One flow in 20,000 reaches a larger window, or none does in this time.
    growth = sender.IW * 2 ** min(age / R + 1, 30.0)
    widest = int(max(4, min(sender.W, np.ceil(5 / p), growth)))
    chain = _Chain(p, R, widest, last, sender)
    for t in range(last):
        chain.advance(t)
    total = [np.cumsum(x[:last]) for x in (chain.new, chain.twice, chain.expired, chain.idle)]
    for each in total:
        each.flags.writeable = False  # shared with later callers
    return Life(step, *total)


class _Chain:
    """Probability of each state at each step, and the packets sent; the computation only moves forwards in time."""

    def __init__(self, p: float, R: float, widest: int, last: int, sender: Sender) -> None:
        from scipy.stats import binom as binomial  # takes a second to import; commands that only list papers avoid it

        self.p, self.q, self.R, self.sender = p, 1 - p, R, sender
        self.widest, self.step = widest, R / _STEPS
        self.window = np.arange(widest + 1)
        self.doublings = int(np.ceil(np.log2(max(2, widest)))) + 1
        # Number of further losses behind a lost packet; unlikely larger numbers are counted with the largest.
        self.most = int(min(widest, binomial.isf(1e-4, max(1, min(widest, round(2 / p))), p) + 1))
        depth = last + _STEPS * (self.most + 4)
        self.first = np.zeros((depth, self.doublings + 1))
        self.slow = np.zeros((depth, self.doublings + 1, widest + 1))
        self.avoid = np.zeros((depth, widest + 1))
        self.found = np.zeros((depth, widest + 1))
        self.waiting = np.zeros((depth, _BACKOFFS, widest + 1))
        self.new, self.twice, self.expired, self.idle = (np.zeros(depth) for _ in range(4))
        self.clean = self.q**self.window
        self.slow_round = cache(self._slow_round)
        self.repair = cache(self._repair)
        self._open(last)

    def _open(self, last: int) -> None:
        """Open the connection: the SYN is sent again after T_syn, 3 T_syn, ...; then data begins with a window of 1."""
        if self.sender.syn == 0:
            self.first[0, 0] = 1
            return
        self.first[_STEPS, 0] = self.q
        late = 0.0
        for k in range(1, _BACKOFFS):
            late += self.sender.T_syn * 2 ** (k - 1)
            t = round(late / self.step) + _STEPS
            if t < last:
                # The threshold is two: congestion avoidance follows directly.
                self.new[t] += self.q * self.p**k
                self._lose(t, np.where(self.window == 1, self.q * self.p ** (k + 1), 0.0))
                self.avoid[t + _STEPS, 2] += self.q**2 * self.p**k

    def advance(self, t: int) -> None:
        """Process the states of one step."""
        for k in np.nonzero(self.first[t] > _LITTLE)[0]:
            self._grow_first(t, int(k))
        for k in np.nonzero(self.slow[t].sum(axis=1) > _LITTLE)[0]:
            self._grow_slow(t, int(k))
        if self.avoid[t].sum() > _LITTLE:
            self._grow_avoiding(t)
        if self.found[t].sum() > _LITTLE:
            self._lose(t, self.found[t])
        for k in np.nonzero(self.waiting[t].sum(axis=1) > _LITTLE)[0]:
            self._expire(t, int(k))

    def _grow_first(self, t: int, k: int) -> None:
        share, w = self.first[t, k], min(self.sender.IW * 2**k, self.widest)
        self.new[t] += share * w
        self.first[t + _STEPS, min(k + 1, self.doublings)] += share * self.q**w
        place = np.arange(1, w + 1)
        lost = share * self.p * self.q ** (place - 1)
        self.new[t + _STEPS] += float(lost @ (2 * (place - 1)))
        out = np.minimum(w + place - 1, self.widest)
        soon = w - place >= 4
        for at, which in ((t, soon), (t + _STEPS, ~soon)):
            self.found[at] += np.bincount(out[which], lost[which], self.widest + 1)

    def _slow_round(self, w: int) -> tuple[csr_array, csr_array, float]:
        """Return how losses in slow start map thresholds to packets in flight: detected at once, or a round later."""
        at_once, later = (np.zeros((self.widest + 1, self.widest + 1)) for _ in range(2))
        released = 0.0
        for i in range(1, w + 1):
            lost = self.p * self.q ** (i - 1)
            out = np.minimum(np.minimum(w + i - 1, np.maximum(self.window, w)), self.widest)
            (at_once if w - i >= 4 else later)[self.window, out] += lost
            released += lost * 2 * (i - 1)
        return csr_array(at_once.T), csr_array(later.T), released

    def _grow_slow(self, t: int, k: int) -> None:
        share, w = self.slow[t, k], min(2**k, self.widest)
        at_once, later, released = self.slow_round(w)
        self.new[t] += share.sum() * w
        self.new[t + _STEPS] += share.sum() * released
        passed = share * self.q**w
        below = self.window > 2 * w
        self.slow[t + _STEPS, min(k + 1, self.doublings)] += np.where(below, passed, 0)
        self.avoid[t + _STEPS] += np.where(below, 0, passed)
        self.found[t] += at_once @ share
        self.found[t + _STEPS] += later @ share

    def _grow_avoiding(self, t: int) -> None:
        share, w = self.avoid[t], self.window
        self.new[t] += share @ w
        passed = share * self.clean
        self.avoid[t + _STEPS, 1:] += passed[:-1]
        self.avoid[t + _STEPS, -1] += passed[-1]
        lossy = np.maximum(1 - self.clean, 1e-300)
        ahead = np.where(w > 0, 1 / self.p - w * self.clean / lossy - 1, 0)
        self.new[t + _STEPS] += (share - passed) @ ahead
        soon = (1 - self.q ** np.maximum(w - 4, 0)) / lossy
        self.found[t] += (share - passed) * soon
        self.found[t + _STEPS] += (share - passed) * (1 - soon)

    def _repair(self, rounds: int) -> _Repair:
        return _Repair.of(self.p, self.window, self.most, rounds)

    def _lose(self, t: int, share: Array) -> None:
        """React to a loss, a round trip after the lost packet was sent."""
        now = t * self.step
        timeout = self.sender.timeout(now, self.R)
        patience = int(timeout / self.R) + 1 if self.sender.impatient else self.most + 1
        repair = self.repair(min(patience, self.most + 1))
        at = t + _STEPS * (1 + np.arange(self.most + 1))
        self.new[at] += repair.new @ share
        done = repair.done * share
        again = done * repair.again
        self.avoid[at + _STEPS] += self._halved(done - again, 1)
        self.found[at] += self._halved(again, 1)
        failed = self._halved(repair.failed * share, 2)
        gone, twice, chance = repair.resent @ share, repair.twice @ share, repair.failed @ share
        self.twice[t] += twice.sum()
        for late in range(3):
            when = (now + late * self.R + timeout) / self.step
            whole = int(when)
            self._wait(t + _STEPS * (1 + late), round(when), float(chance[late]))
            for step, part in ((whole, whole + 1 - when), (whole + 1, when - whole)):
                if step + _STEPS < self.new.size:
                    self.waiting[step, 0] += part * failed[late]
                    self.new[step + _STEPS] -= part * gone[late]

    def _halved(self, share: Array, least: int) -> Array:
        """Move each window's probability to half the window, at least ``least``; the last axis is the window."""
        even = np.zeros((share.shape[0], 2 * (self.widest // 2 + 1)))
        even[:, : self.widest + 1] = share
        half = even.reshape(share.shape[0], -1, 2).sum(axis=2)
        half[:, least] += half[:, :least].sum(axis=1)
        half[:, :least] = 0
        out = np.zeros_like(share)
        out[:, : half.shape[1]] = half
        return out

    def _expire(self, t: int, k: int) -> None:
        """Let the timer expire: one packet, then slow start, or a doubled time-out."""
        share = self.waiting[t, k]
        self.expired[t] += share.sum()
        if t + _STEPS < self.new.size:
            passed = share * self.q
            self.slow[t + _STEPS, 1] += np.where(self.window > 2, passed, 0)
            self.avoid[t + _STEPS, 2] += passed[:3].sum()
        now = t * self.step
        again = t + round(self.sender.timeout(now, self.R) * 2 ** (k + 1) / self.step)
        if k + 1 < _BACKOFFS and again < self.new.size:
            self.waiting[again, k + 1, 2] += share.sum() * self.p
        self._wait(t, again, share.sum() * self.p)

    def _wait(self, since: int, until: int, share: float) -> None:
        if until > since:
            self.idle[since] += share
            self.idle[min(until, self.idle.size - 1)] -= share


@dataclass(frozen=True)
class _Repair:
    """The outcome of a loss with F packets in flight, by F: the round r of recovery in which it ends, or a time-out."""

    new: Array  # packets sent for the first time in round r
    done: Array  # probability that the recovery ends after round r
    again: Array  # probability, in that case, that a packet sent in it was lost
    # Time-outs by when the timer was started, in round trips from the lost packet's sending:
    failed: Array  # their probability
    resent: Array  # packets retransmitted, missing or not
    twice: Array  # those of them that were not missing

    @staticmethod
    def of(p: float, window: NDArray[np.int64], most: int, patience: int) -> _Repair:
        q = 1 - p
        shape = (most + 1, window.size)
        new, done, again = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        failed, resent, twice = (np.zeros((3, window.size)) for _ in range(3))

        def give_up(late: int, share: Array, missing: int) -> None:
            # From the first missing packet on everything is retransmitted, until the ACKs have passed all packets that
            # had arrived: by then the window has sent 1, 2, ... packets behind each missing one.
            needless = missing * (missing + 1) / 2
            failed[late] += share
            resent[late] += share * (missing + needless)
            twice[late] += share * needless

        behind = np.maximum(window - 1, 0)
        first = p / np.maximum(1 - q ** np.maximum(window, 1), 1e-300)
        rest = np.ones(window.size)
        for others in range(most + 1):
            share = binom(behind, others) * p**others * q ** np.maximum(behind - others, 0) if others < most else rest
            rest = rest - share
            duplicates = behind - others
            fast = np.select([duplicates >= 3, duplicates == 2, duplicates == 1], [1.0, 1 - p**2, q**2], 0.0)
            limited = np.clip(duplicates, 0, 2)
            new[0] += share * limited
            # The last new ACK arrived when the lost packet was sent, if that was its round's first, else a round later.
            give_up(0, share * (1 - fast) * first, others)
            give_up(1, share * (1 - fast) * (1 - first), others)
            share = share * fast
            released = np.maximum(window // 2 - 1 - others, 0)
            for r in range(others + 1):
                new[r] += share * released
                give_up(1 if r == 0 else 2, share * p, others - r)
                share = share * q
                if r < others and r >= patience:
                    give_up(2, share, others - r - 1)
                    share = np.zeros_like(share)
            tainted = 1 - q ** (released * (others + 1) + limited)
            done[others] += share
            again[others] = tainted
        return _Repair(new, done, again, failed, resent, twice)

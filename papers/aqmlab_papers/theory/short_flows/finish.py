"""The duration of a TCP flow with a given number of packets: the sender of `lives`, followed by packets left.

Symbols, beside those of `aqmlab.theory`:

* size: packets to send, at most 100; sender: its TCP, by default ns-2's.
* age: seconds since its SYN; the time-out has decreased accordingly.
* window: packets sent in the last round, at most 100, if the flow does not wait for a timer.
* waiting: probability that it waits for a timer.
"""

from functools import cache
from math import ceil, comb, log, log2

from aqmlab.theory.domain import not_negative, positive, probability, whole
from aqmlab_papers.theory.short_flows.lives import Sender, meant_for

# The longest transfer that is followed packet by packet, and probabilities that are neglected.
LONGEST = 100
_LITTLE = 1e-5
_BACKOFFS = 4


def completion(p: float, R: float, size: int, sender: Sender | None = None) -> float:
    """Return the mean time from a flow's SYN to the ACK of its last packet.

    In seconds, by first-step analysis: the time left from a round with window w and r packets to send is a round trip
    plus the mean time left after it. Even a loss leaves fewer packets to send, hence the times follow from each other
    from r = 1. Near its end a flow has no packets left to cause duplicate ACKs, and waits for its timer.
    """
    probability(p=p)
    positive(R=R)
    whole(size=size)
    if size > LONGEST:
        raise ValueError(f"size = {size:g}: must be at most {LONGEST} packets")
    meant_for(p)
    sender = sender or Sender()
    return _Rest(p, R, int(size), sender).whole()


def tail(p: float, R: float, age: float, window: int, waiting: float, sender: Sender) -> float:
    """Return the time a flow needs to deliver the packets already sent when its application has no more data.

    A mean, in seconds. The last round began half a round trip ago, and the timer has run for half its time.
    """
    probability(p=p)
    positive(R=R, window=window)
    not_negative(age=age)
    if not 0 <= waiting <= 1:
        raise ValueError(f"waiting = {waiting:g}: must be a probability")
    size = min(int(window), LONGEST)
    rest = _Rest(p, R, max(size, 2), sender, age / R)
    moving = rest.round(size, size, size, 0) - R / 2
    # A waiting flow has one lost packet and usually another; the timer may have been doubled.
    late = sender.timeout(age, R) * sum((2 * p) ** k for k in range(_BACKOFFS + 1))
    return (1 - waiting) * moving + waiting * (late / 2 + rest.round(1, 2, 2, 1))


class _Rest:
    """The mean time left, by the state at the start of a round, after ``measured`` earlier round trips."""

    def __init__(self, p: float, R: float, size: int, sender: Sender, measured: float = 0) -> None:
        self.p, self.q, self.R, self.size, self.sender = p, 1 - p, R, size, sender
        self.measured = measured
        # One flow in 10,000 reaches a wider window without a loss.
        self.widest = min(sender.W, max(8, ceil(log(1e4) / (2 * p))))
        self.round = cache(self._round)
        self.found = cache(self._found)

    def whole(self) -> float:
        """Return the duration of the whole flow."""
        # Start from the last packets to keep the recursion shallow.
        for left in range(1, self.size):
            for window in (1, 2, 3, 4):
                self.round(window, window, left, 0)
        if self.sender.syn == 0:
            return self.round(self.sender.IW, self.widest, self.size, -1)
        opened = self.round(self.sender.IW, self.widest, self.size, 0)
        # A lost SYN leaves a window of one, a threshold of two, and no measured round trip: its timer stays doubled.
        total = self.R + self.q * opened
        for k in range(1, _BACKOFFS + 1):
            rest = self.sender.T_syn * (2**k - 1) + self.round(1, 2, self.size, -k - 1)
            total += self.p**k * (self.q if k < _BACKOFFS else 1) * rest
        return total

    def _timeout(self, window: int, left: int, backoff: int) -> float:
        """Return the doubled time-out; a negative ``backoff`` counts from -1, before any round trip is measured."""
        if backoff < 0:
            return self.sender.T_syn * 2.0 ** (-backoff - 1)
        # Earlier measured rounds: those of slow start, or more if the window has always been this size.
        sent = self.size - left
        rounds = self.measured + max(log2(1 + sent / self.sender.IW), sent / window)
        return float(max(self.sender.T_min, self.R * (1 + 2 * 0.75**rounds)) * 2.0**backoff)

    def _round(self, window: int, threshold: int, left: int, backoff: int) -> float:
        """Time left with ``left`` packets to send at the start of a round."""
        if left == 0:
            return 0.0
        sent = min(window, left)
        slow = window < threshold
        grown = min(2 * window, threshold) if slow else min(window + 1, self.widest)
        time = self.q**sent * (self.R + self.round(grown, threshold if slow else grown, left - sent, 0))
        for place in range(1, sent + 1):
            # The ACKs of packets before the lost one release more.
            released = min((2 if slow else 1) * (place - 1), left - sent)
            reached = min(window + place - 1, threshold) if slow else window
            behind = sent - place
            rest = self.found(behind + released, behind >= 4, reached, left - sent - released, place == 1, backoff)
            time += self.p * self.q ** (place - 1) * rest
        return time

    def _found(self, behind: int, soon: bool, window: int, left: int, leads: bool, backoff: int) -> float:
        """Time left from the round of a lost packet, which is the first of its round if ``leads``.

        ``behind`` packets follow it; ``soon``: enough of them are of its round to detect the loss a round earlier.
        """
        total = 0.0
        for others in range(behind + 1):
            chance = comb(behind, others) * self.p**others * self.q ** (behind - others)
            if chance > _LITTLE:
                total += chance * self._repaired(behind - others, others, soon, window, left, leads, backoff)
        return total

    def _repaired(
        self, duplicates: int, others: int, soon: bool, window: int, left: int, leads: bool, backoff: int
    ) -> float:
        p, q, R = self.p, self.q, self.R
        half, threshold = max(window // 2, 1), max(window // 2, 2)
        limited = min(2, duplicates, left)
        if duplicates >= 3:
            fast, delay = 1.0, R if soon else 2 * R
        elif duplicates == 2:
            fast, delay = 1 - p**limited, 2 * R
        else:
            fast, delay = (q**2 if duplicates == 1 and left >= 2 else 0.0), 3 * R
        timeout = self._timeout(window, left + duplicates + others + 1, backoff)
        left -= limited

        def resumed(missing: int) -> float:
            """Wait for the timer, retransmit the first missing packet until it arrives, send the rest in slow start."""
            time = 0.0
            for k in range(_BACKOFFS):
                wait = timeout * (2 ** (k + 1) - 1) + R
                doubled = min(backoff + k + 1, _BACKOFFS) if backoff >= 0 else max(backoff - k - 1, -_BACKOFFS - 1)
                rest = self.round(2, threshold, left + missing, doubled)
                time += p**k * (q if k + 1 < _BACKOFFS else 1) * (wait + rest)
            return time

        total = (1 - fast) * (resumed(others) + (0 if leads else R))
        patience = ceil(timeout / R) if self.sender.impatient else others + 1
        share, released = fast, max(window // 2 - 1 - others, 0)
        for r in range(others + 1):
            total += share * p * (delay + (0 if r == 0 else R) + resumed(others - r))
            share *= q
            if r < others and r >= patience:
                return total + share * (delay + R + resumed(others - r - 1))
        fresh = min(released * (others + 1), left)
        left -= fresh
        clean = q ** (fresh + limited)
        # Packets sent in the recovery are in flight, and are acknowledged within the next round.
        ends = R if left == 0 and fresh > 0 else 0.0
        time = delay + (others + 1) * R
        total += share * (time + clean * (ends + self.round(half, half, left, 0)))
        if clean < 1:
            out = fresh + limited
            total += share * (1 - clean) * (time - R + self.found(out - 1, out > 4, half, left, False, 0))
        return total

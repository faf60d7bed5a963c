"""What theory says of one TCP flow and of one queue, for the tests to hold the engine against."""

from collections.abc import Sequence
from math import pi, prod, sqrt


def square_root(p: float, rtt: float, acked: int = 1) -> float:
    """Give the segments a second of a flow in congestion avoidance that loses every 1/p-th segment.

    A regular sawtooth between W/2 and W, in which the window grows by a segment in ``acked`` round trips:
    sqrt(3/(2 b p)) segments a round trip, with b = ``acked`` segments per ACK (Mathis et al. 1997). No time-outs.
    """
    return sqrt(3 / (2 * acked * p)) / rtt


def irregular_square_root(p: float, rtt: float, acked: int = 1) -> float:
    """Give the same if every segment is lost with probability p whatever became of the others.

    The teeth differ, and the long ones carry more: 1.31 takes the place of sqrt(3/2) = 1.22 (Ott, Kemperman and Mathis
    1996). Between losses w^2/2 grows by 1/b a segment and a loss quarters it, so that it is X/(b p) with
    X = sum of 4^-k E_k, the E_k exponential with mean 1; the rate is sqrt(2/(b p)) / (rtt E(X^-1/2)).
    """
    mean = sqrt(pi) * prod((1 - 0.5 * 4.0**-k) / (1 - 0.25 * 4.0**-k) for k in range(30))
    return sqrt(2 / (acked * p)) / (rtt * mean)


def padhye(p: float, rtt: float, rto: float, acked: int = 1) -> float:
    """Give the segments a second of a Reno flow that also times out.

    The full model of Padhye, Firoiu, Towsley and Kurose (1998) without a limit to the window. ``p`` is the probability
    of a segment to be the first loss of its round, of which all that follow are lost too; ``rto`` is the first
    time-out T0, which doubles up to 64 T0.
    """
    b = acked
    window = (2 + b) / (3 * b) + sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)
    through = 1 - p
    ends_in_timeout = min(
        1, (1 - through**3) * (1 + through**3 * (1 - through ** (window - 3))) / (1 - through**window)
    )
    backed_off = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    segments = through / p + window + ends_in_timeout / through
    return segments / (rtt * (b / 2 * window + 1) + ends_in_timeout * rto * backed_off / through)


def waiting(load: Sequence[tuple[float, float]], rate: float) -> float:
    """Give the mean number of waiting packets of Poisson streams into one queue, the one in service left out.

    Pollaczek and Khinchine's L = lambda^2 E(S^2) / (2 (1 - rho)). ``load`` holds for each stream its bit/s and its
    packets' bits, ``rate`` is the server's bit/s. One size is M/D/1, exponentially distributed sizes are M/M/1.
    """
    arrivals = sum(bits / size for bits, size in load)
    mean_square = sum(bits / size * (size / rate) ** 2 for bits, size in load) / arrivals
    return arrivals**2 * mean_square / (2 * (1 - sum(bits for bits, _ in load) / rate))

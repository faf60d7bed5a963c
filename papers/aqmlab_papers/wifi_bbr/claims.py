"""The claims: those of the two abstracts, and ours."""

from collections.abc import Iterator

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.anomaly.measures import over
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.describe.thresholds import DELAY, TIME
from aqmlab_papers.wifi_bbr.measures import (
    DELAYS,
    MANAGED,
    burst,
    converged,
    fairness,
    in_probes,
    mismatch,
    own_wait,
    sent_again,
    share,
    together,
    variation,
    wait,
)

ABSTRACT = "Abstract"
EARLIER = "arXiv:2509.06245, abstract"
TENTH = Tolerance(10, RELATIVE, "a tenth is what a reader of a curve can tell apart")
INDEX = Tolerance(0.02, "", "two flows with 43 and 57 % of the link have an index lower by this than equal ones")


def _cases(one_way: Runs, both_ways: Runs) -> Iterator[tuple[str, Runs, str]]:
    """List the four cases: their names, runs and round trips."""
    for way, runs in (("one way", one_way), ("in both directions", both_ways)):
        for trip in DELAYS:
            yield f"{way}, {trip}", runs, trip


@claim("FIFO destabilizes pacing", ABSTRACT, "rates")
@tolerance(TENTH)
def pacing(one_way: Runs, *, tolerance: Tolerance) -> Judgement:
    """Behind a FIFO BBR's sending rate varies more than behind FQ-CoDel or CAKE."""
    return Judgement(
        [
            Effect(f"variation of the sending rate, FIFO over {label}, {trip}").better(
                variation(one_way, "FIFO", trip), variation(one_way, label, trip), "higher", tolerance
            )
            for trip in DELAYS
            for label in MANAGED
        ],
        "BBR's pace is the largest rate at which acknowledgements came. Behind a FIFO that depends on CUBIC's part of "
        "the queue, which changes over seconds. In a queue of its own a probe for bandwidth finds what CUBIC does not "
        "use, which with a longer path is more: the pace rises by far, and falls back thereafter.",
    )


@claim("raises delay", ABSTRACT, "delays")
@tolerance(DELAY)
def delay(one_way: Runs, both_ways: Runs, *, tolerance: Tolerance) -> Judgement:
    """Behind a FIFO BBR's packets have a longer round trip than behind FQ-CoDel or CAKE."""
    return Judgement(
        [
            Effect(f"BBR's round trip, FIFO over {label}, {case}").better(
                own_wait(runs, "FIFO", trip), own_wait(runs, label, trip), "higher", tolerance
            )
            for case, runs, trip in _cases(one_way, both_ways)
            for label in MANAGED
        ],
        "CUBIC fills a FIFO, and everyone's packets wait there. In a queue of its own BBR waits for its own packets "
        "in flight: up to two bandwidth-delay products of the rate that it found in its probes, which is too high.",
    )


@claim("often letting CUBIC dominate", ABSTRACT, "shares")
@tolerance(0, "", "'dominate': twice as much as BBR, two thirds of both; 'often': in half of the cases")
def dominate(one_way: Runs, both_ways: Runs) -> Judgement:
    """Behind a FIFO CUBIC receives twice as much as BBR."""
    return Judgement(
        [
            Effect(f"CUBIC's share, FIFO, {case}").of(share(runs, "FIFO", trip), least=2 / 3)
            for case, runs, trip in _cases(one_way, both_ways)
        ],
        "BBR's window is about two bandwidth-delay products, and what a larger buffer holds is CUBIC's. 1000 packets "
        "are many of them with a round trip of 1 ms, and fewer than three with 20 ms: then the buffer overflows, and "
        "CUBIC answers each loss, BBR only more than 2 % of a round trip's packets.",
        need=0.5,
    )


@claim("FQ-CoDel restores fairness and controls latency", ABSTRACT, "shares delays")
@tolerance(INDEX)
def restores(one_way: Runs, both_ways: Runs, *, tolerance: Tolerance) -> Judgement:
    """With FQ-CoDel shares are nearly equal, and more so than behind a FIFO; a ping takes less time."""
    parts = []
    for case, runs, trip in _cases(one_way, both_ways):
        fair = fairness(runs, "FQ-CoDel", trip)
        parts += [
            Effect(f"Jain's index, FQ-CoDel, {case}").of(fair, least=0.95),
            Effect(f"Jain's index, FQ-CoDel minus FIFO, {case}").better(
                fair, fairness(runs, "FIFO", trip), "higher", tolerance
            ),
            Effect(f"round trip of a ping, FQ-CoDel over FIFO, {case}").better(
                wait(runs, "FQ-CoDel", trip), wait(runs, "FIFO", trip), "lower", DELAY
            ),
        ]
    return Judgement(
        parts,
        "Flows have the access point in turn. A flow that has no packets waiting loses its turn: with a round trip of "
        "20 ms CoDel's drops leave CUBIC's queue empty at times, and BBR has the rest.",
    )


@claim("CAKE delivers the best overall performance by keeping delay low", ABSTRACT, "delays")
@tolerance(DELAY)
def best(one_way: Runs, both_ways: Runs, *, tolerance: Tolerance) -> Judgement:
    """With CAKE BBR's round trip is the shortest of the three, and all receive as much as with the others."""
    parts = []
    for case, runs, trip in _cases(one_way, both_ways):
        for label in ("FIFO", "FQ-CoDel"):
            parts += [
                Effect(f"BBR's round trip, CAKE over {label}, {case}").better(
                    own_wait(runs, "CAKE", trip), own_wait(runs, label, trip), "lower", tolerance
                ),
                Effect(f"goodput of all, CAKE over {label}, {case}").better(
                    together(runs, "CAKE", trip), together(runs, label, trip), "not lower", tolerance
                ),
            ]
    return Judgement(
        parts,
        "Both have CoDel's law with the same times. FQ-CoDel waits for 100 ms before each episode of drops, CAKE's "
        "COBALT for less if it has dropped not long ago. What it drops of CUBIC costs goodput where the path is long.",
    )


@claim("aligning BBRv3's sending and delivered rates", ABSTRACT, "rates")
@tolerance(TENTH)
def aligned(one_way: Runs, *, tolerance: Tolerance) -> Judgement:
    """With CAKE what BBR sends differs less from what the access point delivers than with FQ-CoDel or a FIFO."""
    return Judgement(
        [
            Effect(f"difference of the rates, CAKE over {label}, {trip}").better(
                mismatch(one_way, "CAKE", trip), mismatch(one_way, label, trip), "lower", tolerance
            )
            for trip in DELAYS
            for label in ("FIFO", "FQ-CoDel")
        ],
        "The two rates differ by the losses, and by as much as BBR's part of the queue grows or shrinks. A short queue "
        "cannot change by much.",
    )


@claim("can trigger brief retransmission bursts during BBRv3's bandwidth probes", ABSTRACT, "bursts")
@tolerance(TENTH)
def bursts(one_way: Runs, *, tolerance: Tolerance) -> Judgement:
    """With CAKE BBR sends more packets again than with FQ-CoDel, ten or more are lost within 0.1 s, and twice as many
    of those that it sends are lost while it probes as at other times."""
    parts = []
    for trip in DELAYS:
        parts += [
            Effect(f"packets sent again by BBR, CAKE over FQ-CoDel, {trip}").better(
                sent_again(one_way, "CAKE", trip), sent_again(one_way, "FQ-CoDel", trip), "higher", tolerance
            ),
            Effect(f"most losses in 0.1 s, CAKE, {trip}").of(burst(one_way, "CAKE", trip), least=10),
            Effect(f"losses during probes over those at other times, CAKE, {trip}").of(
                in_probes(one_way, "CAKE", trip), least=2
            ),
        ]
    return Judgement(
        parts,
        "A probe makes BBR's queue longer. COBALT waits for up to 100 ms before it drops, and then drops one packet at "
        "a time, ever faster. Losses follow a probe for up to a second, which is longer than it lasts, so that not all "
        "fall into it. A FIFO loses hundreds of packets at once when it overflows.",
        beside=[
            check
            for trip in DELAYS
            for check in (
                Effect(f"most losses in 0.1 s, FIFO, {trip}").of(burst(one_way, "FIFO", trip), least=10),
                Effect(f"losses during probes over those at other times, FQ-CoDel, {trip}").of(
                    in_probes(one_way, "FQ-CoDel", trip), least=2
                ),
            )
        ],
    )


@claim("BBRv3 significantly improves fairness and convergence under AQM, especially with FQ-CoDel", EARLIER, "shares")
@tolerance(INDEX)
def especially(one_way: Runs, *, tolerance: Tolerance) -> Judgement:
    """Shares are more equal with FQ-CoDel and CAKE than behind a FIFO, and sooner, and with FQ-CoDel not less than with
    CAKE."""
    parts = []
    for trip in DELAYS:
        fair = {label: fairness(one_way, label, trip) for label in ("FIFO", *MANAGED)}
        parts += [
            *(
                Effect(f"Jain's index, {label} minus FIFO, {trip}").better(
                    fair[label], fair["FIFO"], "higher", tolerance
                )
                for label in MANAGED
            ),
            Effect(f"Jain's index, FQ-CoDel minus CAKE, {trip}").better(
                fair["FQ-CoDel"], fair["CAKE"], "not lower", tolerance
            ),
            *(
                Effect(f"time to converge, {label} over FIFO, {trip}").better(
                    converged(one_way, label, trip), converged(one_way, "FIFO", trip), "lower", TIME
                )
                for label in MANAGED
            ),
        ]
    return Judgement(
        parts,
        "Behind a FIFO the shares do not become equal, so that there is nothing to which they could converge. In fair "
        "queues they are equal as long as both have packets waiting.",
    )


@ours("What Linux has without being asked", "shares delays")
@tolerance(INDEX)
def default(one_way: Runs, both_ways: Runs, *, tolerance: Tolerance) -> Judgement:
    """With mac80211's target of 20 ms shares are no less equal than with 5 ms, and a ping takes no longer."""
    parts = []
    for case, runs, trip in _cases(one_way, both_ways):
        for label in MANAGED:
            parts += [
                Effect(f"Jain's index, mac80211 minus {label}, {case}").better(
                    fairness(runs, "mac80211", trip), fairness(runs, label, trip), "not lower", tolerance
                ),
                Effect(f"round trip of a ping, mac80211 over {label}, {case}").better(
                    wait(runs, "mac80211", trip), wait(runs, label, trip), "not higher", TENTH
                ),
            ]
    return Judgement(
        parts,
        "CUBIC needs a queue of about its path's product of bandwidth and delay to use its turns, and gets it with the "
        "longer target. Who sends little goes first whatever the target is.",
    )


@ours("An upload", "upload")
@tolerance(DELAY)
def upload(upload: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside an upload to a wired server a ping depends on the station's discipline, not on the access point's."""
    parts = []
    for trip in DELAYS:
        times = {label: wait(upload, label, trip) for label in upload.labels}
        parts += [
            *(
                Effect(f"round trip of a ping, {label} over FIFO, {trip}").better(
                    times[label], times["FIFO"], "equal", tolerance
                )
                for label in MANAGED
            ),
            Effect(f"round trip of a ping, FIFO in the station over mac80211's, {trip}").of(
                over(times["FIFO in the station"], times["FIFO"]), least=1.5
            ),
        ]
    return Judgement(
        parts,
        "Packets of an upload wait in the station: the access point sends them on over a wire that is faster than the "
        "air. Its own queue has acknowledgements, and the ping.",
    )


CLAIMS = [pacing, delay, dominate, restores, best, aligned, bursts, especially, default, upload]
"""The claims of the abstract, of the earlier one, and ours."""

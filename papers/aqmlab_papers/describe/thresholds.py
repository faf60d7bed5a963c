"""The differences that count in a claim whose sentence has no number of its own, in percent of the other number.

The authors saw one run, as a curve or a mean. A reader of such a figure distinguishes two long queues, delays or
deviations from about a twentieth of them on. Response times, which scatter more, take twice that. A loss ratio and a
goodput are means of many packets: their deviations between five seeds have medians of 0.9 and 0.08 % over the 828
scenarios of impact, LRED and the survey, and four of five goodputs one below 0.3 %.

A twentieth of a short queue is less than a packet, which no figure shows. Two short queues, or their deviations, differ
from two packets on; how near a queue is to a target that the authors read off a figure of it is judged by `seen`.
"""

from dataclasses import replace

from aqmlab_papers.describe.check import RELATIVE, Tolerance

GOODPUT = Tolerance(0.3, RELATIVE, "four of five goodputs scatter by less between seeds", negligible=True)
LOSS = Tolerance(1, RELATIVE, "half of the loss ratios scatter by less between seeds", negligible=True)
QUEUE = Tolerance(5, RELATIVE, "a twentieth is what a reader of a curve can tell apart", negligible=True)
DEVIATION = QUEUE
SHORT_QUEUE = replace(QUEUE, reason=f"{QUEUE.reason}, and no less than two packets, as queues are short here", floor=2)
DELAY = QUEUE
TIME = Tolerance(
    10, RELATIVE, "response times scatter; a tenth is what a reader of a curve can tell apart", negligible=True
)


def seen(buffer: float) -> Tolerance:
    """Return what a figure of a queue shows, whose axis reaches to the end of its buffer (packets)."""
    return Tolerance(
        buffer / 20, "packets", f"a twentieth of a buffer of {buffer:g} packets: no figure of it shows less"
    )

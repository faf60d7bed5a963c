"""The differences that count in a claim whose sentence has no number of its own, in percent of the other number.

The authors saw one run, as a curve or a mean. A reader of such a figure distinguishes two long queues, delays or
deviations from about a twentieth of them on. Response times, which scatter more, take twice that. A loss ratio and a
goodput are means of many packets: between seeds of one scenario they scatter by less than 1 % and 0.3 %.
"""

from aqmlab_papers.describe.check import RELATIVE, Tolerance

GOODPUT = Tolerance(0.3, RELATIVE, "goodputs scatter by less between seeds", negligible=True)
LOSS = Tolerance(1, RELATIVE, "loss ratios scatter by less between seeds", negligible=True)
QUEUE = Tolerance(5, RELATIVE, "a twentieth is what a reader of a curve can tell apart", negligible=True)
DEVIATION = QUEUE
DELAY = QUEUE
TIME = Tolerance(
    10, RELATIVE, "response times scatter; a tenth is what a reader of a curve can tell apart", negligible=True
)

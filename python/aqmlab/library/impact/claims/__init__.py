"""The claims of the study in its order, then ours."""

from aqmlab.library.impact.claims import averaging, conclusion, gentle_red, goodput, gred_i, loss_runs, queue
from aqmlab.papers import claims

CLAIMS = claims(goodput, queue, loss_runs, averaging, gentle_red, gred_i, conclusion)

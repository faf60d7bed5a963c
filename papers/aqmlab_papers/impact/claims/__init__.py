"""The claims of the study in its order, then ours."""

from aqmlab_papers import claims
from aqmlab_papers.impact.claims import averaging, conclusion, gentle_red, goodput, gred_i, loss_runs, queue

CLAIMS = claims(goodput, queue, loss_runs, averaging, gentle_red, gred_i, conclusion)

"""The claims of the study in its order, then ours."""

from aqmlab.library.impact.claims import averaging, gentle_red, goodput, gred_i, loss_runs, queue, testbed

CLAIMS = (
    *goodput.CLAIMS,
    *queue.CLAIMS,
    *loss_runs.CLAIMS,
    *averaging.CLAIMS,
    *gentle_red.CLAIMS,
    *gred_i.CLAIMS,
    *testbed.CLAIMS,
    *loss_runs.BEYOND,
)

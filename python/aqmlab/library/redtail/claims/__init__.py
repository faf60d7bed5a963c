"""The claims of the RED+Tail paper by subject, then ours."""

from aqmlab.library.redtail.claims import (
    classifier,
    future,
    model,
    short_queue,
    small_files,
    thresholds,
    transfers,
    web,
)

CLAIMS = (
    *web.CLAIMS,
    *classifier.CLAIMS,
    *small_files.CLAIMS,
    *thresholds.CLAIMS,
    *short_queue.CLAIMS,
    *transfers.CLAIMS,
    *model.CLAIMS,
    *model.BEYOND,
    *classifier.BEYOND,
    *future.BEYOND,
)

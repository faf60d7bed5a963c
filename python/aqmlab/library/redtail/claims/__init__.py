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
from aqmlab.papers import claims

CLAIMS = claims(web, classifier, small_files, thresholds, short_queue, transfers, model, future)

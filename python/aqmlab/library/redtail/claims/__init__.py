"""The claims of the RED+Tail paper by subject, then ours."""

from aqmlab.library.redtail.claims import (
    classifier,
    future,
    model,
    premises,
    queues,
    short_queue,
    small_files,
    thresholds,
    transfers,
    web,
)
from aqmlab.papers import claims

CLAIMS = claims(queues, web, premises, classifier, small_files, thresholds, short_queue, transfers, model, future)

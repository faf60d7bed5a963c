"""The claims of the RED+Tail paper by subject, then ours."""

from aqmlab_papers import claims
from aqmlab_papers.redtail.claims import (
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

CLAIMS = claims(queues, web, premises, classifier, small_files, thresholds, short_queue, transfers, model, future)

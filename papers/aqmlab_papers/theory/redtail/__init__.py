"""RED+Tail: the short flows' delay, files and windows, and predictions for the long flows' queue."""

from aqmlab_papers.theory.redtail.delays import (
    BUFFER,
    Design,
    delay_bound,
    design,
    first_rate,
    longer_than,
    padhye_window,
    paper_sigma,
)

__all__ = [
    "BUFFER",
    "Design",
    "delay_bound",
    "design",
    "first_rate",
    "longer_than",
    "padhye_window",
    "paper_sigma",
]

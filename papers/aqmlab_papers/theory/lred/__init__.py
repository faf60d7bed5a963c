"""LRED: limits on its gain, and the loop at a given gain; its law and its response time are exported here too."""

from aqmlab_papers.theory.lred.gain import (
    Design,
    beta0,
    beta_bound,
    beta_star,
    check_corner,
    check_lemma5,
    check_theorem2,
    design,
    gain,
    y,
)
from aqmlab_papers.theory.lred.law import loss_ratio, smoothed
from aqmlab_papers.theory.lred.response import Law, cold_start, response_law, response_time, trajectory

__all__ = [
    "Design",
    "Law",
    "beta0",
    "beta_bound",
    "beta_star",
    "check_corner",
    "check_lemma5",
    "check_theorem2",
    "cold_start",
    "design",
    "gain",
    "loss_ratio",
    "response_law",
    "response_time",
    "smoothed",
    "trajectory",
    "y",
]

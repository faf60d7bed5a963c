"""Stable values of alpha for AVQ: a working rule, and the limits set by each marking of the virtual queue."""

from aqmlab_papers.theory.avq.alpha import (
    EXAMPLE_BUFFER,
    Design,
    buffer_limit,
    design,
    elasticity_limit,
    least_critical_alpha,
    widest_window,
    working_rule,
)

__all__ = [
    "EXAMPLE_BUFFER",
    "Design",
    "buffer_limit",
    "design",
    "elasticity_limit",
    "least_critical_alpha",
    "widest_window",
    "working_rule",
]

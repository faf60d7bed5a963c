"""What is known of a stable alpha for AVQ: a working rule, and what each marking of the virtual queue allows."""

from aqmlab.theory.avq.alpha import (
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

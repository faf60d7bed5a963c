"""RAQM's law, the bound on its gain, and gains to choose below it; equation numbers are the paper's."""

from aqmlab_papers.theory.raqm.gain import (
    PAPER_WEIGHT,
    Design,
    alpha_fastest,
    alpha_hat,
    design,
    next_probability,
    rate_estimate,
)

__all__ = ["PAPER_WEIGHT", "Design", "alpha_fastest", "alpha_hat", "design", "next_probability", "rate_estimate"]

"""The rate of TCP flows with random losses: the square-root law, Padhye's model, and the loss of a queue."""

from aqmlab.theory.tcp.rate import (
    RateFunction,
    backed_off,
    delivered,
    equilibrium_loss,
    loss,
    padhye,
    peak_window,
    square_root,
    times_out,
    warn_of_high_loss,
    window,
)

__all__ = [
    "RateFunction",
    "backed_off",
    "delivered",
    "equilibrium_loss",
    "loss",
    "padhye",
    "peak_window",
    "square_root",
    "times_out",
    "warn_of_high_loss",
    "window",
]

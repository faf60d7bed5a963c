"""The rate of TCP flows with random losses: the square-root law, Padhye's model, and the loss of a queue."""

from aqmlab.theory.tcp.rate import (
    Law,
    backed_off,
    delivered,
    equilibrium_loss,
    irregular_square_root,
    loss,
    meant_for,
    padhye,
    peak_window,
    square_root,
    times_out,
    window,
    window_loss,
)

__all__ = [
    "Law",
    "backed_off",
    "delivered",
    "equilibrium_loss",
    "irregular_square_root",
    "loss",
    "meant_for",
    "padhye",
    "peak_window",
    "square_root",
    "times_out",
    "window",
    "window_loss",
]

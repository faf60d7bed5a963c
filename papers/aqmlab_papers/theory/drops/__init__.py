"""Runs of consecutive losses: open-loop queues with a drop function of their length or of its average."""

from aqmlab_papers.theory.drops.batches import Batches, batches
from aqmlab_papers.theory.drops.chain import (
    POLICIES,
    Policy,
    Queue,
    followed_by,
    independent_runs,
    mm1k,
    runs,
    stationary,
    tail_drop_runs,
)

__all__ = [
    "POLICIES",
    "Batches",
    "Policy",
    "Queue",
    "batches",
    "followed_by",
    "independent_runs",
    "mm1k",
    "runs",
    "stationary",
    "tail_drop_runs",
]

"""Runs of consecutive losses: open-loop queues with a drop function of their length or of its average."""

from aqmlab_papers.theory.drops.batches import Batches, batches
from aqmlab_papers.theory.drops.chain import POLICIES, Policy, Queue, followed_by, mm1k, runs, stationary

__all__ = ["POLICIES", "Batches", "Policy", "Queue", "batches", "followed_by", "mm1k", "runs", "stationary"]

"""RED+Tail: the short flows' delay, files and windows, and predictions for the long flows' queue."""

from aqmlab_papers.theory.redtail.delays import BUFFER, Design, design, first_rate, longer_than, paper_sigma

__all__ = ["BUFFER", "Design", "design", "first_rate", "longer_than", "paper_sigma"]

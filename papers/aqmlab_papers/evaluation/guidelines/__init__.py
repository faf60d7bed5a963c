"""The guidelines of RFC 7928, in its order: a module for each group of sections."""

from aqmlab_papers.evaluation.guidelines import mixes, operation, setup, stability, transport

GUIDELINES = [*setup.GUIDELINES, *transport.GUIDELINES, *stability.GUIDELINES, *mixes.GUIDELINES, *operation.GUIDELINES]
"""All guidelines."""

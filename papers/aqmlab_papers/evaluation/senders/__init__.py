"""The guidelines of RFC 9743, in its order: a module for each group of sections."""

from aqmlab_papers.evaluation.senders import general, mixed, single, special

GUIDELINES = [*single.GUIDELINES, *mixed.GUIDELINES, *general.GUIDELINES, *special.GUIDELINES]
"""All guidelines."""

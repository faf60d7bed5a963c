"""Stable values of alpha for AVQ: a working rule, and the limits set by each marking of the virtual queue."""

from aqmlab_papers.theory.avq.alpha import EXAMPLE_BUFFER as EXAMPLE_BUFFER
from aqmlab_papers.theory.avq.alpha import Design as Design
from aqmlab_papers.theory.avq.alpha import buffer_limit as buffer_limit
from aqmlab_papers.theory.avq.alpha import design as design
from aqmlab_papers.theory.avq.alpha import elasticity_limit as elasticity_limit
from aqmlab_papers.theory.avq.alpha import least_critical_alpha as least_critical_alpha
from aqmlab_papers.theory.avq.alpha import widest_window as widest_window
from aqmlab_papers.theory.avq.alpha import working_rule as working_rule

"""Short TCP flows beside long ones: the loss and the queue at which their combined rate is the link's capacity."""

from aqmlab_papers.theory.short_flows.balance import Equilibrium, Shorts, equilibrium

__all__ = ["Equilibrium", "Shorts", "equilibrium"]

"""Short TCP flows beside long ones: the loss and the queue at which both together are what the link carries."""

from aqmlab.theory.short_flows.balance import Equilibrium, Shorts, equilibrium, transient

__all__ = ["Equilibrium", "Shorts", "equilibrium", "transient"]

"""A user's own queue disciplines: classes in Python files, declared as the disciplines of aqmlab are.

``FILE:CLASS`` names a discipline wherever a queue discipline can be named.
"""

from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, Packet, Port, Queue, ns, param, signal

__all__ = ["AQM", "DROP", "MARK", "PASS", "Packet", "Port", "Queue", "ns", "param", "signal"]

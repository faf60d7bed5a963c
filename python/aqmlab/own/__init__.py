"""A user's own queue disciplines: classes in Python files, declared as the disciplines of aqmlab are.

A file names a discipline by its class, ``mine.py:Mine``, wherever a queue discipline can be named.
"""

from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, Packet, Port, Queue, ns, param, signal

__all__ = ["AQM", "DROP", "MARK", "PASS", "Packet", "Port", "Queue", "ns", "param", "signal"]

"""A user's own queue disciplines and congestion controls: classes in Python files, declared as those of aqmlab are.

``FILE:CLASS`` names a discipline wherever a queue discipline can be named, and a control as a TCP or its `congestion`.
"""

from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, Packet, Port, Queue, ns, param, signal
from aqmlab.own.control import CongestionControl, Connection, Flow

__all__ = [
    "AQM",
    "DROP",
    "MARK",
    "PASS",
    "CongestionControl",
    "Connection",
    "Flow",
    "Packet",
    "Port",
    "Queue",
    "ns",
    "param",
    "signal",
]

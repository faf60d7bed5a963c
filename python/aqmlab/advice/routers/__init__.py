"""The lines that set up a discipline on routers without Linux's tc: one module a system.

None of them ran on such a device: tests read each line by the grammar of the system's documents, and compare the values
with those that were simulated. What the system does otherwise than Linux, whose form was simulated, is a note.
"""

from aqmlab.advice.routers import cisco, freebsd, junos, mikrotik
from aqmlab.advice.routers.router import Lacking, Lines, Router

__all__ = ["ROUTERS", "Lacking", "Lines", "Router"]

ROUTERS = {one.name: one for one in (freebsd.ROUTER, mikrotik.ROUTER, cisco.ROUTER, junos.ROUTER)}
"""The systems, by the names that users type."""

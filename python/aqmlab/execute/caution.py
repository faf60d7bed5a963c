"""What the library says of this machine where runs are performed nevertheless."""

from __future__ import annotations


class MachineWarning(UserWarning):
    """Given when this machine delays the packets of runs, or performs fewer runs at a time than were requested."""

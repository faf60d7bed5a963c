"""Warnings about this machine, on which runs are performed nevertheless."""

from __future__ import annotations


class MachineWarning(UserWarning):
    """Given when this machine delays the packets of runs, or performs fewer runs at a time than were requested."""

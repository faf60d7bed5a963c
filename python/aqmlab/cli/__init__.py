"""The command line: one module a command."""

from aqmlab.cli.app import main

__all__ = ["main"]

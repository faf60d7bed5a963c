"""The command line, one module for each command."""

from aqmlab.cli.app import main

__all__ = ["main"]

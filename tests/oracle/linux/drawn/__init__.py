"""Scenarios drawn at random, on the packet engine and on the Linux engine."""

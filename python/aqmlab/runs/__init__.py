"""Sweeps: points, the runs that they take, the store of finished runs, and the results."""

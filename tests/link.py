"""The link of LRED's experiments, on which the theory is tested."""

C = 2500.0
"""Its capacity in packets of 500 B per second: 10 Mbit/s."""

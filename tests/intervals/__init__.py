"""How many of the intervals of `--until` contain the true value."""

"""The description of a paper."""

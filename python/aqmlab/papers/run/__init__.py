"""The runs that a paper takes."""

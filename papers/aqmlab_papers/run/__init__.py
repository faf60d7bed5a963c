"""Running a paper's experiments."""

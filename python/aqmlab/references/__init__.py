"""References: the bibliography, and the entries that a scenario or a result calls for."""

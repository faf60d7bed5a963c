"""Results: the metrics, series and distributions of runs, and their statistics."""

"""Advice for a link: the disciplines of a router, raced against the present one, and the lines that set up the best."""

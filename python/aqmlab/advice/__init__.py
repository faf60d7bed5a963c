"""Advice for a link: the disciplines of a router, raced against the user's own, and the lines that set up the winner."""

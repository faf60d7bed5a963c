"""Figures, one module a subject."""

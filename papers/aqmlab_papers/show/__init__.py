"""Figures, reports and documentation pages of a paper."""

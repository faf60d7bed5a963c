"""Figures, reports and pages on a paper."""

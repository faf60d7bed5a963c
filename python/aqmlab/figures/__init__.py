"""Figures, one module for each subject."""

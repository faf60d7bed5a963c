"""Shipped scenarios by topic, and one folder per paper, whose `paper.py` defines its runs, figures and claims."""

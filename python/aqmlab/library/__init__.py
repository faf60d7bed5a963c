"""Shipped scenarios by topic; those of papers are in `aqmlab_papers`."""

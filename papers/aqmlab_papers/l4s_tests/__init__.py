"""Heist and Morton's measurements of L4S on Linux. `aqmlab_papers` describes the files."""

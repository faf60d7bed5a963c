"""Archives of results: what a reader needs to check them, in one file.

`seal` packs a folder that ``run``, ``compare``, ``sweep``, ``reproduce`` or ``evaluate`` wrote; `verify` checks such a
file and repeats its runs.
"""

SAMPLE = 20
"""The number of runs that are repeated if no other is given."""

LICENSE = "Apache-2.0"
"""The licence of an archive if no other is given: that of aqmlab."""

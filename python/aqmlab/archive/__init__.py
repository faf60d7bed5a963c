"""Archives of results: what a reader needs to check them, in one file.

`seal` packs a folder that ``run``, ``compare``, ``sweep``, ``reproduce`` or ``evaluate`` wrote; `verify` checks such a
file and repeats its runs.
"""

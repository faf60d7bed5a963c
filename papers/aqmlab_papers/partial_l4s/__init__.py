"""Prague where L4S is partly deployed, after Sarpkaya and others. `aqmlab_papers` describes the files."""

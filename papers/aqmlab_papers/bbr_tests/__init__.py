"""The test cases of the draft on BBR. `aqmlab_papers` describes the files."""

"""The test cases of the BBR draft (CCWG). `aqmlab_papers` describes the files."""

"""The paper on RAQM. `aqmlab_papers` describes the files."""

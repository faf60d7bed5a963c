"""The paper on LRED. `aqmlab_papers` describes the files."""

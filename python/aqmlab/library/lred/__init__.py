"""The paper on LRED. `aqmlab.library` describes the files."""

"""The paper on RAQM. `aqmlab.library` describes the files."""

"""The paper on RAQM; the layout is that of all papers, see `aqmlab.library`."""

"""The paper on LRED; the layout is that of all papers, see `aqmlab.library`."""

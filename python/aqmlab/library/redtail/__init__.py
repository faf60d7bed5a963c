"""The paper on RED+Tail and Adaptive RED with dynamic thresholds; the layout is that of all papers, see `aqmlab.library`."""

"""The paper on RED+Tail and Adaptive RED with dynamic thresholds. `aqmlab_papers` describes the files."""

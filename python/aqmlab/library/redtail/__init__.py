"""The paper on RED+Tail and Adaptive RED with dynamic thresholds. `aqmlab.library` describes the files."""

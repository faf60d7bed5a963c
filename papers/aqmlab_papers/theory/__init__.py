"""Theory of the papers, beside that of `aqmlab.theory`; its rules hold here too."""

"""The survey of drop tail, RED, BLUE, REM, PI and JoBS. `aqmlab_papers` describes the files."""

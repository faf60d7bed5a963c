"""The survey of drop tail, RED, BLUE, REM, PI and JoBS. `aqmlab.library` describes the files."""

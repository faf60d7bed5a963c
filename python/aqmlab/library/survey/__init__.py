"""The survey of drop tail, RED, BLUE, REM, PI and JoBS; the layout is that of all papers, see `aqmlab.library`."""

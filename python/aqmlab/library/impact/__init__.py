"""The paper on tail drop, RED, Gentle RED and GRED-I; the layout is that of all papers, see `aqmlab.library`."""

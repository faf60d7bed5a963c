"""The paper on tail drop, RED, Gentle RED and GRED-I. `aqmlab_papers` describes the files."""

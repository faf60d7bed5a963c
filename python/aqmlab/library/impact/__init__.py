"""The paper on tail drop, RED, Gentle RED and GRED-I. `aqmlab.library` describes the files."""

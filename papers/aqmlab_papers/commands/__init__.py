"""The commands `aqmlab reproduce` and `aqmlab evaluate`."""

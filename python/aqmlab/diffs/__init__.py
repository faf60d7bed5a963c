"""Two saved results compared: the settings, the versions and the metrics in which they differ."""

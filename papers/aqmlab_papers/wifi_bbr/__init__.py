"""BBRv3 over Wi-Fi 6: Shrestha and others. `aqmlab_papers` describes the files."""

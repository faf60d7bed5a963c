"""What runs inside the kernel: plain Python of the distribution, without aqmlab."""

"""Running tasks: what a task is, and the threads and clusters that run it."""

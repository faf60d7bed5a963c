"""Execution: tasks, and the threads and clusters that perform them."""

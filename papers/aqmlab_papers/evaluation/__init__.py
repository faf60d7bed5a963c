"""Evaluation of queue disciplines by RFC 7928: its guidelines as runs, tests, and a report."""

"""Evaluation of queue disciplines by RFC 7928, of senders by RFC 9743: guidelines as runs, tests, and a report."""

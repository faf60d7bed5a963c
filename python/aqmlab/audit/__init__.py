"""The faults of a router's queues, by the files that it has: findings, with evidence, cost and cure."""

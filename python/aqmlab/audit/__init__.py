"""What is wrong with a router's queues, by the files that it has: findings, with evidence, cost and cure."""

"""The control loop of a scenario: its operating point and its stability."""

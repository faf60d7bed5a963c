"""What is evaluated: guidelines, their cases, what is measured, and how a discipline enters a scenario."""

"""The subject of an evaluation: guidelines, their cases and measures, and how a discipline enters a scenario."""

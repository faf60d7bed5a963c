"""The verdicts on a paper's claims."""

"""The paper on LRED."""

"""How a paper is described."""

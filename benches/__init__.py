"""Performance of the engine: `make bench` times it beside ns-2 and ns-3, `make counts` counts its instructions."""

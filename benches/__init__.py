"""How fast the engine is: `make bench` times it beside ns-2 and ns-3, `make counts` counts its instructions."""

"""Files of other programs, read into one model of a router, and made into scenarios."""

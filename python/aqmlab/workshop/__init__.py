"""Tools for the author of a queue discipline: checking a class, and carrying it to Rust."""

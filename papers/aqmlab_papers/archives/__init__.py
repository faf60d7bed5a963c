"""The kinds of archives that hold reproductions and evaluations."""

"""The output of an evaluation: figures, the report, the terminal's table, pages of the documentation."""

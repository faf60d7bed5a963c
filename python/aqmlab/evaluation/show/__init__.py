"""What is shown of an evaluation: figures, the report, the terminal's table, the page of the documentation."""

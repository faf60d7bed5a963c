"""The names of the files in the folder of an evaluation, besides its figures and scenarios."""

REPORT, TABLE, DOCUMENT = "index.html", "scorecard.csv", "evaluation.json"
"""The report, all cells, and the content of the report, which is written last."""

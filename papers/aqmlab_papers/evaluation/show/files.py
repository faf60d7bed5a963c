"""The names of the files in the folder of an evaluation, besides its figures and scenarios."""

from aqmlab.kinds import EVALUATION

REPORT, TABLE, DOCUMENT = "index.html", "scorecard.csv", EVALUATION.head
"""The report, all cells, and the content of the report, which is written last."""

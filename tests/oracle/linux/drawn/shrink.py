"""The smallest scenario that still differs."""

from pathlib import Path

from aqmlab.execute.progress import OnProgress
from oracle.linux.drawn.agreement import SEEDS, Agreement, agreements


def shrunk(found: Agreement, store: Path, jobs: int | None = None, progress: OnProgress | None = None) -> Agreement:
    """Take parts away as long as a metric that differed, or the failure of runs, remains."""
    kinds = found.differing
    while True:
        for smaller in found.drawn.smaller():
            tried = agreements({"smaller": smaller}, SEEDS[-1], store, jobs, progress)["smaller"]
            if tried.differing & kinds:
                found = tried
                break
        else:
            return found

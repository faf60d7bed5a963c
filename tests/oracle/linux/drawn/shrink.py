"""The smallest scenario that still differs."""

from pathlib import Path

from aqmlab.execute.progress import OnProgress
from oracle.linux.drawn.agreement import SEEDS, Agreement, agreements


def shrunk(found: Agreement, store: Path, progress: OnProgress | None = None) -> Agreement:
    """Take parts away as long as a metric that differed, or the error of a run, remains."""
    kinds = _kinds(found)
    while True:
        for smaller in found.drawn.smaller():
            tried = agreements({"smaller": smaller}, SEEDS[-1], store, progress)["smaller"]
            if _kinds(tried) & kinds:
                found = tried
                break
        else:
            return found


def _kinds(found: Agreement) -> set[str]:
    """What differs, whichever entry it is of."""
    if found.errors:
        return {"error"}
    return {check.metric.rpartition(" ")[2] for check in found.failed}

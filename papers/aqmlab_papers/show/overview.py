"""One page over several papers: the number of claims that hold, and each claim with its verdict."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aqmlab.files import write_text
from aqmlab.reports.template import rendered
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.show.document import Document
from aqmlab_papers.show.texts import certainty, decisive, lasted, repeated


def save(found: Mapping[str, Document], file: Path, command: str, seconds: float | None = None) -> None:
    """Write the page to an HTML file.

    ``found`` maps the folder of each paper, relative to the page, to its document. ``command`` is the command line for
    the reader to repeat; ``seconds`` is the total time.
    """
    write_text(file, text(found, command, seconds))


def text(found: Mapping[str, Document], command: str, seconds: float | None = None) -> str:
    """Return the page as HTML; the arguments are as for `save`."""
    papers = list(found.values())
    return rendered(
        "overview.html",
        title="Papers, reproduced",
        made=_made(papers, seconds),
        command=command,
        has_figures=False,
        verdicts=list(Verdict),
        papers=[_paper(folder, one) for folder, one in found.items()],
        beyond=_beyond(papers),
    )


def _made(papers: Sequence[Document], seconds: float | None) -> str:
    """Describe the origin of the page."""
    parts = [f"{len(papers)} papers", " or ".join(sorted({repeated(one) for one in papers}))]
    parts += ["quick"] * any(one["quick"] for one in papers)
    parts.append(f"{sum(one['done'] for one in papers)} runs")
    parts += [] if seconds is None else [lasted(seconds)]
    return "; ".join([*parts, *sorted({f"aqmlab {one['version']}" for one in papers})])


def _paper(folder: str, one: Document) -> Document:
    """Add the texts of a paper's row and of its claims."""
    return {
        **one,
        "folder": folder,
        "drawn": len(one["items"]),
        "time": "" if one["seconds"] is None else lasted(one["seconds"]),
        "claims": [_claim(claim) for claim in one["claims"]],
    }


def _claim(one: Document) -> Document:
    """Add the state of a claim, and the check that decides it."""
    return {**one, "certainty": certainty(one), "decisive": decisive(one)}


def _beyond(papers: Sequence[Document]) -> str:
    """Count the verdicts on our own claims."""
    counts = {verdict: sum(one["counts_beyond"][verdict] for one in papers) for verdict in Verdict}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)

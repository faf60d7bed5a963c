"""The references of a scenario or a result, as BibTeX and as text."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab.references import runs
from aqmlab.references.bibliography import AQMLAB, Entry, bibliography
from aqmlab.references.used import PARAMETER, Use, uses
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import PACKET, Result
from aqmlab.runs.swept import Sweep
from aqmlab.scenario import Scenario, shipped
from aqmlab.text import printable

_WIDTH = 100
"""The largest number of characters in a line of the text."""


@dataclass(frozen=True)
class Citations:
    """The references of a scenario or a result.

    Parameters
    ----------
    name : str
        The scenario or the result.
    entries : mapping
        The entries of the bibliography with the reasons for which each is cited: aqmlab first, then the paper, queue
        disciplines, TCPs, traffic, engines and metrics.
    unknown : sequence of str
        The user's own papers, and own queue disciplines whose documentation names no known source.
    """

    name: str
    entries: Mapping[Entry, Sequence[str]]
    unknown: Sequence[str] = ()

    @property
    def bibtex(self) -> str:
        """The entries in BibTeX, in ASCII."""
        return "\n\n".join(entry.bibtex() for entry in self.entries)

    @property
    def text(self) -> str:
        """The entries as a numbered list of references, each with the reasons for which it is cited."""
        lines = [f"References of {printable(self.name)}", ""]
        for number, (entry, reasons) in enumerate(self.entries.items(), 1):
            head = f"[{number}] ".rjust(5)
            lines += _filled(f"{entry.text()}.", head)
            lines += _filled(f"Cited for: {printable('; '.join(_grouped(reasons)))}.", " " * len(head))
        for name in self.unknown:
            lines += ["", *_filled(f"No reference is known for {printable(name)}: add one of your own.", "")]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Return the references as one document, for JSON.

        Returns
        -------
        dict
            ``name``, ``references`` and ``unknown``. Each reference has ``key``, ``type``, ``author``, ``title``, the
            other fields of BibTeX that are known, ``cited_for``, ``text`` and ``bibtex``.
        """
        return {
            "name": self.name,
            "references": [
                {
                    "key": entry.key,
                    "type": entry.type,
                    "author": list(entry.author),
                    "title": entry.title,
                    **entry.fields,
                    "cited_for": list(reasons),
                    "text": entry.text(),
                    "bibtex": entry.bibtex(),
                }
                for entry, reasons in self.entries.items()
            ],
            "unknown": list(self.unknown),
        }

    def __str__(self) -> str:
        return self.text


def cite(found: Scenario | Result | Comparison | Sweep | str | os.PathLike[str], *, engine: str = PACKET) -> Citations:
    """List the references of a scenario or a result.

    They are aqmlab itself, the paper if the scenario is one of a paper, and the sources that the documentation names of
    every queue discipline, TCP, kind of traffic, engine and model in use.

    Parameters
    ----------
    found : Scenario, Result, Comparison, Sweep, str or PathLike
        A scenario, or results; or the name of a shipped scenario, a scenario file, a folder that ``--out`` wrote, or a
        JSON file that ``--json`` printed.
    engine : str
        The engine that will run a scenario, as for `aqmlab.run`; results have their own.

    Returns
    -------
    Citations
        The references, with ``bibtex`` and ``text``.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    ValueError
        If a file is damaged or has no result.

    Examples
    --------
    >>> import aqmlab
    >>> next(iter(aqmlab.cite("quickstart").entries)).key
    'aqmlab'
    """
    if isinstance(found, str | os.PathLike):
        if is_result(found):
            return _citations(runs.read(Path(found)))
        return of_scenarios(os.fspath(found), [Scenario.load(found)], engine)
    if isinstance(found, Scenario):
        return of_scenarios(found.title, [found], engine)
    return _citations(runs.of_results(found))


def is_result(name: str | os.PathLike[str]) -> bool:
    """Return whether a name is that of a folder or a JSON file of results, not of a scenario.

    A folder without results may have the name of a shipped scenario, as ``playground`` in the repository.
    """
    if os.path.isdir(name):
        return bool(runs.heads(Path(name))) or os.fspath(name) not in shipped()
    return os.fspath(name).endswith(".json")


def of_scenarios(name: str, scenarios: Sequence[Scenario], engine: str = PACKET) -> Citations:
    """List the references of scenarios together."""
    return _citations(runs.of_scenarios(name, scenarios, engine))


def _citations(cited: runs.Cited) -> Citations:
    """List the references of runs."""
    listed = bibliography()
    papers = [Use(_reason(paper), [key for key, one in listed.items() if one.paper == paper]) for paper in cited.papers]
    used = uses(cited.runs)
    reasons: dict[str, list[str]] = {AQMLAB: ["the simulations"]}
    for use in (*papers, *used):
        for key in use.keys:
            if use.what not in reasons.setdefault(key, []):
                reasons[key].append(use.what)
    entries = {key: listed[key] for key in reasons}
    entries[AQMLAB] = replace(
        entries[AQMLAB], version=cited.version.partition("+")[0]
    )  # without the digest of the engine
    unknown = [use.what for use in used if not use.keys and use.what.startswith("the queue discipline")]
    return Citations(cited.name, {entries[key]: each for key, each in reasons.items()}, [*cited.unknown, *unknown])


def _reason(paper: str) -> str:
    return f"the scenarios of {paper}/"


def _grouped(reasons: Sequence[str]) -> list[str]:
    """Put the parameters of TCP together."""
    parameters = [reason.removeprefix(PARAMETER) for reason in reasons if reason.startswith(PARAMETER)]
    others = [reason for reason in reasons if not reason.startswith(PARAMETER)]
    return [*others, PARAMETER + ", ".join(parameters)] if parameters else others


def _filled(text: str, head: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )

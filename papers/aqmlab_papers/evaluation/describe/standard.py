"""An RFC by which something is evaluated: what it compares, its guidelines, and its words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab_papers.evaluation.describe.guideline import Guideline


@dataclass(frozen=True)
class Standard:
    """An RFC, by its ``number``.

    ``subject`` makes a `Subject` of what the user writes after ``--key``; ``every`` lists what ``all`` stands for, and
    ``reference`` is the default of that with which the others are compared. ``groups`` are the groups of subjects,
    with the meaning of each. ``noun`` names a subject; ``opening`` goes on after the RFC's name in the report; ``own``
    names the sections in which a subject is compared with itself, and in what setting. ``reading`` is the page of the
    documentation on its results.
    """

    number: str
    key: str
    noun: str
    subject: Callable[[str], Any]
    every: Callable[[], Sequence[str]]
    reference: str
    groups: Mapping[str, str]
    guidelines: Sequence[Guideline]
    opening: str
    own: tuple[str, str]
    reading: str

    @property
    def name(self) -> str:
        """Its name: ``RFC 7928``."""
        return f"RFC {self.number}"

    @property
    def nouns(self) -> str:
        """Several subjects."""
        return f"{self.noun}s"

"""What an evaluation compares, such as a queue discipline or a sender, and how it enters a scenario."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from aqmlab.scenario import Scenario, Settings


class Subject(Protocol):
    """One of the compared: its label is what the user wrote, its group one of `Standard.groups`."""

    @property
    def label(self) -> str:
        """What the user wrote."""

    @property
    def group(self) -> str:
        """Its group, for the colours of many."""

    @property
    def scenario(self) -> Scenario:
        """A scenario that has it."""

    def require(self) -> None:
        """Raise `ScenarioError` if there is none such, or one of its parameters cannot be."""


S = TypeVar("S")


def _nothing(_: Any) -> str:
    """Return no reason why a subject cannot enter a scenario."""
    return ""


@dataclass(frozen=True)
class Placement(Generic[S]):
    """How a subject enters a scenario.

    ``settings`` returns the settings that put it there, ``lacks`` the reason why it cannot, or an empty text.
    """

    settings: Callable[[S], Settings]
    lacks: Callable[[S], str] = _nothing

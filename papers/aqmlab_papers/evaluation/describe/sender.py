"""A sender to evaluate: a TCP, and how it enters a scenario."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aqmlab import ScenarioError
from aqmlab.scenario import Scenario, catalogue, is_own, worded
from aqmlab_papers.evaluation.describe.subject import Placement

_PROBE = "rfc9743/long"
"""The scenario in which a sender is looked up."""

_GROUPS = {"ledbat": "delay", "bbr": "model", "bbr3": "model", "dctcp": "marks", "prague": "marks"}
"""The groups of congestion controls; those that are not here respond to losses alone, or to marks as to losses."""


@dataclass(frozen=True)
class Sender:
    """A TCP, as a user writes it after ``--tcp``, and as a scenario has it: a preset or a flavour, with parameters."""

    label: str

    @cached_property
    def scenario(self) -> Scenario:
        """A scenario that has it."""
        return Scenario.load(_PROBE)._base.with_({"traffic.bulk.tcp": self.label})

    @cached_property
    def table(self) -> dict[str, Any]:
        """Its table in a scenario, every default filled in."""
        (entry,) = self.scenario.resolved["traffic"]
        return dict(entry["tcp"])

    @property
    def group(self) -> str:
        """The group of its congestion control."""
        return _GROUPS.get(str(self.table["congestion"]), "loss")

    @property
    def marked(self) -> bool:
        """Whether it sends ECN-capable packets, so that routers may mark them."""
        return bool(self.table["ecn"])

    def require(self) -> None:
        """Raise `ScenarioError` if there is no such TCP, or one of its parameters cannot be."""
        if is_own(self.label):
            raise ValueError(
                f"{self.label}: a file cannot bring a congestion control, as it can a queue discipline; give a preset "
                "or a flavour with parameters, as in linux:congestion=reno"
            )
        try:
            self.scenario.check()
        except ScenarioError as error:
            # The user wrote --tcp, and no --set.
            written = f"--set traffic.bulk.tcp={json.dumps(self.label, ensure_ascii=False)}: "
            text = str(error).replace(written, f"--tcp {self.label}: ")
            raise worded(error, re.sub(r"\btraffic\.bulk\.tcp\b", "tcp", text)) from None


def senders() -> list[str]:
    """List all presets and flavours, but of equal ones the first."""
    found: dict[str, str] = {}
    for entry in catalogue()["tcps"]:
        one = Sender(entry["name"])
        found.setdefault(json.dumps(one.table, sort_keys=True), one.label)
    return list(found.values())


def at(*entries: str) -> Placement[Sender]:
    """Return the sender as the TCP of some traffic entries."""
    return Placement(lambda one: {f"traffic.{entry}.tcp": one.label for entry in entries})


def marked_at(*entries: str) -> Placement[Sender]:
    """Return the same for senders whose packets may be marked."""
    return Placement(at(*entries).settings, lambda one: "" if one.marked else "its packets are not ECN-capable")


BULK = at("bulk")
"""The sender as the TCP of the long flows."""

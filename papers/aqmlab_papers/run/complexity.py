"""What a discipline costs: instructions a packet and bytes of state, as measured by ``make counts RECORD=1``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).parents[1] / "complexity.json"


@dataclass(frozen=True)
class Cost:
    """The cost of a discipline.

    * instructions: processor instructions a packet beyond those of drop tail, by the number of flows: the decisions at
      arrival and departure and the periodic work, divided by the arrivals. Those of drop tail itself are those of the
      queue.
    * bytes: state, with tables of flows and the state of inner algorithms, without the packets. Nothing is allocated
      later, so that it does not depend on the number of flows.
    """

    instructions: Mapping[int, float]
    bytes: int


@dataclass(frozen=True)
class Complexity:
    """The costs of all disciplines that were measured, by their names as `aqmlab show` lists them.

    * build: the date, the compiler, its target and the processor's family: counts repeat exactly with one build only.
    * scenario: the traffic, in a sentence.
    * queue: instructions a packet of drop tail, by the number of flows.
    * costs: the cost of each discipline.
    """

    build: Mapping[str, str]
    scenario: str
    queue: Mapping[int, float]
    costs: Mapping[str, Cost]

    def __getitem__(self, name: str) -> Cost:
        """Return the cost of a discipline; KeyError if it was not measured."""
        return self.costs[name]


def complexity(file: Path = RECORD) -> Complexity:
    """Read the recorded costs, by default from the shipped ``file``: ``complexity()["lred"].instructions[1000]``."""
    found = json.loads(file.read_text(encoding="utf-8"))

    def by_flows(counts: Mapping[str, float]) -> dict[int, float]:
        return {int(flows): count for flows, count in counts.items()}

    costs = {name: Cost(by_flows(cost["instructions"]), cost["bytes"]) for name, cost in found["disciplines"].items()}
    return Complexity(found["build"], found["scenario"], by_flows(found["queue"]), costs)

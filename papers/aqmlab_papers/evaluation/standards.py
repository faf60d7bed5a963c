"""The RFCs by which ``aqmlab evaluate`` evaluates."""

from collections.abc import Mapping
from typing import Any

from aqmlab.scenario import disciplines
from aqmlab_papers.evaluation import guidelines, senders
from aqmlab_papers.evaluation.describe.discipline import Discipline
from aqmlab_papers.evaluation.describe.sender import Sender
from aqmlab_papers.evaluation.describe.sender import senders as every_sender
from aqmlab_papers.evaluation.describe.standard import Standard

RFC7928 = Standard(
    number="7928",
    key="aqm",
    noun="discipline",
    subject=Discipline,
    every=disciplines,
    reference="droptail",
    groups={
        "length": "a target length",
        "delay": "a target delay",
        "chance": "drops at random",
        "rule": "drops by rule",
        "several": "several queues",
    },
    guidelines=guidelines.GUIDELINES,
    opening="for the characterization of Active\nQueue Management, each as a scenario: topology, metrics and loads are "
    "the RFC's, and departures are listed.",
    own=("4.5 and 4.6", "the same discipline without ECN, and without fair queueing"),
    reading="README.md",
)
"""Characterization Guidelines for Active Queue Management."""

RFC9743 = Standard(
    number="9743",
    key="tcp",
    noun="sender",
    subject=Sender,
    every=every_sender,
    # Reno of RFC 5681 with Linux's repair of losses: differences from it are the congestion control's.
    reference="linux:congestion=reno",
    groups={
        "loss": "losses, and marks as losses",
        "marks": "the share of marks",
        "delay": "a delay",
        "model": "a model of the path",
    },
    guidelines=senders.GUIDELINES,
    opening="for the evaluation of congestion controls\nthat a sender may have, each as a scenario. The RFC names "
    "situations and criteria; networks, loads and measures are ours. What it asks for and is not done is listed as "
    "open.",
    own=("5.3.2 and 6.2", "the same sender on a path that treats ECN as it should"),
    reading="rfc9743.md",
)
"""Specifying New Congestion Control Algorithms."""

STANDARDS = {one.number: one for one in (RFC7928, RFC9743)}
"""All, by number."""


def standard_of(found: Mapping[str, Any]) -> Standard:
    """Return the RFC by which the content of a report was made."""
    return STANDARDS[found.get("rfc", RFC7928.number)]

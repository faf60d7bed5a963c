"""The case that a result of a comparison is of, its engine and its discipline: what can be compared with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aqmlab.results.result import KERNEL
from aqmlab.scenario import portable

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def case(label: str, result: Result) -> tuple[str, str]:
    """Identify the scenario of a result, and the discipline of Linux if the label begins with one."""
    return portable(result.scenario)[0], result.discipline if label.startswith(KERNEL) else ""


def engine(label: str, result: Result) -> str:
    """Name the engine of a result, without a discipline of Linux if the label begins with that."""
    name, qdisc, _ = result.engine_name.partition("qdisc=")  # the last of the options
    return name.rstrip(":,") if qdisc and label.startswith(KERNEL) else result.engine_name


def discipline(label: str, result: Result) -> str:
    """Return the label of a result without its engine, which follows if there are several."""
    return label.removesuffix(f", {engine(label, result)}")


def disciplines(results: Mapping[str, Result]) -> list[str]:
    """List the labels of the results without their engines, each once."""
    return list(dict.fromkeys(discipline(label, result) for label, result in results.items()))


def engines(results: Mapping[str, Result]) -> list[str]:
    """List the engines of the results, each once."""
    return list(dict.fromkeys(engine(label, result) for label, result in results.items()))

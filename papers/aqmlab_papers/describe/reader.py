"""Functions that read experiments: which ones follows from the names of their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from aqmlab_papers.run.evidence import Evidence

T = TypeVar("T")

_EVIDENCE = ("evidence", "_")
"""The names of a parameter that receives all experiments at once, or that is not used."""


@dataclass(frozen=True)
class Reader(Generic[T]):
    """A function of the runs of experiments, called with the evidence.

    ``needs`` names the experiments without which it cannot be called, ``optional`` those in place of which it receives
    None; ``keywords`` are passed too.
    """

    function: Callable[..., T]
    arguments: Mapping[str, str]
    needs: Sequence[str]
    optional: Sequence[str] = ()
    keywords: Mapping[str, object] = field(default_factory=dict)

    def __call__(self, evidence: Evidence) -> T:
        """Call the function with the runs that it reads."""
        found: dict[str, Any] = {
            parameter: evidence.get(name) if name in self.optional else evidence[name]
            for parameter, name in self.arguments.items()
        }
        whole = {name: evidence for name in inspect.signature(self.function).parameters if name in _EVIDENCE}
        return self.function(**found, **whole, **self.keywords)


def reader(
    function: Callable[..., T], runs: str | Sequence[str] | None = None, keywords: Mapping[str, object] | None = None
) -> Reader[T]:
    """Find the experiments that a function reads, and return it as one of the evidence.

    Its positional parameters are the names of experiments, with ``_`` for ``-``; one with the default None is optional.
    A parameter ``evidence`` receives all experiments. ``runs`` has the experiments in the order of the parameters,
    where their names differ; further ones are read from ``evidence``. ``keywords`` has the values of keyword-only
    parameters; those that the function does not have are left out.
    """
    if isinstance(function, Reader):
        return function
    parameters = inspect.signature(function).parameters
    names = [
        name
        for name, one in parameters.items()
        if one.kind is not inspect.Parameter.KEYWORD_ONLY and name not in _EVIDENCE
    ]
    stated = list(getattr(function, "needs", ())) if runs is None else [runs] if isinstance(runs, str) else list(runs)
    if not stated:
        stated = [name.replace("_", "-") for name in names]
    if len(stated) < len(names):
        raise TypeError(f"{function}: has the parameters {', '.join(names)}, but reads {', '.join(stated)}")
    optional = [one for name, one in zip(names, stated, strict=False) if parameters[name].default is None]
    return Reader(
        function,
        dict(zip(names, stated, strict=False)),
        [one for one in stated if one not in optional],
        optional,
        {name: value for name, value in (keywords or {}).items() if name in parameters},
    )

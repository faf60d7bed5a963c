"""Claims of a paper, each with the function that judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

from aqmlab_papers.describe.check import Check, Tolerance
from aqmlab_papers.describe.reader import reader

if TYPE_CHECKING:
    from aqmlab_papers.run.evidence import Evidence


@dataclass(frozen=True)
class Judgement:
    """The result of testing a claim against the data.

    * checks: the parts of the primary check: the number that the claim is about, at several points or for several
      competitors, each with its bounds; empty if the claim cannot be tested.
    * why: the reason for the result, in one to three sentences.
    * beside: further checks that are shown and decide nothing.
    * need: the share of the parts that must hold, where the paper says "generally" or "most".
    """

    checks: Sequence[Check]
    why: str = ""
    beside: Sequence[Check] = ()
    need: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of the paper, or one of ours; `claim` makes it from the function that judges it.

    * name: a short unique name: ``lowest-deviation``.
    * text: the claim, in our words.
    * where: its place in the paper: ``Section 6.1, Fig. 7c``.
    * judge: takes the evidence and returns a `Judgement`.
    * quote: the clause of the paper that it tests, or what its figure or table shows; empty if the claim is ours.
    * tolerance: the effect size below which nothing is claimed; None for an exact statement.
    * needs: the experiments by which it is judged.
    * optional: experiments that it also reads, where there are runs of them.
    * shown: the figures and tables that show it.
    * sensitive: whether it has a row in the sensitivity table: it is judged again with other values of the parameters
      that the paper does not state.
    * comparative: whether it claims that the paper's discipline is better than others; it is then judged against later
      ones too.
    * arithmetic: whether it follows from definitions, so that no run could contradict it; it is then not counted.
    """

    name: str
    text: str
    where: str
    judge: Callable[[Evidence], Judgement]
    quote: str = ""
    tolerance: Tolerance | None = None
    needs: Sequence[str] = ()
    optional: Sequence[str] = ()
    shown: Sequence[str] = ()
    sensitive: bool = False
    comparative: bool = False
    arithmetic: bool = False

    @property
    def beyond(self) -> bool:
        """Whether it is ours and not the paper's: a claim of the paper has a quote."""
        return not self.quote

    @property
    def reads(self) -> tuple[str, ...]:
        """All experiments that it reads."""
        return (*self.needs, *self.optional)


Judge = Callable[..., Judgement]


def claim(
    quote: str,
    where: str,
    shown: str = "",
    *,
    text: str = "",
    name: str | None = None,
    runs: str | Sequence[str] | None = None,
    sensitive: bool | None = None,
    comparative: bool = False,
    arithmetic: bool = False,
) -> Callable[[Judge], Claim]:
    """Make a claim of the function that judges it, which may have a `tolerance`.

    ``quote`` is the clause of the paper that it tests, empty if the claim is ours; ``where`` its place in the paper;
    ``shown`` the names of the figures and tables that show it, separated by spaces. ``text`` is the claim in our words,
    by default the function's docstring; ``name`` by default that of the function, with ``-`` for ``_``. ``runs`` names
    the experiments in the order of the function's parameters, which by default are named like them. ``sensitive`` is by
    default true of each claim of the paper that reads runs; it, ``comparative`` and ``arithmetic`` are as for `Claim`.
    """

    def made(function: Judge) -> Claim:
        size: Tolerance | None = function.__dict__.pop("tolerance", None)  # of this claim: a function may judge several
        judge = reader(function, runs, {"tolerance": size})
        return Claim(
            name=name or function.__name__.replace("_", "-"),
            text=text or " ".join((function.__doc__ or "").split()),
            where=where,
            judge=judge,
            quote=quote,
            tolerance=size,
            needs=judge.needs,
            optional=judge.optional,
            shown=shown.split(),
            sensitive=bool(judge.needs and quote) and not arithmetic if sensitive is None else sensitive,
            comparative=comparative,
            arithmetic=arithmetic,
        )

    return made


ours = partial(claim, "")
"""Make a claim of our own, which has no quote."""


def tolerance(size: Tolerance | float, unit: str = "", reason: str = "") -> Callable[[Judge], Judge]:
    """State the tolerance of the claim that the function below judges, which receives it as ``tolerance`` if it asks.

    ``size``, ``unit`` and ``reason`` are as for `Tolerance`; ``size`` may also be one.
    """

    def stated(function: Judge) -> Judge:
        function.__dict__["tolerance"] = size if isinstance(size, Tolerance) else Tolerance(size, unit, reason)
        return function

    return stated


def claims(*modules: ModuleType) -> tuple[Claim, ...]:
    """Collect the claims that ``modules`` define, also in lists: those of the paper in their order, then ours."""
    found = {one.name: one for module in modules for value in vars(module).values() for one in _claims(value)}
    return tuple(sorted(found.values(), key=lambda one: one.beyond))


def _claims(value: object) -> Iterator[Claim]:
    if isinstance(value, Claim):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, Claim))

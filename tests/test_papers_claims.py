"""Claims: what they read follows from their parameters, and they are collected in their order."""

import math
from types import ModuleType
from typing import Any, cast

import pytest

from aqmlab_papers import (
    Calibration,
    Claim,
    Effect,
    Evidence,
    Figure,
    Judgement,
    Panel,
    PerSeed,
    Printed,
    Runs,
    Tolerance,
    claim,
    claims,
    tolerance,
)
from aqmlab_papers.describe.paper import Axis
from aqmlab_papers.describe.reader import reader
from aqmlab_papers.judge.calibration import _tried
from aqmlab_papers.show.texts import distance

EXACT = Tolerance(0, "", "an exact statement")


class _Whole:
    """Runs that are complete, or not."""

    def __init__(self, name: str, whole: bool = True) -> None:
        self.name, self.whole = name, whole


def evidence(**runs: bool) -> Evidence:
    found = {name.replace("_", "-"): cast(Runs, _Whole(name, whole)) for name, whole in runs.items()}
    return Evidence(found, "", quick=False)


def held(*_: object) -> Judgement:
    return Judgement([Effect("x").exact(1, least=0)], "It is so.")


def test_a_claim_is_named_after_its_judge_and_reads_the_experiments_that_its_parameters_name() -> None:
    @claim("fast", "Section 1", "fig1 table2")
    @tolerance(EXACT)
    def as_fast(exp1: Runs, exp1_pistar: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
        """It is fast."""
        return Judgement([Effect(f"{exp1.name} {exp1_pistar and exp1_pistar.name}").exact(1, least=tolerance.value)])

    assert (as_fast.name, as_fast.shown, as_fast.quote) == ("as-fast", ["fig1", "table2"], "fast")
    assert as_fast.text == "It is fast."
    assert (list(as_fast.needs), list(as_fast.optional), as_fast.reads) == (
        ["exp1"],
        ["exp1-pistar"],
        ("exp1", "exp1-pistar"),
    )
    both, alone = evidence(exp1=True, exp1_pistar=True), evidence(exp1=True)
    assert as_fast.judge(both).checks[0].effect == "exp1 exp1_pistar"
    assert as_fast.judge(alone).checks[0].effect == "exp1 None"
    assert both.suffices(as_fast)
    assert alone.suffices(as_fast)
    assert not evidence(exp1=True, exp1_pistar=False).suffices(as_fast), "it would be judged without what is to come"
    assert not evidence(exp1_pistar=True).suffices(as_fast)


def test_a_judge_serves_several_claims() -> None:
    def regulated(runs: Runs) -> Judgement:
        return Judgement([Effect(runs.name).exact(1, least=0)])

    cases = [
        claim("", "Section 2", text="It is held.", name=f"{case}-held", runs=case)(regulated) for case in ("one", "two")
    ]
    module = ModuleType("cases")
    vars(module)["CASES"] = cases
    assert [one.name for one in claims(module)] == ["one-held", "two-held"]
    assert [one.judge(evidence(one=True, two=True)).checks[0].effect for one in cases] == ["one", "two"]


def test_claims_are_collected_in_their_order_and_ours_come_last() -> None:
    def made(name: str, quote: str = "so") -> Claim:
        return claim(quote, "1", text="So.", name=name)(held)

    first, second = ModuleType("first"), ModuleType("second")
    vars(first).update(a=made("z"), b=made("ours", quote=""), c=7)
    vars(second).update(d=made("a"))
    assert [one.name for one in claims(first, second)] == ["z", "a", "ours"]


@pytest.mark.parametrize(
    ("options", "sensitive"),
    [({}, True), ({"quote": ""}, False), ({"arithmetic": True}, False), ({"sensitive": False}, False)],
)
def test_each_claim_of_the_paper_that_reads_runs_is_judged_in_every_setting(
    options: dict[str, Any], sensitive: bool
) -> None:
    def judge(exp1: Runs) -> Judgement:
        return held(exp1)

    assert claim(**{"quote": "so", "where": "1", "text": "So.", **options})(judge).sensitive == sensitive
    assert not claim("so", "1", text="So.")(held).sensitive, "it reads no runs"


def test_a_function_can_read_all_evidence() -> None:
    def whole(evidence: Evidence) -> list[str]:
        return list(evidence)

    found = reader(whole, ["one", "two"])
    assert list(found.needs) == ["one", "two"]
    assert found(evidence(one=True, two=True)) == ["one", "two"]
    with pytest.raises(TypeError, match="has the parameters one, two, but reads case1"):
        reader(lambda one, two: None, "case1")


def test_a_figure_needs_the_experiments_that_its_function_reads() -> None:
    panel = Panel("", "x", Axis("x"), Axis("y"))

    def drawn(exp1_time: Runs) -> list[Any]:
        return [exp1_time.name]

    figure = Figure(name="fig1", title="x", panels=[panel], curves=drawn)
    assert figure.needs == ["exp1-time"]
    assert list(figure.curves(evidence(exp1_time=True))) == ["exp1_time"]
    stated = Figure(name="fig1", title="x", panels=[panel], needs=["b"], curves=lambda evidence: [*evidence])
    assert stated.needs == ["b"]


def test_a_setting_without_losses_is_far_from_a_paper_that_prints_some() -> None:
    def printed(experiment: str, *ours: float | None) -> Printed:
        return Printed("loss", 2.0, "%", "Section 1", experiment, lambda _: PerSeed.of(ours))

    def tried(*numbers: Printed) -> tuple[float, str]:
        found = _tried(Calibration(printed=numbers, tried=[], why=""), "a setting", evidence(exp1=True))
        far = found.distance if math.isfinite(found.distance) else None
        return found.distance, distance({"distance": far, "has": [one is not None for one in found.ours]})

    near = printed("exp1", 2.0 * math.e, 2.0 * math.e)
    assert tried(near) == (pytest.approx(1.0), "1")
    assert tried(near, printed("exp2", 2.0)) == (pytest.approx(1.0), "1 (1 of 2)"), "it has no runs of the other"
    for nothing in (printed("exp1", 0.0, 0.0), printed("exp1", None, None)):
        assert tried(near, nothing) == (math.inf, "\N{INFINITY}")

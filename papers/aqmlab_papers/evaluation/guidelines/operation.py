"""Sections 11 and 12: the cost of an implementation, and what an operator has to set."""

from aqmlab_papers.evaluation.describe.guideline import Guideline

GUIDELINES = [
    Guideline(
        "11",
        "Implementation cost",
        "should be highlighted",
        "Processor instructions a packet beyond drop-tail's and bytes of state, as recorded for this release; where "
        "the discipline decides, and whether it needs a timer and random numbers. `aqmlab show NAME` has its law.",
        kind="cost",
    ),
    Guideline(
        "12",
        "Operator control and auto-tuning",
        "should be described",
        "The parameter that sets the delay, those that follow from the link or from others unless set (auto), the "
        "number of parameters in all, and presets.",
        kind="operator",
    ),
]

"""Whether `aqmlab calibrate` is right about the kernel's links: coverage of its intervals, and its confusions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aqmlab.calibrate import Calibration, Interval, calibrate
from oracle.calibrate import cases, recordings
from oracle.verdict import aligned

COVERED = {"rate": 0.85, "base_rtt": 0.85, "buffer": 0.8}
"""The least share of 90 % intervals that have the true value in them."""

NAMED, WRONG, SURELY = 0.7, 0.05, 0.8
"""The least share of cases whose family is most probable, and the most that have another with more than the third."""

UNITS = {"rate": (1e6, "Mbit/s"), "base_rtt": (1e-3, "ms"), "buffer": (1e3, "kB")}


@dataclass(frozen=True)
class Judged:
    """A case: the truth and the finding, or the reason of a refusal."""

    number: int
    truth: Mapping[str, Any]
    found: Calibration | None
    refused: str = ""

    def covers(self, name: str) -> bool:
        interval: Interval | None = getattr(self.found, name, None)
        return interval is not None and interval.low <= self.truth[name] <= interval.high

    @property
    def likeliest(self) -> tuple[str, float]:
        families = self.found.families if self.found else {"none": 0.0}
        return max(families.items(), key=lambda each: each[1])

    @property
    def is_right(self) -> bool:
        return self.likeliest[0] == self.truth["family"]

    @property
    def is_surely_wrong(self) -> bool:
        return not self.is_right and self.likeliest[1] > SURELY


def judged(numbers: Iterable[int], progress: Callable[[float], None] | None = None) -> list[Judged]:
    """Calibrate the stored recordings of cases."""
    stored, found, wanted = recordings.stored(), [], list(numbers)
    for number in wanted:
        truth = cases.truth(cases.case(number))
        with TemporaryDirectory() as folder:
            try:
                found.append(Judged(number, truth, calibrate(recordings.write(stored[number], Path(folder)))))
            except ValueError as reason:
                found.append(Judged(number, truth, None, str(reason)))
        if progress:
            progress(len(found) / len(wanted))
    return found


def table(found: Sequence[Judged]) -> str:
    """A line for each case."""
    lines = [("case", *UNITS, "true", "found", "probability")]
    for one in found:
        cells = [_shown(one, name) for name in UNITS]
        name, probability = one.likeliest
        idle = " (idle)" if one.truth["idle"] else ""
        lines.append((str(one.number), *cells, one.truth["family"] + idle, name, f"{probability:.2f}"))
    refused = [f"case {one.number} was refused: {one.refused}" for one in found if one.refused]
    return "\n".join([aligned(lines, {"true", "found"}), *refused])


def _shown(one: Judged, name: str) -> str:
    unit, symbol = UNITS[name]
    interval: Interval | None = getattr(one.found, name, None)
    mark = " " if one.covers(name) else "!"
    ends = f"{interval.low / unit:.4g} to {interval.high / unit:.4g}" if interval else "none"
    return f"{mark}{one.truth[name] / unit:.4g} in {ends} {symbol}"


def confusion(found: Sequence[Judged]) -> str:
    """How often each family was taken for each."""
    counted = Counter((one.truth["family"], one.likeliest[0]) for one in found)
    families = cases.FAMILIES
    rows = [(true, *(str(counted[true, taken]) for taken in families)) for true in families]
    return aligned([("true", *families), *rows], {"true"})


def verdict(found: Sequence[Judged]) -> tuple[str, bool]:
    """The shares beside their bars, and whether all are met."""
    lines, met = [], True
    for name, bar in COVERED.items():
        share = sum(one.covers(name) for one in found) / len(found)
        lines.append(f"{name:<10} covered in {share:6.1%} (at least {bar:.0%})")
        met &= share >= bar
    right = sum(one.is_right for one in found) / len(found)
    wrong = sum(one.is_surely_wrong for one in found) / len(found)
    lines.append(f"{'family':<10} right in   {right:6.1%} (at least {NAMED:.0%})")
    lines.append(f"{'family':<10} wrong with more than {SURELY} in {wrong:.1%} (at most {WRONG:.0%})")
    return "\n".join(lines), met and right >= NAMED and wrong <= WRONG

"""The fuzz targets with fixed seeds, all past findings, and the harness itself.

The seeds are the same in every run and on every machine: a failure is due to a change of the code. `make fuzz`
continues from these seeds with new ones.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz import commands, harness, regressions, stores, targets, worker
from fuzz.harness import Finding
from fuzz.session import Session
from fuzz.targets import Target

PARTS = 2
"""The number of parts into which a target's seeds are split, for parallel test processes; each pays for a start."""

KEPT = sorted(file for file in regressions.FOLDER.glob("*/*") if file.is_file())


@pytest.mark.timeout(900)  # a build of the engine; every attack has a time limit
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", [name for name in targets.names() if targets.target(name).tested])
def test_attacks_find_nothing(name: str, part: int) -> None:
    target = targets.target(name)
    first, last = (target.tested * i // PARTS for i in (part, part + 1))
    tally = harness.attack(target, first, last)
    assert not tally.findings, "\n".join(map(str, tally.findings))
    assert sum(tally.outcomes.values()) == last - first


@pytest.mark.timeout(900)
@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_was_found_once_is_mended(file: Path) -> None:
    target = targets.target(file.parent.name)
    target.ready()
    assert harness.judged(target, file.read_bytes()) == ""


def test_make_test_has_every_attack_on_stores() -> None:
    dealt = Counter(stores.chosen(seed) for seed in range(stores.TESTED))
    assert set(dealt) == set(stores.ATTACKS)
    assert dealt[stores.kill] == 1, "it takes seconds"


@pytest.mark.parametrize("case", [b"", b"{", b"[]", b"{}", b'{"words": 3, "input": "", "shell": null}'])
def test_a_file_that_is_no_command_line_is_not_passed_over(case: bytes) -> None:
    found = harness.judged(targets.target("commands"), case)
    assert found.startswith("ValueError: not a command line: ")


def test_what_is_no_command_line_any_more_is_no_smaller_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(target: Target, case: bytes) -> str:
        monkeypatch.setattr(commands, "_furnish", lambda folder: None)
        monkeypatch.setattr(commands, "_called", lambda words, text: (0, "not JSON", ""))
        return worker.tried(lambda: target.judge(case, tmp_path))[1]

    target = targets.target("commands")
    made = json.dumps({"words": ["list", "aqms", "--json"], "input": "", "shell": None}, indent=1).encode()
    monkeypatch.setattr(regressions, "judged", judged)
    monkeypatch.setattr(Target, "case", lambda target, seed: made)
    [file] = regressions.kept(target, [Finding(target.name, 0, judged(target, made))], tmp_path)
    assert json.loads(file.read_bytes())["words"][-1] == "--json"


@pytest.mark.parametrize("redirected", ["2>&1 | head -c 9", "| true"])
def test_a_shell_hides_no_traceback(redirected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ("Traceback", "") if "2>&1" in redirected else ("", "Traceback (most recent call last):")
    monkeypatch.setattr(commands, "_from_shell", lambda *arguments: (0, *said))
    case = json.dumps({"words": ["list", "aqms"], "input": "", "shell": [redirected, "", ""]}).encode()
    with pytest.raises(AssertionError, match="Traceback"):
        commands.judge(case, tmp_path)


def test_make_test_gives_some_command_lines_to_a_shell() -> None:
    target = targets.target("commands")
    ways = [json.loads(target.case(seed))["shell"] for seed in range(target.tested)]
    # One in 25 on average.
    assert sum(way is not None for way in ways) >= 3


BAD = """
import ctypes, time
LIMIT = 3.0
def case(seed):
    return f"seed\\n{seed}\\nrest\\n".encode()
def judge(case, folder):
    seed = int(case.split()[1])
    (folder / "left").touch(exist_ok=False)
    if seed == 3:
        raise AssertionError("three")
    if seed == 5:
        ctypes.string_at(0)
    if seed == 7:
        time.sleep(60)
    if seed == 9:
        bytearray(1 << 40)
    return "even" if seed % 2 == 0 else "odd"
def attack(seed, folder):
    return judge(case(seed), folder)
"""


SLOW = """
import sys, time
LIMIT = 1.0
if sys.argv[0].endswith("worker.py"):
    time.sleep(3)
def attack(seed, folder):
    return "done"
"""


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Target]:
    """Create a target from a text."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "odd").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    monkeypatch.delitem(sys.modules, "odd.bad", raising=False)
    monkeypatch.delitem(sys.modules, "odd", raising=False)

    def make(text: str) -> Target:
        (tmp_path / "odd" / "bad.py").write_text(text, encoding="utf-8")
        return targets.target("odd.bad")

    return make


@pytest.fixture
def bad(odd: Callable[[str], Target]) -> Target:
    """Create a target with a finding of each kind."""
    return odd(BAD)


def test_the_start_of_a_worker_is_no_part_of_an_attack(odd: Callable[[str], Target]) -> None:
    slow = odd(SLOW)
    tally = harness.attack(slow, 0, 2)
    assert (tally.findings, tally.outcomes) == ([], {"done": 2})
    assert harness.judged(slow, b"0") == ""


def test_wrong_answers_crashes_hangs_and_memory_are_findings_and_the_rest_is_counted(bad: Target) -> None:
    tally = harness.attack(bad, 0, 12)
    found = {finding.seed: finding.message for finding in tally.findings}
    assert sorted(found) == [3, 5, 7, 9]
    assert found[3] == "AssertionError: three"
    assert found[5].startswith("crash: exit status -11")
    assert found[7] == "hang: not done after 3 s"
    assert found[9].startswith("MemoryError")
    assert tally.outcomes == {"even": 6, "odd": 2, "finding": 4}
    assert tally.next == 12


def test_a_finding_is_kept_as_the_smallest_file_that_shows_it(bad: Target, tmp_path: Path) -> None:
    tally = harness.attack(bad, 2, 4)
    [file] = regressions.kept(bad, tally.findings, tmp_path)
    assert file.name == "assertionerror-three-3.seed"
    assert file.read_bytes() == b"seed\n3\n"
    assert harness.judged(bad, file.read_bytes()) == "AssertionError: three"


def test_a_session_goes_on_where_the_last_one_ended_and_past_what_make_test_tries(bad: Target, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    assert bad.tested == 20
    for _ in range(2):
        assert Session(state).run([bad], 60.0, 1, None, 3) == 0
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert kept == {"odd.bad": {"next": 26, "outcomes": {"even": 3, "odd": 3}}}


def test_a_session_ends_in_time(bad: Target, tmp_path: Path) -> None:
    started = time.monotonic()
    Session(tmp_path / "state.json").run([bad], 2.0, 1, 10, 0)
    assert time.monotonic() - started < 20


def test_the_targets_are_the_modules_that_attack() -> None:
    known = "classes commands conversions engines expressions stores texts traces units values"
    assert targets.names() == known.split()

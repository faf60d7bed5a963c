"""Sweeps of many runs: tables in files, keys in arrays, plans that are kept, and figures of groups."""

import copy
import gc
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from polars.testing import assert_frame_equal
from sweeping import VARY, data_set

import aqmlab
from aqmlab import Scenario, Sweep, _core
from aqmlab.execute.engine import PACKETS
from aqmlab.execute.progress import Progress
from aqmlab.execute.task import FORMAT, key_for
from aqmlab.runs import key_arrays as keys
from aqmlab.runs import plan as plans
from aqmlab.runs import table
from aqmlab.runs.plan import Plan, Study, keep, kept
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.runs.study import study
from aqmlab.runs.table import RunTable
from aqmlab.sealed import Stored

AQMS = ["redtail", "lred"]
"""One with lanes, which have metrics of their own, and one without."""


@pytest.fixture
def sliced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of three rows, so that no slice has whole points or disciplines."""
    for module in ("table", "runner"):
        monkeypatch.setattr(f"aqmlab.runs.{module}.SLICE", 3)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are kept however small they are."""
    monkeypatch.setattr("aqmlab.runs.plan.LARGE", 1)


def test_a_table_in_files_has_the_rows_of_one_in_memory(
    tiny: Scenario, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    whole = aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=2, store=tmp_path / "store")
    assert not any(isinstance(one, Path) for one in whole.table.slices)
    request.getfixturevalue("sliced")
    sliced = aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=2, store=tmp_path / "store", out=tmp_path / "out")
    assert all(isinstance(one, Stored) for one in sliced.table.slices)
    assert (sliced.done, sliced.simulated, sliced.failures) == (12, 0, ())
    assert_frame_equal(sliced.frame, whole.frame)
    assert sliced.metrics == whole.metrics
    assert any(name.startswith("lanes.") for name in sliced.metrics)
    assert repr(replace(sliced, simulated=whole.simulated)) == repr(whole)
    loaded = Sweep.load(tmp_path / "out")
    assert_frame_equal(loaded.frame, whole.frame)
    assert len(data_set(tmp_path / "out")) == 4
    assert loaded.is_saved_in(tmp_path / "out")
    assert not replace(loaded, table=RunTable((whole.frame.reverse(),))).is_saved_in(tmp_path / "out")


def test_a_query_of_the_table_needs_no_frame(tiny: Scenario, sliced: None, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=2)
    with monkeypatch.context() as patch:
        patch.setattr(RunTable, "frame", property(lambda _: pytest.fail("all rows are in memory")))
        chosen = swept.scan().filter(polars.col("aqm") == "lred").select("aqm.q0", "goodput").collect()
        assert repr(swept)
        assert swept.plot(y="goodput", figure=Figure())
    assert_frame_equal(chosen, swept.frame.filter(aqm="lred").select("aqm.q0", "goodput"))
    means = swept.means(["goodput"])
    assert_frame_equal(means, swept.means().select(means.columns))
    with pytest.raises(LookupError, match="goodputs: no such metric"):
        swept.means(["goodputs"])


def test_points_that_mean_the_same_run_all_have_its_metrics(tiny: Scenario, tmp_path: Path, sliced: None) -> None:
    asked = [
        study(tiny.with_({"aqm.q0": q0}), {"dumbbell.buffer": ["50 packets", "60 packets"]}, None, [3, 1])
        for q0 in (20, 30, 20)
    ]
    one, other, again = run_all(asked, tmp_path)
    assert_frame_equal(one.frame, again.frame)
    assert (one.done, other.done, one.simulated) == (4, 4, 4)
    assert one.frame["seed"].to_list() == [3, 1, 3, 1]
    assert len(list((tmp_path / "parts").iterdir())) == 1


def test_rows_whose_runs_failed_are_left_out(tiny: Scenario, monkeypatch: pytest.MonkeyPatch, sliced: None) -> None:
    from aqmlab.execute import threads
    from aqmlab.execute.task import Outcome, Task, simulate

    def luck(task: Task, watch: object) -> Outcome | None:
        return Outcome(error="out of luck") if task.seed == 8 else simulate(task)

    monkeypatch.setattr(threads, "simulate", luck)
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=[7, 8, 9])
    assert (swept.done, swept.failed, swept.wanted) == (12, 6, 18)
    assert set(swept.frame["seed"]) == {7, 9}
    assert [(one.aqm, one.seed) for one in swept.failures] == [("redtail", 8), ("lred", 8)] * 3


def test_csv_has_the_rows_of_all_files(tmp_path: Path, small_file: Path, quick_cli: Cli, sliced: None) -> None:
    done = quick_cli(
        "sweep", small_file, "--vary", "aqm.q0=10,20..60", "--out", tmp_path / "out", "--csv", tmp_path / "all.csv"
    )
    assert done.returncode == 0, done.stderr
    read = polars.read_csv(tmp_path / "all.csv")
    assert (read["aqm.q0"].to_list(), read.columns) == (
        [10, 20, 30, 40, 50, 60],
        Sweep.load(tmp_path / "out").frame.columns,
    )


@given(
    st.lists(st.binary(min_size=1, max_size=3), max_size=20), st.lists(st.binary(min_size=1, max_size=3), max_size=20)
)
def test_a_place_is_that_of_the_same_key(one: list[bytes], other: list[bytes]) -> None:
    there, wanted = ([text.ljust(keys.SIZE, b"\0") for text in texts] for texts in (one, other))
    ordered = keys.distinct(keys.array(b"".join(there)))
    listed = list(keys.each(ordered))
    assert listed == sorted(set(there))
    found = keys.places(ordered, keys.array(b"".join(wanted)))
    assert found.tolist() == [listed.index(key) if key in there else -1 for key in wanted]


def test_a_key_is_the_hash_of_canonical_json() -> None:
    import hashlib

    document = {"engine": PACKETS.version, "format": FORMAT, "scenario": "ab" * 32, "seed": 7}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert key_for(PACKETS.version)("ab" * 32, 7) == hashlib.sha256(text.encode()).digest()


def asked(tiny: Scenario) -> Study:
    return study(tiny, {"aqm.q0": [10, 20, -1]}, ["lred", "pi:q_ref=20"], 2)


def equal(one: Plan, other: Plan) -> bool:
    names = ("numbers", "labels", "digests", "costs", "memories", "refused")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def test_a_plan_that_was_kept_is_the_plan(tiny: Scenario, tmp_path: Path, large: None) -> None:
    plan = Plan.of(asked(tiny))
    assert [(number, label) for number, label, _ in plan.refused] == [(2, 0), (2, 1)]
    assert kept(asked(tiny), tmp_path) is None
    keep(plan, tmp_path)
    found = kept(asked(tiny), tmp_path)
    assert found
    assert equal(found, plan)
    assert list(found.runs()) == list(plan.runs())
    assert found.failures == plan.failures


def changes(tiny: Scenario) -> Iterator[Study]:
    one = asked(tiny)
    yield replace(one, design=replace(one.design, points=[*one.design.points, (30,)]))
    yield replace(one, design=replace(one.design, points=[(10.0,), *one.design.points[1:]]))
    yield study(tiny.with_({"duration": "3 s"}), {"aqm.q0": [10, 20, -1]}, ["lred", "pi:q_ref=20"], 2)
    yield study(tiny, {"aqm.q0": [10, 20, -1]}, ["lred", "pi:q_ref=21"], 2)


def test_a_plan_of_another_study_or_version_is_not_read(
    tiny: Scenario, tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(Plan.of(asked(tiny)), tmp_path)
    assert not any(kept(other, tmp_path) for other in changes(tiny))
    assert kept(replace(asked(tiny), seeds=[5]), tmp_path)  # the plan is that of the scenarios
    monkeypatch.setattr(_core, "engine_version", "9.9.9+0")
    assert kept(asked(tiny), tmp_path) is None


def test_a_damaged_plan_is_made_reloaded(tiny: Scenario, tmp_path: Path, large: None) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, store=tmp_path)
    (file,) = (tmp_path / "plans").iterdir()
    for data in (file.read_bytes()[:-1], b""):
        file.write_bytes(data)
        assert_frame_equal(aqmlab.sweep(tiny, vary=VARY, store=tmp_path).frame, swept.frame)


def test_a_kept_plan_is_all_that_a_sweep_needs_to_go_on(
    tiny: Scenario, tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, seeds=2, store=tmp_path)
    monkeypatch.setattr(Plan, "of", None)
    again = aqmlab.sweep(tiny, vary=VARY, seeds=3, store=tmp_path)
    assert (swept.simulated, again.simulated, again.done) == (6, 3, 9)


def test_a_plan_whose_scenarios_have_other_files_is_not_kept(tmp_path: Path, large: None) -> None:
    (tmp_path / "packets.csv").write_text("time,size\n0.1,500\n0.2,500\n")
    text = "duration = '2 s'\n[dumbbell]\nrate = '2 Mbit/s'\n[[traffic]]\nkind = 'trace'\nfile = 'packets.csv'\n"
    (tmp_path / "scenario.toml").write_text(text)
    aqmlab.sweep(
        Scenario.load(tmp_path / "scenario.toml"), vary={"dumbbell.buffer": ["50 packets"]}, store=tmp_path / "store"
    )
    assert not (tmp_path / "store/plans").exists()


def test_memory_is_that_which_is_free_now(tiny: Scenario, tmp_path: Path, large: None) -> None:
    keep(Plan.of(asked(tiny)), tmp_path)
    plan = kept(asked(tiny), tmp_path)
    assert plan
    least = min(plan.memories)
    assert plan.within(None) is plan.within(max(plan.memories)) is plan
    plan.memories[0] = least + 1
    some = plan.within(least)
    assert [(number, label) for number, label, _ in some.refused] == [(0, 0), (2, 0), (2, 1)]
    assert list(some.runs()) == [run for run in plan.runs() if run[:2] != (0, "lred")]
    with pytest.raises(MemoryError, match=r"GB of memory needed, 0\.0 GB are free: lower the count of its flows"):
        plan.within(0)


def test_the_oldest_plans_make_room(
    tiny: Scenario, tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "MOST", 2)
    for q0 in (10, 20, 30):
        keep(Plan.of(study(tiny, {"aqm.q0": [q0]})), tmp_path)
    assert len(list((tmp_path / "plans").iterdir())) == 2
    assert kept(study(tiny, {"aqm.q0": [30]}), tmp_path)


def test_scenarios_are_counted_while_they_are_checked(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.execute.threads.SLICE", 0.0)
    seen: list[Progress] = []
    aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=2, store=tmp_path, progress=seen.append)
    checked = [one.checked for one in seen if one.checked is not None]
    assert checked == sorted(checked)
    assert checked[-1] == 12
    assert seen[-1].done == seen[-1].wanted == 8  # q0 is not redtail's: its points are one run
    assert seen[-1].checked is None


def test_too_many_points_are_drawn_in_groups(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,11..40"}, seeds=1)
    monkeypatch.setattr("aqmlab.figures.sweep.MOST_DRAWN", 10)
    monkeypatch.setattr("aqmlab.figures.sweep.GROUPS", 3)
    figure = swept.plot(y="queue_mean", figure=Figure())
    (line,) = figure.axes[0].lines
    values = swept.frame["queue_mean"].to_numpy()
    assert list(line.get_xdata()) == [14.5, 24.5, 35.0]
    assert list(line.get_ydata()) == pytest.approx(
        [np.mean(some) for some in (values[:10], values[10:20], values[20:])]
    )
    heights = [y for _, y in figure.axes[0].collections[0].get_paths()[0].vertices]
    assert (min(heights), max(heights)) == pytest.approx((values.min(), values.max()))
    assert "points in 3 groups by aqm.q0: mean and range of each" in figure.get_supxlabel()


def test_a_run_that_two_files_of_a_store_have_is_one_row(tiny: Scenario, tmp_path: Path, sliced: None) -> None:
    once = aqmlab.sweep(tiny, vary=VARY, seeds=2, store=tmp_path / "one")
    aqmlab.sweep(tiny, vary=VARY, seeds=1, store=tmp_path / "two")
    (part,) = (tmp_path / "two/parts").iterdir()
    shutil.copy(part, tmp_path / "one/parts")
    store = Store(tmp_path / "one")
    there = keys.distinct(np.concatenate(list(store.every_key())))
    assert [len(part) for part in store.metrics(there)] in ([6, 3], [3, 6])
    again = aqmlab.sweep(tiny, vary=VARY, seeds=2, store=tmp_path / "one")
    assert again.simulated == 0
    assert_frame_equal(again.frame, once.frame)


def test_a_run_of_all_points_is_in_few_files(tiny: Scenario, monkeypatch: pytest.MonkeyPatch, sliced: None) -> None:
    """The tail of a discipline that lacks the parameter: one run for all points, which is written once a slice."""
    written: list[Path] = []
    write = table.write_whole

    def noted(path: Path, data: bytes) -> None:
        written.append(path)
        write(path, data)

    monkeypatch.setattr(table, "write_whole", noted)
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,11..39"}, aqms=["droptail", "lred"])
    assert (swept.done, swept.frame.filter(aqm="droptail")["goodput"].n_unique()) == (60, 1)
    # 20 slices of one part of the store, which has the run of drop tail and one or two others.
    assert len([path for path in written if path.suffix == ".piece"]) <= 40


def test_a_sweep_that_was_loaded_does_not_become_another(tiny: Scenario, tmp_path: Path, sliced: None) -> None:
    first = aqmlab.sweep(tiny, vary=VARY, seeds=2, out=tmp_path)
    loaded = Sweep.load(tmp_path)
    aqmlab.sweep(tiny.with_({"dumbbell.rate": "3 Mbit/s"}), vary=VARY, seeds=2, out=tmp_path)
    for swept in (first, loaded):
        for use in (swept.scan, lambda swept=swept: swept.frame, lambda swept=swept: swept.save(tmp_path / "copy")):
            with pytest.raises(ValueError, match=r"00000\.parquet: not the file that was saved"):
                use()


def test_tables_are_equal_however_they_are_sliced(tiny: Scenario, sliced: None) -> None:
    frame = aqmlab.sweep(tiny, vary=VARY, seeds=2).frame
    other = RunTable((frame[:2], frame[2:3], frame[3:]))
    assert RunTable((frame,)).equals(other)
    assert other.equals(RunTable((frame[:5], frame[5:])))
    changed = frame.with_columns(goodput=polars.col("goodput") + (polars.int_range(polars.len()) == 5))
    assert not RunTable((frame,)).equals(RunTable((changed[:4], changed[4:])))


def test_files_go_with_the_sweep_and_not_with_a_copy_or_a_fork(tiny: Scenario, sliced: None) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, seeds=2)
    assert swept.table.folder
    folder = swept.table.folder.path
    table._remove(folder, os.getpid() + 1)
    copied = copy.deepcopy(swept)
    assert folder.is_dir()
    whole = swept.frame
    del swept
    assert_frame_equal(copied.table.scan().collect(), whole)
    del copied
    gc.collect()
    assert not folder.exists()


def test_what_was_refused_for_a_missing_file_is_done_when_it_is_there(
    tiny: Scenario, tmp_path: Path, large: None
) -> None:
    file = tmp_path / "rates.csv"
    variants = {"without": {}, "with": {"dumbbell.rates.file": str(file)}}
    vary = {"dumbbell.buffer": ["50 packets"]}
    first = aqmlab.sweep(tiny, vary=vary, aqms=variants, store=tmp_path / "store")
    assert (first.done, first.failed) == (1, 1)
    assert list((tmp_path / "store/plans").iterdir())
    file.write_text("time,rate_mbps\n0,1\n1,2\n")
    second = aqmlab.sweep(tiny, vary=vary, aqms=variants, store=tmp_path / "store")
    assert (second.done, second.failures) == (2, ())


def test_a_plan_with_other_digests_is_made_reloaded(tiny: Scenario, tmp_path: Path, large: None) -> None:
    plan = Plan.of(asked(tiny))
    right = bytes(plan.digests)
    plan.digests = plan.digests[keys.SIZE :] + plan.digests[: keys.SIZE]
    keep(plan, tmp_path)
    assert kept(asked(tiny), tmp_path) is None
    plan.digests = bytearray(right)
    keep(plan, tmp_path)
    assert kept(asked(tiny), tmp_path)


def test_no_studies_are_no_sweeps(tmp_path: Path) -> None:
    assert run_all([], tmp_path) == []


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_first_means_are_those_of_the_summary(tiny: Scenario, sliced: None, seeds: int) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=AQMS, seeds=seeds)
    grouped = swept.frame.group_by("aqm.q0", "aqm", maintain_order=True).agg(polars.col("goodput").mean())
    assert_frame_equal(swept.means(["goodput"]).select("aqm.q0", "aqm", "goodput"), grouped)
    assert set(swept.means(["goodput"])["runs"]) == {seeds}
    assert (swept.means(["goodput"])["goodput_ci95"].null_count() == 6) == (seeds == 1)
    assert_frame_equal(swept.means(["goodput"], 4), swept.means(["goodput"])[:4])
    assert (swept.count(), swept.count("aqm"), swept.count("aqm", "aqm.q0")) == (1, 2, 6)

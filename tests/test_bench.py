"""The bench and the instruction counts: they run the stated scenarios, here for a fraction of the time."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab import Scenario, disciplines, shipped
from aqmlab_papers.run import complexity
from benches import __main__ as command
from benches import bench, counts, figure, ns2, ns3, suite
from benches import complexity as bench_complexity
from benches.bench import Bench
from benches.counts import Count, Counts
from benches.measure import Failed, Row, Sample, Timed, run_once
from benches.ns2 import Ns2
from benches.ns3 import Ns3
from benches.rivals import Pair
from benches.suite import Size, Table

SHORT = {"duration": "2 s", "warmup": "1 s"}


def resolved(row: Row) -> Scenario:
    scenario = Scenario.load(row.scenario)
    return (scenario.with_(aqm=row.aqm) if row.aqm else scenario).with_(row.settings)


def shortened(quick: bool) -> list[Table]:
    """Return the first rows of two tables, for two simulated seconds."""
    return [
        replace(table, rows=[replace(row, settings={**row.settings, **SHORT}) for row in table.rows[:3]])
        for table in suite.tables(quick)
        if table.name in ("flows", "rates", "clocks")
    ]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "tables", shortened)


@pytest.mark.parametrize("quick", [True, False])
def test_every_row_of_every_table_can_run_and_has_a_name_of_its_own(quick: bool) -> None:
    for table in suite.tables(quick):
        for row in table.rows:
            resolved(row).check()
        names = [row.name for row in table.rows]
        assert len(set(names)) == len(names)
        assert not table.base or table.base in names


def test_a_bench_writes_every_sample_and_a_table_of_their_medians(
    short: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--quick", "--tables", "flows", "rates", "clocks", "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "bench.json").read_text())
    assert [row["flows"] for row in found["tables"]["flows"]] == [1, 10, 100]
    for row in found["tables"]["flows"] + found["tables"]["clocks"]:
        first, second = row["samples"]
        assert first["packets"] == second["packets"] > 1000
        assert row["ns_per_packet"] == pytest.approx((first["loop"] + second["loop"]) / 2 / first["packets"] * 1e9)
        assert row["ns_per_packet_least"] <= row["ns_per_packet"]
        assert row["events_per_packet"] == first["events"] / first["packets"] > 0.9
        assert 0 < first["set_up"] < first["whole"] < first["process"]
        assert first["memory"] > 0
    text = (tmp_path / "bench.md").read_text()
    assert capsys.readouterr().out.startswith(text)
    shown = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert {row["name"] for rows in found["tables"].values() for row in rows} <= set(shown)
    assert "medians of 2 runs" in text
    for name in ("flows", "rates"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()


def test_ctrl_c_keeps_what_had_finished(short: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Row] = []

    def run_twice(row: Row) -> Sample:
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(row)
        return Sample(packets=1000, events=8000, loop=1.0, whole=1.1, process=1.2, memory=2**20)

    monkeypatch.setattr(bench, "run_once", run_twice)
    assert command.main(["--quick", "--tables", "flows", "--out", str(tmp_path)]) == 130
    found = json.loads((tmp_path / "bench.json").read_text())
    assert [row["name"] for row in found["tables"]["flows"]] == [row.name for row in ran]
    assert "Interrupted: only what had finished is here." in (tmp_path / "bench.md").read_text()


def test_a_row_that_fails_is_told_and_the_others_go_on(
    short: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = shortened(quick=True)[0].rows[0]
    broken = replace(first, aqm="nonsense")
    monkeypatch.setattr(bench, "run_once", lambda row: run_once(broken if row == first else row))
    assert command.main(["--quick", "--tables", "flows", "--out", str(tmp_path)]) == 1
    found = json.loads((tmp_path / "bench.json").read_text())
    assert [row["flows"] for row in found["tables"]["flows"]] == [10, 100]
    (note,) = [note for note in found["notes"] if note.startswith("Failed")]
    assert 'aqm.name = "nonsense": no such algorithm' in note
    assert capsys.readouterr().err.count(note) == 1


def test_a_table_that_is_unknown_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--tables", "nonsense"])
    assert "'flows', 'rates', 'clocks', 'aqms', 'own', 'tcps', 'shipped', 'rivals'" in capsys.readouterr().err


def test_the_ratio_is_of_medians_each_over_its_own_packets() -> None:
    def timed(packets: int, *whole: float) -> Timed:
        return Timed([Sample(packets, 0, loop=w / 2, whole=w, process=2 * w, memory=1) for w in whole])

    rival = Ns2("ns", "ns-2.35")
    pair = Pair(Row("", ""), rival, (), ours=timed(1000, 1.0, 2.0, 30.0), theirs=timed(500, 5.0, 40.0, 20.0))
    assert pair.ratio(lambda s: s.whole, lambda s: s.whole) == pytest.approx((20 / 500) / (2 / 1000))
    assert pair.ratio(lambda s: s.whole, lambda s: s.whole, min) == pytest.approx((5 / 500) / (1 / 1000))


def test_a_run_that_differs_from_the_first_is_not_timed_with_it() -> None:
    timed = Timed()
    first = Sample(packets=1000, events=8000, loop=1.0, whole=1.1, process=1.2, memory=1)
    timed.add(first)
    timed.add(replace(first, loop=2.0))
    with pytest.raises(Failed, match=r"Not the same run: \(1000, 8001\) packets and events, before 1000, 8000"):
        timed.add(replace(first, events=8001))
    assert len(timed.samples) == 2


@pytest.mark.parametrize(
    ("find", "arguments"),
    [(ns2.find, (*ns2.RED, "n_tcp=50", "dur=5", "warm=1")), (ns3.find, ("--flows=50", "--duration=5"))],
    ids=["ns-2", "ns-3"],
)
def test_a_rival_sends_as_many_packets(find: Callable[[], Ns2 | Ns3 | str], arguments: tuple[str, ...]) -> None:
    found = find()
    if isinstance(found, str):
        pytest.skip(found)
    theirs = found.run_once(arguments)
    ours = run_once(Size(flows=50, scale=1, duration=5, warmup=1).row())
    assert theirs.packets == pytest.approx(ours.packets, rel=0.05)
    assert 0 < theirs.loop <= theirs.process
    assert theirs.memory > 2**20


def test_a_figure_has_a_curve_for_each_program_that_ran() -> None:
    sizes = suite.sizes(quick=True)[:2]
    sample = Sample(packets=1000, events=8000, loop=1e-3, whole=2e-3, process=0.1, memory=2**20)
    table = Table("flows", "", [size.row() for size in sizes], flows=(1, 10))
    timed = {("flows", row.name): Timed([sample]) for row in table.rows}
    pairs = [Pair(size.row(), Ns2("ns", "ns-2.35"), (), size.flows, Timed([sample]), Timed()) for size in sizes]
    pairs[1].theirs.samples.append(replace(sample, whole=0.5))
    done = Bench(True, 1, [table], timed, pairs, machine={})
    assert {curve.name: curve.points for curve in figure.curves(done)} == {
        "aqmlab": {1: pytest.approx(2000), 10: pytest.approx(2000)},
        "ns-2.35": {10: pytest.approx(500_000)},
        "ns-2.35, its loop alone": {10: pytest.approx(1000)},
    }
    assert figure.curves(replace(done, tables=[])) == [], "nothing to compare the others with"
    assert figure.by_rate(done) == []
    rates = replace(table, name="rates", flows=(4, 4), rates=("10 Mbit/s", "1 Gbit/s"))
    both = replace(
        done, tables=[table, rates], timed=timed | {("rates", row.name): Timed([sample]) for row in table.rows}
    )
    assert [(curve.name, curve.points) for curve in figure.by_rate(both)] == [
        ("10 Mbit/s", {4: pytest.approx(2000)}),
        ("1 Gbit/s", {4: pytest.approx(2000)}),
    ]
    assert figure.curves(both) == figure.curves(done)
    assert [figure.time(ns) for ns in (95.4, 1000, 1250, 45_300, 1e6)] == ["95 ns", "1 µs", "1.2 µs", "45 µs", "1 ms"]


def test_counts_are_recorded_for_what_is_counted() -> None:
    recorded = Counts.load(counts.RECORD)
    assert list(recorded.counts) == [row.name for row in counts.ROWS]
    for row in counts.ROWS:
        resolved(row).check()
        assert row.scenario in shipped()


def test_costs_of_disciplines_are_recorded_as_the_page_shows_them() -> None:
    found = complexity.complexity()
    assert list(found.costs) == bench_complexity.DISCIPLINES
    assert set(found.costs) <= set(disciplines())
    assert bench_complexity.table(found) in bench_complexity.PAGE.read_text(encoding="utf-8")
    for cost in [*found.costs.values(), complexity.Cost(found.queue, 0)]:
        assert list(cost.instructions) == bench_complexity.FLOWS
        assert all(count > 0 for count in cost.instructions.values())
    assert found["jobs_ecn"].instructions[1000] > 3 * found["jobs_ecn"].instructions[100], "it projects every flow"
    assert found["pi"].bytes < 100 < found["fq"].bytes


def test_a_record_of_costs_is_written_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{bench_complexity.HEAD}\n|---|--:|--:|--:|\n| old | 1 | 2 | 3 |\n\nafter\n")
    monkeypatch.setattr(bench_complexity, "PAGE", page)
    monkeypatch.setattr(bench_complexity, "RECORD", tmp_path / "complexity.json")
    costs = {"pi": complexity.Cost({100: 30.1, 1000: 27.0}, 64)}
    found = complexity.Complexity({"compiler": "rustc 9.9"}, "a scenario", {100: 257.4, 1000: 253.0}, costs)
    bench_complexity.record(found)
    assert complexity.complexity(tmp_path / "complexity.json") == found
    assert page.read_text().splitlines()[-5:] == [
        "|---|--:|--:|--:|",
        "| `droptail`, the queue itself | 257 | 253 | 0 |",
        "| `pi` | +30 | +27 | 64 |",
        "",
        "after",
    ]


@pytest.fixture
def lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Return the true record; the file `make counts` reads has 6 % less for the first row, 4 % less for the second."""
    true = Counts.load(counts.RECORD)
    document = json.loads(counts.RECORD.read_text())
    first, second, _ = document["counts"].values()
    first["instructions"] = round(first["instructions"] / 1.06)
    second["instructions"] = round(second["instructions"] / 1.04)
    doctored = tmp_path / "counts.json"
    doctored.write_text(json.dumps(document))
    monkeypatch.setattr(counts, "RECORD", doctored)
    monkeypatch.setattr(counts, "count_all", lambda: true)
    return true


def test_a_rise_above_five_percent_fails_and_is_named(lowered: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    assert counts.main([]) == 1
    told = capsys.readouterr().out
    assert "not allowed: exp1, PI by 6.0%." in told
    assert "+4.00%" in told
    assert "make counts RECORD=1" in told


def test_another_compiler_is_told_and_does_not_fail(
    lowered: Counts, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "count_all", lambda: replace(lowered, compiler="rustc 9.9"))
    assert counts.main([]) == 0
    told = capsys.readouterr().out
    assert "The compiler is not that of the record" in told
    assert "here:     rustc 9.9" in told
    assert f"recorded: {lowered.compiler}" in told
    assert "make counts RECORD=1" in told


def test_what_was_never_recorded_fails_until_it_is(lowered: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    more = replace(lowered, counts={**lowered.counts, "new": Count(1000, 10, 80)})
    told, well = counts.check(more, lowered)
    assert not well
    assert "Not recorded: new." in told
    assert counts.main(["--record"]) == 0
    assert Counts.load(counts.RECORD) == lowered
    assert counts.main([]) == 0
    assert "As recorded, within 5%." in capsys.readouterr().out

"""Transports of one's own in shared libraries: results, archives, and libraries that fail."""

import json
from pathlib import Path

import pytest
from conftest import ROOT, Cli, compiled_stack

import aqmlab
from aqmlab import Scenario, _core
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.exchange.qlog import document, recorded
from aqmlab.execute.task import digest


def text(library: Path, keys: str = "") -> str:
    """Return a scenario with a download by a library."""
    return (
        f'duration = "4 s"\n[dumbbell]\nrate = "4 Mbit/s"\n[[traffic]]\nname = "mine"\nkind = "stack"\n'
        f'file = "{library}"\n{keys}\n'
    )


def test_one_line_tells_what_a_library_refuses(stack: Path, tmp_path: Path, quick_cli: Cli) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text(stack, 'options = "gamma=1"'))
    ended = quick_cli("run", file, "--out", tmp_path / "out")
    told = "traffic.mine: its stack cannot begin: options: beta=B with 0 < B < 1 is all that it knows"
    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1] == f"run failed: droptail, seed 1: {told}"


def test_results_belong_to_the_content_of_the_library(stack: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.so"
    same.write_bytes(stack.read_bytes())
    slower = compiled_stack(tmp_path / "slower.so", **{"end->window = 10;": "end->window = 2;"})
    digests = [digest(Scenario.parse(text(library))) for library in (stack, same, slower)]
    assert digests[0] == digests[1] != digests[2]


def test_an_archive_has_the_library_and_runs_it_only_if_trusted(stack: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.so"
    own.write_bytes(stack.read_bytes())
    aqmlab.compare(Scenario.parse(text(own)), aqms=["codel", "pie"]).save(tmp_path / "out")
    archive = seal(tmp_path / "out", tmp_path / "out.zip").file
    own.unlink()
    with pytest.raises(ArchiveError, match=r"1 programs that it has: sealed/traces/\w+\.so: .*--trust"):
        verify(archive)
    assert verify(archive, trust=True).is_sound


SENDERS = ROOT / "tests" / "data" / "senders.qlog"
"""What a run of `HOME` logs; a test of `crates/stacks` reads it by the types of the crate `qlog`."""

HOME = """
title = "Two senders"
duration = "2 s"
dumbbell = { rate = "4 Mbit/s" }
record = { cwnd = "50 ms" }
traffic = [{ name = "tcp", count = 2 }, { name = "call", kind = "voip" }]
"""


def test_senders_are_written_as_qlog(tmp_path: Path, quick_cli: Cli) -> None:
    (tmp_path / "x.toml").write_text(HOME)
    ended = quick_cli("run", "x.toml", "--qlog", "x.qlog")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "x.qlog").read_text() == SENDERS.read_text()
    document = json.loads(SENDERS.read_text())
    assert [trace["vantage_point"] for trace in document["traces"]] == [
        {"name": "tcp-1", "type": "server"},
        {"name": "tcp-2", "type": "server"},
    ]
    first = document["traces"][0]["events"][0]
    assert (first["time"], first["data"]) == (0.0, {"congestion_window": 10 * 1448})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--engine", "fluid"), "the fluid engine has no senders; omit it"),
        (("--set", "traffic.tcp.kind=voip"), "no traffic entry has a sender that persists"),
    ],
)
def test_qlog_without_senders_is_refused(more: tuple[str, ...], told: str, tmp_path: Path, quick_cli: Cli) -> None:
    (tmp_path / "x.toml").write_text(HOME.replace(', { name = "call", kind = "voip" }', ""))
    ended = quick_cli("run", "x.toml", "--qlog", "x.qlog", *more)
    assert ended.returncode == 2
    assert told in ended.stderr


@pytest.mark.skipif(not _core.HAS_QUIC, reason="the usual build has no QUIC: docs/guide/stacks.md")
def test_the_log_of_quic_has_its_packets_and_round_trips_in_ms() -> None:
    quic = f'{HOME.replace("traffic = [", "").partition("{ name")[0]}traffic = [{{ name = "quic", kind = "quic" }}]\n'
    scenario = recorded(Scenario.parse(quic).with_(duration="5 s", **{"dumbbell.buffer": "20 packets"}))
    result = aqmlab.run(scenario)
    sender, receiver = document(result)["traces"]
    assert [trace["vantage_point"]["type"] for trace in (sender, receiver)] == ["server", "client"]
    names = [event["name"] for event in sender["events"]]
    assert names.count("recovery:packet_lost") == result.runs[0].classes["quic"]["retransmits_total"] > 0
    updates = [event["data"] for event in sender["events"] if event["name"] == "recovery:metrics_updated"]
    last = [update["smoothed_rtt"] for update in updates if "smoothed_rtt" in update][-1]
    assert last == pytest.approx(1e3 * result["rtt_mean"].mean, rel=0.3)

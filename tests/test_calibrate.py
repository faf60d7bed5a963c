"""`aqmlab calibrate` and `probe-plan`: their answers to recordings of the Linux kernel, and to unusable ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from oracle.calibrate import cases, judge, recordings

from aqmlab import Scenario
from aqmlab.advice.link import Link
from aqmlab.calibrate import calibrate, inference, plan
from aqmlab.calibrate.hypothesis import FAMILIES, KINDS, Load, prior
from aqmlab.calibrate.recording import Host, recorded
from aqmlab.calibrate.view import View, plateau
from aqmlab.exchange import measured

Document = dict[str, Any]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """What irtt and iperf3 would have written of a link of 9.9 Mbit/s and 61 ms with head drop at 381 packets."""
    return recordings.write(recordings.stored()[16], tmp_path)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search with few links."""
    monkeypatch.setattr(inference, "FIRST", 10)
    monkeypatch.setattr(inference, "EACH", 30)


def most_probable(families: dict[str, float]) -> str:
    """Return the family of the link that is written: with so few links none reaches the share that names one."""
    return max(families, key=families.__getitem__)


def changed(file: Path, change: Callable[[Document], object]) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def refusal(files: list[Path]) -> str:
    with pytest.raises(ValueError, match=r".") as error:
        recorded(files)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_link_of_the_kernel_is_found_and_found_again(few: None, tmp_path: Path) -> None:
    files = recordings.write(recordings.stored()[39], tmp_path)
    found, again = calibrate(files), calibrate(files)
    one = judge.Judged(39, cases.truth(cases.case(39)), found)
    assert [one.covers(name) for name in judge.UNITS] == [True] * 3
    assert most_probable(found.families) == "pie"
    assert found.fits
    assert sum(found.families.values()) == pytest.approx(1)
    assert found.document() == again.document()
    found.link().check()
    assert "Mbit/s" in repr(found)


def test_lost_probes_and_what_the_server_counted_are_read(tmp_path: Path) -> None:
    stored = recordings.stored()[19]
    probe, transfer = (measured.read(file)[0] for file in recordings.write(stored, tmp_path))
    assert len(probe.lost) == stored["trips_us"].count(None) == 20
    assert transfer.transfer
    assert transfer.rates[3][1] == stored["bytes"][0][33] * 80
    # In the first interval nothing was acknowledged yet.
    assert len(transfer.transfer.trips) == len(transfer.rates) - 1
    assert sum(count for _, count in transfer.transfer.repeated) == transfer.metrics["retransmits"]


def test_file_of_flent_has_both_and_its_idle_time(tmp_path: Path) -> None:
    stored = recordings.stored()[39]
    rates = [octets * 80 / 1e6 for octets in stored["bytes"][0]]
    pings = [{"t": 1e9 + number / 50, "val": trip / 1e3} for number, trip in enumerate(stored["trips_us"]) if trip]
    document = {
        "version": 4,
        "metadata": {"SERIES_META": {}},
        "x_values": [number / 10 for number in range(len(rates))],
        "results": {
            "TCP upload::1": [None if number < 30 else rate for number, rate in enumerate(rates)],
            "Ping (ms) ICMP": [None] * len(rates),
        },
        "raw_values": {"Ping (ms) ICMP": pings},
    }
    (tmp_path / "test.flent").write_text(json.dumps(document))
    found = recorded([tmp_path / "test.flent"])
    assert len(found.idle) == pytest.approx(150, abs=5)
    assert found.seconds == pytest.approx(20, abs=0.2)
    assert found.rate.mean() == pytest.approx(np.mean(rates[30:]) * 1e6 * 1500 / 1448, rel=0.01)
    assert np.isnan(found.repeated).all()


def test_rate_is_that_with_a_queue_though_late_data_comes_at_once() -> None:
    steps = np.arange(200)
    rate = np.full(200, 1e7)
    rate[50], rate[52] = 0, 2e7
    rate[150:] = 5e6
    repeated = np.where(steps == 50, 3.0, 0.0)
    delay = np.where(steps < 150, 0.05, 0.0)
    view = View(steps * 0.1, delay, np.empty(0), 0.1, rate, repeated, np.full(200, np.nan))
    assert plateau(view, 1500) == pytest.approx(1e7)


@pytest.mark.parametrize(("rate", "base"), [(2e6, 0.005), (2e8, 0.15), (1e9, 0.1)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_link_that_may_be_is_a_scenario(kind: str, rate: float, base: float) -> None:
    product = rate * base / 8
    highest = max(45000, 16 * product)
    load = Load(base, rate, rate, 4500, highest, [Host(1, 1448, "cubic")], 10, 0.02, 0.1, True, True)
    drawn = np.random.default_rng(1).random((20, KINDS[kind].size))
    for point in (*drawn, np.zeros(KINDS[kind].size), np.full(KINDS[kind].size, 0.999)):
        load.scenario(kind, point).check()


def test_families_have_the_same_probability_before_the_measurement() -> None:
    each = [sum(prior(name) for name, kind in KINDS.items() if kind.family == family) for family in FAMILIES]
    assert each == pytest.approx([1 / len(FAMILIES)] * len(FAMILIES))


def test_kinds_have_the_probabilities_of_bayes_though_links_are_drawn_around_the_answer() -> None:
    scatter, found = 0.3, []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        # What is seen, 1, has a tenth of the density under the first kind that it has under the second.
        spread = {"droptail": 20.0, "headdrop": 2.0}
        clouds = {name: inference.Cloud(list(rng.random((40, 1))), uniform=40) for name in spread}
        for width in (*inference.WIDTHS, None):
            for name, cloud in clouds.items():
                new = [float(point[0]) for point in cloud.points[len(cloud.statistics) :]]
                cloud.statistics += [{"x": spread[name] * u + rng.normal() * scatter} for u in new]
            if width:
                off = {name: np.array([one["x"] - 1 for one in cloud.statistics]) for name, cloud in clouds.items()}
                inference._refine(clouds, {name: (each / scatter) ** 2 for name, each in off.items()}, 160, width, rng)
        found.append(inference._kinds(clouds, {"x": 1.0}, ["x"], np.array([scatter]))["droptail"])
    assert np.mean(found) == pytest.approx(1 / 11, abs=0.04)


def test_transfers_alone_and_probe_alone_tell_nothing(files: list[Path]) -> None:
    assert "no probe of the round trip" in refusal(files[1:])
    assert "no load: record `irtt client" in refusal(files[:1])


def test_empty_capture_is_refused(files: list[Path]) -> None:
    files[1].write_bytes(bytes.fromhex("d4c3b2a102000400") + bytes(12) + b"\x01\0\0\0")
    assert "iperf3-1.json: no TCP segment in its 0 frames: record `tcpdump" in refusal(files)


def test_files_recorded_apart_are_refused(files: list[Path]) -> None:
    changed(files[1], lambda document: document["start"]["timestamp"].update(timemillisecs=1_000_000_000_000))
    assert "irtt.json, iperf3-1.json: recorded 790000000 s apart" in refusal(files)


def test_probe_that_began_with_the_load_is_refused(files: list[Path]) -> None:
    changed(files[0], lambda document: document.update(round_trips=document["round_trips"][150:]))
    assert "irtt.json: 0 round trips before the load, no idle period" in refusal(files)


def test_short_load_is_refused(files: list[Path]) -> None:
    def short(document: Document) -> None:
        document["intervals"] = document["server_output_json"]["intervals"] = document["intervals"][:20]

    changed(files[1], short)
    assert "2.0 s of load" in refusal(files)


def test_transfer_that_the_link_never_limited_is_refused(files: list[Path]) -> None:
    def idle(document: Document) -> None:
        for trip in document["round_trips"]:
            trip.update(lost="false", delay={"rtt": 60_000_000})

    def lossless(document: Document) -> None:
        for part in document["intervals"]:
            for stream in part["streams"]:
                stream.update(retransmits=0, rtt=60_000)
        document["end"]["sum_sent"]["retransmits"] = 0

    changed(files[0], idle)
    changed(files[1], lossless)
    with pytest.raises(ValueError, match=r"never reached the link's rate: record it with more connections"):
        calibrate(files)


def test_upload_beside_a_download_is_refused(files: list[Path], tmp_path: Path) -> None:
    document = json.loads(files[1].read_text())
    document["start"]["test_start"]["reverse"] = 1
    (tmp_path / "down.json").write_text(json.dumps(document))
    assert "uploads and downloads at once" in refusal([*files, tmp_path / "down.json"])


def test_rates_of_the_sender_are_refused(files: list[Path]) -> None:
    changed(files[1], lambda document: document.pop("server_output_json"))
    assert "the rates are the sender's" in refusal(files)


def test_lost_probes_without_a_time_are_placed_by_their_number(files: list[Path]) -> None:
    def untimed(document: Document) -> None:
        for trip in document["round_trips"][:1] + document["round_trips"][400:410]:
            trip.update(lost="true", delay={})
            del trip["timestamps"]

    changed(files[0], untimed)
    lost = recorded(files).lost
    assert lost is not None
    assert sum((lost > 4.99) & (lost < 5.19)) == 10


def test_packet_is_the_segment_and_the_headers_of_its_address(files: list[Path]) -> None:
    changed(files[1], lambda document: document["start"].update(tcp_mss_default=1428))
    for host, headers in (("192.0.2.1", 52), ("2001:db8::1", 72)):
        changed(files[1], lambda document, host=host: document["start"].update(connected=[{"remote_host": host}]))
        assert recorded(files).hosts[0].packet == 1428 + headers
    changed(files[1], lambda document: document["intervals"][0]["streams"][0].update(pmtu=1480))
    assert recorded(files).hosts[0].packet == 1480


def test_start_in_whole_seconds_is_not_taken_for_exact(files: list[Path]) -> None:
    assert recorded(files).start
    changed(files[1], lambda document: document["start"]["timestamp"].pop("timemillisecs"))
    assert not recorded(files).start


def test_clocks_that_are_apart_do_not_matter(files: list[Path]) -> None:
    def apart(document: Document) -> None:
        for trip in document["round_trips"]:
            if trip["delay"]:
                trip["delay"]["send"] = -(10**9)

    before = recorded(files)
    changed(files[0], apart)
    after = recorded(files)
    assert "clocks are apart" in after.names[0]
    assert np.array_equal(before.rtt, after.rtt)


def test_plan_says_that_more_is_told_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "EACH", 8)
    found = plan.plan(5e6, 0.04)
    least, *_, most = (sum(tells.values()) for tells in found.tells)
    assert most > least
    assert all(0 <= value <= 1 for tells in found.tells for value in tells.values())
    assert found.ways[found.best].command in repr(found)


def test_command_writes_a_link_for_advise_and_run(few: None, quick_cli: Cli, tmp_path: Path) -> None:
    files = recordings.write(recordings.stored()[39], tmp_path)
    done = quick_cli("calibrate", *files, "--out", "out", "--figure-format", "svg")
    assert done.returncode == 0, done.stderr
    assert "Rate of IP packets" in done.stdout
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {"calibration.json", "calibrated.toml", "figure.svg"}
    document = json.loads((out / "calibration.json").read_text())
    link = Link.of(Scenario.load(out / "calibrated.toml"), "calibrated.toml", "home")
    assert document["rate"]["low"] * 0.95 < link.queues.down.rate < document["rate"]["high"] * 1.05
    assert link.queues.down.aqm["name"] == most_probable(document["families"])
    # An upload, whose direction is the dumbbell's reverse one; the other is a guess.
    assert document["direction"] == "up"
    assert link.queues.up == link.queues.down
    assert Scenario.load(out / "calibrated.toml").resolved["observe"] == "bottleneck:reverse"
    assert quick_cli("run", out / "calibrated.toml").returncode == 0


def test_measurement_like_no_link_is_said_to_be_so(few: None, tmp_path: Path) -> None:
    files = recordings.write(recordings.stored()[39], tmp_path)

    def restless(document: Document) -> None:
        for number, trip in enumerate(document["round_trips"]):
            if number > 160 and trip["delay"]:
                trip["delay"]["rtt"] += number % 2 * 2_000_000_000

    changed(files[0], restless)
    found = calibrate(files)
    assert not found.fits
    assert "No simulated link is like the measurement" in repr(found)


def test_command_refuses_in_one_line(quick_cli: Cli, files: list[Path]) -> None:
    done = quick_cli("calibrate", files[1])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no probe of the round trip beside the transfer: record `irtt" in done.stderr
    assert "--rate" in quick_cli("probe-plan", "--rtt", "20ms").stderr
    assert "--rate: nan: must be a rate" in quick_cli("probe-plan", "--rtt", "20ms", "--rate", "nan").stderr
    assert "--buffer" in quick_cli("probe-plan", "--rtt", "20ms", "--rate", "1mbit", "--buffer", "5 Hz").stderr

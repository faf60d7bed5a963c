"""Results of crusader, written here in its form: magic number, version, and MessagePack in frames of Snappy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cramjam
import msgpack
import pytest
from conftest import Cli

from aqmlab.calibrate.recording import recorded
from aqmlab.exchange import measured

RATE, EVERY, LOAD, GRACE = 8e6, 0.02, 6.0, 1.0
"""Goodput in bit/s, seconds between two counts of bytes, and of each load and the pauses."""


def duration(seconds: float) -> dict[str, int]:
    whole, nanos = divmod(round(seconds * 1e9), 10**9)
    return {"secs": whole, "nanos": nanos}


def group(begin: float, streams: int, **which: bool) -> dict[str, Any]:
    """Bytes of connections from a second before the load on, as an upload has them."""
    counts = round((LOAD + 1.2) / EVERY)
    points = [
        (begin - 1 + number * EVERY, max(0.0, number * EVERY - 1) * RATE / 8 / streams) for number in range(counts)
    ]
    data = [{"time": duration(t), "bytes": int(octets)} for t, octets in points]
    return {**which, "streams": [{"data": data}] * streams}


def ping(number: int, trip: float | None, way: float | None) -> dict[str, Any]:
    latency = None if way is None else {"total": None if trip is None else duration(trip), "up": duration(way)}
    return {"index": number, "sent": duration(1 + number * EVERY), "latency": latency}


DOWN, UP, BOTH = 2.0, 2 + LOAD + GRACE, 2 + 2 * (LOAD + GRACE)


def result() -> dict[str, Any]:
    """A download, an upload and both; 40 ms of queue under the first load, the second loses pings either way."""
    pings = []
    for number in range(round((BOTH + LOAD) / EVERY)):
        loaded = DOWN <= 1 + number * EVERY < DOWN + LOAD
        pings.append(ping(number, 0.06 if loaded else 0.02, 0.01))
    pings[500], pings[501] = ping(500, None, None), ping(501, None, 0.01)
    config = dict.fromkeys(("stagger", "grace_duration", "ping_interval"), duration(0))
    return {
        "version": 2,
        "generated_by": "Crusader 0.3.2",
        "config": {**config, "load_duration": duration(LOAD), "bandwidth_interval": duration(EVERY)},
        "ipv6": False,
        "server_overload": False,
        "server_latency": duration(0.01),
        "start": duration(1),
        "duration": duration(20),
        "stream_groups": [
            group(DOWN, 4, download=True, both=False),
            group(BOTH, 4, download=True, both=True),
            group(UP, 4, download=False, both=False),
            group(BOTH, 4, download=False, both=True),
        ],
        "pings": pings,
        "peer_pings": None,
        "test_data": [],
    }


def written(folder: Path, document: object, version: int = 2) -> Path:
    packed = bytes(cramjam.snappy.compress(msgpack.packb(document)))
    file = folder / "test.crr"
    file.write_bytes((0x5372AB82AE7C59CB).to_bytes(8, "little") + version.to_bytes(8, "little") + packed)
    return file


def refusal(file: Path, up: bool | None = None) -> str:
    with pytest.raises(ValueError, match=r".") as error:
        recorded([file], up=up)
    assert "\n" not in str(error.value)
    return str(error.value)


def middle(values: Sequence[tuple[float, float]]) -> float:
    return sorted(value for _, value in values)[len(values) // 2]


@pytest.mark.parametrize("version", [1, 2])
def test_rates_round_trips_and_losses_are_read(tmp_path: Path, version: int) -> None:
    down, both_down, up, both_up, pings = measured.read(written(tmp_path, result(), version))
    for one, begin in ((down, DOWN), (both_down, BOTH), (up, UP), (both_up, BOTH)):
        assert one.metrics["goodput"] == pytest.approx(RATE, rel=1e-3)
        assert one.rates[0][0] == pytest.approx(begin + 0.05, abs=2 * EVERY)
        assert len(one.rates) == LOAD * 10
    assert down.transfer
    assert up.transfer
    assert (down.transfer.up, up.transfer.up, down.transfer.flows) == (False, True, 4)
    assert both_down.transfer is both_up.transfer is None
    assert middle(pings.delays[:100]) == pytest.approx(0.06)
    assert pings.lost == pytest.approx([11, 11.02])
    assert pings.metrics["path_loss_ratio"] == pytest.approx(2 / len(result()["pings"]))
    assert pings.metrics["delay_mean"] == pytest.approx(0.01)


def test_one_direction_is_calibrated_of_the_two_after_each_other(tmp_path: Path) -> None:
    file = written(tmp_path, result())
    assert refusal(file).endswith("an upload and a download after each other: choose --direction up or down")
    down, up = (recorded([file], up=which) for which in (False, True))
    assert (down.up, up.up) == (False, True)
    assert down.rate.mean() == pytest.approx(RATE * 1500 / 1448, rel=1e-3)
    assert down.rtt.max() == pytest.approx(0.06)
    assert up.rtt.max() == pytest.approx(0.02)
    assert up.lost == pytest.approx([2.0, 2.02], abs=0.05)


def test_direction_that_is_not_there_is_refused(tmp_path: Path) -> None:
    document = result()
    document["stream_groups"] = document["stream_groups"][:1]
    file = written(tmp_path, document)
    assert refusal(file, up=True).endswith("no upload in it: leave out --direction")
    assert not recorded([file]).up


def test_unusable_results_are_refused_in_a_line(tmp_path: Path) -> None:
    assert "version 0 of crusader's format: known are 1 and 2" in refusal(written(tmp_path, result(), 0))
    file = written(tmp_path, result())
    file.write_bytes(file.read_bytes()[:-100])
    assert "torn: record it again" in refusal(file)
    assert "torn: record it again" in refusal(_cut(file, 12))
    assert "KeyError 'stream_groups': not complete" in refusal(written(tmp_path, {"version": 2}))
    silent = result() | {"pings": [ping(number, None, None) for number in range(9)]}
    assert "got no ping back: check its server" in refusal(written(tmp_path, silent))
    assert "no transfers and no pings" in refusal(written(tmp_path, result() | {"pings": [], "stream_groups": []}))


def _cut(file: Path, size: int) -> Path:
    file.write_bytes(file.read_bytes()[:size])
    return file


def test_command_asks_for_the_direction(quick_cli: Cli, tmp_path: Path) -> None:
    done = quick_cli("calibrate", written(tmp_path, result()))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "choose --direction up or down" in done.stderr

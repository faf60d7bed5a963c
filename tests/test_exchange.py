"""Files of other tools: what tc's readers and flent open, and what iperf3 and irtt measured.

The measurements in ``measured`` were made with iperf3 3.12 and irtt 0.9.0, on the loopback device of one machine.
"""

import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from conftest import SMALL, TINY, Cli

import aqmlab
from aqmlab import Result, Scenario
from aqmlab.exchange import flent, measured

MEASURED = Path(__file__).parent / "measured"


def rates(result: Result, entry: str) -> float:
    return float(result.runs[0].classes[entry]["throughput"] or 0)


MIXED = f"""{SMALL.replace('title = "Small"', 'title = "Mixed"').replace("1 s", "0 s", 1)}
[[traffic]]
name = "up"
from = "receivers"
to = "senders"
[[traffic]]
name = "voice"
kind = "voip"
"""


def test_a_file_for_flent_has_its_form_and_its_names() -> None:
    result = aqmlab.run(Scenario.parse(MIXED).with_(warmup="0 s"))
    document = json.loads(gzip.decompress(flent.content(result)))
    assert set(document) == {"version", "metadata", "x_values", "results", "raw_values"}
    assert document["version"] == 4
    x, results, metadata = document["x_values"], document["results"], document["metadata"]
    assert x == pytest.approx([place * 0.2 for place in range(25)])
    assert set(results) == {
        *("TCP download::1", "TCP download sum", "TCP download avg", "UDP download::1", "Ping (ms) ICMP"),
    }
    assert all(len(values) == len(x) for values in results.values())
    assert metadata["NAME"] == "tcp_ndown"
    assert metadata["TEST_PARAMETERS"] == {"download_streams": "1"}
    assert (metadata["TITLE"], metadata["LENGTH"], metadata["STEP_SIZE"]) == ("Mixed", 5.0, 0.2)
    assert metadata["SERIES_META"]["TCP download::1"] == {"UNITS": "Mbits/s", "CLASS": "long"}
    # The means of all bins are those of the run.
    mean = sum(results["TCP download sum"]) / len(x)
    assert mean == pytest.approx(rates(result, "long") / 1e6, rel=1e-3)
    raw = document["raw_values"]["TCP download::1"]
    assert (raw[3]["t"], raw[3]["val"]) == (x[3], results["TCP download::1"][3])
    assert flent.content(result) == flent.content(result)


def test_the_ping_of_flent_is_the_wait_in_the_queue() -> None:
    result = aqmlab.run(Scenario.parse(SMALL).with_(warmup="0 s"))
    results = flent.document(result)["results"]
    pairs = zip(results["TCP download sum"], results["Ping (ms) ICMP"], strict=True)
    sent = [(rate, wait) for rate, wait in pairs if wait is not None]
    # All packets have one size, so each bin counts by its rate.
    mean = sum(rate * wait for rate, wait in sent) / sum(rate for rate, _ in sent)
    assert mean == pytest.approx(1e3 * (result.metrics["queue_delay_mean"] or 0), rel=5e-3)


@pytest.mark.skipif(importlib.util.find_spec("flent") is None, reason="flent is not installed (pip install flent)")
def test_flent_reads_the_file(tmp_path: Path) -> None:
    from flent.resultset import load  # type: ignore[import-not-found, unused-ignore]

    file = tmp_path / "run.flent.gz"
    file.write_bytes(flent.content(aqmlab.run(Scenario.parse(MIXED))))
    read = load(str(file))
    assert read.label() == "Mixed"
    assert len(list(read.raw_series("TCP download::1"))) == len(read.x_values) == 25


def test_the_option_writes_files_and_refuses_names_that_flent_does_not_open(cli: Cli, tmp_path: Path) -> None:
    scenario, queues, series = (tmp_path / name for name in ("s.toml", "q.json", "s.flent.gz"))
    scenario.write_text(TINY)
    done = cli("run", str(scenario), "--seeds", "2", "--tc", str(queues), "--flent", str(series))
    assert done.returncode == 0, done.stderr
    assert f"written to {queues}: the queues of the first run, as tc prints them" in done.stdout
    assert f"written to {series}: the series of the first run, for flent" in done.stdout
    assert json.loads(queues.read_text())[0]["dev"] == "bottleneck"
    assert json.loads(gzip.decompress(series.read_bytes()))["version"] == 4
    done = cli("run", str(scenario), "--flent", str(tmp_path / "s.json"))
    assert done.returncode == 2
    assert "must end in .flent.gz, by which flent knows its files" in done.stderr
    done = cli("run", str(scenario), "--set", "record.series=false", "--flent", str(series))
    assert done.returncode == 2
    assert "--flent: needs series: record.series must be true" in done.stderr


def read(name: str) -> list[measured.Measured]:
    return measured.read(MEASURED / name)


def test_what_iperf3_measured_has_our_names_and_units() -> None:
    (one,) = read("iperf3-tcp.json")
    said = json.loads((MEASURED / "iperf3-tcp.json").read_text())
    assert one.metrics["goodput"] == said["end"]["sum_received"]["bits_per_second"]
    assert one.metrics["retransmits"] == 0
    # Its unit is µs.
    times = [interval["streams"][0]["rtt"] for interval in said["intervals"]]
    assert one.metrics["rtt_mean"] == pytest.approx(sum(times) / len(times) / 1e6)
    assert [round(t, 1) for t, _ in one.rates] == [0.5, 1.5, 2.5]
    assert one.rates[0][1] == said["intervals"][0]["sum"]["bits_per_second"]
    (udp,) = read("iperf3-udp.json")
    assert udp.metrics["path_loss_ratio"] == 0
    assert udp.metrics["jitter"] == pytest.approx(8.09e-6, rel=0.01)
    there, back = read("iperf3-bidir.json")
    assert (there.name, back.name) == ("iperf3-bidir.json", "iperf3-bidir.json (reverse)")
    assert back.metrics["goodput"] > 0
    assert "rtt_mean" in there.metrics
    assert "rtt_mean" not in back.metrics


def test_what_irtt_measured_has_our_names_and_units(tmp_path: Path) -> None:
    (one,) = read("irtt.json")
    said = json.loads((MEASURED / "irtt.json").read_text())
    assert one.metrics["rtt_mean"] == pytest.approx(said["stats"]["rtt"]["mean"] / 1e9, rel=1e-5)
    assert one.metrics["delay_max"] == pytest.approx(said["stats"]["send_delay"]["max"] / 1e9)
    assert one.metrics["path_loss_ratio"] == 0
    assert one.delays[0][0] == 0
    assert one.delays[1][0] == pytest.approx(0.02, abs=0.005)
    assert len(one.delays) == 10
    # A packet that did not come back has no delay.
    said["round_trips"][3] |= {"lost": "true_up", "delay": {}}
    (tmp_path / "lossy.json").write_text(json.dumps(said))
    (lossy,) = measured.read(tmp_path / "lossy.json")
    assert lossy.metrics["path_loss_ratio"] == pytest.approx(0.1)
    assert len(lossy.delays) == 9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty: must be what `iperf3 -J` or `irtt client -o` writes"),
        ('{"start": {}, "interv', "Unterminated string starting at: torn: record it again"),
        ("Connecting to host", "Expecting value: no JSON: must be what `iperf3 -J` or `irtt client -o` writes"),
        ("[1, 2]", "another format: must be what"),
        ('{"round_trips": []}', "irtt got no packet back: check its server"),
        ('{"start": {}, "intervals": [], "end": {}}', "KeyError 'test_start': not complete: record it again"),
        ((MEASURED / "iperf3-failed.json").read_text(), "iperf3 failed: unable to connect to server"),
    ],
)
def test_a_bad_measurement_is_refused_in_a_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(ValueError, match="bad") as error:
        measured.read(file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_torn_measurement_is_named_as_such(tmp_path: Path) -> None:
    whole = (MEASURED / "irtt.json").read_text()
    for part in (0.3, 0.301, 0.302, 0.6, 0.99):
        (tmp_path / "torn.json").write_text(whole[: int(len(whole) * part)])
        with pytest.raises(ValueError, match="torn: record it again"):
            measured.read(tmp_path / "torn.json")


def test_measurements_stand_beside_the_simulation(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    files = [f"long={MEASURED / 'iperf3-tcp.json'}", str(MEASURED / "irtt.json")]
    arguments = ["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--figure-format", "svg"]
    done = cli(*arguments, "--beside", files[0], "--beside", files[1])
    assert done.returncode == 0, done.stderr
    for label in ("simulated: long", "iperf3-tcp.json", "simulated: all traffic", "irtt.json"):
        assert label in done.stdout, done.stdout
    assert "20.271" in done.stdout
    image = (tmp_path / "out/beside.svg").read_text()
    assert "iperf3-tcp.json" in image
    assert "Delay above the least (ms)" in image
    done = cli(*arguments, "--beside", f"short={files[1]}")
    assert done.returncode == 2
    assert "no traffic entry short; those there are: long" in done.stderr
    done = cli(*arguments, "--beside", str(tmp_path / "nothing.json"))
    assert done.returncode == 1
    assert done.stderr.endswith("nothing.json: No such file or directory\n")

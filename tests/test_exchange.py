"""Files of other tools: what tc's readers and flent open, and what iperf3, irtt and flent measured.

The measurements in ``measured`` were made with iperf3 3.12 and irtt 0.9.0, on the loopback device of one machine.
"""

import bz2
import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

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
    about = metadata["SERIES_META"]["TCP download::1"]
    assert (about["UNITS"], about["CLASS"]) == ("Mbits/s", "long")
    assert about["MEAN_VALUE"] == pytest.approx(rates(result, "long") / 1e6, rel=1e-3)
    # The means of all bins are those of the run.
    mean = sum(results["TCP download sum"]) / len(x)
    assert mean == pytest.approx(rates(result, "long") / 1e6, rel=1e-3)
    raw = document["raw_values"]["TCP download::1"]
    assert (raw[3]["t"], raw[3]["val"]) == (x[3], results["TCP download::1"][3])
    assert flent.content(result) == flent.content(result)


def test_the_ping_of_flent_is_that_of_the_ping_entry() -> None:
    text = MIXED + '[[traffic]]\nname = "probe"\nkind = "ping"\ninterval = "50 ms"\n'
    result = aqmlab.run(Scenario.parse(text))
    document = flent.document(result)
    assert document["metadata"]["LENGTH"] == result.scenario.duration - result.scenario.warmup
    assert document["x_values"][0] == 0
    raw = [point["val"] for point in document["raw_values"]["Ping (ms) ICMP"]]
    mean = 1e3 * float(result.runs[0].classes["probe"]["rtt_mean"] or 0)
    assert sum(raw) / len(raw) == pytest.approx(mean, rel=1e-9)
    assert mean > 1e3 * float(result.runs[0].classes["probe"]["rtt_idle"] or 0) > 0
    about = document["metadata"]["SERIES_META"]["Ping (ms) ICMP"]
    assert (about["CLASS"], about["MEAN_VALUE"]) == ("probe", pytest.approx(mean, rel=1e-9))
    assert len(document["results"]["Ping (ms) ICMP"]) == len(document["x_values"])


def test_without_a_ping_that_of_flent_is_the_mean_wait_over_the_packets() -> None:
    # Small packets of calls wait for less time than large ones: by bytes the mean would be twice as long.
    text = MIXED.replace('kind = "voip"', 'kind = "voip"\ncount = 20')
    scenario = Scenario.parse(text).with_(aqm="fq_codel")
    result = aqmlab.run(scenario.with_({"warmup": "0 s", "record.step": "5 s"}))
    (ping,) = flent.document(result)["results"]["Ping (ms) ICMP"]
    assert ping == pytest.approx(1e3 * (result.metrics["queue_delay_mean"] or 0), rel=1e-6)


@pytest.mark.skipif(importlib.util.find_spec("flent") is None, reason="flent is not installed (pip install flent)")
def test_flent_reads_the_file(tmp_path: Path) -> None:
    from flent.resultset import load  # type: ignore[import-not-found, unused-ignore]

    file = tmp_path / "run.flent.gz"
    file.write_bytes(flent.content(aqmlab.run(Scenario.parse(MIXED))))
    read = load(str(file))
    assert read.label() == "Mixed"
    assert len(list(read.raw_series("TCP download::1"))) == len(read.x_values) == 25


def test_the_option_writes_files_and_refuses_names_that_flent_does_not_open(quick_cli: Cli, tmp_path: Path) -> None:
    scenario, queues, series = (tmp_path / name for name in ("s.toml", "q.json", "s.flent.gz"))
    scenario.write_text(TINY)
    done = quick_cli("run", str(scenario), "--seeds", "2", "--tc", str(queues), "--flent", str(series))
    assert done.returncode == 0, done.stderr
    assert f"written to {queues}: the queues of the first run, as tc prints them" in done.stdout
    assert f"written to {series}: the series of the first run, for flent" in done.stdout
    assert json.loads(queues.read_text())[0]["dev"] == "bottleneck"
    assert json.loads(gzip.decompress(series.read_bytes()))["version"] == 4
    done = quick_cli("run", str(scenario), "--flent", str(tmp_path / "s.json"))
    assert done.returncode == 2
    assert "must end in .flent.gz, by which flent knows its files" in done.stderr
    done = quick_cli("run", str(scenario), "--set", "record.series=false", "--flent", str(series))
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
        ("", "empty: must be what `iperf3 -J` or `--json-stream`, `irtt client -o`, flent, crusader or tcpdump"),
        ('{"start": {}, "interv', "Unterminated string starting at: torn: record it again"),
        (
            "Connecting to host",
            "Expecting value: no JSON: must be what `iperf3 -J` or `--json-stream`",
        ),
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


def test_iperf3_may_write_a_stream_of_events(tmp_path: Path) -> None:
    for name in ("iperf3-tcp.json", "iperf3-udp.json", "iperf3-bidir.json"):
        whole = json.loads((MEASURED / name).read_text())
        events = [("start", whole["start"]), *(("interval", one) for one in whole["intervals"]), ("end", whole["end"])]
        lines = [json.dumps({"event": event, "data": data}) for event, data in events]
        file = tmp_path / name
        file.write_text("\n".join(lines) + "\n")
        assert measured.read(file) == read(name)
        # --json-stream-full-output
        file.write_text("\n".join([*lines, json.dumps(whole, indent=1)]))
        assert measured.read(file) == read(name)
        file.write_text("\n".join(lines[:-1]))
        with pytest.raises(ValueError, match="the stream has no end: torn"):
            measured.read(file)
    file.write_text('{"event": "error", "data": "unable to connect to server"}\n')
    with pytest.raises(ValueError, match="iperf3 failed: unable to connect to server"):
        measured.read(file)
    file.write_text((MEASURED / "iperf3-tcp.json").read_text() * 2)
    with pytest.raises(ValueError, match="2 documents: keep one of them"):
        measured.read(file)


def test_early_versions_of_iperf3_report_the_rate_of_a_udp_sender(tmp_path: Path) -> None:
    whole = json.loads((MEASURED / "iperf3-udp.json").read_text())
    for key in ("sum_sent", "sum_received"):
        del whole["end"][key]
    whole["end"]["sum"] |= {"bits_per_second": 4e6, "lost_packets": 25, "packets": 100}
    (tmp_path / "early.json").write_text(json.dumps(whole))
    (one,) = measured.read(tmp_path / "early.json")
    assert (one.metrics["goodput"], one.metrics["path_loss_ratio"]) == (3e6, 0.25)


def flent_file(version: int) -> dict[str, Any]:
    """Describe three seconds with two downloads of 3 and 4 Mbit/s, an upload, and pings by ping, netperf and irtt."""
    x = [0.0, 1.0, 2.0]
    results: dict[str, list[float | None]] = {
        "TCP download::1": [None, 3.0, 3.0],
        "TCP download::2": [None, 4.0, None],
        "TCP download::1::tcp_rtt": [50.0, 50.0, 50.0],
        "TCP download sum": [None, 7.0, 3.0],
        "TCP download avg": [None, 3.5, 3.0],
        "TCP upload BE": [None, 1.0, 2.0],
        "Ping (ms) ICMP": [10.0, 20.0, 30.0],
        "Ping (ms) UDP BE1": [10.0, 20.0, 40.0],
        "Ping (ms) avg": [10.0, 20.0, 35.0],
    }
    rr = {10.0: 100.0, 20.0: 50.0, 40.0: 25.0}
    raw: dict[str, list[dict[str, Any]]] = {
        name: [{"t": 1000.0 + t, "val": v} for t, v in zip(x, results[name], strict=True)]
        for name in ("Ping (ms) ICMP", "Ping (ms) UDP BE1")
    }
    if version < 4:
        raw["Ping (ms) UDP BE1"] = [point | {"val": rr[point["val"]]} for point in raw["Ping (ms) UDP BE1"]]
    meta: dict[str, dict[str, Any]] = {"TCP upload BE": {"MEAN_VALUE": 1.25e6 if version < 3 else 1.25}}
    meta["TCP upload BE"]["UNITS"] = "bits/s" if version < 3 else "Mbits/s"
    document = {"version": version, "metadata": {"SERIES_META": meta}, "x_values": x, "results": results}
    if version == 1:
        del document["version"]
        meta |= {name: {"RAW_VALUES": values} for name, values in raw.items()}
    else:
        document["raw_values"] = raw
    return document


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_what_flent_measured_has_our_names_and_units(tmp_path: Path, version: int) -> None:
    text = json.dumps(flent_file(version)).encode()
    for name, packed in {"x.flent": text, "x.flent.gz": gzip.compress(text), "x.flent.bz2": bz2.compress(text)}.items():
        (tmp_path / name).write_bytes(packed)
        down, up, icmp, udp = measured.read(tmp_path / name)
        assert [one.name for one in (down, up, icmp, udp)] == [
            *(f"{name} (download)", f"{name} (upload)", f"{name} (ICMP)", f"{name} (UDP BE1)")
        ]
        assert down.metrics == {"goodput": 5e6}
        assert down.rates == [(1.0, 7e6), (2.0, 3e6)]
        assert up.metrics == {"goodput": 1.25e6}
        assert icmp.metrics["rtt_mean"] == pytest.approx(0.02)
        assert [t for t, _ in icmp.delays] == [0, 1, 2]
        assert udp.metrics["rtt_max"] == pytest.approx(0.04)


def test_a_flent_file_says_if_clocks_are_apart_and_what_it_lacks(tmp_path: Path) -> None:
    document = flent_file(4)
    file = tmp_path / "x.flent"
    points = document["raw_values"]["Ping (ms) UDP BE1"]
    for point in points:
        point["owd_up"] = point["val"] / 2
    points.append({"t": 1003.0, "val": None, "lost": True})
    file.write_text(json.dumps(document))
    udp = measured.read(file)[3]
    assert udp.metrics["delay_mean"] == pytest.approx(0.035 / 3)
    assert udp.metrics["path_loss_ratio"] == 0.25
    points[0]["owd_up"] = -3.0
    file.write_text(json.dumps(document))
    udp = measured.read(file)[3]
    assert udp.name.endswith("(UDP BE1) (the clocks are apart: no one-way delays)")
    assert "delay_mean" not in udp.metrics
    document["results"] = {"HTTP latency": [1.0, 2.0, 3.0]}
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="no transfers and no pings: the series of flent are HTTP latency"):
        measured.read(file)
    file.write_text(json.dumps(document | {"version": 5}))
    with pytest.raises(ValueError, match="version 5 of flent's format: known are those up to 4"):
        measured.read(file)


def test_measurements_stand_beside_the_simulation(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TINY)
    files = [f"long={MEASURED / 'iperf3-tcp.json'}", str(MEASURED / "irtt.json")]
    arguments = ["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--figure-format", "svg"]
    done = quick_cli(*arguments, "--beside", files[0], "--beside", files[1])
    assert done.returncode == 0, done.stderr
    for label in ("simulated: long", "iperf3-tcp.json", "simulated: all traffic", "irtt.json"):
        assert label in done.stdout, done.stdout
    assert "20.271" in done.stdout
    image = (tmp_path / "out/beside.svg").read_text()
    assert "iperf3-tcp.json" in image
    assert "Delay above the least (ms)" in image
    done = quick_cli(*arguments, "--beside", f"short={files[1]}")
    assert done.returncode == 2
    assert "no traffic entry short; those there are: long" in done.stderr
    done = quick_cli(*arguments, "--beside", str(tmp_path / "nothing.json"))
    assert done.returncode == 1
    assert done.stderr.endswith("nothing.json: No such file or directory\n")


def test_log_of_cake_autorate_has_rates_and_round_trips(tmp_path: Path) -> None:
    names = "LOG_TIMESTAMP; DL_ACHIEVED_RATE_KBPS; UL_ACHIEVED_RATE_KBPS; REFLECTOR; DL_OWD_US; UL_OWD_US"
    rows = [f"DATA; 2026-01-01-00:00:0{n}; {1e9 + n}; {20000 + n}; 900; 1.1.1.1; 9000; {9000 + n}" for n in range(3)]
    log = tmp_path / "autorate.log"
    log.write_text("\n".join(["SYSLOG; x", f"DATA_HEADER; LOG_DATETIME; {names}", *rows, "LOAD; 1; 2", ""]))
    down, up, trips = measured.read(log)
    assert down.rates == [(n, 1e3 * (20000 + n)) for n in range(3)]
    assert up.metrics == {"throughput": 9e5}
    assert [trip for _, trip in trips.delays] == pytest.approx([0.018, 0.018001, 0.018002])
    head = f"DATA_HEADER; LOG_DATETIME; {names}"
    log.write_text("\n".join([head, *rows, rows[0][:-6]]))
    assert measured.read(log) == [down, up, trips], "the program had not finished its last line"
    for wrong, problem in {
        "DATA; torn; 1": "no DL_ACHIEVED_RATE_KBPS, which",
        rows[1].replace("9001", "9o01"): "UL_OWD_US is '9o01', no number",
        rows[1].replace("900;", "nan;"): "UL_ACHIEVED_RATE_KBPS is 'nan', no number",
        rows[1].replace("20001", "1e999"): "DL_ACHIEVED_RATE_KBPS is '1e999', no number",
    }.items():
        log.write_text("\n".join([head, wrong, rows[2], ""]))
        with pytest.raises(ValueError, match=f"autorate.log: line 2: {problem}"):
            measured.read(log)

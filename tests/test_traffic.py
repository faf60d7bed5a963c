"""Traffic from the user's side: shipped scenarios, self-similarity, valid trace files."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from make_pcap import FILE, capture, packets
from numpy.typing import NDArray

import aqmlab
from aqmlab import Scenario
from aqmlab.reports.pages import EXAMPLES, pages

Floats = NDArray[np.float64]

NOISE = """\
duration = "1310.72 s"
record = { step = "20 ms" }
[[link]]
name = "l"
from = "a"
to = "b"
rate = "1 Gbit/s"
aqm = "droptail"
[[traffic]]
name = "noise"
kind = "fgn"
rate = "2 Mbit/s"
packet_size = "200 B"
deviation = 0.25
step = "20 ms"
from = "a"
to = "b"
"""


def local_whittle(values: Floats) -> float:
    """Estimate the Hurst parameter from the lowest frequencies of the periodogram (Robinson 1995)."""
    n = len(values)
    m = int(n**0.65)
    periodogram = np.abs(np.fft.rfft(values - values.mean())[1 : m + 1]) ** 2
    logs = np.log(np.arange(1, m + 1))
    candidates = np.linspace(0.01, 0.99, 981)
    costs = [np.log(np.mean(periodogram * np.exp((2 * h - 1) * logs))) - (2 * h - 1) * logs.mean() for h in candidates]
    return float(candidates[int(np.argmin(costs))])


def aggregated_variance(values: Floats) -> float:
    """Estimate the Hurst parameter from the decrease of the variance of means with the number of averaged values."""
    sizes = np.unique(np.logspace(0.5, np.log10(len(values) / 200), 12).astype(int))
    variances = [values[: len(values) // m * m].reshape(-1, m).mean(axis=1).var() for m in sizes]
    return 1 + float(np.polyfit(np.log(sizes), np.log(variances), 1)[0]) / 2


@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.9])
def test_arrivals_have_the_hurst_parameter_asked_for(hurst: float) -> None:
    result = aqmlab.run(Scenario.parse(NOISE, "noise").with_({"traffic.noise.hurst": hurst}), seeds=[5])
    arrivals = np.asarray(result.series["l.arrivals"], dtype=float)
    assert len(arrivals) == 65536
    assert arrivals.mean() == pytest.approx(25, rel=0.1)
    assert arrivals.std() == pytest.approx(0.25 * 25, rel=0.1)
    # From about 1350 frequencies the standard error is 1/(2 sqrt(1350)) = 0.014; three are allowed. The variance of
    # means is less exact, and known to be too low when the Hurst parameter is high.
    assert local_whittle(arrivals) == pytest.approx(hurst, abs=0.042)
    assert aggregated_variance(arrivals) == pytest.approx(hurst, abs=0.08)


@pytest.mark.parametrize("name", ["fgn", "on-off", "trace", "voip-video"])
def test_a_shipped_scenario_of_traffic_runs_by_name(cli: Cli, name: str) -> None:
    done = cli("run", f"traffic/{name}", "--json")
    assert done.returncode == 0, done.stderr
    classes = json.loads(done.stdout)["classes"]
    assert all(entry["throughput"] > 0 for entry in classes.values())


def test_the_shipped_recording_is_what_its_script_makes() -> None:
    assert FILE.read_bytes() == capture()
    assert FILE.stat().st_size < 100_000


def test_a_trace_arrives_packet_by_packet() -> None:
    changes = {"traffic.long.count": 0, "traffic.conference.count": 1, "traffic.conference.start": "6 s"}
    recorded = list(packets())
    link = aqmlab.run(Scenario.load("traffic/trace").with_(changes)).classes["conference"]
    assert link["arrivals"] == len(recorded)
    bits = 8 * sum(size for _, size, _ in recorded)
    assert link["throughput"] == pytest.approx(bits / 35)  # all of it, over the 35 s that are measured


def test_a_trace_is_found_beside_its_scenario_and_from_where_a_result_was_saved(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "arrivals.csv").write_text("time,size\n0,1000\n0.5,1000\n")
    entry = '[[traffic]]\nname = "t"\nkind = "trace"\nfile = "arrivals.csv"\nstart = "0.1 s"\n'
    text = f'duration = "2 s"\n[dumbbell]\n{entry}'
    (folder / "mine.toml").write_text(text)
    assert cli("run", "mine/mine.toml", "--out", "kept").returncode == 0
    again = cli("run", "kept/scenario.toml", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["classes"]["t"]["arrivals"] == 2
    (folder / "arrivals.csv").write_text("time,size\n0,1000\n-1.5,1000\n")
    broken = cli("run", "mine/mine.toml")
    assert broken.returncode != 0
    expected = 'mine.toml:6: traffic.t.file = "arrivals.csv": line 3: time = -1.5: more than 1 s earlier'
    assert expected in broken.stderr


@pytest.mark.parametrize("kind", [entry["name"] for entry in aqmlab.catalogue()["traffic"]])
def test_the_example_of_every_kind_runs(kind: str) -> None:
    keys = EXAMPLES[kind].replace("conference.pcap", str(FILE))
    text = f'duration = "6 s"\ndumbbell = {{}}\ntraffic = [{{ name = "one", kind = "{kind}", {keys} }}]\n'
    assert aqmlab.run(Scenario.parse(text)).classes["one"]["arrivals"] > 0


def test_the_pages_have_every_key() -> None:
    lines = [line for page in pages().values() for line in page.splitlines()]
    rows = {line.split("|")[1].split("`")[1] for line in lines if line.startswith("| `")}
    listed = aqmlab.catalogue()
    tables = [*listed["tables"].values(), *(entry["parameters"] for entry in listed["aqms"])]
    names = {one["name"] for table in tables for one in table}
    names |= {entry["name"] for kind in ("tcps", "traffic") for entry in listed[kind]}
    assert names <= rows
    assert {"loss", "reverse_loss", "tcp", "aqm", "reverse_aqm", "observe", "clock", "hosts", "changes"} <= rows

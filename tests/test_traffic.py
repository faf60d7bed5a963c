"""Traffic from the user's side: shipped scenarios, self-similarity, valid trace files."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from make_pcap import FILE, capture, packets
from numpy.typing import NDArray

import aqmlab
from aqmlab import Scenario, ScenarioError, _core
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


@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.9])
def test_arrivals_have_the_hurst_parameter_asked_for(hurst: float) -> None:
    result = aqmlab.run(Scenario.parse(NOISE, "noise").with_({"traffic.noise.hurst": hurst}), seeds=[5])
    arrivals = np.asarray(result.series["l.arrivals"], dtype=float)
    assert len(arrivals) == 65536
    assert arrivals.mean() == pytest.approx(25, rel=0.1)
    assert arrivals.std() == pytest.approx(0.25 * 25, rel=0.1)
    # From about 1350 frequencies the standard error is 1/(2 sqrt(1350)) = 0.014; three are allowed.
    assert local_whittle(arrivals) == pytest.approx(hurst, abs=0.042)


@pytest.mark.parametrize("name", ["fgn", "on-off", "tfrc", "trace", "voip-video"])
def test_a_shipped_scenario_of_traffic_runs_by_name(quick_cli: Cli, name: str) -> None:
    done = quick_cli("run", f"traffic/{name}", "--json")
    assert done.returncode == 0, done.stderr
    classes = json.loads(done.stdout)["classes"]
    assert all(entry["throughput"] > 0 for entry in classes.values())


def test_the_shipped_recording_is_what_its_script_makes() -> None:
    assert FILE.read_bytes() == capture()
    assert FILE.stat().st_size < 100_000


def test_a_trace_arrives_packet_by_packet() -> None:
    changes = {"traffic.long.count": 0, "traffic.conference.count": 1, "traffic.conference.start": "6 s"}
    recorded = list(packets())
    link = aqmlab.run(Scenario.load("traffic/trace").with_(changes)).runs[0].classes["conference"]
    assert link["arrivals"] == len(recorded)
    bits = 8 * sum(size for _, size, _ in recorded)
    assert link["throughput"] == pytest.approx(bits / 35)  # all of it, over the 35 s that are measured


def test_a_trace_is_found_beside_its_scenario_and_from_where_a_result_was_saved(tmp_path: Path, quick_cli: Cli) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "arrivals.csv").write_text("time,size\n0,1000\n0.5,1000\n")
    entry = '[[traffic]]\nname = "t"\nkind = "trace"\nfile = "arrivals.csv"\nstart = "0.1 s"\n'
    text = f'duration = "2 s"\n[dumbbell]\n{entry}'
    (folder / "mine.toml").write_text(text)
    assert quick_cli("run", "mine/mine.toml", "--out", "kept").returncode == 0
    again = quick_cli("run", "kept/scenario.toml", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["classes"]["t"]["arrivals"] == 2
    (folder / "arrivals.csv").write_text("time,size\n0,1000\n-1.5,1000\n")
    broken = quick_cli("run", "mine/mine.toml")
    assert broken.returncode != 0
    expected = 'mine.toml:6: traffic.t.file = "arrivals.csv": line 3: time = -1.5: more than 1 s earlier'
    assert expected in broken.stderr


@pytest.mark.parametrize("kind", [entry["name"] for entry in aqmlab.catalogue()["traffic"]])
def test_the_example_of_every_kind_runs(kind: str, stack: Path) -> None:
    keys = EXAMPLES[kind].replace("conference.pcap", str(FILE)).replace("mine.so", str(stack))
    text = f'duration = "6 s"\ndumbbell = {{}}\ntraffic = [{{ name = "one", kind = "{kind}", {keys} }}]\n'
    if kind == "quic" and not _core.HAS_QUIC:
        with pytest.raises(ScenarioError, match=r'traffic\.one\.kind = "quic": .*--features quic'):
            Scenario.parse(text).check()
        return
    if kind == "program":
        with pytest.raises(ScenarioError, match="only a kernel runs programs"):
            aqmlab.run(Scenario.parse(text))
        return
    assert aqmlab.run(Scenario.parse(text)).runs[0].classes["one"]["arrivals"] > 0


def test_the_pages_have_every_key() -> None:
    lines = [line for page in pages().values() for line in page.splitlines()]
    rows = {line.split("|")[1].split("`")[1] for line in lines if line.startswith("| `")}
    listed = aqmlab.catalogue()
    tables = [*listed["tables"].values(), *(entry["parameters"] for entry in listed["aqms"])]
    names = {one["name"] for table in tables for one in table}
    names |= {entry["name"] for kind in ("tcps", "traffic") for entry in listed[kind]}
    assert names <= rows
    assert {"loss", "reverse_loss", "tcp", "aqm", "reverse_aqm", "observe", "clock", "hosts", "changes"} <= rows


@pytest.mark.parametrize(
    ("codec", "settings", "size", "rate"),
    [
        ("g711", {}, 200, 80e3),
        ("g711", {"traffic.call.frame_rate": "100 /s", "traffic.call.packet_size": "120 B"}, 120, 96e3),
        ("g711-bare", {}, 200, 80e3),
        ("g729a", {}, 60, 24e3),
        ("g723.1", {}, 64, 64 * 8 / 0.03),
        ("gsm-efr", {}, 71, 71 * 8 / 0.02),
        ("amr", {}, 72, 72 * 8 / 0.02),
        ("amr", {"traffic.call.packet_size": "80 B"}, 80, 80 * 8 / 0.02),
    ],
)
def test_a_call_has_the_packets_and_the_quality_of_its_codec(
    codec: str, settings: dict[str, str], size: int, rate: float
) -> None:
    # By G.107 with Ie and Bpl of G.113, appendix I, of 5 % random loss and little delay.
    impairment, robustness = {
        "g711": (0, 25.1),
        "g711-bare": (0, 4.3),
        "g729a": (11, 19),
        "g723.1": (15, 16.1),
        "gsm-efr": (5, 10),
        "amr": (5, 10),
    }[codec]
    text = 'duration = "3000 s"\n[dumbbell]\nloss = 0.05\n[[traffic]]\nname = "call"\nkind = "voip"\n'
    result = aqmlab.run(Scenario.parse(f'{text}codec = "{codec}"\n').with_(settings))
    call = result.runs[0].classes["call"]
    assert call["throughput"] == pytest.approx(0.95 * rate, rel=0.01)
    assert result.scenario.resolved["traffic"][0]["packet_size"] == f"{size} B"
    lost = 100 * (call["path_loss_ratio"] or 0)
    r = 93.2 - impairment - (95 - impairment) * lost / (lost + robustness)
    # One packet in a hundred is not later than the 99th percentile of the delay, which is the same for all.
    assert call["mos"] == pytest.approx(1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6, rel=1e-4)


def test_codecs_that_the_table_lacks_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"must be one of g711, g711-bare, g729a, g723.1, gsm-efr, amr"):
        Scenario.parse('[dumbbell]\n[[traffic]]\nkind = "voip"\ncodec = "opus"\n').check()


def test_a_capture_is_replayed_from_one_side_and_other_frames_are_left_out(tmp_path: Path, quick_cli: Cli) -> None:
    def packet(source: int, destination: int, size: int) -> bytes:
        ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, size, 0, 0, 64, 17, 0, 10, 0, 0, source, 10, 0, 0, destination)
        return bytes(12) + b"\x08\x00" + ip

    frames = [packet(1, 2, 1000), packet(2, 1, 100), bytes(12) + b"\x08\x06" + bytes(28), packet(1, 3, 500)]
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for second, frame in enumerate(frames):
        file += struct.pack("<IIII", second, 0, len(frame), 1514) + frame
    (tmp_path / "both.pcap").write_bytes(file)
    text = 'duration = "5 s"\n[dumbbell]\n[[traffic]]\nname = "t"\nkind = "trace"\nfile = "both.pcap"\n'
    (tmp_path / "both.toml").write_text(text)

    def sent(**keys: str) -> tuple[float | None, float]:
        settings = {f"traffic.t.{key}": value for key, value in keys.items()}
        link = aqmlab.run(Scenario.load(tmp_path / "both.toml").with_(settings)).runs[0].classes["t"]
        return link["arrivals"], (link["throughput"] or 0) * 5 / 8

    assert sent() == (3, pytest.approx(1600))
    assert sent(src="10.0.0.1") == (2, pytest.approx(1500))
    assert sent(src="10.0.0.2/32") == (1, pytest.approx(100))
    assert sent(src="10.0.0.0/8", dst="10.0.0.3") == (1, pytest.approx(500))
    done = quick_cli("validate", "both.toml")
    assert "1 frame has no IP packet, such as ARP" in " ".join(done.stdout.split()), done
    with pytest.raises(ScenarioError, match=r"the file has, with numbers of packets, 10.0.0.1 to 10.0.0.2: 1"):
        sent(src="10.0.0.9")
    with pytest.raises(ScenarioError, match=r'traffic.t.src = "router": must be an address or a network'):
        sent(src="router")

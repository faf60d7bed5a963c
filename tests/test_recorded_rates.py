"""Links whose rate follows a recording, from the user's side."""

import json
from pathlib import Path

import pytest
from conftest import Cli

import aqmlab
from aqmlab import Scenario, ScenarioError
from aqmlab.execute import task

TEXT = """\
duration = "12 s"
warmup = "2 s"
[dumbbell]
access_rate = "100 Mbit/s"
[[traffic]]
name = "load"
kind = "cbr"
rate = "20 Mbit/s"
"""


def mahimahi(folder: Path) -> Path:
    """Write a trace of 2 s in which 900 packets may pass, none of them in the last quarter."""
    file = folder / "cell.down"
    file.write_text("".join(f"{1 + place * 5 // 3}\n" for place in range(900)) + "2000\n")
    return file


def test_a_trace_of_mahimahi_lets_as_many_bytes_pass(tmp_path: Path) -> None:
    scenario = Scenario.parse(TEXT).with_({"dumbbell.rates": {"file": str(mahimahi(tmp_path))}})
    run = aqmlab.run(scenario).runs[0]
    assert run.metrics["throughput"] == pytest.approx(901 * 1504 * 8 / 2.0, rel=2e-4)
    assert scenario.resolved["dumbbell"]["rate"] == "5.420416 Mbit/s"
    # The rate is the default of `rate`, which the scenario may have of its own.
    assert scenario.with_({"dumbbell.rate": "4 Mbit/s"}).resolved["dumbbell"]["rate"] == "4 Mbit/s"


def test_both_directions_of_a_link_follow_a_column_each(tmp_path: Path) -> None:
    (tmp_path / "starlink.csv").write_text("time,down_mbps,up_kbps\n0,8,500\n1,4,0\n2,8,500\n")
    rates = 'file = "starlink.csv", column = '
    (tmp_path / "link.toml").write_text(
        'duration = "30 s"\nobserve = "l:reverse"\n[[link]]\nname = "l"\nfrom = "a"\nto = "b"\n'
        f'rates = {{ {rates}"down_mbps" }}\nreverse_rates = {{ {rates}"up_kbps" }}\n'
        '[[traffic]]\nkind = "cbr"\nrate = "2 Mbit/s"\nfrom = "b"\nto = "a"\n'
    )
    scenario = Scenario.load(tmp_path / "link.toml")
    assert aqmlab.run(scenario).metrics["throughput"] == pytest.approx(1e6 / 3, rel=0.01)
    (link,) = scenario.resolved["link"]
    assert (link["rate"], link["reverse_rate"]) == ("6.666667 Mbit/s", "333.333 kbit/s")
    # The text of the scenario means the same in any folder.
    assert Scenario.parse(scenario.to_toml()).resolved == scenario.resolved


RATES = ((10, 2), (10, 4), (11, 5), (13, 9))


def test_dates_are_times_and_lines_of_one_time_have_their_mean_and_a_remark(tmp_path: Path, quick_cli: Cli) -> None:
    for form in ("2023-04-12 10:40:{} CDT", "2020.02.14_09.38.{}", "2026-01-31T12:00:{}+01:00", "17000000{}"):
        lines = [f'{form.format(second)};{rate};"cell 7;{rate}"' for second, rate in RATES]
        (tmp_path / "cell.csv").write_text("\n".join(["\ufeff# a drive", "Timestamp;rate_mbps;cell", *lines]))
        scenario = Scenario.parse(TEXT).with_({"dumbbell.rates": {"file": str(tmp_path / "cell.csv")}})
        assert scenario.resolved["dumbbell"]["rate"] == "6.2 Mbit/s"  # 3 for 1 s, 5 for 2 s, 9 for 2 s
    (tmp_path / "cell.toml").write_text(TEXT.replace("access_rate", 'rates = { file = "cell.csv" }\naccess_rate'))
    remark = 'dumbbell.rates.file = "cell.csv": 1 line has the time of the line before: at each time the mean holds.'
    for command in ("validate", "run"):
        done = quick_cli(command, str(tmp_path / "cell.toml"))
        assert remark in " ".join(done.stdout.split()), done


def test_the_content_of_a_recording_identifies_a_run_and_its_name_does_not(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("time,rate_mbps\n0,1\n1,2\n")
    other.write_text("t [ms],rate [kbit/s]\n0,1000\n1000,2000\n")

    def key(file: Path) -> str:
        return task.digest(Scenario.parse(TEXT).with_({"dumbbell.rates": {"file": str(file)}}))

    assert key(one) == key(other)
    other.write_text("time,rate_mbps\n0,1\n1,3\n")
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty: must be a packet-delivery trace of Mahimahi, or CSV with a header"),
        ("time,rate_mbps\n0,1\n1\n", "line 3: only 1 of the header's 2 fields: complete the line, or remove it"),
        ("5\n7\n6", "line 3: 6: earlier than the line before, 7: sort the lines, or remove a torn one"),
        ("\x7fELF\x00", "not text in UTF-8: must be a packet-delivery trace of Mahimahi, or CSV"),
    ],
)
def test_a_bad_recording_is_refused_in_a_line_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad").write_text(content)
    (tmp_path / "bad.toml").write_text(TEXT.replace("access_rate", 'rates = { file = "bad" }\naccess_rate'))
    with pytest.raises(ScenarioError) as error:
        Scenario.load(tmp_path / "bad.toml").check()
    assert str(error.value).startswith(f'{tmp_path / "bad.toml"}:4: dumbbell.rates.file = "bad": {message}')
    assert str(error.value).count("\n") == 0


def test_a_recording_excludes_changes_and_needs_a_file(tmp_path: Path) -> None:
    rates = {"dumbbell.rates": {"file": str(mahimahi(tmp_path))}}
    both = Scenario.parse(TEXT).with_({**rates, "dumbbell.changes": ["1 s: 1 Mbit/s"]})
    with pytest.raises(ScenarioError, match=r"dumbbell\.changes: `rates` is given as well: remove one of them"):
        both.check()
    with pytest.raises(ScenarioError, match=r"dumbbell\.rates: needs a `file`: CSV, or a packet-delivery trace"):
        Scenario.parse(TEXT).with_({"dumbbell.rates": {"bin": "1 s"}}).check()
    often = Scenario.parse(TEXT).with_({**rates, "duration": "1e7 s", "dumbbell.rates.bin": "10 ms"})
    with pytest.raises(ScenarioError, match=r"dumbbell.rates: .* changes in this duration, at most 1e7: raise its"):
        often.check()


def test_the_commands_show_a_recording(tmp_path: Path, quick_cli: Cli) -> None:
    (tmp_path / "cell.toml").write_text(TEXT.replace("access_rate", 'rates = { file = "cell.down" }\naccess_rate'))
    mahimahi(tmp_path)
    file = str(tmp_path / "cell.toml")
    for command in (["validate", file], ["run", file, "--set", "dumbbell.rates.bin=1s"]):
        done = quick_cli(*command)
        assert done.returncode == 0, done.stderr
    keys = json.loads(quick_cli("schema").stdout)["properties"]["dumbbell"]["properties"]["rates"]
    assert set(keys["anyOf"][0]["properties"]) == {"file", "column", "unit", "bin", "delay", "round_trip", "loss"}


def test_a_model_of_fluid_refuses_pauses(tmp_path: Path) -> None:
    paused = Scenario.parse(TEXT.replace('kind = "cbr"\nrate = "20 Mbit/s"', 'tcp = "reno"'))
    paused = paused.with_({"dumbbell.rates": {"file": str(mahimahi(tmp_path))}})
    with pytest.raises(ScenarioError, match="less than a packet a second passes at times"):
        aqmlab.fluid(paused)
    assert aqmlab.fluid(paused.with_({"dumbbell.rates.bin": "2 s"})).metrics["goodput"] == pytest.approx(5.4e6, rel=0.1)


def test_a_handover_is_rates_delays_and_losses_of_one_file(tmp_path: Path, quick_cli: Cli) -> None:
    (tmp_path / "drive.csv").write_text("t,rate_mbps,rtt_ms,loss_percent\n0,8,40,0\n4,0,40,0\n5,8,80,50\n8,8,80,50\n")
    settings = 'rates = { file = "drive.csv", round_trip = "rtt_ms", loss = "loss_percent" }\naccess_rate'
    ping = '[[traffic]]\nname = "ping"\nkind = "ping"\ninterval = "20 ms"\n'
    (tmp_path / "drive.toml").write_text(TEXT.replace("access_rate", settings).replace("20 Mbit/s", "1 Mbit/s") + ping)
    scenario = Scenario.load(tmp_path / "drive.toml")
    series = aqmlab.run(scenario.with_({"record.step": "1 s"})).series.to_dict(as_series=False)
    travels = series["bottleneck.travel"]
    assert [travels[2], travels[6]] == pytest.approx([0.02, 0.04])
    assert series["bottleneck.load.departures"][4] <= 1, "an outage"
    few, many = series["bottleneck.load.arrivals"][9], series["bottleneck.load.arrivals"][2]
    assert 0.3 < few / many < 0.7, "half of the packets are lost"
    changed = (tmp_path / "drive.csv").read_text().replace("50", "20")
    before = task.digest(scenario)
    (tmp_path / "drive.csv").write_text(changed)
    assert task.digest(Scenario.load(tmp_path / "drive.toml")) != before


def test_losses_and_jitter_of_files_count_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "loss.csv").write_text("t,loss\n0,0.1\n1,0.2\n")
    (tmp_path / "two.dist").write_text("-8192 8192\n")
    lossy = Scenario.parse(TEXT).with_({"dumbbell.loss": {"file": str(tmp_path / "loss.csv")}})
    jitter = {"law": "table", "file": str(tmp_path / "two.dist"), "deviation": "1 ms"}
    jumpy = Scenario.parse(TEXT).with_({"dumbbell.jitter": jitter})
    before = [task.digest(one) for one in (lossy, jumpy)]
    (tmp_path / "other.csv").write_text("t,loss\n0,0.1\n1,0.2\n")
    same = lossy.with_({"dumbbell.loss": {"file": str(tmp_path / "other.csv")}})
    assert task.digest(same) == before[0]
    (tmp_path / "loss.csv").write_text("t,loss\n0,0.1\n1,0.3\n")
    (tmp_path / "two.dist").write_text("-8192 0 8192\n")
    again = [Scenario.parse(one.to_toml()) for one in (lossy, jumpy)]
    assert all(task.digest(one) != old for one, old in zip(again, before, strict=True))
    for settings, message in (
        ({"dumbbell.jitter": {**jitter, "file": str(tmp_path / "none.dist")}}, "none.dist"),
        ({"dumbbell.loss": {"file": str(tmp_path / "two.dist")}}, "must be a header with a time and a loss"),
    ):
        with pytest.raises(ScenarioError, match=message):
            Scenario.parse(TEXT).with_(settings).check()

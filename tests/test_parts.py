"""The parts of results: links, traffic entries, latency under load, flows."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from typer.testing import CliRunner

import aqmlab
from aqmlab.cli.app import app
from aqmlab.reports import parts

TWO_WAY = """
duration = "20 s"
warmup = "4 s"
[dumbbell]
rate = "10 Mbit/s"
reverse_rate = "2 Mbit/s"
buffer = "100 ms"
reverse_buffer = "100 ms"
[reverse_aqm]
name = "droptail"
[[traffic]]
name = "down"
count = 2
[[traffic]]
name = "up"
from = "receivers"
to = "senders"
[[traffic]]
name = "web"
kind = "web"
think = "1 s"
[[traffic]]
name = "call"
kind = "voip"
[[traffic]]
name = "ping"
kind = "ping"
"""


@pytest.fixture(scope="module")
def scenario() -> aqmlab.Scenario:
    return aqmlab.Scenario.parse(TWO_WAY, "two-way")


@pytest.fixture(scope="module")
def result(scenario: aqmlab.Scenario) -> aqmlab.Result:
    return aqmlab.run(scenario.with_({"record.flows": True}), seeds=2)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "two-way.toml"
    path.write_text(TWO_WAY)
    return str(path)


def test_goodput_of_a_direction_is_no_more_than_its_link_carries(result: aqmlab.Result) -> None:
    for name, rate in (("bottleneck", 10e6), ("bottleneck:reverse", 2e6)):
        link = {metric: one.mean for metric, one in result.owned("links")[name].items()}
        assert 0.5 * rate < link["link_goodput"] < link["throughput"] <= rate
    ends = {"bottleneck": ("down", "web", "call", "ping"), "bottleneck:reverse": ("up",)}
    for link, entries in ends.items():
        total = sum(result[f"classes.{name}.goodput"].mean for name in entries)
        assert result[f"links.{link}.link_goodput"].mean == pytest.approx(total)


def test_the_loss_of_an_upload_is_that_of_its_data(result: aqmlab.Result) -> None:
    # Its ACKs, which the observed link sees, are rarely lost.
    assert result["classes.up.path_loss_ratio"].mean > 10 * (result["classes.up.loss_ratio"].mean or 0)
    lost = result.flows.filter(polars.col("class") == "up")["losses"].sum()
    assert lost > 0


def test_round_trips_under_load_are_longer_than_idle_ones(result: aqmlab.Result) -> None:
    ping = {metric: one.mean for metric, one in result.owned("classes")["ping"].items()}
    assert ping["rtt_idle"] < ping["rtt_mean"] < ping["rtt_p95"]
    # 100 ms of buffer each way. Of two loads the slower counts.
    assert ping["rtt_p95"] < ping["rtt_idle"] + 0.22
    assert 60 / ping["rtt_max"] < result.metrics["rpm"] < 60 / ping["rtt_idle"]


def test_flows_add_up_to_their_entries(result: aqmlab.Result) -> None:
    flows = result.flows
    assert flows["seed"].unique().sort().to_list() == result.seeds
    assert flows.filter(polars.col("class") == "down")["flow"].unique().sort().to_list() == [0, 1]
    web = flows.filter((polars.col("class") == "web") & polars.col("completion_time").is_not_null())
    assert len(web) == 2 * result["classes.web.completed"].mean  # the mean of two runs
    retransmits = flows.filter(polars.col("class") == "up")["retransmits"].sum()
    assert retransmits == 2 * result["classes.up.retransmits_total"].mean
    one = flows.filter(polars.col("class") == "down").row(0, named=True)
    assert one["goodput"] == pytest.approx(8 * one["bytes"] / (20 - one["start"]))
    assert (one["from"], one["to"], one["end"]) == ("sender1", "receiver1", None)


def test_flows_are_saved_and_loaded(result: aqmlab.Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    assert (tmp_path / "flows-1.parquet").is_file()
    saved = polars.read_parquet(tmp_path / "flows-2.parquet")
    assert saved.equals(result.flows.filter(polars.col("seed") == 2))
    loaded = aqmlab.Result.load(tmp_path)
    assert loaded.flows.equals(result.flows)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / "flows-2.parquet").read_bytes() == (tmp_path / "flows-2.parquet").read_bytes()


def test_without_a_record_of_flows_there_is_a_remedy(scenario: aqmlab.Scenario) -> None:
    with pytest.raises(LookupError, match=r"record\.flows = true or --flows"):
        _ = aqmlab.run(scenario.with_(duration="5 s")).flows


def test_all_parts_of_a_single_result_are_shown(result: aqmlab.Result) -> None:
    text = repr(result)
    for part in ("Links:", "bottleneck:reverse", "Traffic:", "call ", "Latency under load:", "RPM", "MOS"):
        assert part in text
    assert "Flows and transfers" not in text


UNEQUAL = """
duration = "12 s"
warmup = "4 s"
[dumbbell]
rate = "20 Mbit/s"
[[traffic]]
name = "bbr"
tcp = "bbr"
[[traffic]]
name = "cubic"
"""


def test_a_comparison_shows_who_got_what_if_entries_got_unequal_shares() -> None:
    scenario = aqmlab.Scenario.parse(UNEQUAL, "unequal")
    compared = aqmlab.compare(scenario, aqms=["fq_codel", "droptail"])
    bbr, cubic = (compared["droptail"][f"classes.{name}.goodput"].mean or 0.0 for name in ("bbr", "cubic"))
    assert cubic > 2 * bbr > 0
    for shown in (repr(compared), compared._repr_html_() or ""):
        assert "Traffic (goodputs per flow of different entries differ by a factor of 2 or more)" in shown
        assert "droptail, cubic" in shown


@pytest.mark.parametrize(
    "other",
    [
        'tcp = "bbr"',  # like shares
        'kind = "ping"',  # an application sets the rate
        'rate = "1 Mbit/s"\nkind = "cbr"\nfrom = "receivers"\nto = "senders"',  # the other way
    ],
)
def test_a_comparison_of_what_does_not_compete_has_no_shares(other: str) -> None:
    scenario = aqmlab.Scenario.parse(f"{UNEQUAL}{other}\n", "equal")
    assert "Traffic" not in repr(aqmlab.compare(scenario, aqms=["fq_codel", "fq_pie"]))


def test_an_empty_column_is_left_out(scenario: aqmlab.Scenario) -> None:
    result = aqmlab.run(aqmlab.Scenario.load("quickstart").with_(duration="10 s"))
    assert "MOS" not in repr(result)
    assert parts.latency({"x": result}) is None


def test_chosen_parts(file: str) -> None:
    def shown(*options: str) -> str:
        outcome = CliRunner().invoke(app, ["run", file, "--set", "duration=10s", *options])
        assert outcome.exit_code == 0, outcome.output
        return outcome.output

    text = shown("--class", "ping", "--metric", "rtt_p95", "--metric", "mos")
    assert text.startswith("untitled (seed 1;")
    assert "RTT p95" in text
    assert "MOS" not in text
    assert "down" not in text
    assert "Links" not in text
    text = shown("--link", "bottleneck:reverse")
    assert "bottleneck:reverse" in text
    assert "Traffic" not in text
    text = shown("--metric", "goodput")
    assert "The observed link and all flows" in text
    assert "Links" not in text  # no link has it
    assert "up" in text
    assert "Flows and transfers" in shown("--flows")


@pytest.mark.parametrize(
    ("option", "known"),
    [("--link", "bottleneck, bottleneck:reverse"), ("--class", "down, up, web, call, ping"), ("--metric", "goodput")],
)
def test_a_part_that_does_not_exist_is_refused_with_those_that_do(file: str, option: str, known: str) -> None:
    outcome = CliRunner().invoke(app, ["run", file, option, "nix"])
    assert outcome.exit_code == 2
    assert "nix: must be one of" in " ".join(outcome.output.split())
    for name in known.split(", "):
        assert name in outcome.output


def test_the_report_has_all_parts_of_all_results(scenario: aqmlab.Scenario, tmp_path: Path) -> None:
    from aqmlab.reports import html

    short = scenario.with_(duration="8 s")
    results = aqmlab.compare(short, aqms=["pie", "codel"])
    html.save(results, tmp_path / "report.html", "")
    text = (tmp_path / "report.html").read_text()
    for part in ("pie, bottleneck:reverse", "codel, call", "Latency under load"):
        assert part in text

"""Comparison with the Linux kernel (docs/internals/fidelity.md); `make oracle-linux` runs all of it."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from oracle.dumbbell import NotYet
from oracle.linux import __main__ as printed
from oracle.linux import arrivals, dumbbell, fates, figure, kernel, live, ours, points, reference, shapers, tc, traces
from oracle.linux.check import checks
from oracle.linux.guest.senders import starts
from oracle.linux.reference import Point
from oracle.reference import Measured
from oracle.verdict import Check

from aqmlab._core import in_base_unit

STORED = {point.name: point for point in reference.stored()}

# The senders alone decide: TCP on a FIFO.
CLOSED = [name for name in points.CLOSED if STORED[name].fifo]

# No sender reacts: the disciplines receive the same packets.
OPEN = [f"open_{name}_{pattern}" for name in ("fifo", "headdrop", "codel") for pattern in arrivals.PATTERNS]


def off(name: str) -> list[str]:
    """The metrics that differ."""
    compared, refused = ours.judged([STORED[name]])
    assert not refused
    found = compared[STORED[name]]
    assert len(found) >= 4
    return [f"{check.metric} = {check.ours:.5g}, not {check.theirs:.5g}" for check in found if not check.passed]


@pytest.mark.oracle
@pytest.mark.parametrize("name", CLOSED)
def test_senders_do_what_those_of_linux_do(name: str) -> None:
    assert off(name) == []


# Of each thing that varies one point.
VARIED = [
    "netem_uniform2_cubic",
    "netem_normal5_cubic",
    "netem_reorder1_bbr",
    "netem_loss1_bbr",
    "netem_duplicate1_cubic",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", VARIED)
def test_senders_meet_jitter_losses_copies_and_early_packets_as_with_netem(name: str) -> None:
    assert off(name) == []


# Of each control one that sends in bursts, one paced by fq, and one of each with a queue discipline.
OFFLOADED = [
    "offload_cubic_10m_40ms_n2_20p",
    "offload_bbr_20m_20ms_n2_50p",
    "offload_reno_20m_10ms_n2_fq_codel",
    "offload_cubic_50m_20ms_n2_60p_fq",
    # Receivers that join segments.
    "offload_cubic_20m_20ms_n2_50p_2000us",
    "offload_bbr_50m_40ms_n1_100p_1000us",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", OFFLOADED)
def test_hosts_that_offload_send_bursts_as_those_of_linux_do(name: str) -> None:
    assert off(name) == []


def test_a_guest_that_offloads_is_a_tcp_that_does() -> None:
    conf = points.dumbbell("pfifo", points.group(1, "cubic"), seed=1, offload=True, fq=True)
    (flow, _) = dumbbell.closed("a", conf).resolved["traffic"]
    assert (flow["tcp"]["offload"], flow["tcp"]["pacing"]) == (True, "fq")
    joined = dumbbell.closed("a", conf | {"receive_us": 500}).resolved
    assert (joined["traffic"][0]["tcp"]["receive_offload"], joined["reverse_aqm"]["name"]) == ("500 us", "droptail")


def test_netems_words_are_keys_of_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "normal.dist").write_text("-8192 8192\n")
    monkeypatch.setattr(tc, "DISTRIBUTIONS", (str(tmp_path / "none"), str(tmp_path)))
    words = "delay 50ms 5ms distribution normal reorder 2% gap 3 loss 0.1% duplicate 0.5%"
    conf = points.dumbbell("pfifo limit 9", points.group(1, "cubic", 20), path=words, seed=1)
    link = dumbbell.closed("a", conf).resolved["dumbbell"]
    table = {"law": "table", "deviation": "5 ms", "correlation": 0.0, "file": str(tmp_path / "normal.dist")}
    assert (link["delay"], link["jitter"], link["reverse_delays"]) == ("50 ms", table, ["0 s: 0 s"])
    assert link["reorder"] == {"probability": 0.02, "gap": 3, "correlation": 0.0}
    assert (link["loss"], link["duplicate"], link["overtaking"]) == (0.001, 0.005, True)
    with pytest.raises(NotYet, match="slot is not known here"):
        tc.path("delay 5ms slot 1ms")
    monkeypatch.setattr(tc, "DISTRIBUTIONS", (str(tmp_path / "none"),))
    with pytest.raises(NotYet, match=r"normal\.dist: not in"):
        tc.path(words)


# The standards specify no other congestion controls.
STANDARD = [name for name in CLOSED if {group["cc"] for group in STORED[name].conf["groups"]} <= {"cubic", "reno"}]


@pytest.mark.oracle
@pytest.mark.parametrize("name", STANDARD)
def test_the_standards_senders_lose_as_much_within_a_factor_of_two_and_time_out_no_more(name: str) -> None:
    point = STORED[name]
    metrics, _ = ours.run([Point(name, {**point.conf, "tcp": "rfc"}, point.runs)])
    theirs, found = point.metrics(), metrics[name]
    assert theirs["drops"].mean / 2 - 1 <= found["drops"].mean <= 2 * theirs["drops"].mean + 1
    assert found["timeouts"].mean <= theirs["timeouts"].mean


# One of each kind: departures, arrivals, marks, by time, by flow.
DISCIPLINES = [
    "codel_cubic_10m_40ms_n5",
    "pie_ecn_cubic_10m_40ms_n2",
    "fq_codel_reno_10m_40ms_n5",
    "red_reno_10m_40ms_n5",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", DISCIPLINES)
def test_senders_and_disciplines_together_do_what_those_of_linux_do(name: str) -> None:
    assert off(name) == []


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPEN)
def test_disciplines_do_what_those_of_linux_do_to_packets_that_do_not_react(name: str) -> None:
    assert off(name) == []


@pytest.mark.oracle
def test_a_fifo_loses_as_many_as_that_of_linux_but_one_packet_in_a_thousand() -> None:
    point = STORED["open_fifo_load110"]
    metrics, _ = ours.run([point])
    sent = len(arrivals.arrivals("load110", 1))
    assert metrics[point.name]["lost"].mean == pytest.approx(point.metrics()["lost"].mean, abs=sent / 1000)


@pytest.mark.oracle
def test_linux_itself_runs_and_gives_the_window_of_each_flow_over_time() -> None:
    conf = points.dumbbell("pfifo limit 20", points.group(2, "reno"), dur=4, warm=1, seed=1, trace_ms=10)
    try:
        result = kernel.run(conf)
    except kernel.Missing as reason:
        pytest.skip(str(reason))
    run = traces.of_linux(result)
    assert list(run.flows) == [dumbbell.name(0, 0), dumbbell.name(0, 1)]
    first = run.flows[dumbbell.name(0, 0)]
    assert first["cwnd"][0] == 10
    assert {"open", "recovery"} <= set(first["state"])
    assert 40 <= (first["rtt"].min() or 0) < 42  # type: ignore[operator]
    assert run.queue["packets"].max() == 20
    assert run.queue["drops"][-1] == result["queue"]["last"]["drops"] > 0


RED_WORDS = "red limit 400000 min 30000 max 90000 avpkt 1500 burst 40 probability 0.1 bandwidth 10mbit"
RED_KEYS = {
    "ages": False,
    "min_bytes": "30000 B",
    "max_bytes": "90000 B",
    "mean_packet": "1500 B",
    "burst": 40,
    "max_p": 0.1,
    "bandwidth": "10000000 bit/s",
}


@pytest.mark.parametrize(
    ("words", "aqm", "buffer"),
    [
        ("pfifo limit 80", {"name": "droptail"}, "80 packets"),
        ("pfifo", {"name": "droptail"}, "1000 packets"),
        ("bfifo limit 30k", {"name": "droptail"}, "30720 B"),
        ("pfifo_head_drop limit 100", {"name": "headdrop"}, "100 packets"),
        (
            "codel target 20ms limit 50 interval 1s ecn",
            {"name": "codel", "preset": "linux", "target": "20 ms", "interval": "1 s", "ecn": True},
            "50 packets",
        ),
        (
            "fq_codel target 5000 noecn quantum 300",
            {"name": "fq", "preset": "linux", "aqm": "codel:preset=linux,ecn=false,target=5000 us", "quantum": "300 B"},
            "10240 packets",
        ),
        ("fq_codel", {"name": "fq", "preset": "linux", "aqm": "codel:preset=linux,ecn=true"}, "10240 packets"),
        (
            "pie limit 200 target 20ms alpha 4 beta 30",
            {"name": "pie", "preset": "linux", "target": "20 ms", "alpha": "0.25 Hz", "beta": "1.875 Hz"},
            "200 packets",
        ),
        (
            "fq_pie tupdate 16ms dq_rate_estimator",
            {"name": "fq", "preset": "pie", "aqm": "pie:preset=linux,t_update=16 ms,delay=departures"},
            "10240 packets",
        ),
        (f"{RED_WORDS} ecn", {"name": "red", "preset": "linux", "ages": False, **RED_KEYS, "ecn": True}, "400000 B"),
        ("choke limit 300 min 20 max 60 burst 30", None, "300 packets"),
        ("sfb target 30 max 40", None, "1000 packets"),
        (
            "cake bandwidth 20mbit diffserv4 dual-dsthost docsis ingress ack-filter rtt 30ms",
            {
                "name": "cake",
                "preset": "linux",
                "bandwidth": "20000000 bit/s",
                "diffserv": "diffserv4",
                "flowmode": "dual-dsthost",
                "framing": "docsis",
                "ingress": True,
                "ack_filter": "on",
                "rtt": "30 ms",
            },
            "1000000 packets",
        ),
        (
            "sfq limit 60 depth 20 headdrop",
            {"name": "sfq", "preset": "linux", "depth": 20, "headdrop": True},
            "60 packets",
        ),
        ("dualpi2 target 20ms", {"name": "dualpi2", "preset": "linux", "target": "20 ms"}, "10000 packets"),
    ],
)
def test_tcs_words_say_what_they_do_in_linux(words: str, aqm: Mapping[str, Any] | None, buffer: str) -> None:
    made = tc.discipline(words)
    assert made.buffer == buffer
    if aqm is not None:
        assert made.aqm == aqm
    dumbbell.closed("a", points.dumbbell(words, points.group(1, "cubic"), seed=1)).check()


def test_reds_adaptive_form_does_not_adapt_in_linux() -> None:
    assert tc.discipline(f"{RED_WORDS} adaptive") == tc.discipline(RED_WORDS)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ("hhf", NotYet, "hhf has no counterpart here; those that have one: pfifo, bfifo"),
        ("codel memory 3", NotYet, "memory of codel is not known here; known: ce_threshold, ecn, interval"),
        ("codel limit", ValueError, "limit needs a value"),
        ("codel target soon", ValueError, "soon: not a time of tc's, like 5ms"),
        (f"{RED_WORDS} bandwidth fast", ValueError, "fast: not a rate of tc's, like 10mbit"),
        ("bfifo limit much", ValueError, "much: not a size of tc's, like 1514"),
        ("red bandwidth 10mb", ValueError, "10mb: not a rate of tc's, like 10mbit"),
    ],
)
def test_what_cannot_be_taken_over_is_said(words: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tc.discipline(words)


def test_every_stored_run_is_of_a_configuration_that_can_be_run_again() -> None:
    listed = points.CLOSED | points.OPEN | shapers.OPEN | shapers.CLOSED
    assert {name: point.conf for name, point in STORED.items()} == listed


def seconds(text: str) -> float:
    found = in_base_unit(text)
    assert found
    return found[0]


def test_flows_start_when_those_of_the_same_seed_do_in_the_guest() -> None:
    conf = points.dumbbell("pfifo limit 9", points.group(3, "reno"), points.group(1, "bbr"), seed=5)
    scenario = dumbbell.closed("a", conf).resolved
    begun = {entry["name"]: seconds(entry["start"]) for entry in scenario["traffic"]}
    names = [dumbbell.name(0, 0), dumbbell.name(0, 1), dumbbell.name(0, 2), dumbbell.name(1, 0)]
    assert [begun[name] for name in names] == pytest.approx([*starts(conf, 0), *starts(conf, 1)], abs=1e-9)


def test_a_round_trip_here_has_a_transmission_that_the_guests_has_not() -> None:
    conf = points.dumbbell("pfifo", points.group(1, "cubic", 40), rate_mbit=10)
    assert dumbbell.propagation(conf, 40) == pytest.approx(0.040 - 1514 * 8 / 10e6)
    assert dumbbell.propagation({**conf, "rate_mbit": 1}, 5) == 0  # 12 ms of transmission alone


def test_groups_have_their_own_round_trips_and_congestion_controls() -> None:
    groups = (points.group(1, "cubic", 40), points.group(1, "bbr", 80))
    scenario = dumbbell.closed("a", points.dumbbell("pfifo limit 50", *groups, seed=1, ecn=1)).resolved
    first, second, probe = scenario["traffic"]
    assert [entry["tcp"]["congestion"] for entry in (first, second)] == ["cubic", "bbr"]
    assert [entry["tcp"]["ecn"] for entry in (first, second)] == [True, True]
    assert (first["from"], second["from"]) == (["sender1"], ["sender2"])
    assert probe["kind"] == "cbr"
    near, far = map(seconds, scenario["dumbbell"]["sender_delay"])
    assert 2 * (far - near) == pytest.approx(0.040)


def test_a_switch_of_the_kernel_that_we_do_not_have_is_said() -> None:
    conf = points.dumbbell("pfifo", points.group(1, "cubic"), seed=1, sysctl={"net.ipv4.tcp_fack": 1})
    with pytest.raises(NotYet, match=r"sysctl net\.ipv4\.tcp_fack: no key of ours does the same; known: net\.ipv4"):
        dumbbell.closed("a", conf)


def point(n: int = 1, **more: Any) -> Point:
    return Point("a", points.dumbbell("pfifo limit 100", points.group(n, "cubic"), **more), {})


def tolerances(of: Point, theirs: Mapping[str, Measured]) -> dict[str, float]:
    return {check.metric: check.tolerance for check in checks(of, theirs, theirs)}


def test_the_larger_of_two_tolerances_counts_and_chance_widens_that_of_events() -> None:
    assert tolerances(point(), {"drops": Measured(20, 4), "q_mean": Measured(10, 9)}) == {"drops": 22, "q_mean": 1.5}
    assert tolerances(point(), {"drops": Measured(1000, 4), "q_mean": Measured(90)}) == {"drops": 200, "q_mean": 9}


def test_single_events_are_compared_of_few_flows_and_shares_of_several_groups() -> None:
    theirs = dict.fromkeys(["util", "timeouts", "retransmits", "period", "share_1"], Measured(1.0))
    assert set(tolerances(point(2), theirs)) == set(theirs)
    assert set(tolerances(point(3), theirs)) == {"util", "share_1"}


def test_what_only_one_of_both_has_is_not_compared() -> None:
    assert list(checks(point(), {"util": Measured(1), "period": Measured(3)}, {"util": Measured(1)})) == [
        Check("a", "util", 1, 1, 0.01)
    ]


def test_the_last_groups_share_is_the_rest() -> None:
    assert reference.shares([6.0, 2.0, 2.0]) == {"share_1": 0.6, "share_2": 0.2}
    assert reference.shares([6.0]) == {}


@pytest.mark.parametrize(("fifo", "disciplines", "status"), [(9, 17, 0), (8, 20, 1), (10, 16, 1)])
def test_fifo_points_and_disciplines_both_have_to_agree_often_enough(
    fifo: int, disciplines: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def of(passed: int, whole: int) -> list[Check]:
        return [Check("a", "util", 1, 1 if i < passed else 2, 0.5) for i in range(whole)]

    codel = Point("b", points.dumbbell("codel", points.group(2, "reno"), points.group(1, "bbr")), {})
    assert printed._verdict({point(): of(fifo, 10), codel: of(disciplines, 20)}) == status
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["reno+bbr", f"{disciplines / 20:.1%}", "20"] in said
    assert ["pfifo", f"{fifo / 10:.1%}", "10"] in said


def test_a_difference_of_more_than_three_tolerances_fails_the_whole() -> None:
    near = [Check("a", "util", 1, 1, 0.1)] * 99
    assert printed._verdict({point(): near}) == 0
    assert printed._verdict({point(): [*near, Check("a", "util", 1, 1.4, 0.1)]}) == 1


def test_the_packets_with_another_fate_are_found() -> None:
    assert fates.differences("..xM.", "..xM.") == []
    assert fates.differences("..xM.", "x.x..") == [0, 3]
    assert fates.differences("..x", "..x.") == [3]


def test_fates_are_counted_by_flow() -> None:
    sent = [(0.0, 100, 0), (0.1, 100, 2), (0.2, 100, 2)]
    assert arrivals.by_flow("x.x", sent, arrivals.LOST)[:3] == [1, 0, 1]


def test_arrivals_offer_what_their_names_say() -> None:
    for pattern, load in {"load110": 1.1, "load150": 1.5, "cbr125": 1.25}.items():
        packets = arrivals.arrivals(pattern, 1)
        assert sum(size for _, size, _ in packets) * 8 / arrivals.END == pytest.approx(load * arrivals.RATE, rel=0.01)
        assert all(a <= b for a, b in pairwise(packets))


# PRR takes a round trip to halve the window; a small dent is not a peak.
def test_a_peak_of_the_window_is_one_however_slowly_it_falls() -> None:
    tooth = [10, 14, 18, 19, 18, 20, 17, 14, 12, 10]
    assert traces.peaks((float(i), float(cwnd)) for i, cwnd in enumerate(tooth * 3)) == [5, 15, 25]


def test_the_period_is_the_mean_time_between_peaks_and_unknown_if_a_flow_has_no_three() -> None:
    def run(*teeth: int) -> traces.Trace:
        windows = {str(n): [10.0, 15.0, 20.0, 12.0] * n for n in teeth}
        flows = {n: pl.DataFrame({"t": [i / 2 for i in range(len(cwnd))], "cwnd": cwnd}) for n, cwnd in windows.items()}
        return traces.Trace(flows, pl.DataFrame())

    assert traces.period([run(5), run(6, 7)], begin=0)["period"].mean == pytest.approx(2)
    assert traces.period([run(5), run(5, 2)], begin=0) == {}


def test_live_asks_for_any_dumbbell() -> None:
    what = live.asked(
        ["GROUPS=2 cubic 40, 1 bbr 80", "RATE=100", "QDISC=codel limit 500", "ECN=1", "SEEDS=2", "FROM=3"]
    )
    assert what.conf["groups"] == [points.group(2, "cubic", 40), points.group(1, "bbr", 80)]
    assert (what.conf["rate_mbit"], what.conf["qdisc"], what.conf["ecn"]) == (100, "codel limit 500", 1)
    assert (list(what.seeds), what.begin, what.end) == ([1, 2], 3, 60)
    assert live.asked(["POINT=pie_bbr_10m_40ms_n2"]).conf["qdisc"] == "pie limit 1000"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("BUFFER=3", "BUFFER=3: must be KEY=VALUE with a key of these: POINT, N, CC"),
        ("N", "N: must be KEY=VALUE"),
        ("POINT=nowhere", "POINT=nowhere: no such point in points.py"),
        ("GROUPS=two cubics", "must be like '2 cubic 40, 1 bbr 80'"),
        ("RATE=fast", "RATE=fast: must be a number"),
        ("TO=0", "FROM must be earlier"),
    ],
)
def test_what_live_does_not_understand_is_said(word: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        live.asked([word])


def test_a_point_and_what_contradicts_it_are_refused() -> None:
    with pytest.raises(ValueError, match="RTT: the point says that"):
        live.asked(["POINT=pie_bbr_10m_40ms_n2", "RTT=10"])


def test_data_waits_for_one_thing_before_a_live_receiver() -> None:
    assert live.asked(["OFFLOAD=1", "RECEIVE_US=200"]).conf["receive_us"] == 200
    with pytest.raises(ValueError, match="NETEM and RECEIVE_US"):
        live.asked(["NETEM=delay 5ms", "RECEIVE_US=200"])


def test_the_figure_has_a_panel_for_each_of_few_flows_and_one_for_each_program_otherwise() -> None:
    def run(flows: int) -> traces.Trace:
        frame = pl.DataFrame({"t": [0.0, 1.0], "cwnd": [1.0, 2.0], "ssthresh": [5.0, 5.0], "rtt": [40.0, 41.0]})
        frame = frame.with_columns(state=pl.lit("recovery"))
        queue = pl.DataFrame({"t": [0.0, 1.0], "packets": [0, 9], "drops": [0, 2]})
        return traces.Trace({dumbbell.name(0, i): frame for i in range(flows)}, queue)

    for flows, panels in ((1, 3), (4, 6), (5, 4)):
        drawn = figure.draw("a", {"Linux": run(flows), "aqmlab": run(flows)}, (0, 1))
        assert len(drawn.axes) == panels

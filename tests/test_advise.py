"""`aqmlab advise`: the link, the configurations, the lines to paste, and the command."""

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import router_grammar
from conftest import Cli
from oracle.linux import tc

import aqmlab
from aqmlab import Scenario, _core
from aqmlab.advice import advise, candidates, link, race, users
from aqmlab.advice.answer import Advice, Verdict
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidate import DEFAULT, Candidate
from aqmlab.advice.link import Link
from aqmlab.advice.queues import Direction, Queues
from aqmlab.advice.runs import RunsFailed
from aqmlab.advice.score import LOADS, measures
from aqmlab.execute import threads
from aqmlab.execute.task import Outcome, Task
from aqmlab.reports import advice_text
from aqmlab.runs import replication
from aqmlab.runs.until import OutOfTime
from aqmlab.scenario import Settings

HOME = Link.given("20mbit", "4mbit", "10-80ms", "home")
OPTIONS = ("--down", "2mbit", "--up", "1mbit", "--rtt", "20-40ms")


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> Link:
    """A slow link whose loads are few and short, with two configurations besides its own."""
    for load in ("download", "calls", "many", "hosts"):
        monkeypatch.delitem(LOADS, load)  # type: ignore[arg-type]
    # After the start the provider's queue drains by the 5 % alone.
    monkeypatch.setattr(link, "MEASURED", 8.0)
    routers = candidates._routers

    def few(asked: Link) -> list[Candidate]:
        return [one for one in routers(asked) if one.label in ("fq_codel", "pie")]

    monkeypatch.setattr(candidates, "_routers", few)
    return Link.given("2mbit", "1mbit", "20-40ms", "home")


# The link


def test_round_trips_are_those_that_were_asked_for() -> None:
    scenario = HOME.scenario("many")
    table = scenario.resolved["dumbbell"]
    one_way = [link._base(table["delay"]) + link._base(one) for one in table["sender_delay"]]
    trips = [2 * (one + link._base(table["receiver_delay"][0])) for one in one_way]
    assert trips == pytest.approx([math.sqrt(0.01 * 0.08), 0.01, 0.08])
    assert scenario.resolved["dumbbell"]["buffer"] == scenario.resolved["dumbbell"]["reverse_buffer"] == "500 ms"
    assert HOME.rtt == 0.08


def test_the_link_of_a_file_is_its_dumbbell_with_its_disciplines() -> None:
    text = (
        'aqm = "pi:q_ref=9"\n[dumbbell]\nrate = "10mbit"\nsender_delay = ["1 ms", "uniform(2 ms, 4 ms)"]\n[[traffic]]\n'
    )
    own = Scenario.parse(text)
    found = Link.of(own, "mine.toml", "home")
    assert (found.yours, found.rtt) == ("pi", pytest.approx(2 * (2.5e-3 + 3e-3 + 10e-3)))
    made = found.scenario("web").resolved
    assert made["aqm"] == own.resolved["aqm"]
    assert made["reverse_aqm"] == {"name": "droptail"}
    table = own.resolved["dumbbell"]
    kept = set(table) - {"rate", "reverse_rate", "reverse_buffer"}
    assert {key: made["dumbbell"][key] for key in kept} == {key: table[key] for key in kept}
    assert made["dumbbell"]["reverse_buffer"] == table["access_buffer"]
    assert link._base(made["dumbbell"]["reverse_rate"]) == 10e6


@pytest.mark.parametrize("who", users.USERS)
def test_every_rate_within_the_limits_has_valid_scenarios(who: str) -> None:
    with pytest.raises(BadLink, match="--down: 1kbit: must be from") as refused:
        Link.given("1kbit", "1mbit", "10ms", who)
    limits = re.findall(r"[0-9.]+ [kG]bit/s", refused.value.problem)
    for rate in limits:
        Link.given(rate, rate, "10ms", who).scenario("idle").check()
    assert len(limits) == 2


@pytest.mark.parametrize("who", users.USERS)
def test_every_load_of_all_users_is_valid(who: str) -> None:
    whose = Link.given("20mbit", "4mbit", "10-80ms", who)
    for load in LOADS:
        scenario = whose.scenario(load)
        scenario.check()
        names = {entry["name"] for entry in scenario.resolved["traffic"]}
        assert {"call", "call-up"} < names
    counts = {f"{load}.{path}" for load, paths in users.USERS[who].counts.items() for path in paths}
    for one in counts:
        load, _, entry, _ = one.split(".")
        assert entry in {found["name"] for found in whose.scenario(load).resolved["traffic"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("10gbit", "1mbit", "10ms", "home"), "--down: 10gbit: no router's shaper reaches it: HTB and CAKE"),
        (("2501mbit", "1mbit", "10ms", "home"), "--down: 2501mbit: no router's shaper reaches it: HTB and CAKE"),
        (("10mbit", "0mbit", "10ms", "home"), "--up: 0mbit: must be from 25 kbit/s to 2.5 Gbit/s"),
        (("10mbit", "10ms", "10ms", "home"), "--up: 10ms: must be a rate"),
        (("10mbit", "1mbit", "0ms", "home"), "--rtt: 0ms: must be above 0"),
        (("10mbit", "1mbit", "80-10ms", "home"), "--rtt: 80-10ms: must be above 0, from the shortest to the longest"),
        (("10mbit", "1mbit", "10", "home"), "--rtt: 10: must be a time or a range of times, such as"),
        (("10mbit", "1mbit", "10mbit", "home"), "--rtt: 10mbit: must be a time"),
        (
            ("10mbit", "1mbit", "10ms", "mars"),
            "--users: mars: must be one of home, office, cellular, or numbers, as '4 people, 2 calls, 1 game'",
        ),
    ],
)
def test_a_link_that_cannot_be_is_refused(options: tuple[str, str, str, str], message: str) -> None:
    with pytest.raises(BadLink) as refused:
        Link.given(*options)
    assert str(refused.value).startswith(message)
    if "shaper" in message:
        assert "estimate" in str(refused.value), "the limit was not measured"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[link]]\nname = "l"\nfrom = "a"\nto = "b"\naqm = "pi"\n[[traffic]]\nfrom = "a"\nto = "b"\n',
            "no [dumbbell]",
        ),
        (
            '[dumbbell]\ndelay = "0 s"\nsender_delay = "0 s"\nreceiver_delay = "0 s"\n[[traffic]]\n',
            "a round trip takes no time: set dumbbell.delay",
        ),
        (
            '[dumbbell]\n[[link]]\nname = "l"\nfrom = "r2"\nto = "b"\n[[traffic]]\n',
            "[[link]]: advice is for the dumbbell",
        ),
        (
            '[dumbbell]\n[[wifi]]\nname = "w"\nap = "r2"\nstations = "b"\nmcs = 0\n[[traffic]]\n',
            "[[wifi]] w: not beside [dumbbell]: write the wired links as [[link]] instead",
        ),
    ],
)
def test_a_file_without_a_link_to_shape_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadLink) as refused:
        Link.of(Scenario.parse(text), "mine.toml", "home")
    assert str(refused.value).startswith(f"mine.toml: {message}")


@pytest.mark.parametrize(("key", "way"), [("rates", "down"), ("reverse_rates", "up")])
def test_a_recorded_rate_stays_and_shapers_are_at_parts_of_its_mean(key: str, way: str, tmp_path: Path) -> None:
    rows = [f"{5 * number},{2 if number % 2 else 8}" for number in range(20)]
    (tmp_path / "link.csv").write_text("\n".join(["time,rate_mbps", *rows]))
    given = f"[dumbbell]\nrate = '8 Mbit/s'\n{key} = {{file = '{tmp_path}/link.csv'}}\n[[traffic]]\n"
    own = Scenario.parse(given)
    found = Link.of(own, "mine.toml", "home")
    assert found.varies == {way}
    rate = {one: getattr(found.queues, one).rate for one in ("down", "up")}
    assert rate.pop(way) == pytest.approx(5e6, rel=0.05)
    assert rate.popitem()[1] == pytest.approx(8e6, rel=0.01)
    by = {one.label: one.queues for one in candidates.candidates(found)}
    made = found.scenario("web", by["fq_codel at 50 %"])
    assert made.resolved["dumbbell"][key] == own.resolved["dumbbell"][key]
    assert made.resolved["dumbbell"]["rate"] == "8 Mbit/s"
    assert made.duration - made.warmup >= 60
    half = by["fq_codel at 50 %"]
    shaped = {"down": half.down.rate, "up": half.up.rate}
    assert shaped[way] == pytest.approx(2.5e6, rel=0.05)
    assert max(shaped.values()) == pytest.approx(7.6e6, rel=0.01)
    assert by["cake autorate-ingress"].down.aqm["autorate_ingress"] is True
    assert " autorate-ingress" in advise.configurations(found)["cake autorate-ingress"].down.words


@pytest.mark.parametrize("name", ["links/cellular", "links/starlink"])
def test_links_of_the_library_whose_rates_vary_have_advice(name: str) -> None:
    found = Link.of(Scenario.load(name), name, "home")
    assert " on average, " in found.named
    for one in candidates.candidates(found):
        found.scenario("calls", one.queues).check()


def test_people_calls_and_games_can_be_numbered() -> None:
    mixed = Link.given("20mbit", "4mbit", "10-80ms", "40 people, 3 calls, 2 games")
    entries = {entry["name"]: entry for entry in mixed.scenario("calls").resolved["traffic"]}
    assert {name: entries[name]["count"] for name in ("call", "call-up", "video", "video-up", "game", "game-up")} == {
        **dict.fromkeys(("call", "call-up", "video", "video-up"), 3),
        **dict.fromkeys(("game", "game-up"), 2),
    }
    assert {entry["name"]: entry["count"] for entry in mixed.scenario("web").resolved["traffic"]}["web"] == 8
    assert "game" not in {entry["name"] for entry in mixed.scenario("web").resolved["traffic"]}
    assert users.users_of("40 people") == users.users_of("40")
    home, ten = (users.users_of(one).load("many").resolved["traffic"] for one in ("9", "10"))
    assert all(more["count"] >= fewer["count"] for more, fewer in zip(ten, home, strict=True))
    assert users.users_of("100") == users.USERS["office"]
    run = replication.run(mixed.scenario("calls").with_({"duration": 8, "warmup": 3}))
    row = {f"classes.{name}.delay_p95": run[f"classes.{name}.delay_p95"].mean for name in entries}
    found = {one.entry: one for one in measures(row, 8.0, entries)}
    assert found["game"].kind == found["game-up"].kind == "calls"
    assert 0.001 < found["game"].value < 8.0


@pytest.mark.parametrize(
    "text", ["4 people, 2 people", "0 calls", "3 cats", "4 people,", "201 games", "people", "1 call 2"]
)
def test_users_that_cannot_be_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadLink, match=r"--users: .*: must be one of home, office, cellular, or numbers, as '4 people"):
        users.users_of(text)


# The configurations

CONFIGURATIONS = advise.configurations(HOME)
BY_LABEL = {one.label: one for one in candidates.candidates(HOME)}


def by_meaning(table: Mapping[str, Any]) -> dict[str, Any]:
    """A discipline with every value filled in, in base units."""

    def meaning(value: Any) -> Any:
        if isinstance(value, Mapping):
            return by_meaning(value)
        return (_core.in_base_unit(value) or value) if isinstance(value, str) else value

    return {key: meaning(value) for key, value in table.items()}


# The parser of tc's words is that of the comparison with Linux; it knows nothing of this writer.
@pytest.mark.parametrize("label", [label for label, one in CONFIGURATIONS.items() if one.kernel != "cake"])
def test_the_words_mean_what_was_simulated(label: str) -> None:
    tried, written = BY_LABEL[label], CONFIGURATIONS[label]
    for half, queue, key in ((written.down, tried.queues.down, "aqm"), (written.up, tried.queues.up, "reverse_aqm")):
        read = tc.discipline(half.words)
        scenario = HOME.scenario("idle", tried.queues)
        again = HOME.scenario("idle", Queues(*(Direction(read.aqm, read.buffer, queue.rate),) * 2))
        mine, theirs = (by_meaning(one.resolved["link"][0][key]) for one in (scenario, again))
        assert mine == theirs, half.words
        assert by_meaning({"buffer": read.buffer}) == by_meaning({"buffer": queue.buffer})


def test_a_cake_is_that_of_the_words() -> None:
    queues, half = BY_LABEL["cake rtt 80ms"].queues, CONFIGURATIONS["cake rtt 80ms"].down
    assert half.words == f"cake bandwidth {half.kbit}kbit besteffort flows rtt 80ms ingress"
    mine = HOME.scenario("idle", queues).resolved["link"][0]["aqm"]
    read = Direction(tc.discipline(half.words).aqm, "9999 packets", queues.down.rate)
    again = HOME.scenario("idle", Queues(read, read)).resolved["link"][0]["aqm"]
    assert by_meaning(mine) == by_meaning(again)


@pytest.mark.parametrize(
    ("layer", "link_of", "label", "wanted"),
    [
        ("pppoe-llcsnap", ("2mbit", "500kbit", "40ms"), "cake", 0.06),
        ("pppoe-ptm", ("25mbit", "5mbit", "15ms"), "cake", 0.02),
        ("pppoe-ptm", ("25mbit", "5mbit", "15ms"), "fq_codel", 0.02),
        ("pppoe-ptm", ("25mbit", "5mbit", "15ms"), "fq_pie", 0.02),
    ],
)
def test_a_shaper_that_counts_the_link_layer_keeps_the_queue_from_the_modem(
    layer: str, link_of: tuple[str, str, str], label: str, wanted: float
) -> None:
    asked = Link.given(*link_of, "home", layer)
    (queues,) = (one.queues for one in candidates.candidates(asked) if one.label == label)
    blind = Queues(*(replace(way, framing="", aqm=without(way.aqm)) for way in (queues.down, queues.up)))

    def late(has: Queues) -> float:
        run = replication.run(asked.scenario("uploads", has))
        return float(run.frame["classes.call-up.delay_p95"][0])

    assert late(queues) < wanted
    if layer == "pppoe-llcsnap":
        assert late(blind) > 0.3


def without(aqm: Settings) -> Settings:
    return {key: value for key, value in aqm.items() if key != "framing"}


def test_the_lines_carry_the_link_layer() -> None:
    def of(layer: str, label: str) -> tuple[str, str]:
        written = advise.configurations(Link.given("20mbit", "2mbit", "40ms", "home", layer))[label]
        return written.tc, written.uci or ""

    tc_lines, uci = of("pppoe-llcsnap", "fq_codel")
    assert "root handle 1: stab overhead 40 mpu 0 linklayer atm htb default 10" in tc_lines  # PPP has no header
    wanted = {"option linklayer 'atm'", "option overhead '40'", "option interface 'pppoe-wan'"}
    assert wanted <= {line.strip() for line in uci.splitlines()}
    assert tc_lines.startswith("WAN=pppoe-wan  # ")
    assert "rate 1900kbit" in tc_lines
    tc_lines, _ = of("pppoe-ptm", "fq_codel")
    assert "stab overhead 30 mpu 0 linklayer ethernet htb" in tc_lines
    assert "rate 1870kbit" in tc_lines  # 64/65 of it
    assert "stab overhead 8 mpu 0 linklayer ethernet htb" in of("bridged-ptm", "fq_codel")[0]
    assert of("pppoa-vcmux", "cake")[0].startswith("WAN=pppoa-wan  # ")
    tc_lines, _ = of("docsis", "cake")
    assert "cake bandwidth 1900kbit besteffort flows rtt 100ms docsis\n" in tc_lines
    assert "cake bandwidth 19000kbit besteffort flows rtt 100ms docsis ingress" in tc_lines
    assert "stab" not in of("", "fq_codel")[0]


def test_downloads_come_through_the_queue_of_the_provider() -> None:
    made = HOME.scenario("many", BY_LABEL["fq_codel at 85 %"].queues).resolved
    assert (made["dumbbell"]["rate"], made["dumbbell"]["buffer"]) == ("20 Mbit/s", "500 ms")
    assert link._base(made["link"][0]["rate"]) == 17e6
    assert link._base(made["link"][0]["reverse_rate"]) == 3.8e6
    assert {end for entry in made["traffic"] for end in (*entry["from"], *entry["to"])} == {"senders", "home"}


def test_hosts_share_evenly_where_the_lines_say_so() -> None:
    def part(label: str) -> float:
        run = replication.run(HOME.scenario("hosts", BY_LABEL[label].queues).with_({"duration": 12, "warmup": 6}))
        single, crowd = (run[f"classes.{entry}.goodput"].mean or 0.0 for entry in ("single", "crowd"))
        return single / (single + crowd)

    assert part("fq_codel") < 0.15
    assert part("cake") < 0.15
    assert 0.4 < part("cake by host") < 0.6
    written = CONFIGURATIONS["cake by host"]
    assert " dual-srchost nat " in written.up.words
    assert " dual-dsthost nat " in written.down.words
    assert "iqdisc_opts 'bandwidth 19000kbit besteffort dual-dsthost nat " in (written.uci or "")
    assert "nat" not in CONFIGURATIONS["cake"].tc
    made = HOME.scenario("hosts", BY_LABEL["cake by host"].queues).resolved
    assert {end for entry in made["traffic"] for end in (*entry["from"], *entry["to"])} == {"senders", "home", "second"}


def test_a_filter_of_acknowledgements_is_tried_where_they_fill_the_uplink() -> None:
    lopsided = Link.given("100mbit", "2mbit", "40ms", "home")
    assert " ack-filter" in advise.configurations(lopsided)["cake ack-filter"].up.words
    assert "cake ack-filter" not in BY_LABEL


def test_what_the_kernel_refuses_at_a_rate_is_left_out_with_the_reason() -> None:
    fast = Link.given("1gbit", "1gbit", "10-80ms", "home")
    assert {*advise.configurations(fast)} == {*CONFIGURATIONS} - {"red"}
    reason = advise._Field(fast, every=False).left_out["red"]
    assert re.match(r"link\.router\.aqm\.max_bytes = .*: must be at most .* for the kernel to accept it", reason)


def test_each_direction_has_its_own_values_and_rate() -> None:
    codel = advise.configurations(Link.given("10mbit", "1mbit", "80ms", "home"))["codel interval 80ms"]
    assert codel.down.words == "codel limit 1000 target 4ms interval 80ms ecn"
    assert codel.up.words == "codel limit 1000 target 19124us interval 80ms ecn"  # 1.5 packets at 950 kbit/s
    assert (codel.down.kbit, codel.up.kbit) == (9500, 950)
    assert "rate 950kbit ceil 950kbit burst 1600" in codel.tc
    assert "option download '9500'" in (codel.uci or "")
    assert ("TCA_CODEL_TARGET", 4000, 19124, "µs") in codel.values()


def test_the_options_of_sqm_and_the_words_are_the_same() -> None:
    uci = CONFIGURATIONS["fq_codel"].uci
    assert uci
    options = dict(re.findall(r"option (\w+) '(.*)'", uci))
    for way, half in (("i", CONFIGURATIONS["fq_codel"].down), ("e", CONFIGURATIONS["fq_codel"].up)):
        again = f"limit {options[f'{way}limit']} target {options[f'{way}target']} {options[f'{way}qdisc_opts']} ecn"
        assert half.words == f"fq_codel {again}"
    assert CONFIGURATIONS["red"].uci is None


@pytest.mark.parametrize("label", CONFIGURATIONS)
def test_the_lines_can_be_pasted_again(label: str) -> None:
    lines = [line.replace("2> /dev/null", "").split() for line in CONFIGURATIONS[label].tc.splitlines()]
    clears = {("tc", "$WAN", "root"), ("tc", "$WAN", "ingress"), ("ip", "$IFB"), ("tc", "$IFB", "root")}
    seen = set()
    for line in lines:
        if "del" in line:
            seen.add((line[0], *(word for word in line if word in ("$WAN", "$IFB", "root", "ingress"))))
        if line[:3] == ["tc", "qdisc", "add"] and "parent" not in line:
            assert ("tc", line[4], "root" if "root" in line else "ingress") in seen
        if line[:3] == ["ip", "link", "add"]:
            assert ("ip", "$IFB") in seen
    assert seen == clears
    assert all("2> /dev/null" in line for line in CONFIGURATIONS[label].tc.splitlines() if " del " in line)


def test_the_packages_of_openwrt_and_the_device_to_replace_are_named() -> None:
    needed = {one.kernel: one.packages for one in CONFIGURATIONS.values()}
    assert needed["fq_codel"] == needed["cake"] == ["sqm-scripts"]
    assert needed["fq_pie"] == ["sqm-scripts", "kmod-sched-fq-pie"]
    assert needed["red"] == ["tc-full", "kmod-ifb", "kmod-sched-core", "kmod-sched-red"]
    assert "# in place of your section of this device" in (CONFIGURATIONS["pie"].uci or "")
    assert "# eth0: the device to the modem" in (CONFIGURATIONS["pie"].uci or "")
    text = "\n".join(advice_text.configured(CONFIGURATIONS["fq_pie"]))
    assert "/etc/config/sqm (packages sqm-scripts, kmod-sched-fq-pie), then: service sqm restart" in text


def test_with_all_the_others_run_behind_the_same_shaper() -> None:
    every = {one.label: one for one in candidates.candidates(HOME, every=True)}
    assert {"pi2", "sfb", "dualpi2", "drr", "lred"} < set(every)
    assert every["pi2"].kernel is None
    assert every["pi2"].queues.down.rate == every["fq_codel"].queues.down.rate == 19e6
    assert every[DEFAULT].queues.down.rate == 20e6


def test_video_calls_have_at_most_a_third_of_a_slow_link() -> None:
    slow = Link.given("3mbit", "500kbit", "10-80ms", "home")
    entries = {entry["name"]: entry for entry in slow.scenario("calls").resolved["traffic"]}
    assert entries["video"]["frame_size"] == "2500 B"
    up = entries["video-up"]
    sizes = 29 * link._base(up["frame_size"]) + link._base(up["key_size"])
    assert sizes * 8 == pytest.approx(500e3 / 3, rel=1e-3)
    assert slow.video == {"up": pytest.approx(500e3 / 3)}
    assert not HOME.video
    shaped = slow.scenario("calls", Queues(slow.queues.down, Direction({"name": "droptail"}, "50 kB", 1e5)))
    same = {entry["name"]: entry for entry in shaped.resolved["traffic"]}["video-up"]
    assert {**same, "from": up["from"]} == up  # the same for all


# The whole


def raced(asked: Link, folder: Path, **how: Any) -> Advice:
    return advise.advise(asked, folder, **({"within": 600.0, "most": 5} | how))


def test_the_same_command_gives_the_same_answer_whatever_the_threads_and_repeats_no_run(
    brief: Link, tmp_path: Path, simulated: Sequence[Task]
) -> None:
    one, two = (raced(brief, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert repr(one) == repr(two)
    assert one.document() == two.document()
    assert one.verdict is Verdict.USE
    assert one.best.label == "fq_codel"
    assert repr(one).startswith("Use fq_codel: voice calls take ")
    assert "ms with droptail, without a shaper (p95, one way, worst load)" in " ".join(repr(one).split())
    count = len(simulated)
    assert count == 2 * len(one.frame) == 2 * sum(len(each.gains) for each in one.standings) * len(LOADS)
    assert raced(brief, tmp_path / "1").document() == one.document()
    assert len(simulated) == count


def test_python_has_the_same_advice(brief: Link, tmp_path: Path) -> None:
    whole = aqmlab.advise(down="2mbit", up="1mbit", rtt="20-40ms", within="600 s", most_seeds=3, out=tmp_path)
    assert whole.document() == raced(brief, tmp_path / "store", most=3).document()
    assert aqmlab.advise(Scenario.load("links/cellular"), most_seeds=1, within="600 s").present.gains == [0.0]
    with pytest.raises(ValueError, match="give a scenario, or down, rtt and perhaps up"):
        aqmlab.advise(down="2mbit")
    with pytest.raises(ValueError, match="give a scenario, or down, rtt and perhaps up"):
        aqmlab.advise(Scenario.load("links/cellular"), up="20mbit")
    with pytest.raises(BadLink, match="router: netgear: must be one of linux, freebsd"):
        aqmlab.advise(down="2mbit", rtt="20ms", router="netgear")


def test_the_answer_names_what_would_not_help(brief: Link, tmp_path: Path) -> None:
    by = {one.label: one for one in candidates.candidates(brief)}
    found = raced(
        Link(brief.named, "fq_codel", brief.users, brief.rtt, brief.dumbbell, by["fq_codel"].queues), tmp_path
    )
    assert "Would not help, not better than fq_codel, your default by 5 %: " in repr(found)
    assert advice_text.baseline(found) == "fq_codel, your default"
    better = repr(raced(brief, tmp_path / "droptail"))
    assert "Would not help" not in better


def test_a_default_that_is_as_good_is_kept(brief: Link, tmp_path: Path) -> None:
    (best,) = (one for one in candidates.candidates(brief) if one.label == "fq_codel")
    found = raced(Link(brief.named, "fq_codel", brief.users, brief.rtt, brief.dumbbell, best.queues), tmp_path)
    assert found.verdict is Verdict.KEEP
    assert found.configuration is None
    assert repr(found).startswith("Keep fq_codel, your default: nothing that was tried is better by 5 %")
    assert "tc qdisc" not in repr(found)


def test_time_that_is_over_keeps_the_complete_seeds(
    brief: Link, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough = 2 * 3 * len(LOADS) + 1
    done: list[Task] = []
    simulate = threads.simulate

    def slow(task: Task, watch: Any = None) -> Outcome | None:
        if len(done) >= enough:
            raise OutOfTime
        done.append(task)
        return simulate(task, watch)

    monkeypatch.setattr(threads, "simulate", slow)
    found = raced(brief, tmp_path, jobs=1, within=1000.0)
    assert [len(one.gains) for one in found.standings] == [2, 2, 2]
    assert found.verdict is Verdict.UNDECIDED
    assert "The race ended after 1000 s; a faster machine" in repr(found)
    assert len(found.frame) == enough - 1


def test_a_run_that_fails_ends_the_race_and_is_named(
    brief: Link, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = threads.simulate

    def failing(task: Task, watch: Any = None) -> Outcome | None:
        return Outcome(error="it broke") if task.label == "pie, web, seed 3" else simulate(task, watch)

    monkeypatch.setattr(threads, "simulate", failing)
    with pytest.raises(race.Stopped) as stopped:
        raced(brief, tmp_path)
    assert isinstance(stopped.value.reason, RunsFailed)
    assert str(stopped.value.reason) == "run failed: pie, web, seed 3: it broke"
    assert stopped.value.finished
    assert len(stopped.value.finished.present.gains) == 2


# The command


def test_the_command_writes_all_and_its_scenarios_are_those_that_ran(
    brief: Link, quick_cli: Cli, tmp_path: Path
) -> None:
    how = ("--most-seeds", "5", "--within", "10min", "--out", "out", "--csv", "all.csv", "--figure-format", "svg")
    done = quick_cli("advise", *OPTIONS, *how)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Use fq_codel: ")
    out = tmp_path / "out"
    document = json.loads((out / "advice.json").read_text(encoding="utf-8"))
    assert (document["verdict"], document["best"], next(iter(document["ranking"]))) == ("use", "fq_codel", "fq_codel")
    assert (out / "router.sh").read_text(encoding="utf-8") == document["configuration"]["tc"] + "\n"
    assert {path.name for path in out.glob("*")} == {
        *("advice.json", "tradeoff.svg", "scenarios", "router.sh", "sqm", "store")
    }
    file = out / "scenarios" / "uploads" / "fq_codel.toml"
    assert tomllib.loads(file.read_text(encoding="utf-8"))["link"][0]["rate"] == "1900000 bit/s"
    again = json.loads(
        quick_cli("run", file, "--seeds", str(document["ranking"]["fq_codel"]["seeds"]), "--json").stdout
    )
    load = document["ranking"]["fq_codel"]["loads"]["uploads"]
    assert again["classes"]["downloads"]["goodput"] == pytest.approx(load["downloads"]["downloads"])
    assert again["classes"]["call"]["delay_p95"] == pytest.approx(load["call"]["calls"])
    assert (tmp_path / "all.csv").read_text(encoding="utf-8").startswith("label,load,seed,queue_")


def test_the_command_has_the_lines_of_another_router(brief: Link, quick_cli: Cli, tmp_path: Path) -> None:
    options = (*OPTIONS, "--router", "freebsd", "--most-seeds", "1", "--within", "10min", "--out", "out")
    done = quick_cli("advise", *options, "--aqm", "pie")
    assert done.returncode == 0, done.stderr
    assert "FreeBSD (OPNsense, pfSense), with the grammar of ipfw(8), and not tried on a device:" in done.stdout
    assert "tc qdisc" not in done.stdout
    written = (tmp_path / "out" / "freebsd.sh").read_text(encoding="utf-8")
    assert {pipe["kind"] for pipe in router_grammar.dummynet(written).values()} == {"pie"}
    assert not (tmp_path / "out" / "router.sh").exists()
    document = json.loads((tmp_path / "out" / "advice.json").read_text(encoding="utf-8"))
    assert document["router"] == "freebsd"
    assert document["configurations"]["pie"]["routers"]["mikrotik"]["lacking"].startswith("MikroTik RouterOS 7 has no")
    refused = quick_cli("advise", *OPTIONS, "--router", "mikrotik", "--aqm", "pie")
    assert (refused.returncode, "pie: must be one of fq_codel" in " ".join(refused.stderr.split())) == (2, True)


def test_a_time_too_short_for_a_seed_says_how_to_go_on(brief: Link, quick_cli: Cli) -> None:
    done = quick_cli("advise", *OPTIONS, "--within", "1 ns", "--out", "out")
    assert done.returncode == 4
    assert re.fullmatch(
        r"--within 1e-09 s: \d+ of the 9 runs of the first answer are finished; the finished runs are kept in out; "
        r"give --within '\d+ s'\n",
        done.stderr,
    )


def test_ctrl_c_keeps_the_finished_runs(
    brief: Link, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    simulate, done = threads.simulate, []

    def interrupted(task: Task, watch: Any = None) -> Outcome | None:
        if len(done) == 20:
            raise KeyboardInterrupt
        done.append(task)
        return simulate(task, watch)

    monkeypatch.setattr(threads, "simulate", interrupted)
    stopped = quick_cli("advise", *OPTIONS, "--out", "out", "--jobs", "1")
    assert stopped.returncode == 130
    answer = "interrupted: 20 runs are finished; the finished runs are kept in out"
    assert f"{answer}; to go on: " in stopped.stderr
    assert stopped.stdout.startswith("Undecided: 2 of the 3 seeds")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--down: missing: give it, as in --down 100mbit, or the file of a link"),
        (("--down", "1mbit"), "--rtt: missing: give it, as in --rtt 15-80ms, or the file of a link"),
        (("links/home", "--up", "1mbit"), "--up: not allowed with links/home, which has it: omit one of them"),
        (("links/5g", "--up", "1mbit"), "--up: not allowed with links/5g, which has it: omit one of them"),
        (
            ("links/wifi", "--link-layer", "docsis"),
            "--link-layer: docsis: not allowed with [[wifi]], whose headers are",
        ),
        (("--down", "1kbit", "--rtt", "10ms"), "--down: 1kbit: must be from 25 kbit/s to 2.5 Gbit/s"),
        (("--down", "1mbit", "--rtt", "0ms"), "--rtt: 0ms: must be above 0"),
        ((*OPTIONS, "--router", "netgear"), "netgear: must be one of linux, freebsd, mikrotik, cisco, junos"),
        (("--down", "2mbit", "--rtt", "600ms", "--router", "junos"), "junos: it has no configuration for this link"),
        ((*OPTIONS, "--within", "0 s"), "must be a time above 0"),
    ],
)
def test_bad_usage_is_one_line_and_runs_nothing(
    quick_cli: Cli, simulated: Sequence[Task], arguments: tuple[str, ...], message: str
) -> None:
    done = quick_cli("advise", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not simulated

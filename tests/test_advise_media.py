"""`aqmlab advise` on wireless LANs, cells and cable networks: their queues, a router beside them, and the owners."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from oracle.linux import tc

from aqmlab import Scenario
from aqmlab.advice import advise, candidates, devices, medium
from aqmlab.advice.answer import Advice, Verdict
from aqmlab.advice.autorated import autorate
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidate import DEFAULT, YOU, Candidate
from aqmlab.advice.configuration import AccessPoint
from aqmlab.advice.link import Link
from aqmlab.advice.score import LOADS
from aqmlab.execute.task import Task
from aqmlab.runs import replication

WIFI = """
[[link]]
name = "wan"
from = "server"
to = "ap"
rate = "1 Gbit/s"
delay = "10 ms"
[[wifi]]
name = "wlan"
ap = "ap"
stations = "laptop"
standard = "n"
mcs = 4
[[traffic]]
from = "server"
to = "laptop"
"""
CELL = """
[[link]]
name = "core"
from = "server"
to = "base"
rate = "1 Gbit/s"
delay = "10 ms"
[[cell]]
name = "cell"
base = "base"
users = ["phone", "other"]
width = 5
cqi = 10
buffer = "1 MB"
[[traffic]]
name = "own"
from = "server"
to = "phone"
[[traffic]]
name = "theirs"
from = "server"
to = "other"
"""
CABLE = """
[[cable]]
name = "cable"
cmts = "cmts"
modems = "home"
rate = "4 Mbit/s"
reverse_rate = "20 Mbit/s"
[[link]]
name = "lan"
from = "laptop"
to = "home"
rate = "1 Gbit/s"
delay = "0.1 ms"
[[link]]
name = "wan"
from = "cmts"
to = "server"
rate = "10 Gbit/s"
delay = "10 ms"
[[traffic]]
from = "laptop"
to = "server"
"""
TEXTS = {"wifi": WIFI, "cell": CELL, "cable": CABLE}


def link_of(kind: str, change: dict[str, Any] | None = None) -> Link:
    return Link.of(Scenario.parse(TEXTS[kind]).with_(change or {}), "mine.toml", "home")


@pytest.fixture(scope="module")
def links() -> dict[str, Link]:
    return {kind: link_of(kind) for kind in TEXTS}


def by_label(link: Link) -> dict[str, Candidate]:
    return {one.label: one for one in candidates.candidates(link)}


def few(monkeypatch: pytest.MonkeyPatch, *routers: str) -> None:
    """Let three loads and a router's configurations of these labels race."""
    for load in LOADS.keys() - {"idle", "uploads", "web"}:
        monkeypatch.delitem(LOADS, load)  # type: ignore[arg-type]
    all_routers = candidates._routers
    monkeypatch.setattr(
        candidates, "_routers", lambda asked: [one for one in all_routers(asked) if one.label in routers]
    )


def raced(link: Link, folder: Path, **how: Any) -> Advice:
    return advise.advise(link, folder, **({"within": 600.0, "most": 3} | how))


# The network


def ends(scenario: Scenario) -> dict[str, tuple[list[str], list[str]]]:
    return {entry["name"]: (entry["from"], entry["to"]) for entry in scenario.resolved["traffic"]}


def test_a_router_is_at_home_behind_a_modem_and_before_an_access_point(links: dict[str, Link]) -> None:
    def wired(kind: str) -> dict[str, tuple[str, str]]:
        made = links[kind].scenario("idle", by_label(links[kind])["cake"].queues)
        return {one["name"]: (one["from"], one["to"]) for one in made.resolved["link"]}

    assert wired("wifi") == {"wan": ("server", "router"), "router": ("router", "ap")}
    assert wired("cell") == {"core": ("server", "base"), "router": ("phone", "router")}
    assert wired("cable") == {
        **{"lan": ("laptop", "router"), "wan": ("cmts", "server")},
        "router": ("home", "router"),
    }
    cell = links["cell"]
    behind = ends(cell.scenario("idle", by_label(cell)["cake"].queues))
    assert behind["call-up"] == (["router"], ["server"])
    late = link_of("cell", {"traffic.theirs": {"start": "90 s", "stop": "99 s"}})
    late.scenario("idle").check()
    assert behind["other-theirs"] == ends(cell.scenario("idle"))["other-theirs"] == (["server"], ["other"])


def test_the_default_is_the_network_of_the_file(links: dict[str, Link]) -> None:
    for kind, link in links.items():
        own, made = Scenario.parse(TEXTS[kind]).resolved, link.scenario("web").resolved
        assert made[kind] == own[kind]
        assert made["link"] == own["link"]
    assert [link.yours for link in links.values()] == ["droptail"] * 3
    assert link_of("cable", {"cable.cable.reverse_aqm": "pie:preset=docsis"}).yours == "pie"


def test_every_load_of_every_configuration_is_valid(links: dict[str, Link]) -> None:
    for kind in links:
        link = links[kind]
        for one in candidates.candidates(link):
            for load in LOADS:
                link.scenario(load, one.queues).check()


def test_stations_have_the_flows_in_turn_and_a_single_home_has_a_second_host(links: dict[str, Link]) -> None:
    several = Link.of(Scenario.load("links/wifi"), "links/wifi", "home")
    found = ends(several.scenario("hosts"))
    assert found["call"] == (["server"], ["near", "middle", "far"])
    assert found["call-up"][0] == ["middle", "far", "near"]
    assert (found["crowd"][1], found["single"][1]) == (["near"], ["middle"])
    found = ends(links["cell"].scenario("hosts"))
    assert (found["crowd"][1], found["single"][1]) == (["phone"], ["second"])


def test_rates_and_round_trips_are_those_of_the_full_link(links: dict[str, Link]) -> None:
    cable = links["cable"]
    # Rates of the file count what a shaper with tc's word docsis does.
    assert cable.queues.down.rate == pytest.approx(20e6, rel=0.01)
    assert cable.queues.up.rate == pytest.approx(4e6, rel=0.02)
    assert cable.layer == "docsis"
    assert cable.rtt == pytest.approx(0.02 + 0.005, abs=0.002)
    cell = links["cell"]
    alone = Link.of(Scenario.parse(CELL[: CELL.rindex("[[traffic]]")]), "mine.toml", "home")
    assert alone.queues.down.rate == pytest.approx(2 * cell.queues.down.rate, rel=0.05)
    assert alone.queues.up.rate == pytest.approx(cell.queues.up.rate, rel=0.15)
    assert cell.varies == {"down", "up"}
    far = 'from = "far"\nto = "base"\ndelay = "40 ms"\n[[traffic]]\nfrom = "far"\nto = "phone"\n'
    both = Link.of(Scenario.parse(f'{CELL}\n[[link]]\nname = "long"\n{far}'), "mine.toml", "home")
    assert "round trips of 3" in both.named
    assert both.rtt == pytest.approx(cell.rtt + 0.06, abs=0.005)


# What the runs show


@pytest.mark.parametrize(
    ("kind", "at"), [("wifi", "wlan-laptop"), ("cell", "cell-phone"), ("cable", "cable-home:reverse")]
)
def test_a_shaper_well_below_the_rate_takes_the_queue_from_the_link(links: dict[str, Link], kind: str, at: str) -> None:
    link = links[kind]
    shaped = by_label(link)["cake at 50 %" if link.varies else "cake at 85 %"]
    queued = {
        one: replication.run(link.scenario("download", queues))[f"links.{at}.queue_delay_mean"].mean or 0.0
        for one, queues in (("default", link.queues), ("shaped", shaped.queues))
    }
    assert queued["default"] > 0.05
    assert queued["shaped"] < 0.01


def test_a_bufferbloated_cell_is_improved(
    links: dict[str, Link], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, "cake", "fq_codel at 70 %")
    found = raced(links["cell"], tmp_path, most=5)
    assert found.verdict is Verdict.USE
    assert found.present.gains == [0.0] * 5
    assert found.best.worst("calls") < 0.3 * found.present.worst("calls")
    provider = found.elsewhere[devices.PROVIDER]
    assert provider.label.endswith(" in the base station")
    assert provider.score > 1.3
    said = " ".join(repr(found).split())
    assert (
        f"What the provider can set up, in the base station, as far as its vendor has it: {provider.label} is" in said
    )
    assert found.configuration
    assert "bandwidth" in found.configuration.tc
    document = found.document()["ranking"]
    assert {one["owner"] for one in document.values()} == {"", YOU, devices.PROVIDER, devices.MODEM}
    # Each number is that of a run: the score is from the same seeds of both.
    again = [
        replication.run(found.scenarios[label, "uploads"].with_({"seed": 2})) for label in (provider.label, DEFAULT)
    ]
    calls, present = (one["classes.call.delay_p95"].mean for one in again)
    assert provider.runs[1]["uploads"][0].value == pytest.approx(calls)
    assert found.present.runs[1]["uploads"][0].value == pytest.approx(present)


# Half of the rate in each direction, beside which the other has the other half, would not be half of the goodput.
def test_a_shaper_that_halves_the_goodput_does_not_beat_fq_codel_at_the_queue_of_wifi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, "cake at 30 %")
    own = {"aqm": {**devices.MAC80211}, "reverse_aqm": {**devices.MAC80211}}
    buffers = {"buffer": "8192 packets", "reverse_buffer": "8192 packets"}
    link = link_of("wifi", {f"wifi.wlan.{key}": value for key, value in {**own, **buffers}.items()})
    found = raced(link, tmp_path)
    assert found.verdict is Verdict.KEEP
    assert found.best.label == "cake at 30 %"
    assert 0.3 < found.best.share("downloads", found.present) < 0.55
    assert found.best.score < 1
    default = "it is your default"
    assert found.left_out["mac80211 in the access point"] == found.left_out["mac80211 in the stations"] == default
    assert repr(found).startswith("Keep fq, your default: nothing that was tried is better by 5 %")


def test_an_access_point_has_lines_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulated: Sequence[Task]
) -> None:
    link = link_of("wifi", {"wifi.wlan.queues": "shared", "wifi.wlan.aqm": "droptail"})
    there = {label: one for label, one in advise.configurations(link).items() if isinstance(one, AccessPoint)}
    assert set(there) == {f"{one} in the access point" for one in ("fq_codel", "fq_pie", "cake", "codel", "bfifo")}
    for label, one in there.items():
        device, words = one.tc.splitlines()
        assert device.startswith("WLAN=wlan0 ")
        assert words == f"tc qdisc replace dev $WLAN root {one.down.words}"
        read = tc.discipline(one.down.words)
        made = link.scenario("idle", by_label(link)[label].queues)
        again = made.with_({"wifi.wlan.aqm": read.aqm, **({"wifi.wlan.buffer": read.buffer} if read.buffer else {})})
        assert made.resolved["wifi"][0]["aqm"] == again.resolved["wifi"][0]["aqm"]
    assert "bandwidth" not in there["cake in the access point"].tc
    assert not any(isinstance(one, AccessPoint) for one in advise.configurations(link, "freebsd").values())
    field = advise._Field(link, False, "freebsd")
    reason = "in a device of the link, not in FreeBSD (OPNsense, pfSense)"
    assert field.left_out["fq_codel in the access point"] == reason
    few(monkeypatch)
    found = raced(link, tmp_path)
    assert found.best.owner == YOU or found.best.kernel
    assert "What you can set up besides a router: in the access point" in " ".join(repr(found).split())
    assert "WLAN=wlan0" in repr(found.showing("fq_codel in the access point"))
    assert "OpenWrt: the same lines (package" in " ".join(repr(found.showing("codel in the access point")).split())


def test_nobodys_best_drops_what_another_can_set_up(links: dict[str, Link]) -> None:
    queues = links["cell"].queues
    field = object.__new__(advise._Field)
    owners = (("pie", "pie", ""), ("red", "red", ""), ("fast", None, "the provider"), ("slow", None, "the provider"))
    field.candidates = [Candidate(label, queues, kernel, owner) for label, kernel, owner in owners]
    field.candidates.append(Candidate(DEFAULT, queues))
    field.gains = {
        "pie": [1.0, 1.001, 1.002],
        "red": [0.5, 0.501, 0.503],
        "fast": [2.0, 2.002, 2.003],
        "slow": [1.5, 1.501, 1.503],
        DEFAULT: [0.0] * 3,
    }
    worse, equal, over = field.judged(list(field.gains))
    assert (sorted(worse), equal, over) == ([DEFAULT, "red", "slow"], (), True)


# What is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{CELL}{WIFI.replace('server', 'host')}",
            "observe: missing: which of [[wifi]] wlan and [[cell]] cell is advice for? name a link of it, as in ",
        ),
        (
            f'{CELL}[[link]]\nname = "cord"\nfrom = "phone"\nto = "base"\n',
            "[[cell]] cell: base is reached past it too: remove the other way",
        ),
        (CELL.replace('"server"', '"router"'), "router: the name of advice's own router or host: rename that link or"),
        (
            WIFI.replace('from = "server"\nto = "laptop"', 'from = "phone"\nto = "laptop"').replace(
                'stations = "laptop"', 'stations = ["laptop", "phone"]'
            ),
            "[[wifi]] wlan: no traffic ends beyond ap, at a server: add a [[traffic]] that does",
        ),
    ],
)
def test_networks_without_one_access_link_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BadLink) as refused:
        Link.of(Scenario.parse(text), "mine.toml", "home")
    assert str(refused.value).startswith(f"mine.toml: {message}")
    assert "\n" not in str(refused.value)


def test_a_medium_is_chosen_by_the_observed_link() -> None:
    both = Scenario.parse(f'observe = "cell-other"\n{CELL}{WIFI.replace("server", "host")}')
    assert medium.Medium.of(both, "mine.toml").leaves == ["other"]  # type: ignore[union-attr]


def test_what_needs_a_dumbbell_says_so(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cell.toml").write_text(CELL, encoding="utf-8")
    done = quick_cli("probe-plan", "cell.toml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cell.toml: [[cell]]: the plan is for a link of a steady rate: give --rate and --rtt" in done.stderr
    with pytest.raises(BadLink, match=r"\[\[cell\]\] cell: the pings of cake-autorate cross a \[dumbbell\]"):
        autorate(Scenario.parse(CELL))
    done = quick_cli("advise", "cell.toml", "--link-layer", "docsis")
    assert "docsis: not allowed with [[cell]], whose headers are simulated: omit it" in " ".join(done.stderr.split())

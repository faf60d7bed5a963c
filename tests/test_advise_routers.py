"""The lines of `aqmlab advise` for routers without tc: in the grammar of their documents, with the simulated values."""

from contextlib import suppress

import pytest
import router_grammar

from aqmlab.advice import advise
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidate import DEFAULT
from aqmlab.advice.configuration import Configuration, Half
from aqmlab.advice.kernel import FRAME, base
from aqmlab.advice.link import Link
from aqmlab.advice.routers import ROUTERS, Lacking

LINKS = {
    "cable": Link.given("100mbit", "20mbit", "10-80ms", "home"),
    "slow": Link.given("3mbit", "500kbit", "10-80ms", "home"),
    "adsl": Link.given("10mbit", "1mbit", "40ms", "home", "pppoe-llcsnap"),
    "vdsl": Link.given("50mbit", "10mbit", "25ms", "home", "pppoe-ptm"),
    "fast": Link.given("900mbit", "900mbit", "5ms", "office"),
}
CONFIGURATIONS = {
    (link, label): one for link, asked in LINKS.items() for label, one in advise.configurations(asked).items()
}


def those_of(router: str) -> pytest.MarkDecorator:
    """Every configuration of a link that the router has, with its lines."""
    found = []
    for (link, label), one in CONFIGURATIONS.items():
        with suppress(Lacking):
            found.append(pytest.param(one, ROUTERS[router].lines(one).text, id=f"{link}-{label}"))
    return pytest.mark.parametrize(("configuration", "lines"), found)


def ways(configuration: Configuration) -> list[tuple[str, Half]]:
    return [("up", configuration.up), ("down", configuration.down)]


def micros(half: Half, key: str) -> float:
    return round(base(half.values[key]) * 1e6)


@those_of("freebsd")
def test_dummynet_has_the_simulated_values(configuration: Configuration, lines: str) -> None:
    pipes = router_grammar.dummynet(lines)
    inner = "aqm." if configuration.kernel.startswith("fq_") else ""
    for number, (_, half) in enumerate(ways(configuration), 1):
        pipe = pipes[number]
        assert pipe.get("kind", "bfifo") == configuration.kernel
        assert pipe["rate"] == half.payload * 1000
        for word, key in (("target", "target"), ("interval", "interval"), ("tupdate", "t_update")):
            if word in pipe:
                assert pipe[word] == micros(half, f"{inner}{key}")
        for word in ("alpha", "beta"):
            if word in pipe:
                assert pipe[word] == base(half.values[f"{inner}{word}"])
        if inner:
            assert (pipe["limit"], pipe["flows"]) == (min(int(half.buffer.split()[0]), 20480), 1024)
        if configuration.kernel == "red":
            assert (pipe["min_th"], pipe["max_th"]) == (base(half.values["min_bytes"]), base(half.values["max_bytes"]))
            assert pipe["max_p"] == 0.02
        if configuration.kernel in ("red", "bfifo"):
            assert pipe["bytes"] == pytest.approx(base(half.buffer), abs=512)
        if configuration.kernel != "bfifo":
            assert pipe["ecn"]


@those_of("mikrotik")
def test_routeros_has_the_simulated_values(configuration: Configuration, lines: str) -> None:
    types = router_grammar.routeros(lines)
    inner = "aqm." if configuration.kernel == "fq_codel" else ""
    for way, half in ways(configuration):
        own = types[f"aqm-{way}"]
        assert own["kind"].replace("-", "_") == configuration.kernel
        if configuration.kernel == "cake":
            assert own["bandwidth"] == f"{half.kbit}k"
            assert own["rate"] == "0k"
            words = half.words.split()
            assert {own["flowmode"], own["diffserv"]} <= set(words)
            assert (own["nat"] == "yes") == ("nat" in words)
            assert (own["ack-filter"] == "filter") == ("ack-filter" in words)
            assert float(own["rtt"].removesuffix("ms")) * 1000 == micros(half, "rtt")
        else:
            assert own["rate"] == f"{half.payload}k"
        for word in ("target", "interval"):
            if word in own:
                least = max(micros(half, f"{inner}{word}"), 1000)
                assert float(own[word].removesuffix("ms")) * 1000 == pytest.approx(least, abs=500)
                assert own["ecn"] == "yes"
        if configuration.kernel == "red":
            assert int(own["min-threshold"]) * FRAME == pytest.approx(base(half.values["min_bytes"]), abs=FRAME)
            assert int(own["max-threshold"]) * FRAME == pytest.approx(base(half.values["max_bytes"]), abs=FRAME)


@those_of("cisco")
def test_ios_has_the_simulated_values(configuration: Configuration, lines: str) -> None:
    policies = router_grammar.ios(lines)
    for way, half in ways(configuration):
        own = policies[f"AQM-{way.upper()}"]
        assert own["rate"] == half.payload * 1000
        assert own["limit"] * FRAME == pytest.approx(base(half.buffer), abs=FRAME)
        if configuration.kernel == "red":
            assert own["random-detect"]
            assert own["ecn"]
            ((least, most, denominator),) = set(own["precedence"].values())
            assert len(own["precedence"]) == 8
            assert least * FRAME == pytest.approx(base(half.values["min_bytes"]), abs=FRAME)
            assert most * FRAME == pytest.approx(base(half.values["max_bytes"]), abs=FRAME)
            assert 1 / denominator == half.values["max_p"]


@those_of("junos")
def test_junos_has_the_simulated_values(configuration: Configuration, lines: str) -> None:
    schedulers = router_grammar.junos(lines)
    for way, half in ways(configuration):
        own = schedulers[f"aqm-{way}"]
        assert own["rate"] == half.payload * 1000
        size = own["temporal"] * 1e-6 * half.rate / 8
        if configuration.kernel == "red":
            levels = [size * level / 100 for level in own["levels"]]
            assert levels[0] == pytest.approx(base(half.values["min_bytes"]), rel=1e-3)
            assert levels[1] == pytest.approx(base(half.values["max_bytes"]), rel=1e-3)
            assert own["chances"] == [0, 100 * half.values["max_p"], 100]
        else:
            assert size == pytest.approx(base(half.buffer), rel=1e-3)


@pytest.mark.parametrize("router", ROUTERS)
def test_every_router_has_lines_for_what_it_says_that_it_has(router: str) -> None:
    there = advise.configurations(LINKS["cable"], router)
    assert {one.kernel for one in there.values()} == set(ROUTERS[router].disciplines)
    missing = {one.kernel for (_, _), one in CONFIGURATIONS.items()} - set(ROUTERS[router].disciplines)
    for one in CONFIGURATIONS.values():
        if one.kernel in missing:
            with pytest.raises(Lacking, match=rf"has no {one.kernel}, only"):
                ROUTERS[router].lines(one)


@pytest.mark.parametrize(
    ("read", "line"),
    [
        ("dummynet", "dnctl pipe 1 config bw 5Mbit queue 1000 codel"),
        ("dummynet", "dnctl pipe 1 config bw 5000Kbit/s queue 1000 codel target 5ms"),  # beyond the sysctl's limit
        ("dummynet", "dnctl pipe 1 config bw 5000Kbit/s queue 50 codel target 5ms quantum 300"),
        ("routeros", "/queue type add name=a kind=fq-codel fq-codel-ecn=true"),
        ("routeros", "/queue type add name=a kind=cake cake-flowmode=host"),
        ("ios", "policy-map A\n class class-default\n  random-detect precedence 0 20 10 50"),
        ("ios", "policy-map A\n class class-default\n  random-detect exponential-weighting-constant 17"),
        ("junos", "set class-of-service schedulers a buffer-size temporal"),
        ("junos", "set class-of-service interfaces a scheduler-map b"),
    ],
)
def test_the_grammars_refuse_what_the_documents_do_not_have(read: str, line: str) -> None:
    with pytest.raises((AssertionError, KeyError, ValueError)):
        getattr(router_grammar, read)(line)


def test_a_shaper_that_counts_no_headers_gets_the_rate_of_full_packets() -> None:
    def rates(link: str) -> tuple[float, float]:
        one = CONFIGURATIONS[link, "fq_codel"]
        return one.down.rate / 1000, one.down.payload

    shaped, payload = rates("cable")
    assert payload == shaped * 1500 // 1514
    shaped, payload = rates("adsl")  # 1540 bytes take 33 cells
    assert payload == shaped * 1500 // (33 * 53)


@pytest.mark.parametrize(("router", "least"), [("freebsd", "fq_codel"), ("cisco", "red")])
def test_the_race_is_among_what_the_router_has(router: str, least: str) -> None:
    field = advise._Field(LINKS["cable"], every=False, router=router)
    kernels = {one.kernel for one in field.candidates}
    assert kernels == {None, *ROUTERS[router].disciplines}
    assert least in kernels
    assert "only" in field.left_out["cake"]
    assert next(one.label for one in field.candidates) == DEFAULT


def test_a_router_without_any_configuration_is_refused() -> None:
    far = Link.given("2mbit", "200kbit", "600ms", "home")
    with pytest.raises(BadLink, match="--router: junos: it has no configuration for this link"):
        advise._Field(far, every=False, router="junos")

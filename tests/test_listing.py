"""What there is, as text: made from the catalogue, so every entry is in it."""

import pytest

from aqmlab import catalogue, listing, shipped

KINDS = ["aqms", "tcps", "traffic", "scenarios"]


def test_every_entry_is_listed_with_a_summary() -> None:
    lines = dict(line.split(maxsplit=1) for line in listing.overview(KINDS).splitlines() if line.startswith("  "))
    listed = catalogue()
    names = {entry["name"] for kind in KINDS[:3] for entry in listed[kind]} | set(shipped())
    assert set(lines) == names


@pytest.mark.parametrize("entry", catalogue()["aqms"], ids=lambda entry: entry["name"])
def test_the_page_of_a_discipline_names_all_parameters_and_signals(entry: dict) -> None:
    page = listing.page(entry["name"])
    for part in (*entry["parameters"], *entry["signals"]):
        assert f"  {part['name']} " in page
        assert part["doc"].split()[0] in page


@pytest.mark.parametrize("entry", catalogue()["tcps"], ids=lambda entry: entry["name"])
def test_every_tcp_has_a_page(entry: dict) -> None:
    assert listing.page(f"tcp:{entry['name']}").startswith(f"{entry['name']}: ")


@pytest.mark.parametrize("entry", catalogue()["traffic"], ids=lambda entry: entry["name"])
def test_every_kind_of_traffic_has_a_page(entry: dict) -> None:
    assert listing.page(entry["name"]).startswith(f"{entry['name']}: ")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_page_of_a_scenario_is_its_file(name: str) -> None:
    assert listing.page(name) == shipped()[name].read_text(encoding="utf-8").rstrip()


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(KeyError, match="is lred meant"):
        listing.page("lrde")
    with pytest.raises(KeyError, match="aqmlab list"):
        listing.page("zzzzzz")

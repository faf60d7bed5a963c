"""The users of a link, who decide the loads: by a word, a number of people, or a list of people, calls and games."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aqmlab.advice.bad_link import BadLink
from aqmlab.scenario import Scenario

FEW, OFFICE = 10, 100
"""Fewer people than the first are a home; the second are those of `USERS`' office."""

CALLS = "calls"
"""The load whose calls and games can be numbered."""

_GAMES = """
[[traffic]]
name = "game"
kind = "game"
count = {0}
start = "uniform(0 s, 33 ms)"

[[traffic]]
name = "game-up"
kind = "game"
count = {0}
from = "receivers"
to = "senders"
start = "uniform(0 s, 33 ms)"
"""


@dataclass(frozen=True)
class Users:
    """The users of a link.

    `like` is the shipped link whose buffers, as times, theirs have unless a file says otherwise. `counts` has the
    numbers of flows that differ from the templates of the loads, as settings of each load. `games` is the number of
    players while both directions are full.
    """

    like: str
    counts: Mapping[str, Mapping[str, int]]
    games: int = 0

    def load(self, load: str) -> Scenario:
        """Return the template of a load with their numbers of flows."""
        template = Scenario.load(f"advice/{load}")
        if load == CALLS and self.games:
            template = Scenario.parse(template.to_toml() + _GAMES.format(self.games))
        return template.with_(self.counts.get(load, {}))


USERS: Mapping[str, Users] = {
    "home": Users("links/home", {}),
    "office": Users(
        "links/office",
        {
            "idle": {"traffic.web.count": 5},
            "uploads": {"traffic.uploads.count": 4},
            "web": {"traffic.web.count": 20},
            "calls": {"traffic.call.count": 10, "traffic.call-up.count": 10},
            "many": {"traffic.downloads.count": 40, "traffic.uploads.count": 10},
        },
    ),
    "cellular": Users("links/cellular", {"web": {"traffic.web.count": 1}, "many": {"traffic.downloads.count": 8}}),
}
"""Those that there are; the templates are of a home."""

MOST = {"people": 9999, "call": 200, "game": 200}
"""The largest numbers."""


def users_of(text: str) -> Users:
    """Return the users of a name, a number of people, or a list; raise `BadLink` for anything else."""
    if text in USERS:
        return USERS[text]
    numbers: dict[str, int] = {}
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,4})\s*(people|person|calls?|games?)?\s*", part)
        what = {"person": "people"}.get(found[2], (found[2] or "people").removesuffix("s")) if found else ""
        if not found or what in numbers or not 1 <= int(found[1]) <= MOST[what]:
            limits = ", ".join(f"1 to {most} {one if one == 'people' else f'{one}s'}" for one, most in MOST.items())
            problem = f"must be one of {', '.join(USERS)}, or numbers, as '4 people, 2 calls, 1 game': {limits}"
            raise BadLink("--users", f"{text}: {problem}")
        numbers[what] = int(found[1])
    made = _people(numbers.get("people", 1))
    if calls := numbers.get("call"):
        own = {f"traffic.{entry}.count": calls for entry in ("call", "call-up", "video", "video-up")}
        made = replace(made, counts={**made.counts, CALLS: own})
    return replace(made, games=numbers.get("game", 0))


def _people(people: int) -> Users:
    """Return a number of people: fewer than ten are a home, an office has a hundred, ten are at least a home."""
    if people < FEW:
        return USERS["home"]
    office = USERS["office"]
    counts = {
        load: {path: max(_at_home(load, path), round(count * people / OFFICE)) for path, count in paths.items()}
        for load, paths in office.counts.items()
    }
    return Users(office.like, counts)


def _at_home(load: str, path: str) -> int:
    """Return the number of flows that a setting of a load has at home."""
    _, name, key = path.split(".")
    traffic = Scenario.load(f"advice/{load}").resolved["traffic"]
    return next(int(entry[key]) for entry in traffic if entry["name"] == name)

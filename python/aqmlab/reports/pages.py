"""The generated documentation pages: ``python -m aqmlab.reports.pages FOLDER`` writes them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from aqmlab import plugins
from aqmlab.files import write_text
from aqmlab.reports.files_page import FILES, TABLES, VERSIONS
from aqmlab.reports.listing import grouped, sections, settings, with_each, written
from aqmlab.reports.results_page import RESULTS
from aqmlab.reports.trials import line
from aqmlab.results.columns import Column
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS, Metric
from aqmlab.scenario import catalogue, schema

_SCENARIO = """\
# Scenarios

*Generated from the declarations in `crates/` by `make docs`.*

A scenario is a TOML file: a network, its traffic, its queue disciplines, what to measure. Only `[[traffic]]` and one of
`[dumbbell]`, `[[link]]`, `[[wifi]]`, `[[cell]]` and `[[cable]]` are needed. `aqmlab validate FILE` checks one,
`aqmlab schema` prints the JSON Schema for editors, and a key, kind or value that is not allowed is refused with file,
line and what is allowed instead.

```toml
duration = "60 s"
warmup = "10 s"

[dumbbell]
rate = "10 Mbit/s"

[aqm]
name = "pi"
q_ref = 50

[[traffic]]
name = "long"
count = 20
start = "uniform(0 s, 1 s)"
```

* **Quantities** are texts with a unit: `"2.5 ms"`, `"10 Mbit/s"`, `"500 B"`, `"30 /s"`. [Units](#units) lists the
  spellings. Numbers without a unit are plain: `q_ref = 50`.
* **Buffers** are `"200 packets"`, `"160 kB"`, a time at the link's rate (`"100 ms"`) or `"2 BDP"`; see
  [Buffers](#buffers).
* **Laws**, where a time or a size may be drawn: `"1 s"`, `"uniform(0 s, 1 s)"`, `"exponential(1 s)"` (its mean) or
  `"pareto(1 s, 1.5)"` (its mean and its shape, above 1).
* A **list** of one value may be written as the value alone. **`"auto"`** stands for a value that follows from others.
* **Paths.** `--set PATH=VALUE` and `Scenario.with_` take `dumbbell.rate`, `aqm.q_ref`, `traffic.long.count`,
  `link.NAME.delay`, `wifi.NAME.mcs`, `cell.NAME.cqi`, `cable.NAME.map`; an entry without a name is called by its
  place, from 1; a `[[link]]` by its ends, `FROM-TO`, or where these are taken by its place.
* A table of an **`aqm`** or a **`tcp`** may be one text: `aqm = "pi:q_ref=50,w=200"`, `tcp = "ns2.35:flavour=sack"`.
* **Randomness** starts from `seed`: the same seed gives the same arrivals, sizes and start times whatever the
  discipline.

## Units

| quantity | units |
| --- | --- |
| rate | `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s`; bytes per second are `kB/s`, `MB/s`, `GB/s` |
| time | `s`, `ms`, `us` (or `µs`), `ns`, `min`, `h` |
| size | `B`, `kB`, `MB`, `GB`; of 1024 bytes `KiB`, `MiB`, `GiB` |
| frequency | `Hz`, `kHz`, `/s`, `/min` |
| buffer | `packets`, or the units of a size or a time, or `BDP` |

The space before a unit is optional. A rate may be written in other ways that are in use: `Mb/s`, `Mbps`, `Mbits/s`,
and as tc and ns-2 do, `5mbit` and `10Mb`. Everywhere `b` is a bit and `B` a byte: `MB/s` and `MBps` are bytes per
second. tc reads `mbps` as bytes per second; here it is Mbit/s, as almost everyone writes it. A unit that leaves open
which is meant is refused: `MBPS`, `mB/s`, a rate of `10 MB`, a size of `10 Mb`. `k`, `M` and `G` are powers of 1000. A
time is also written `sec`, `msec`, `usec`, or as a word: `5 seconds`.

## Buffers

A time means the bytes that the link sends in it at its `rate`, whatever `changes` says: `"100 ms"` at 10 Mbit/s is
125 kB. The buffer then is one in bytes, and packets take their size with the `overhead` of the link.

`BDP` is the bandwidth-delay product: the link's `rate`, times the base round-trip time of the flows that cross it. This
is the time from a sender to its receiver and back without transmission and queueing: the sum of the delays of all links
on both ways. Of a delay that is drawn, the mean counts. If the flows that cross the link, with their data or their
acknowledgements, have different round-trip times, the longest counts. So the size does not depend on how many flows of
each kind there are. The buffer of a reverse direction has that direction's rate. `aqmlab validate` prints the buffer of
the observed link in bytes.

<!-- file: long.toml -->
```toml
[dumbbell]
rate = "50Mbps"
buffer = "2 BDP"

[[traffic]]
```

```console
$ aqmlab validate long.toml
long.toml: valid: droptail, a buffer of 375000 B (2 BDP), 100 s, about 1.9e+06 packets and 1.1 MB of memory
  round trips without a queue: 1 30 ms
```

## Hosts

The hosts of a dumbbell are `sender1`, `sender2` and so on behind the router `r1`; `receiver1` and so on behind `r2`.
The flows of each traffic entry are assigned to them in turn, and each entry begins with the first host: two entries of
one flow have the same delays, whatever `dumbbell.sender_delay` lists. An entry with other delays says so itself:

```toml
[dumbbell]
rate = "50 Mbit/s"

[[traffic]]
name = "far"
sender_delay = "80 ms"

[[traffic]]
name = "near"
sender_delay = "10 ms"
```

`aqmlab validate` prints the round trips, here 185 ms and 45 ms. Such an entry has hosts of its own in place of the
group `senders`, whether it is `from` or `to` them: `far.sender1`. In place of a group, a name in `from` or `to` chooses
one host: `from = "sender2"`, or `from = "far.sender1"` to share that of an entry.

## Access links

By default, `access_rate` is ten times the bottleneck's highest rate, and at least 100 Mbit/s, so that a faster
bottleneck remains the bottleneck. Table and report say if it was not: they name another link on the paths of the
observed link's flows, and the key to raise, if three things hold. The observed queue dropped and marked nothing. It
was empty for at least 10 % of the time. The other link was in use for at least 90 % of the time, and no less than the
observed link, to within 1 %.

## `extends`

A file may be written as another one with changes. Here `slow.toml` is `first.toml` with a slower link, one flow less,
and a call:

<!-- file: first.toml -->
```toml
duration = "20 s"

[dumbbell]
rate = "10 Mbit/s"

[[traffic]]
name = "flows"
count = 10
```

<!-- file: slow.toml -->
```toml
extends = "first.toml"

[dumbbell]
rate = "5 Mbit/s"

[[traffic]]
name = "flows"
count = 9

[[traffic]]
name = "calls"
kind = "voip"
```

```console
$ aqmlab validate slow.toml
slow.toml: valid: droptail, 20 s, about 4e+04 packets and 1.8 MB of memory
  extends first.toml
    dumbbell.rate = "5 Mbit/s" (it was "10 Mbit/s")
    traffic.flows.count = 9 (it was 10)
    traffic.calls.name = "calls" (new)
    traffic.calls.kind = "voip" (new)
  round trips without a queue: flows 30 ms, calls 30 ms
```

`extends`, at the top of a file, is the path of another file, from the folder of this one, or the name of a shipped
scenario: `extends = "lred/exp1"`. A file of that very path goes before a shipped scenario of the name. The other file
is read first, and may itself extend one; the keys of this file are laid over it:

* A value or a list of values replaces the old one. A key that is not mentioned stays as it is, even `title`.
* A table is merged key by key. So is a `[[traffic]]` or `[[link]]` with the name of an entry there; with a new name it
  follows the others. No entry can be removed.
* An algorithm of the same name, or with no name, is merged; one of another name replaces the algorithm and keeps its
  target queue length, as `--aqm` does. So does one with a `preset`.
* A `tcp` as a table is merged, a `tcp` as a text replaces.
* A parameter of `[sweep.vary]` has the values of this file, even where they are a table.
* A recording's `file` is looked for in the folder of the file that names it.

`aqmlab show` prints the whole of a shipped scenario. Results, stores and reports have the whole as well, and depend on
no other file. An error names the file in which the value stands. A text, such as standard input, has no folder, and
extends shipped scenarios alone.

## Top

{general}

## `[dumbbell]`

Senders, a bottleneck between the routers `r1` and `r2`, receivers. The bottleneck is the link `bottleneck`.

{dumbbell}

## `[[link]]`

A link between two nodes, which exist by being named; each direction has its own queue. A dumbbell may have further
links.

{link}

## `[[wifi]]`

A wireless LAN. Its stations contend for one medium with the access point, and send frames in aggregates, and again
until they arrive. `aqm` is the discipline of the access point, `reverse_aqm` that of each station.
[Wi-Fi](../guide/wifi.md) has an example, and the simplifications.

{wifi}

## `[[cell]]`

A cell of a mobile network. Its users share the slots of the base station in both directions. `aqm` is the discipline of
each user's queue in the base station, `reverse_aqm` that of each user. [Cellular](../guide/cellular.md) has an example,
and the simplifications.

{cell}

## `[[cable]]`

A cable network. Its modems request grants upstream, and the head end shares the channel among them. `aqm` is the
discipline of each modem's queue, `reverse_aqm` that of its queue in the head end. [Cable](../guide/cable.md) has an
example, and the simplifications.

{cable}

## `loss`

A probability, or a table for losses in bursts (Gilbert, Elliott): `loss = 0.01`,
`loss = {{ good_to_bad = 0.01, bad_to_good = 0.3 }}`, `loss = {{ good_time = "10 s", bad_time = "200 ms" }}`.

{loss}

Or a table with a recording of loss probabilities: `loss = {{ file = "loss.csv" }}`.

{recorded_loss}

## `handover`

Handovers at random, from one satellite or cell to the next: `handover = {{ every = "15 s", outage = "50 ms", rate =
"uniform(50 Mbit/s, 250 Mbit/s)" }}`. Each run draws its own; those of runs with one seed are the same, whatever the
discipline.

{handover}

## `jitter`

Random changes of a link's delay from packet to packet: `jitter = {{ law = "normal", deviation = "5 ms" }}`.
[Links that vary](../guide/varying-links.md) compares it with netem.

{jitter}

## `reorder`

Packets that skip a link's delay: `reorder = {{ probability = 0.01 }}`, or every fifth, `reorder = {{ gap = 5 }}`.

{reorder}

## `ecn_path`

Some middleboxes are against [ECN](../glossary.md#ecn). Those that clear the field or erase marks change what a queue
can say: with `ecn_path = "clear"` it drops what it would mark, and with `"clear-marks"` the senders never learn of
its marks, so that they fill the buffer. Those that lose packets are ECN blackholes. With `"refuse"` a connection
opens without ECN, after the first time-out of its SYN (1 s). With `"drop"` a connection with RFC 3168's ECN opens,
since its SYN is Not-ECT, and then of its data only retransmissions arrive; those of DCTCP and TCP Prague never open,
since all of their SYNs have ECT. UDP and the flavours other than `rack` do not negotiate ECN, so nothing of them is
refused. `reverse_ecn_path` is for the SYNs, data and acknowledgements that go in the other direction.

## `rates`

A recording that the rate of a link follows: `rates = {{ file = "cell.down", bin = "100 ms" }}`.
[Recorded rates](../guide/exchange.md#recorded-rates) has an example.

{rates}

## `[[traffic]]`

{kinds}

All keys:

{traffic}

## `tcp`

A table, or a text that begins with a preset or a flavour: `tcp = "ns2.35:flavour=sack"`. [TCPs](tcps.md) lists both,
and every key. A class of your own is a TCP too, `tcp = "mine.py:Mine"`, or the `congestion` of one; see
[Senders of your own](../guide/own-senders.md).

## `[aqm]`, `[reverse_aqm]`

`name`, and the parameters of that discipline; of some also a `preset`. Without one the bottleneck is `droptail`.
[aqms](aqms/index.md) has a page for each; `aqmlab show NAME` prints it. A class of your own has the `name`
`"mine.py:Mine"`, the file relative to this one; see [AQMs of your own](../guide/own-aqms.md). With a key `source`, the
digest of the file's content, it is refused if the file has changed since.

{aqms}

## `[response]`

When a queue counts as settled, for `response_time`.

{response}

## `[record]`

{record}

## `[sweep]`

What a study varies, for `aqmlab sweep`; [sweeps.md](../guide/sweeps.md) says more. `aqmlab run` leaves it out.

{sweep}

`[sweep.vary]` has the path of each parameter that varies, with a text like `"20,40..160"` or a list of values:
`"aqm.q0" = "20,40..160"`.
"""

_TCPS = """\
# TCPs

*Generated from the declarations in `crates/scenario/src/model/tcp.rs` by `make docs`.*

The key `tcp` of a `[[traffic]]` entry selects the TCP of its flows: `tcp = "newreno"` in a scenario,
`--set traffic.NAME.tcp=newreno` on the command line. A colon adds parameters: `tcp = "ns2.35:flavour=sack"`; a table
does the same: `tcp = {{ preset = "ns2.35", flavour = "sack" }}`. Without the key, or with parameters alone, the preset
is `{preset}`. `aqmlab show tcp:NAME` prints one TCP with its values.

## Presets

A preset sets every parameter.

{presets}

## Flavours

The name of a flavour selects a preset with this detection and repair of losses.

{flavours}

## Parameters

{parameters}

## Values of the presets

A preset without a value does not have the parameter: it belongs to another flavour or congestion control. In all
presets that have them, {same}.

{values}

## Limits

{limits}
"""

_AQMS = """\
# Queue disciplines

*Generated from the heads and the declarations of the files in `crates/aqm/src/aqm/` by `make docs`.*

`--aqm NAME:KEY=VALUE,KEY=VALUE`, or in a scenario `[aqm]` with `name`, the keys and perhaps a `preset`; `--aqm all`
compares all. Names in brackets are aliases from ns-2, ns-3, Linux or a paper. `aqmlab show NAME` prints a page,
`aqmlab.catalogue()` returns all of them in Python. `--aqm ./mine.py:Mine` is a [class of your
own](../../guide/own-aqms.md).

{overview}
"""

_MADE = "*Generated by `make docs` from the head and the declarations of its file in `crates/aqm/src/aqm/`.*"

EXAMPLES = {
    "ftp": 'count = 20, start = "uniform(0 s, 1 s)"',
    "transfer": 'size = "1 MB"',
    "short": 'arrival_rate = "30 /s", size = "pareto(10 kB, 1.3)"',
    "web": 'count = 100, objects = 5, think = "exponential(10 s)"',
    "dash": 'count = 3, bitrates = ["500 kbit/s", "1 Mbit/s", "2 Mbit/s"]',
    "cbr": 'rate = "160 kbit/s"',
    "on-off": 'rate = "200 kbit/s", on = "exponential(1 s)", off = "pareto(1 s, 1.5)"',
    "poisson": 'rate = "2 Mbit/s", packet_size = "500 B"',
    "fgn": 'rate = "5 Mbit/s", hurst = 0.8',
    "trace": 'file = "conference.pcap", count = 8',
    "voip": 'count = 10, codec = "g729a"',
    "video": 'frame_rate = "25 /s", active = ["5 s", "20 s"]',
    "game": 'frame_rate = "60 /s", size = "uniform(40 B, 120 B)"',
    "ping": 'interval = "100 ms"',
    "tfrc": 'count = 5, ecn = "ect0"',
    "quic": 'congestion = "bbr", size = "10 MB"',
    "stack": 'file = "mine.so", ecn = "ect0"',
    "program": 'command = ["ping", "{peer}"]',
}
"""Example keys and values for each kind of traffic."""


def scenario() -> str:
    """Return the page on scenario files as Markdown."""
    listed, described = catalogue(), schema()
    top, forms = described["properties"], described["$defs"]
    written = {
        "general": top,
        "dumbbell": top["dumbbell"]["properties"],
        "link": forms["link"]["properties"],
        "wifi": forms["wifi"]["properties"],
        "cell": forms["cell"]["properties"],
        "cable": forms["cable"]["properties"],
        "loss": forms["loss"]["anyOf"][1]["properties"],
        **{key: {} for key in ("recorded_loss", "handover", "jitter", "reorder", "rates")},
        "traffic": forms["traffic"]["properties"],
        "response": top["response"]["properties"],
        "record": top["record"]["properties"],
        "sweep": {name: one for name, one in top["sweep"]["properties"].items() if name != "vary"},
    }
    return _SCENARIO.format(
        **{name: _keys(listed["tables"][name], properties) for name, properties in written.items()},
        kinds=_kinds(listed["traffic"]),
        aqms=_groups(listed, "aqms/"),
    )


def aqms() -> dict[str, str]:
    """Return the pages on queue disciplines by file name: an index, and a page for each."""
    listed = catalogue()
    pages = {"aqms/index.md": _AQMS.format(overview=_groups(listed, ""))}
    pages |= {f"aqms/{entry['name']}.md": _aqm(entry) for entry in listed["aqms"]}
    return pages | {f"aqms/{entry['name']}.md": _variant(entry) for entry in listed["variants"]}


def results() -> str:
    """Return the page on results as Markdown."""
    return RESULTS.format(rows=_rows(METRICS), distributions=_rows(DISTRIBUTIONS))


def _rows(metrics: Mapping[str, Metric]) -> str:
    return "\n".join(f"| `{one.name}` | {one.unit or '1'} | {one.definition} |" for one in metrics.values())


def files() -> str:
    """Return the page on files as Markdown."""
    kinds = plugins.entries("aqmlab.archives").values()
    return FILES.format(
        versions=table(["file", "version"], [[name, str(kind.version)] for name, kind in VERSIONS.items()]),
        added="\n\n".join(import_module(kind).described() for kind in kinds),
        **{name: key_table(rows) for name, rows in TABLES.items()},
    )


def key_table(rows: Iterable[Column]) -> str:
    """Return the keys of a document, or the columns of a table, as a Markdown table."""
    return table(["name", "unit", "meaning"], [[f"`{one.name}`", one.unit, one.meaning] for one in rows])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, without a newline at its end."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _code(value: Any) -> str:
    return f"`{json.dumps(written(value) if isinstance(value, dict) else value, ensure_ascii=False)}`"


def _key(parameter: Mapping[str, Any]) -> str:
    aliases = ", ".join(f"`{alias}`" for alias in parameter["aliases"])
    return f"`{parameter['name']}`" + (f" ({aliases})" if aliases else "")


def _keys(parameters: Sequence[Mapping[str, Any]], properties: Mapping[str, Any] | None = None) -> str:
    """List parameters, and the other keys that the schema allows in their table; most of these are tables."""
    rows = [[_key(one), _code(one["default"]), one["allowed"], one["doc"]] for one in with_each(parameters)]
    declared = {name for one in parameters for name in (one["name"], *one["aliases"])}
    others = {name: form for name, form in (properties or {}).items() if name not in declared}
    rows += [[f"`{name}`", "", _form(form), form["description"]] for name, form in others.items()]
    return table(["key", "default", "allowed", "meaning"], rows)


def _form(form: Mapping[str, Any]) -> str:
    """Describe the type of a value that is not a parameter."""
    return {"array": "tables, below", "string": "text"}.get(form.get("type", ""), "below")


def _kinds(kinds: Sequence[Mapping[str, Any]]) -> str:
    names = [{parameter["name"] for parameter in kind["parameters"]} for kind in kinds]
    shared = set.intersection(*names) | {"packet_size"}  # every kind but trace has it
    rows = []
    for kind in kinds:
        own = [f"`{one['name']}`" for one in kind["parameters"] if one["name"] not in shared]
        rows.append([f"`{kind['name']}`", kind["summary"], ", ".join(own), f"`{EXAMPLES[kind['name']]}`"])
    return table(["kind", "what its flows do", "keys of its own", "example"], rows)


def _named(entries: Iterable[Mapping[str, Any]]) -> str:
    return table(["name", "what it is"], [[f"`{entry['name']}`", entry["summary"]] for entry in entries])


def tcps() -> str:
    """Return the page on TCPs as Markdown."""
    listed = catalogue()["tcps"]
    preset = schema()["$defs"]["tcp"]["anyOf"][1]["properties"]["preset"]
    presets = {entry["name"]: entry for entry in listed if entry["name"] in preset["enum"]}
    chosen = {name: {one["name"]: one for one in entry["parameters"]} for name, entry in presets.items()}
    # A parameter of one congestion control is present only in the presets with that control.
    every = {name: one for parameters in chosen.values() for name, one in parameters.items()}
    values = {
        name: [_code(parameters[name]["default"]) if name in parameters else "" for parameters in chosen.values()]
        for name in every
    }
    same = {name: one for name, row in values.items() if len(one := set(row) - {""}) == 1}
    limits: dict[str, list[str]] = {}
    for entry in listed:
        if notes := entry["notes"]:
            limits.setdefault(notes, []).append(f"`{entry['name']}`")
    return _TCPS.format(
        preset=preset["default"],
        presets=_named(presets.values()),
        flavours=_named(entry for entry in listed if entry["name"] not in presets),
        parameters=table(
            ["key", "allowed", "meaning"], [[_key(one), one["allowed"], one["doc"]] for one in every.values()]
        ),
        same=", ".join(f"`{name}` is {min(one)}" for name, one in same.items()),
        values=table(
            ["key", *(f"`{name}`" for name in presets)],
            [[f"`{name}`", *row] for name, row in values.items() if name not in same],
        ),
        limits="\n\n".join(f"{', '.join(names)}: {notes}" for notes, names in limits.items()),
    )


def _groups(listed: Mapping[str, Any], folder: str) -> str:
    """List the disciplines by group, each with a link to its page in `folder`."""
    rows = (
        [[f"**{title}**", ""], *([f"[`{name}`]({folder}{name}.md)", summary] for name, summary in group)]
        for title, group in grouped(listed).items()
    )
    return table(["name", "what it does"], [row for group in rows for row in group])


def _aqm(entry: Mapping[str, Any]) -> str:
    head, more = sections(entry["doc"])
    parts = [f"# {entry['name']}", _MADE, head, line(entry["name"])]
    if entry["parameters"]:
        parts.append(_keys(entry["parameters"]))
    if presets := entry["presets"]:
        rows = [[f"`{one['name']}`", one["summary"], _set(one["values"])] for one in presets]
        parts.append(table(["preset", "what it is", "sets"], rows))
    if signals := entry["signals"]:
        rows = [[f"`{one['name']}`", one["unit"], one["doc"]] for one in signals]
        parts.append(table(["signal", "unit", "what it is"], rows))
    return "\n\n".join([*parts, *(f"## {title}\n\n{text}" for title, text in more)]) + "\n"


def _variant(entry: Mapping[str, Any]) -> str:
    of = f"[`{entry['of']}`]({entry['of']}.md)"
    preset = f"{of} with its preset `{entry['preset']}`: {entry['summary']}."
    return "\n\n".join(
        [f"# {entry['name']}", _MADE, preset, f"It sets {_set(entry['values'])}.", f"{line(entry['name'])}\n"]
    )


def _set(values: Mapping[str, Any]) -> str:
    return f"`{settings(values, None)}`" if values else "the defaults"


def pages() -> dict[str, str]:
    """Return the text of each generated page by its file name below docs/reference."""
    return {"files.md": files(), "results.md": results(), "scenario.md": scenario(), "tcps.md": tcps(), **aqms()}


if __name__ == "__main__":
    for name, text in pages().items():
        write_text(Path(sys.argv[1]) / name, text)

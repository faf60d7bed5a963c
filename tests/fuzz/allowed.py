"""Valid values of a parameter, drawn from the catalogue's ranges, and values that are always invalid."""

import math
import random
import re

RANGE = re.compile(r"(?:^| )in ([\[(])(\S+), (\S+)\](?:,|$| )")

UNITS = {
    '"2.5 ms"': ("s", "ms", "us", "ns"),
    '"10 Mbit/s"': ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"),
    '"500 B"': ("B", "kB", "MB"),
    '"170 Hz"': ("Hz", "/s"),
    '"200 packets"': ("packets", "B", "kB"),
    '"10 kB"': ("B", "kB", "MB"),
    '"1 s"': ("s", "ms"),
}
"""The units of a quantity, by the catalogue's example of it; the first is the range's unit."""

SCALES = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "kB": 1e3, "MB": 1e6}

ODD = (
    "0", "-0.0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "9223372036854775807",
    "-9223372036854775808", "18446744073709551616", "0x10", "1_000", "1.", "true", '""', '" "', '"\\u0000"', "[]",
    "{}", "[[]]", '"auto"', '"none"', "1979-05-27T07:32:00Z", "'''x'''", '"é"', '"\U0001d518"', '"1 s 2 s"',
    '"1e400 s"', '"-1 s"', '"nan s"', '"1 ms ms"', '"0x1 s"', '"uniform(1 s)"', '"uniform(2 s, 1 s)"',
    '"uniform(0 s, inf s)"', '"pareto(1 s, 1)"', '"pareto(1 s, 1.0000001)"', '"exponential(0 s)"',
    '"exponential(exponential(1 s))"', '"1 packets"', '"0 packets"', '"4294967296 packets"', '"1e18 B"', '"1 bit/s"',
    '"1e400 bit/s"', '"20 s: 10 Mbit/s"', '"pi:q0"', '"pi:q0=1,q0=2"', '["2 s: 1 Mbit/s", "1 s: 1 kbit/s"]',
    '"fq:aqm=fq"', '"fq:aqm=codel:target=1 ms"', '":"', '"red:preset=nothing"', '"linux:flavour=reno"',
)  # fmt: skip
"""TOML that is invalid nearly everywhere."""


def _number(x: float, whole: bool) -> str:
    return str(int(x)) if whole or (x == int(x) and abs(x) < 1e15) else repr(x)


def _magnitude(allowed: str, draw: random.Random, whole: bool) -> float:
    """Return a number at an end of the range, next to it, or somewhere within."""
    found = RANGE.search(allowed)
    if found is None:
        return float(draw.choice((0, 1, 2, 10, 1000)))
    low, high = float(found[2]), float(found[3])
    if found[1] == "(":
        low = low + 1 if whole else (math.nextafter(low, high) if low else draw.choice((1e-300, 1e-9, 1e-6)))
    near = math.exp(draw.uniform(math.log(max(low, 1e-9)), math.log(max(high, 1e-9)))) if high > 0 else low
    return draw.choice((low, high, min(max(near, low), high), min(max(near, low), high)))


def value(allowed: str, draw: random.Random) -> str:
    """Return a TOML value within `allowed`, which may still conflict with other values."""
    if allowed.endswith('(or "auto")') and draw.random() < 0.2:
        return '"auto"'
    if allowed.startswith("a list, each "):
        rest = allowed.removeprefix("a list, each ")
        return "[" + ", ".join(value(rest, draw) for _ in range(draw.randint(1, 3))) + "]"
    if allowed.startswith("one of "):
        names = allowed.removeprefix("one of ").split(" (or")[0].split(", ")
        return f'"{draw.choice(names)}"'
    if allowed.startswith("true or false"):
        return draw.choice(("true", "false"))
    if allowed.startswith("an algorithm"):
        return f'"{draw.choice(("codel", "red", "pie", "droptail", "pi:q0=20", "step"))}"'
    if allowed.startswith("text"):
        return f'"{draw.choice(("x", "senders", "receivers", "r1", "é", "long"))}"'
    if allowed.startswith("a table"):
        return "{}"
    if allowed.startswith("a quantity"):
        return _quantity(allowed, draw)
    whole = allowed.startswith("a whole number")
    return _number(_magnitude(allowed, draw, whole), whole)


def _quantity(allowed: str, draw: random.Random) -> str:
    """Return a text with a unit, or a distribution of such."""
    example = allowed.removeprefix("a quantity like ").split('"')[1]
    start, rates, delays = draw.choice((0.1, 1, 20)), ("1 kbit/s", "10 Mbit/s", "100 Gbit/s"), ("0 s", "50 ms", "2 s")
    span = f"{start} s..{start + draw.choice((0.001, 1, 5))} s"
    if ":" in example:
        time = span if ".." in allowed and draw.random() < 0.5 else f"{start} s"
        return f'"{time}: {draw.choice(delays if example.endswith("ms") else rates)}"'
    if ".." in example:
        return f'"{span}"'
    units = UNITS[f'"{example}"']

    def one() -> str:
        whole = units[0] in ("B", "packets")
        x = _magnitude(allowed, draw, whole)
        unit = draw.choice(units)
        scaled = x / SCALES.get(unit, 1.0)
        if unit in ("B", "packets", "ns"):
            scaled = float(round(scaled))
        return f"{_number(scaled, unit in ('B', 'packets', 'ns'))} {unit}"

    if "uniform(" in allowed and draw.random() < 0.4:
        first = one()
        law = draw.choice((f"uniform({first}, {first})", f"exponential({first})", f"pareto({first}, 1.1)"))
        return f'"{law}"'
    return f'"{one()}"'

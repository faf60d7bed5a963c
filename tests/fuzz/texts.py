"""Mutated scenario texts: each is valid, or rejected with the line or the key; valid texts can be written and read.

An input is a TOML file; lines `#--set PATH=VALUE` and `#--aqm SPEC` at its end are changes as on a command line.
"""

import contextlib
import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path

from aqmlab import ScenarioError, _core
from fuzz import allowed, corpus

SUFFIX = ".toml"
TESTED = 8_000
LIMIT = 20.0

Mutation = Callable[[list[str], random.Random], None]

NUMBERS = (
    "0", "1", "-1", "1e308", "1e-308", "1e400", "4294967295", "4294967296", "9007199254740993", "1e15", "1e18", "nan",
)  # fmt: skip
UNITS = (
    "s", "ms", "us", "ns", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B", "kB", "MB", "packets", "Hz", "/s", "%", "S",
    "",
)  # fmt: skip
HEADS = (
    "[aqm]", "[reverse_aqm]", "[dumbbell]", "[[link]]", "[[traffic]]", "[traffic]", "[sweep]", "[sweep.vary]",
    "[response]", "[record]", "[dumbbell.loss]", "[traffic.tcp]", "[[aqm]]", "[aqm.aqm]", "[a.b.c]", "[[sweep.vary]]",
    "[]", "[[[traffic]]]",
)  # fmt: skip
PATHS = (
    "aqm.", "dumbbell.", "traffic.0.", "traffic.1.", "traffic.long.", "traffic.1.tcp.", "link.1.", "sweep.",
    "record.", "x.", ".", "aqm.aqm.",
)  # fmt: skip
VARIED = (
    '"1,2..10"', '"20,40..160"', '"1..1e9"', "[1, 2]", '"uniform(1, 2)"', '"log(1, 100)"', '"1,2..1"', '",,"',
    "[[1]]", '"1 s,2 s"', '"a:1,b:2"', "true", '"1,2..1e300"',
)  # fmt: skip
BITS = (
    b"[", b"]", b"{", b"}", b'"', b"'", b"\\", b"\n", b"\r", b"\0", b"=", b".", b",", b"#", b"\xef\xbb\xbf", b'"""',
    b"\xc3",
)  # fmt: skip


def _key(draw: random.Random) -> corpus.Key:
    return draw.choice(corpus.every_key())


def _value(key: corpus.Key, draw: random.Random) -> str:
    """Return a value of this key, of another, of a scenario, or of none."""
    of = draw.random()
    if of < 0.7:
        return allowed.value(key.allowed, draw)
    if of < 0.8:
        return draw.choice(corpus.values())
    return draw.choice(allowed.ODD) if of < 0.9 else allowed.value(_key(draw).allowed, draw)


def _bare(key: corpus.Key, draw: random.Random) -> str:
    """Return a value as it appears within a text."""
    return _value(key, draw).strip('"')


def _any(lines: list[str], draw: random.Random) -> int:
    return draw.randrange(len(lines)) if lines else 0


def _set_value(lines: list[str], draw: random.Random) -> None:
    """Change the value of an existing key."""
    at = [i for i, line in enumerate(lines) if "=" in line]
    if at:
        i = draw.choice(at)
        key = lines[i].split("=", 1)[0]
        same = corpus.named().get(key.strip())
        lines[i] = f"{key}= {_value(draw.choice(same) if same else _key(draw), draw)}"


def _insert_key(lines: list[str], draw: random.Random) -> None:
    """Insert a key of the schema at a random place."""
    key = _key(draw)
    lines.insert(_any(lines, draw), f"{key.key} = {_value(key, draw)}")


def _insert_line(lines: list[str], draw: random.Random) -> None:
    lines.insert(_any(lines, draw), draw.choice(corpus.lines()))


def _delete(lines: list[str], draw: random.Random) -> None:
    if lines:
        del lines[_any(lines, draw)]


def _double(lines: list[str], draw: random.Random) -> None:
    if lines:
        lines.insert(_any(lines, draw), lines[_any(lines, draw)])


def _swap(lines: list[str], draw: random.Random) -> None:
    if lines:
        i, j = _any(lines, draw), _any(lines, draw)
        lines[i], lines[j] = lines[j], lines[i]


def _number(lines: list[str], draw: random.Random) -> None:
    """Change a number in a line."""
    at = [i for i, line in enumerate(lines) if re.search(r"\d", line)]
    if at:
        i = draw.choice(at)
        numbers = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", lines[i]))
        chosen = draw.choice(numbers)
        digit = draw.choice((*NUMBERS, str(draw.randrange(1000)), repr(draw.random())))
        lines[i] = lines[i][: chosen.start()] + digit + lines[i][chosen.end() :]


def _unit(lines: list[str], draw: random.Random) -> None:
    """Change a unit in a line."""
    at = [i for i, line in enumerate(lines) if re.search(r'\d [a-zA-Z/]+"', line)]
    if at:
        i = draw.choice(at)
        lines[i] = re.sub(r'(\d )[a-zA-Z/]+"', lambda found: f'{found[1]}{draw.choice(UNITS)}"', lines[i])


def _table(lines: list[str], draw: random.Random) -> None:
    """Add a table."""
    lines.insert(_any(lines, draw), draw.choice(HEADS))


def _algorithm(lines: list[str], draw: random.Random) -> None:
    """Add a whole discipline with some of its keys."""
    name, keys = draw.choice(list(corpus.algorithms().items()))
    chosen = draw.sample(keys, min(len(keys), draw.randint(0, 4)))
    given = [f"{key.key} = {_value(key, draw)}" for key in chosen]
    lines += [draw.choice(("[aqm]", "[reverse_aqm]", "[dumbbell.aqm]")), f'name = "{name}"', *given]


def _entry(lines: list[str], draw: random.Random) -> None:
    """Add a whole entry of traffic."""
    kind, keys = draw.choice(list(corpus.traffic().items()))
    chosen = [key for key in draw.sample(keys, min(len(keys), draw.randint(0, 5))) if key.key not in ("kind", "file")]
    tcp, own = draw.choice(list(corpus.senders().items()))
    part = draw.choice(own) if own else None
    spec = f"{tcp}:{part.key}={_bare(part, draw)}" if part and draw.random() < 0.5 else tcp
    given = [f"{key.key} = {_value(key, draw)}" for key in chosen]
    lines += ["[[traffic]]", f'kind = "{kind}"', f'tcp = "{spec}"', *given]


def _vary(lines: list[str], draw: random.Random) -> None:
    """Add a parameter that a study varies."""
    lines += ["[sweep.vary]", f'"{_path(draw)}" = {draw.choice((*VARIED, _value(_key(draw), draw)))}']


def _nest(lines: list[str], draw: random.Random) -> None:
    """Add deep nesting."""
    depth = draw.choice((2, 10, 70, 100, 1000))
    dots = "x" + ".x" * depth
    forms = (
        "x = " + "[" * depth + "]" * depth,
        f"{dots} = 1",
        f"[{dots}]",
        "x = " + "{x = " * depth + "1" + "}" * depth,
    )
    lines.insert(_any(lines, draw), draw.choice(forms))


def _path(draw: random.Random) -> str:
    """Return a dotted path, sensible or not."""
    if draw.random() < 0.02:
        return "x." * draw.choice((64, 100, 20_000)) + "x"
    return draw.choice(("", *PATHS)) + draw.choice((_key(draw).key, _key(draw).key, "name", "", "é", "a.b", "0"))


def _change(lines: list[str], draw: random.Random) -> None:
    """Add a change as on a command line."""
    if draw.random() < 0.3:
        name, keys = draw.choice(list(corpus.algorithms().items()))
        given = [f"{key.key}={_bare(key, draw)}" for key in draw.sample(keys, min(len(keys), draw.randint(0, 3)))]
        lines.append(f"#--aqm {name}{':' if given else ''}{','.join(given)}")
    else:
        lines.append(f"#--set {_path(draw)}={_value(_key(draw), draw)}")


MUTATIONS: tuple[Mutation, ...] = (
    _set_value, _set_value, _set_value, _set_value, _set_value, _number, _number, _unit, _insert_key, _insert_line,
    _delete, _double, _swap, _table, _algorithm, _entry, _entry, _vary, _nest, _change, _change, _change,
)  # fmt: skip


def _bytes(case: bytes, draw: random.Random) -> bytes:
    """Mutate bytes without regard to grammar."""
    data = bytearray(case)
    for _ in range(draw.randint(1, 4)):
        i = draw.randrange(len(data) + 1)
        j = min(len(data), i + draw.choice((1, 1, 2, 8, 64)))
        how = draw.randrange(5)
        if how == 0 and i < len(data):
            data[i] ^= 1 << draw.randrange(8)
        elif how == 1:
            del data[i:j]
        elif how == 2:
            data[i:i] = data[i:j] * draw.choice((1, 2, 20))
        elif how == 3:
            data[i:i] = draw.randbytes(draw.choice((1, 3)))
        else:
            data[i:i] = draw.choice(BITS)
    return bytes(data)


def case(seed: int) -> bytes:
    """Return the scenario that a seed makes."""
    draw = random.Random(seed)
    texts = corpus.texts()
    text = draw.choice(texts)
    if draw.random() < 0.05:
        other = draw.choice(texts)
        text = text[: draw.randrange(len(text))] + other[draw.randrange(len(other)) :]
    lines = text.splitlines()
    grammar = draw.random() < 0.8
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 3, 6)) if grammar else draw.randint(0, 1)):
        draw.choice(MUTATIONS)(lines, draw)
    made = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    return made if grammar else _bytes(made, draw)


PLACE = re.compile(r"(case\.toml(:\d+)?|--set .*|--aqm .*): .", re.DOTALL)
"""The start of a problem's text: the file, its line, or the change; the message follows."""


def named(problem: str) -> None:
    """Check that a rejection states the place of each problem, and for a value its key."""
    assert problem, "refused without a word"
    assert PLACE.match(problem), f"the error does not say where: {problem[:300]!r}"


def written(scenario: _core.Scenario) -> None:
    """Check that a valid scenario answers all queries, and is unchanged when written and read back."""
    resolved, text = scenario.to_json(), scenario.to_toml()
    assert scenario.title is not None
    assert scenario.aqm
    assert 0 <= scenario.warmup <= scenario.duration, f"a warm-up of {scenario.warmup} in {scenario.duration}"
    assert scenario.memory_estimate >= 0
    assert scenario.packet_estimate >= 0
    assert math.isfinite(scenario.packet_estimate), f"an estimate of {scenario.packet_estimate} packets"
    json.loads(resolved)
    try:
        again = _core.Scenario.parse(text, "case.toml").to_json()
    except ScenarioError as error:
        raise AssertionError(f"what was written is refused: {error}") from error
    assert again == resolved, "what was written and read back is another scenario"
    for ask in (scenario.sweep, scenario.fluid_model):
        with contextlib.suppress(ScenarioError):
            ask()


def judge(case: bytes, folder: Path) -> str:
    """Read and check a scenario."""
    try:
        text = case.decode()
    except UnicodeDecodeError:
        file = folder / "case.toml"
        file.write_bytes(case)
        try:
            _core.Scenario.load(str(file))
        except ScenarioError as error:
            named(str(error).removeprefix(f"{folder}/"))
            return "not text"
        raise AssertionError("bytes that are no UTF-8 were read") from None
    changes = [line for line in text.splitlines() if line.startswith(("#--set ", "#--aqm "))]
    try:
        scenario = _core.Scenario.parse(text, "case.toml")
    except ScenarioError as error:
        named(str(error))
        return "not TOML"
    try:
        for change in changes:
            if change.startswith("#--aqm "):
                scenario = scenario.with_aqm(change[7:])
            else:
                path, _, value = change[7:].partition("=")
                scenario = scenario.with_text(path, value)
        scenario.check()
    except ScenarioError as error:
        named(str(error))
        return "refused"
    written(scenario)
    return "valid"


def attack(seed: int, folder: Path) -> str:
    """Try the scenario of a seed."""
    return judge(case(seed), folder)

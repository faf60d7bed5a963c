"""The grammars of routers' documents, as far as `aqmlab advise` writes lines: each reads lines, and refuses others.

dummynet: ipfw(8) of FreeBSD 14. RouterOS: MikroTik's reference of ``/queue/type``. IOS: Cisco's command reference.
Junos: the statements of Juniper's user guide.
"""

import re
from typing import Any

TIME = {"us": 1, "ms": 1000, "s": 1_000_000}


def _number(text: str, least: float, most: float) -> float:
    assert re.fullmatch(r"\d+(\.\d+)?", text), text
    assert least <= float(text) <= most, text
    return float(text)


def _whole(text: str, least: int, most: int) -> int:
    assert text.isdecimal(), text
    return int(_number(text, least, most))


def _time(text: str) -> int:
    """A time in µs."""
    found = re.fullmatch(r"(\d+)(us|ms|s)", text)
    assert found, text
    return int(found[1]) * TIME[found[2]]


# FreeBSD

_CODEL = {"target": _time, "interval": _time, "ecn": None, "noecn": None}
_PIE = {
    **dict.fromkeys(("target", "tupdate", "max_burst"), _time),
    "alpha": lambda text: _number(text, 0, 7),
    "beta": lambda text: _number(text, 0, 7),
    "max_ecnth": lambda text: _number(text, 0, 1),
    **dict.fromkeys(("ecn", "noecn", "capdrop", "nocapdrop", "drand", "nodrand", "onoff", "dre", "ts")),
}
_SCHEDULER = {
    "quantum": lambda text: _whole(text, 1, 9000),
    "limit": lambda text: _whole(text, 1, 20480),
    "flows": lambda text: _whole(text, 1, 65536),
}
_AQMS: dict[str, dict[str, Any]] = {
    "codel": _CODEL,
    "pie": _PIE,
    "fq_codel": _CODEL | _SCHEDULER,
    "fq_pie": _PIE | _SCHEDULER,
}


def _words(words: list[str], allowed: dict[str, Any]) -> dict[str, Any]:
    """Words with their values; nothing else may follow the name of an AQM."""
    found: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        assert word in allowed, word
        assert word not in found, word
        found[word] = True if allowed[word] is None else allowed[word](words.pop(0))
    return found


def _red(text: str) -> dict[str, Any]:
    weight, least, most, chance = text.split("/")
    return {
        "w_q": _number(weight, 1e-9, 1),
        "min_th": _whole(least, 0, 2**31),
        "max_th": _whole(most, int(least) + 1, 2**31),
        "max_p": _number(chance, 1e-9, 1),
    }


def dummynet(text: str) -> dict[int, dict[str, Any]]:
    """The pipes of lines for a shell: rate in bit/s, queue in packets or bytes, and the discipline with its words."""
    limits = {"slot": 100, "byte": 1024 * 1024}
    pipes: dict[int, dict[str, Any]] = {}
    scheduled: set[int] = set()
    rules: set[tuple[str, int]] = set()
    goes_on = False  # a packet behind dummynet, to the rules that follow
    for line in text.splitlines():
        if line.startswith("#") or line in ("kldload -n dummynet", "ipfw -q delete 100 101 2> /dev/null"):
            continue
        if re.fullmatch(r"WAN=[\w-]+  # .*", line):
            continue
        if line == "sysctl net.inet.ip.fw.one_pass=0":
            goes_on = True
            continue
        if found := re.fullmatch(r"sysctl net\.inet\.ip\.dummynet\.pipe_(slot|byte)_limit=(\d+)", line):
            limits[found[1]] = int(found[2])
        elif found := re.fullmatch(r"dnctl pipe (\d+) config bw (\d+)Kbit/s(.*)", line):
            pipe: dict[str, Any] = {"rate": int(found[2]) * 1000}
            assert 0 < pipe["rate"] < 2**32
            words = found[3].split()
            if words[:1] == ["queue"]:
                words.pop(0)
                size = re.fullmatch(r"(\d+)(Kbytes)?", words.pop(0))
                assert size
                pipe["bytes" if size[2] else "slots"] = own = int(size[1]) * (1024 if size[2] else 1)
                assert 2 <= own <= limits["byte" if size[2] else "slot"]
            if words:
                pipe["kind"] = kind = words.pop(0)
                pipe |= (
                    _red(words.pop(0)) | _words(words, {"ecn": None}) if kind == "red" else _words(words, _AQMS[kind])
                )
            pipes[int(found[1])] = pipe
        elif found := re.fullmatch(r"dnctl sched (\d+) config pipe \1 type (fq_codel|fq_pie) (.*)", line):
            pipes[int(found[1])] |= {"kind": found[2]} | _words(found[3].split(), _AQMS[found[2]])
        elif found := re.fullmatch(r"dnctl queue (\d+) config sched \1", line):
            assert pipes[int(found[1])]["kind"].startswith("fq_")
            scheduled.add(int(found[1]))
        else:
            found = re.fullmatch(r"ipfw add \d+ (queue|pipe) (\d+) ip from any to any (out xmit|in recv) \$WAN", line)
            assert found, line
            assert (found[1] == "queue") == (int(found[2]) in scheduled)
            rules.add((found[3], int(found[2])))
    assert rules == {("out xmit", 1), ("in recv", 2)}
    assert goes_on
    return pipes


# RouterOS

_NUM, _OFTEN = re.compile(r"\d+k?"), re.compile(r"\d+(us|ms|s)")
_BOOL = re.compile("yes|no")
_TYPES: dict[str, dict[str, re.Pattern[str]]] = {
    "bfifo": {"limit": _NUM},
    "red": dict.fromkeys(("limit", "min-threshold", "max-threshold", "burst", "avg-packet"), _NUM),
    "codel": {"limit": _NUM, "interval": _OFTEN, "target": _OFTEN, "ecn": _BOOL},
    "fq-codel": {
        **{"limit": _NUM, "interval": _OFTEN, "target": _OFTEN, "ecn": _BOOL},
        **dict.fromkeys(("flows", "memlimit", "quantum"), _NUM),
    },
    "cake": {
        **dict.fromkeys(("bandwidth", "mpu", "memlimit"), _NUM),
        "overhead": re.compile(r"-?\d+"),
        "atm": re.compile("none|atm|ptm"),
        "rtt": _OFTEN,
        "diffserv": re.compile("diffserv[348]|besteffort|precedence"),
        "flowmode": re.compile("flowblind|srchost|dsthost|hosts|flows|dual-srchost|dual-dsthost|triple-isolate"),
        "nat": _BOOL,
        "ack-filter": re.compile("none|filter|aggressive"),
    },
}


def routeros(text: str) -> dict[str, dict[str, str]]:
    """The queue types of a script, with ``rate`` from the simple queue if it has one."""
    types: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if line.startswith("#") or re.fullmatch(r"/queue (simple|type) remove \[find name[=~].*\]", line):
            continue
        path, *words = re.split(r" (?=[\w-]+=)", line)
        rows = dict(word.split("=", 1) for word in words)
        if path == "/queue type add":
            kind = rows["kind"]
            own = {key.removeprefix(f"{kind}-"): value for key, value in rows.items() if key not in ("name", "kind")}
            assert all(key.startswith(f"{kind}-") for key in rows if key not in ("name", "kind"))
            for key, value in own.items():
                assert _TYPES[kind][key].fullmatch(value), f"{key}={value}"
            types[rows["name"]] = {"kind": kind, **own}
        else:
            assert path == "/queue simple add"
            assert set(rows) <= {"name", "target", "max-limit", "queue"}
            queues = rows["queue"].split("/")  # up, then down
            for name, rate in zip(queues, rows.get("max-limit", "0k/0k").split("/"), strict=True):
                assert _NUM.fullmatch(rate)
                types[name]["rate"] = rate
    return types


# IOS

_CLASS = (
    (r"shape average (\d+)", "rate"),
    (r"random-detect", "random-detect"),
    (r"random-detect ecn", "ecn"),
    (r"random-detect exponential-weighting-constant (\d|1[0-6])", "weight"),
    (r"random-detect precedence ([0-7]) (\d+) (\d+) (\d+)", "precedence"),
    (r"queue-limit (\d+) packets", "limit"),
)


def ios(text: str) -> dict[str, dict[str, Any]]:
    """The policies of a configuration, each of which an interface has as ``output``."""
    policies: dict[str, dict[str, Any]] = {}
    used = []
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        if found := re.fullmatch(r"policy-map (\S+)", line):
            own = policies.setdefault(found[1], {"precedence": {}})
        elif found := re.fullmatch(r" service-policy output (\S+)", line):
            used.append(found[1])
        elif line.startswith("  "):
            (matched,) = ((rule, key) for rule, key in _CLASS if re.fullmatch(rule, line[2:]))
            values = [int(one) for one in re.fullmatch(matched[0], line[2:]).groups()]  # type: ignore[union-attr]
            if matched[1] == "precedence":
                which, least, most, denominator = values
                assert 1 <= least <= most <= 4096
                assert 1 <= denominator <= 65536
                own["precedence"][which] = (least, most, denominator)
            else:
                own[matched[1]] = values[0] if values else True
        else:
            assert line == " class class-default" or re.fullmatch(r"interface \S+", line), line
    assert sorted(used) == sorted(policies)
    return policies


# Junos

_COS = (
    r"schedulers (?P<s>\S+) transmit-rate (percent \d+|remainder)",
    r"schedulers (?P<s>\S+) buffer-size (percent \d+|temporal (?P<temporal>\d+))",
    r"schedulers (?P<s>\S+) drop-profile-map loss-priority any protocol any drop-profile (?P<profile>\S+)",
    r"drop-profiles (?P<p>\S+) interpolate fill-level \[ (?P<levels>[\d ]+) \] "
    r"drop-probability \[ (?P<chances>[\d ]+) \]",
    r"scheduler-maps (?P<m>\S+) forwarding-class (best-effort|network-control) scheduler (?P<scheduler>\S+)",
    r"interfaces (?P<i>\S+) scheduler-map (?P<map>\S+)",
    r"interfaces (?P<i>\S+) shaping-rate (?P<rate>\d+)k",
)


def junos(text: str) -> dict[str, dict[str, Any]]:
    """The schedulers of statements, with the profile and the rate of their interface; every name must be defined."""
    groups: dict[str, dict[str, dict[str, Any]]] = {key: {} for key in "spmi"}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        body = line.removeprefix("set class-of-service ")
        (found,) = (one for rule in _COS if (one := re.fullmatch(rule, body)))
        (which, name) = next((key, value) for key, value in found.groupdict().items() if key in groups)
        kept = {key: value for key, value in found.groupdict().items() if key not in groups and value}
        if which == "m":
            groups["m"].setdefault(name, {"schedulers": []})["schedulers"].append(kept["scheduler"])
        else:
            groups[which].setdefault(name, {}).update(kept)
    for profile in groups["p"].values():
        for key in ("levels", "chances"):
            profile[key] = [int(one) for one in profile[key].split()]
            assert profile[key] == sorted(profile[key])
            assert max(profile[key]) <= 100
        assert len(profile["levels"]) == len(profile["chances"])
    found_schedulers = {}
    for interface in groups["i"].values():
        for name in groups["m"][interface["map"]]["schedulers"]:
            own = groups["s"][name]
            if "temporal" in own:
                assert 1 <= int(own["temporal"]) <= 200_000
                shaped = {"rate": int(interface["rate"]) * 1000, "temporal": int(own["temporal"])}
                found_schedulers[name] = shaped | (groups["p"][own["profile"]] if "profile" in own else {})
    return found_schedulers

"""The translation of a class to Rust: a file of crates/aqm with everything that the class declares, and its test."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from aqmlab.own.algorithm import AQM, METHODS, Parameter, has
from aqmlab.own.compiled import OTHER_PORT, sample
from aqmlab.own.source import Declared

_SIGNATURES = {
    "on_enqueue": "fn on_enqueue<R: Uniform>(\n        &mut self,\n        now: Time,\n        packet: &Packet,\n"
    "        queue: &Backlog,\n        rng: &mut R,\n    ) -> Verdict",
    "on_dequeue": "fn on_dequeue<R: Uniform>(\n        &mut self,\n        now: Time,\n        packet: &Packet,\n"
    "        queue: &Backlog,\n        sojourn: Span,\n        rng: &mut R,\n    ) -> Verdict",
    "on_overflow": "fn on_overflow(&mut self, now: Time)",
    "on_idle": "fn on_idle(&mut self, now: Time)",
    "on_period": "fn on_period(&mut self, now: Time, queue: &Backlog)",
}

_TYPES = {"s": "Span", "bit/s": "Rate", "bytes": "Bytes", "Hz": "Frequency"}


def rust_name(declared: Declared) -> str:
    """Return the name of the algorithm: that of the class in lower case, with underscores between words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", declared.cls.__name__).lower()


def rust(declared: Declared) -> str:
    """Write the Rust file of a class, ``crates/aqm/src/aqm/NAME.rs``.

    Its methods are still in Python, as comments, where Rust has to stand.
    """
    parts = [
        _head(declared),
        _uses(declared),
        _params(declared),
        _struct(declared),
        _implementation(declared),
        _tests(declared),
    ]
    return "\n\n".join(parts) + "\n"


def line_for_the_list(declared: Declared, name: str) -> str:
    """Return the line that adds the algorithm to crates/aqm/src/aqm.rs."""
    return f"{name}::{declared.cls.__name__},"


def _head(declared: Declared) -> str:
    summary, _, rest = declared.doc.partition("\n\n")
    events = {"on_enqueue": "enqueue", "on_dequeue": "dequeue"}
    decides = [word for method, word in events.items() if has(declared.cls, method)]
    timer = "every `period`" if has(declared.cls, "on_period") else "none"
    randomness = "`self.random()`, at each of its calls" if "self.random()" in declared.text else "none"
    state = ", ".join(_state(declared)) or "none"
    text = [
        *textwrap.wrap(f"{declared.cls.__name__}: {summary}", 112, break_on_hyphens=False),
        "",
        *([*rest.splitlines(), ""] if rest else []),
        *textwrap.wrap(
            f"Decides at: {', '.join(decides)}. Timer: {timer}. Randomness: {randomness}. State: {state}.",
            112,
            break_on_hyphens=False,
        ),
        "",
        "# Departures from the source",
        "None known.",
        "",
        "# Sources",
        *textwrap.wrap(
            f"{declared.cls.__name__}, a class in Python whose source has the digest {declared.source}. Tested against "
            "its verdicts, one by one: tests/ported.",
            112,
            break_on_hyphens=False,
        ),
    ]
    return "\n".join(f"//! {line}".rstrip() for line in text)


def _uses(declared: Declared) -> str:
    units = {_TYPES[p.unit] for p in declared.parameters if p.unit in _TYPES and not isinstance(p.default, str | bool)}
    units |= {"Span", "Time"}
    ranges = any(_range(p) != "Range::ANY" or p.aliases for p in declared.parameters)
    lines = ["use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};"]
    if ranges:
        lines.append("use crate::params::Range;")
    lines.append(f"use crate::unit::{{{', '.join(sorted(units))}}};")
    return "\n".join(lines)


def _type(parameter: Parameter) -> str:
    if isinstance(parameter.default, bool):
        return "bool"
    if isinstance(parameter.default, str):
        return "String" if not parameter.choices else _choice_name(parameter)
    return _TYPES.get(parameter.unit) or ("u32" if isinstance(parameter.default, int) else "f64")


def _choice_name(parameter: Parameter) -> str:
    return parameter.name.title().replace("_", "")


def _variant(choice: str) -> str:
    name = "".join(part.title() for part in re.split(r"\W+|_", choice)) or "Empty"
    return f"V{name}" if name[0].isdigit() else name


_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let
    loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof
    unsafe unsized use virtual where while yield
""",
    )
)


def _named(name: str) -> str:
    """Return a name that is none of Rust's words."""
    return f"{name}_" if name in _KEYWORDS else name


def _text(text: str) -> str:
    """Return a text as a literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _default(parameter: Parameter) -> str:
    value, kind = parameter.default, _type(parameter)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"{kind}::{_variant(value)}" if parameter.choices else f"{_text(value)}.to_owned()"
    if kind == "Span":
        ns = round(value * 1e9)
        for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)):
            if ns % size == 0:
                return f"Span::{unit}({ns // size})"
    if kind == "Rate":
        return f"Rate::bit_per_s({round(value)})"
    if kind == "Bytes":
        return f"Bytes({round(value)})"
    if kind == "Frequency":
        return f"Frequency({float(value)!r})"
    return repr(value)


def _number(value: float) -> str:
    return {float("inf"): "f64::MAX", float("-inf"): "f64::MIN"}.get(value) or repr(float(value))


def _range(parameter: Parameter) -> str:
    low, included, high = parameter.range
    if (low, high) == (float("-inf"), float("inf")):
        return "Range::ANY"
    return f"Range::{'new' if included else 'above'}({_number(low)}, {_number(high)})"


def _params(declared: Declared) -> str:
    choices = [_choice(one) for one in declared.parameters if one.choices]
    lines = []
    for one in declared.parameters:
        lines += [f"        /// {line}" for line in textwrap.wrap(_sentence(one.doc or one.name), 100)]
        line = f"        {_named(one.name)}: {_type(one)} = {_default(one)}, {_text(one.unit)}"
        if one.aliases:
            line += f", {_range(one)}, [{', '.join(map(_text, one.aliases))}]"
        elif _range(one) != "Range::ANY":
            line += f", {_range(one)}"
        lines.append(f"{line};")
    text = f"crate::params! {{\n    /// The parameters.\n    pub struct Params {{\n{chr(10).join(lines)}\n    }}\n}}"
    return "\n\n".join([*choices, text])


def _choice(parameter: Parameter) -> str:
    variants = "\n".join(
        f'        /// As `{choice}`.\n        {_variant(choice)} = "{choice}",' for choice in parameter.choices
    )
    doc = _sentence(parameter.doc or parameter.name)
    return f"crate::choice! {{\n    /// {doc}\n    pub enum {_choice_name(parameter)} {{\n{variants}\n    }}\n}}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _state(declared: Declared) -> dict[str, tuple[str, str]]:
    """Return the attributes that are no parameters, each with its Rust type and its value at the start."""
    made, other = vars(sample(declared)), vars(sample(declared, OTHER_PORT))
    names = {parameter.name for parameter in declared.parameters} | {"random"}
    found = {name: _field(value) for name, value in made.items() if name not in names}
    for name, (kind, value) in found.items():
        if _field(other.get(name)) != (kind, value):  # it depends on the port
            found[name] = kind, f'todo!("{name}, which start computes from the port")'
    return {_named(name): field for name, field in found.items()}


def _field(value: Any) -> tuple[str, str]:
    import numpy as np

    if isinstance(value, bool | np.bool_):
        return "bool", str(bool(value)).lower()
    if isinstance(value, int | np.integer):
        return "i64", str(int(value))
    if isinstance(value, float | np.floating):
        number = repr(float(value))
        written = {"inf": "f64::INFINITY", "-inf": "f64::NEG_INFINITY", "nan": "f64::NAN"}
        return "f64", written.get(number, number)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        kind = {"f": "f64", "i": "i64", "b": "bool"}[value.dtype.kind]
        zero = {"f64": "0.0", "i64": "0", "bool": "false"}[kind]
        return f"[{kind}; {value.size}]", f"[{zero}; {value.size}]"
    return "()", f"() /* in Python: {value!r} */"


def _struct(declared: Declared) -> str:
    fields = "\n".join(f"    {name}: {kind}," for name, (kind, _) in _state(declared).items())
    return (
        "/// The algorithm; see the module.\n#[derive(Clone, Debug)]\n"
        f"pub struct {declared.cls.__name__} {{\n    params: Params,\n{fields}\n}}"
    )


def _implementation(declared: Declared) -> str:
    body = [_signals(declared), _new(declared)]
    if not has(declared.cls, "on_enqueue"):
        body.append(f"    {_SIGNATURES['on_enqueue']} {{\n        Verdict::Pass\n    }}")
    for method in METHODS:
        if has(declared.cls, method):
            body.append(f"    {_SIGNATURES[method]} {{\n{_python(declared, method)}\n    }}")
    if has(declared.cls, "on_period"):
        named = any(one.name == "period" for one in declared.parameters)
        value = "self.params.period" if named else f"Span::from_secs({declared.period!r})"
        body.append(f"    fn period(&self) -> Option<Span> {{\n        Some({value})\n    }}")
    if not has(declared.cls, "on_dequeue"):
        body.append("    fn is_final(&self) -> bool {\n        true\n    }")
    kinds = _state(declared)
    visits = [
        f"        visit({i}, {_as_number(_named(signal.name), kinds[_named(signal.name)][0])});"
        for i, signal in enumerate(declared.signals)
    ]
    body.append(_resume(declared))
    visit = "mut visit" if visits else "_"
    body.append(f"    fn signals(&self, {visit}: impl FnMut(usize, f64)) {{\n" + "\n".join([*visits, "    }"]))
    helpers = [_helper(declared, name) for name in _helpers(declared)]
    own = f"impl {declared.cls.__name__} {{\n{chr(10).join(helpers)}\n}}\n\n" if helpers else ""
    return f"{own}impl Aqm for {declared.cls.__name__} {{\n    type Params = Params;\n" + "\n\n".join(body) + "\n}"


def _resume(declared: Declared) -> str:
    values = {name: value for name, (_, value) in _state(declared).items()}
    of_port = [name for name, value in values.items() if value.startswith("todo!")]
    if len(of_port) == len(values):
        return "    fn resume(&mut self, _: Self) {}"
    own = ", ".join(["params: self.params.clone()", *(f"{name}: self.{name}" for name in of_port)])
    return f"    fn resume(&mut self, before: Self) {{\n        *self = Self {{ {own}, ..before }};\n    }}"


def _as_number(name: str, kind: str) -> str:
    return {"f64": f"self.{name}", "i64": f"self.{name} as f64"}.get(kind, f"f64::from(u8::from(self.{name}))")


def _signals(declared: Declared) -> str:
    entries = [
        f"Signal {{ name: {_text(one.name)}, unit: {_text(one.unit)}, doc: {_text(_sentence(one.doc))} }}"
        for one in declared.signals
    ]
    return f"    const SIGNALS: &'static [Signal] = &[{', '.join(entries)}];"


def _new(declared: Declared) -> str:
    fields = ", ".join(f"{name}: {value}" for name, (_, value) in _state(declared).items())
    python = _python(declared, "start", then="") if has_start(declared) else ""
    made = f"        Self {{ params: params.clone(), {fields} }}"
    return f"    fn new(params: &Params, port: &Port) -> Self {{\n{python}{made}\n    }}"


def has_start(declared: Declared) -> bool:
    """Return whether a class sets its initial state."""
    return declared.cls.start is not AQM.start


def _functions(declared: Declared) -> dict[str, ast.FunctionDef]:
    classes = {node.name: node for node in ast.parse(declared.text).body if isinstance(node, ast.ClassDef)}
    found: dict[str, ast.FunctionDef] = {}
    for base in declared.cls.__mro__:
        for node in getattr(classes.get(base.__name__), "body", ()):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, node)
    return found


def _helpers(declared: Declared) -> Iterator[str]:
    return (name for name in _functions(declared) if name not in (*METHODS, "start"))


def _helper(declared: Declared, name: str) -> str:
    arguments = ", ".join(f"{one.arg}: f64" for one in _functions(declared)[name].args.args[1:])
    return f"    fn {name}(&self, {arguments}) -> f64 {{\n{_python(declared, name)}\n    }}"


def _python(declared: Declared, method: str, then: str | None = None) -> str:
    """Return the source of a method as comments, followed by a mark where work is left."""
    node = _functions(declared)[method]
    lines = declared.text.splitlines()[node.body[0].lineno - 1 : node.end_lineno]
    comments = [f"        // {line}".rstrip() for line in textwrap.dedent("\n".join(lines)).splitlines()]
    end = f'        todo!("what {method} does in Python")' if then is None else then
    return "\n".join([*comments, end])


def _tests(declared: Declared) -> str:
    name = declared.cls.__name__
    return (
        "#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::fixture::{Draw, PACKET, PORT, waiting};\n\n"
        "    #[test]\n    fn a_lone_packet_passes() {\n"
        f"        let mut aqm = {name}::new(&Params::default(), &PORT);\n"
        "        let verdict = aqm.on_enqueue(Time::ZERO, &PACKET, &waiting(0), &mut Draw(0.5));\n"
        "        assert_eq!(verdict, Verdict::Pass);\n    }\n}"
    )

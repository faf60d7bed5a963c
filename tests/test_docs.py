"""Everything public is documented, and nothing accepts an unknown keyword."""

import doctest
import enum
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import aqmlab
import aqmlab.gym
import aqmlab_papers
from aqmlab.cli import terminal
from aqmlab.cli.shell import NOT_FOUND
from aqmlab.reports.pages import pages

ROOT = Path(__file__).parents[1]

# The command line is documented by its options, the engine by its stub, a paper by its claims.
UNDOCUMENTED = re.compile(
    r"aqmlab\.(_core|__main__|cli(\.(?!terminal).*)?)|aqmlab_papers\.(lred|raqm|redtail|survey|impact|anomaly|l4s_tests|partial_l4s|wifi_bbr|bbr_tests|cake|commands)\b.*"
)


def modules() -> Iterator[Any]:
    for module in (
        module
        for package in (aqmlab, aqmlab_papers)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ):
        if not UNDOCUMENTED.fullmatch(module.name):
            yield importlib.import_module(module.name)


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public function, class and method of aqmlab."""
    for module in modules():
        for name, item in vars(module).items():
            if name.startswith("_") or getattr(item, "__module__", None) != module.__name__:
                continue
            yield f"{module.__name__}.{name}", item
            if inspect.isclass(item):
                for method, function in vars(item).items():
                    if not method.startswith("_") and callable(getattr(item, method)):
                        yield f"{module.__name__}.{name}.{method}", getattr(function, "__func__", function)


PUBLIC = {name: item for name, item in public() if inspect.isclass(item) or inspect.isfunction(item)}


THEORY = ("aqmlab.theory.", "aqmlab_papers.theory.")

# What users of theory call by hand. Its other functions have a sentence, the equation, the unit and the source.
CALLED = ("loop.linear.Loop", "loop.margins.Margins", "loop.margins.margins", "loop.plant.Plant")


def vars_of(package: Any) -> list[Any]:
    return [getattr(package, name) for name in package.__all__]


def is_exported(name: str) -> bool:
    """Return whether users import it: from aqmlab or aqmlab.gym, a class of aqmlab_papers, or a rule of theory."""
    if name.startswith(THEORY):
        short = name.split("theory.")[1]
        return short.endswith((".design", ".Design")) or short.startswith(CALLED)
    if name.startswith("aqmlab_papers."):
        return name in WORDS and inspect.isclass(PUBLIC[name])
    exported = (*vars_of(aqmlab), *vars_of(aqmlab.gym))
    homes = {f"{item.__module__}.{item.__qualname__}" for item in exported if hasattr(item, "__qualname__")}
    return any(name == home or name.startswith(f"{home}.") for home in homes)


WORDS = {f"{item.__module__}.{item.__qualname__}" for item in vars_of(aqmlab_papers) if hasattr(item, "__qualname__")}
"""The vocabulary of papers. Its functions and methods have sentences; the head of a module explains its words once."""


EXPORTED = {name for name in PUBLIC if is_exported(name)}
"""Names that need full numpydoc. For others a sentence is enough; if they list parameters, they list all."""


def section(doc: str, title: str) -> str:
    """Return the text of one numpydoc section."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def documented(doc: str) -> list[str]:
    """Return the names in numpydoc's list of parameters, or in a list of the fields of a class, whose types it has."""
    fields = re.findall(r"^\* (?:``)?(\w+)(?:``)?: \S", doc, re.MULTILINE)
    return re.findall(r"^(\*{0,2}\w+) : .+\n {4}\S", section(doc, "Parameters"), re.MULTILINE) or fields


def parameters(item: Callable[..., Any]) -> list[str]:
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    return [
        stars.get(parameter.kind, "") + name
        for name, parameter in inspect.signature(item).parameters.items()
        if name not in ("self", "cls")
    ]


def plain_exception(item: Any) -> bool:
    """Return whether it is an exception with the parameters of any exception."""
    return inspect.isclass(item) and issubclass(item, Exception) and "__init__" not in vars(item)


def is_enumeration(item: Any) -> bool:
    """Return whether it is an enumeration, whose members are documented together and which has no parameters."""
    return inspect.isclass(item) and issubclass(item, enum.Enum)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_documented(name: str) -> None:
    item = PUBLIC[name]
    doc = inspect.getdoc(item) or ""
    assert doc, f"{name} has no documentation"
    if (name in EXPORTED or documented(doc)) and not plain_exception(item) and not is_enumeration(item):
        assert documented(doc) == parameters(item)


def symbols(module: str) -> set[str]:
    """Return the names in the lists at the head of a module of theory, of its packages and of a module it refers to."""
    found: set[str] = set()
    while "." in module:
        text = " ".join((sys.modules[module].__doc__ or "").split())
        found.update(*(names.split(", ") for names in re.findall(r"(?:\* |; )((?:\w+, )*\w+): ", text)))
        for other in re.findall(r"Symbols are those of `([\w.]+)`", text):
            found |= symbols(other)
        module = module.rpartition(".")[0]
    return found | symbols("aqmlab.theory") if module == "aqmlab_papers" else found


EXPLAINED = (*THEORY, *WORDS)


@pytest.mark.parametrize(
    "name", [name for name, item in PUBLIC.items() if name.startswith(EXPLAINED) and inspect.isfunction(item)]
)
def test_every_symbol_of_theory_and_word_of_papers_is_explained_once_for_its_module(name: str) -> None:
    item = PUBLIC[name]
    doc = inspect.getdoc(item) or ""
    owner = PUBLIC.get(name.rpartition(".")[0])
    known = symbols(item.__module__) | {*documented(doc)} | {*documented(inspect.getdoc(owner) or "" if owner else "")}
    assert [
        one for one in parameters(item) if one.lstrip("*") not in known and f"``{one.lstrip('*')}``" not in doc
    ] == []


@pytest.mark.parametrize("name", [name for name, item in PUBLIC.items() if inspect.isfunction(item)])
def test_every_returned_value_is_documented(name: str) -> None:
    returned = inspect.signature(PUBLIC[name]).return_annotation
    doc = inspect.getdoc(PUBLIC[name]) or ""
    gives = bool(section(doc, "Returns") or section(doc, "Yields"))
    if name in EXPORTED or gives:
        assert gives == (returned not in ("None", "NoReturn", None))


def test_properties_are_documented() -> None:
    for item in PUBLIC.values():
        if inspect.isclass(item):
            for name, member in vars(item).items():
                if isinstance(member, property) and not name.startswith("_"):
                    assert inspect.getdoc(member), f"{item.__name__}.{name} has no documentation"


def test_no_function_swallows_an_unknown_keyword() -> None:
    # Scenario.with_ accepts any keyword and passes it to the schema, which rejects unknown ones; the checks of theory
    # take the names of their callers' arguments; a template takes the values that it inserts.
    takes_any = {
        name
        for name, item in PUBLIC.items()
        if not plain_exception(item)
        and not is_enumeration(item)
        and not getattr(item, "_is_protocol", False)
        and any(p.kind is p.VAR_KEYWORD for p in inspect.signature(item).parameters.values())
    }
    checks = {f"aqmlab.theory.domain.{name}" for name in ("limit", "not_negative", "positive", "probability", "whole")}
    assert takes_any == {"aqmlab.scenario.Scenario.with_", "aqmlab.reports.template.rendered"} | checks
    with pytest.raises(aqmlab.ScenarioError):
        aqmlab.Scenario.parse("").with_(no_such_thing=1).check()


def test_every_option_of_the_command_line_has_a_text() -> None:
    from aqmlab.cli.app import app

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert len(commands) > 20
    for command in [*commands.values(), *commands["design"].commands.values()]:
        assert command.help
        for parameter in command.params:
            assert parameter.help, f"{command.name}: {parameter.name}"


PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    page = ROOT / "docs/reference" / name
    assert page.read_text(encoding="utf-8") == PAGES[name], "run `make docs`"


def test_the_page_on_errors_lists_every_kind_and_exit_status() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    (kinds,) = set(
        re.findall(r"kind: Literal\[(.*?)\]", (ROOT / "python/aqmlab/_core.pyi").read_text(encoding="utf-8"))
    )
    table = page.partition("| kind | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == kinds.replace('"', "").split(", ")
    signals = {128 + number for number in terminal.STOPPING}
    statuses = {
        0,
        terminal.BAD_USAGE,
        terminal.FAILED,
        terminal.LOST,
        terminal.UNREACHED,
        terminal.NOT_REMADE,
        terminal.BEYOND,
        terminal.FOUND,
        NOT_FOUND,
        *signals,
    }
    assert [int(status) for status in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == sorted(statuses)


def test_examples_run() -> None:
    tried = [doctest.testmod(module) for module in (aqmlab, *modules())]
    assert sum(result.attempted for result in tried) > 0
    assert not any(result.failed for result in tried)

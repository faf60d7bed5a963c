"""Which tests a change touches."""

from touched import commands, importers, touched

GRAPH = {
    "python/a.py": ["python/b.py", "tests/test_a.py"],
    "python/b.py": ["python/c.py"],
    "python/c.py": ["python/b.py", "tests/test_c.py", "tests/helper.py"],
    "tests/helper.py": ["tests/test_d.py"],
    "python/alone.py": [],
}


def test_the_nearest_tests_are_touched() -> None:
    assert touched("python/a.py", GRAPH) == {"tests/test_a.py"}
    assert touched("python/b.py", GRAPH) == {"tests/test_c.py"}
    assert touched("tests/helper.py", GRAPH) == {"tests/test_d.py"}
    assert touched("tests/test_new.py", GRAPH) == {"tests/test_new.py"}
    assert touched("python/alone.py", GRAPH) == set()


def test_a_change_is_checked_with_the_tools_of_its_language() -> None:
    rust = commands(["crates/aqm/src/aqm/codel.rs", "crates/aqm/Cargo.toml", "README.md"], GRAPH)
    assert [command[:2] for command in rust] == [["rustfmt", "--check"], ["cargo", "test"], ["cargo", "clippy"]]
    assert rust[1] == ["cargo", "test", "--quiet", "--package", "aqm"]
    python = commands(["python/a.py"], GRAPH)
    assert python[-1][0] == "pytest"
    assert python[-1][-1] == "tests/test_a.py"
    assert commands(["README.md"], GRAPH) == []


def test_imports_inside_functions_count() -> None:
    dependents = importers()
    assert "python/aqmlab/cli/tune.py" in dependents["python/aqmlab/advice/tune.py"]
    assert touched("python/aqmlab/runs/journal.py", dependents) >= {"tests/test_store.py"}

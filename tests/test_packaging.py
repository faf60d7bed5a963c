"""The parts of `make wheel` that need no build: comparing archives, reading platform tags, judging auditwheel's report.

The whole of it runs by `make wheel` only: it takes half an hour.
"""

import io
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from release import build, tools
from release.account import Account
from release.archive import difference, naming, platforms
from release.audit import judged
from release.target import Target, targets

DATE = (2026, 1, 2, 3, 4, 6)
REPORT = {
    "overall_tag": "manylinux_2_17_x86_64",
    "external_libs": {},
    "unsupported_isa": False,
    "versioned_symbols": {"libc.so.6": ["GLIBC_2.17"]},
}


def packed(file: Path, members: dict[str, bytes], date: tuple[int, int, int, int, int, int] = DATE) -> Path:
    """Write a wheel with these members."""
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, date), content)
    return file


def tarred(file: Path, members: dict[str, bytes], mtime: int = 0) -> Path:
    """Write an sdist with these members."""
    file.parent.mkdir(exist_ok=True)
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), mtime
            archive.addfile(entry, io.BytesIO(content))
    return file


def test_the_first_member_that_differs_is_named(tmp_path: Path) -> None:
    one = packed(tmp_path / "one" / "a.whl", {"x.py": b"1", "core.so": b"abcd", "z.so": b"1"})
    same = packed(tmp_path / "same" / "a.whl", {"x.py": b"1", "core.so": b"abcd", "z.so": b"1"})
    other = packed(tmp_path / "other" / "a.whl", {"x.py": b"1", "core.so": b"abXd5", "z.so": b"2"})
    longer = packed(tmp_path / "longer" / "a.whl", {"x.py": b"1", "core.so": b"abcd5", "z.so": b"1"})
    assert difference(one, same) == ""
    assert difference(one, other) == "core.so differs, from byte 2 on (4 and 5 bytes)"
    assert difference(one, longer) == "core.so differs, from byte 4 on (4 and 5 bytes)"


def test_archives_differ_in_names_dates_and_order_too(tmp_path: Path) -> None:
    members = {"x": b"1", "y": b"2"}
    one = packed(tmp_path / "one" / "a.whl", members)
    assert difference(one, packed(tmp_path / "b.whl", members)) == "one is named a.whl, the other b.whl"
    assert difference(one, packed(tmp_path / "more" / "a.whl", members | {"q": b""})) == "only one has q"
    late = packed(tmp_path / "late" / "a.whl", members, (2026, 1, 2, 3, 4, 8))
    assert difference(one, late).startswith("x has another date, mode or owner: ")
    turned = packed(tmp_path / "turned" / "a.whl", dict(reversed(members.items())))
    assert difference(one, turned) == "the members have another order"
    with (tmp_path / "turned" / "a.whl").open("wb") as file:
        file.write(one.read_bytes())
    with zipfile.ZipFile(tmp_path / "turned" / "a.whl", "a") as archive:
        archive.comment = b"built on Tuesday"
    assert difference(one, tmp_path / "turned" / "a.whl") == "the members are equal, the archive around them differs"


def test_sdists_are_compared_alike(tmp_path: Path) -> None:
    one = tarred(tmp_path / "one" / "a.tar.gz", {"a/x": b"1"})
    assert difference(one, tarred(tmp_path / "two" / "a.tar.gz", {"a/x": b"2"})).startswith("a/x differs, from byte 0")
    assert difference(one, tarred(tmp_path / "three" / "a.tar.gz", {"a/x": b"1"}, 9)).startswith("a/x has another date")


def test_members_that_name_a_folder_are_found(tmp_path: Path) -> None:
    wheel = packed(tmp_path / "a.whl", {"x": b"at /home/me/src/lib.rs:7", "y": b"at aqmlab/src/lib.rs:7"})
    assert naming(wheel, [Path("/home/me"), Path("/root")]) == ["x"]
    assert naming(wheel, [Path("/root")]) == []


def test_a_wheel_keeps_what_its_name_promises() -> None:
    promised = {"manylinux_2_17_x86_64", "manylinux2014_x86_64"}
    assert judged(REPORT, promised) == ""
    newer = REPORT | {"overall_tag": "manylinux_2_34_x86_64", "versioned_symbols": {"libc.so.6": ["GLIBC_2.34"]}}
    assert "finds manylinux_2_34_x86_64: libc.so.6 GLIBC_2.34" in judged(newer, promised)
    assert "libssl.so.3" in judged(REPORT | {"external_libs": {"libssl.so.3": None}}, promised)
    assert "processor" in judged(REPORT | {"unsupported_isa": True}, promised)


def test_an_older_glibc_than_promised_keeps_the_promise() -> None:
    older = REPORT | {"overall_tag": "manylinux_2_12_x86_64"}
    assert judged(older, {"manylinux_2_17_x86_64"}) == ""
    assert judged(older, {"manylinux_2_17_aarch64"}) != ""


def test_an_sdist_is_unpacked_over_an_earlier_one(tmp_path: Path) -> None:
    first = tarred(tmp_path / "1" / "a.tar.gz", {"a/same": b"1", "a/changed": b"1", "a/gone": b"1"}, mtime=10)
    folder = build.unpacked(first, tmp_path / "source")
    dates = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert min(dates.values()) > 10**18  # no date of the archive
    second = tarred(tmp_path / "2" / "a.tar.gz", {"a/same": b"1", "a/changed": b"2", "a/new": b"1"}, mtime=10)
    assert build.unpacked(second, tmp_path / "source") == folder
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {"same": b"1", "changed": b"2", "new": b"1"}
    assert (folder / "same").stat().st_mtime_ns == dates["same"]
    assert (folder / "changed").stat().st_mtime_ns > dates["changed"]


def test_targets_that_are_not_built_here_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert [(target.triple, target.native) for target in targets()] == [("aarch64-unknown-linux-gnu", True)]
    with pytest.raises(SystemExit, match=r"TARGETS=riscv64 x86_64: riscv64, x86_64 is not built here, only aarch64"):
        targets("riscv64 x86_64")


def test_a_target_has_the_options_of_its_processor() -> None:
    config = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    assert any("cmov" in flag for flag in Target("x86_64").flags(config))
    assert Target("aarch64").flags(config) == []


def test_the_tools_of_wheels_are_pinned_and_build_with_the_maturin_of_setup() -> None:
    pins = [
        dict(re.findall(r"^(\S+)==(\S+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
        for lock in ("requirements.lock", "release/requirements.lock", "requirements-run.lock")
    ]
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert {re.split("[<>=]", wanted)[0] for wanted in groups["package"]} <= pins[1].keys()
    assert {name: pins[0][name] for name in pins[0].keys() & pins[1].keys()}.items() <= pins[1].items()
    assert pins[2].items() <= pins[0].items()


def test_an_account_repeats_what_failed_and_what_was_left_out() -> None:
    account = Account()
    account.check("a wheel", "")
    account.check("a digest", "it differs")
    account.omit("the playground", "no npm")
    assert account.summary().splitlines() == [
        "1 checks held, 1 failed, 1 parts were left out",
        "  failed: a digest: it differs",
        "  left out: the playground: no npm",
    ]


def test_missing_tools_are_listed_together_with_their_remedies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = {"cargo": "/bin/cargo", "cc": "/bin/cc", "git": "/bin/git", "unshare": "/bin/unshare"}
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("shutil.which", there.get)
    monkeypatch.setattr("release.foreign.is_debian", lambda: True)
    assert tools.main() == 0
    assert "missing: qemu-aarch64: apt install qemu-user; without it, running the wheel for ARM is left out" in (
        capsys.readouterr().out
    )
    del there["git"]
    assert tools.main() == 1
    assert "missing: git: install git; nothing can be made without it" in capsys.readouterr().out


def test_the_platforms_are_those_of_the_name() -> None:
    name = "aqmlab-0.1.0-cp311-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"
    assert platforms(Path("dist") / name) == {"manylinux_2_17_aarch64", "manylinux2014_aarch64"}

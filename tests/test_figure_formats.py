"""Formats of figures: which files are written, that texts in them are texts, and what PGF needs."""

import re
import shutil
import zlib
from pathlib import Path

import pytest
from conftest import Cli
from matplotlib.figure import Figure as Canvas

from aqmlab.figures import matplotlib
from aqmlab.figures.model import COLOURS, Axis, Bars, Curve, Figure, Grid, Panel
from aqmlab.files import FIGURE_FORMATS

SHORT = ("--set", "duration=2 s", "--set", "warmup=0.5 s")
AWKWARD = r"a_b & 5 % of $x$ #1 {y} ~z \n^2"


@pytest.fixture
def figure() -> Figure:
    import numpy as np

    curve = Curve(x=np.array([1.0, 100.0]), y=np.array([0.0, 1.0]), colour=COLOURS[0], name=AWKWARD)
    first = Panel(title=AWKWARD, x=Axis(AWKWARD, log=True), y=Axis("y"), shapes=[curve])
    bars = Bars(at=np.array([0.0]), value=np.array([1.0]), colours=[COLOURS[0]], horizontal=True, texts=["(1 of 2) %"])
    second = Panel(title="bars", x=Axis(""), y=Axis("", categories=(AWKWARD,)), shapes=[bars])
    return Figure(title=AWKWARD, rows=[[Grid(panels=[first, second], across=2)]], legend=True)


def test_every_format_is_what_it_is_called(figure: Figure) -> None:
    formats = [form for form in FIGURE_FORMATS if form != "pgf"]
    found = matplotlib.images(figure, formats)
    assert list(found) == formats
    assert found["png"].startswith(b"\x89PNG")
    assert b"<svg" in found["svg"]
    assert found["pdf"].startswith(b"%PDF")
    assert matplotlib.images(figure, formats) == found, "the same figure yields the same bytes"


def test_texts_of_a_pdf_are_texts(figure: Figure) -> None:
    pdf = matplotlib.images(figure, ["pdf"])["pdf"]
    assert b"/Subtype /CIDFontType2" in pdf, "an embedded TrueType font"
    assert b"/Subtype /Type3" not in pdf
    streams = [zlib.decompress(data) for data in re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", pdf, re.DOTALL)]
    assert any(re.search(rb"\bBT\b.*T[jJ]\b", stream, re.DOTALL) for stream in streams), "texts are drawn as texts"


def test_without_tex_pgf_is_refused_before_any_run(
    quick_cli: Cli, small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    done = quick_cli("run", small_file, *SHORT, "--out", "out", "--figure-format", "pgf")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "xelatex, lualatex, pdflatex are missing: install one (Debian: apt install texlive-xetex" in told
    assert "or choose pdf" in told
    assert not (tmp_path / "out").exists()


def test_a_tex_that_does_not_work_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "xelatex"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(matplotlib.TexError, match="pgf: xelatex does not measure texts"):
        matplotlib.require_tex()


@pytest.mark.skipif(not any(map(shutil.which, ("xelatex", "lualatex", "pdflatex"))), reason="needs a TeX")
def test_pgf_has_texts_that_tex_reads(figure: Figure) -> None:
    pgf = matplotlib.images(figure, ["pgf"])["pgf"].decode()
    assert r"a_b \& 5 % of \$x\$ \#1 \{y\} \textasciitilde{}z \textbackslash{}n^2" in pgf
    assert r"\begin{pgfpicture}" in pgf
    assert "\nA%" not in pgf


def test_what_is_special_to_tex_is_escaped() -> None:
    canvas = Canvas()
    shown = canvas.text(0, 0, AWKWARD, parse_math=False)
    left = canvas.text(0, 0, "$10^2$")
    matplotlib._escape(canvas)
    assert shown.get_text() == r"a_b \& 5 % of \$x\$ \#1 \{y\} \textasciitilde{}z \textbackslash{}n^2"
    assert left.get_text() == "$10^2$", "numbers of matplotlib are TeX already"


def test_commands_write_the_chosen_formats(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    def figures(folder: str) -> set[str]:
        return {file.name for file in (tmp_path / folder).iterdir() if file.stem in ("figure", "tradeoff")}

    compared = ("compare", small_file, *SHORT, "--aqm", "lred", "--aqm", "pi", "--out", "both")
    assert quick_cli(*compared).returncode == 0
    assert figures("both") == {"figure.png", "figure.svg", "tradeoff.png", "tradeoff.svg"}
    done = quick_cli(*compared, "--figure-format", "pdf")
    assert done.returncode == 0, done.stderr
    assert figures("both") == {"figure.pdf", "tradeoff.pdf"}, "no figure of an earlier call is left"
    assert "comparison.json, figure.pdf, tradeoff.pdf, report.html" in done.stdout


@pytest.mark.parametrize("command", [("run",), ("sweep", "--vary", "aqm.q0=10,20"), ("fluid",), ("analyse",)])
def test_every_command_that_draws_has_the_option(
    quick_cli: Cli, small_file: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    name, *options = command
    done = quick_cli(name, small_file, *SHORT, *options, "--out", "out", "--figure-format", "pdf,png")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "out").glob("figure.*")} == {"figure.pdf", "figure.png"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--figure-format", "jpg", "--out", "out"], "'jpg': must be one of png, svg, pdf, pgf"),
        (["--figure-format", "png,png", "--out", "out"], "png is given twice"),
        (["--figure-format", "", "--out", "out"], "'': must be one of"),
        (["--figure-format", "pdf"], "applies only with --out"),
    ],
)
def test_other_formats_are_refused(quick_cli: Cli, small_file: Path, options: list[str], message: str) -> None:
    done = quick_cli("run", small_file, *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())

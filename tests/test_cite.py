"""The command ``aqmlab cite``: what it cites for scenarios and for the files of other commands, and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT, SMALL, Cli

import aqmlab
from aqmlab import Result, Scenario
from aqmlab.references.bibliography import bibliography
from aqmlab.references.used import Run, uses
from aqmlab.scenario import shipped


def keys(text: str) -> list[str]:
    """Return the keys of the entries of BibTeX."""
    return re.findall(r"^@\w+\{([^,]+),", text, re.MULTILINE)


def cited(found: object, **options: str) -> dict[str, list[str]]:
    """Return the reasons of each entry, by its key."""
    return {entry.key: list(why) for entry, why in aqmlab.cite(found, **options).entries.items()}  # type: ignore[arg-type]


def test_a_scenario_of_a_paper_cites_aqmlab_the_paper_disciplines_and_tcp_in_this_order(quick_cli: Cli) -> None:
    done = quick_cli("cite", "lred/exp1", "--aqm", "lred", "--aqm", "pie", "--format", "bibtex")
    assert done.returncode == 0
    found = keys(done.stdout)
    assert found[:2] == ["aqmlab", "wang2007lred"]
    order = [found.index(key) for key in ("wang2007lred", "rfc8033", "rfc6582", "rfc6298")]
    assert order == sorted(order)
    assert len(found) == len(set(found))


def test_disciplines_in_classes_are_cited() -> None:
    classes = {"name": {"aqm": "pie"}, "others": {"dscp": ["LE"], "aqm": "tbf:aqm=codel"}}
    scenario = Scenario.parse(SMALL).with_(aqm="prio").with_({"aqm.classes": classes})
    found = {use.what for use in uses([Run(scenario.resolved, "packet")])}
    assert {f"the queue discipline {name}" for name in ("prio", "pie", "tbf", "codel")} <= found


def test_text_says_what_each_is_cited_for(quick_cli: Cli) -> None:
    text = " ".join(quick_cli("cite", "lred/exp1", "--format", "text").stdout.split())
    assert text.startswith("References of lred/exp1 [1] The aqmlab developers, ")
    assert f'laboratory for Active Queue Management", version {aqmlab.__version__}. Cited for: the simulations.' in text
    assert "18(1), 2007. Cited for: the scenarios of lred/; the queue discipline lred. [3]" in text
    assert "TCP's initial_rto, min_rto, max_rto, tick." in text
    assert "@" not in text


def test_by_default_both_are_printed(quick_cli: Cli) -> None:
    text, bibtex = (quick_cli("cite", "lred/exp1", "--format", form).stdout for form in ("text", "bibtex"))
    for both in (quick_cli("cite", "lred/exp1"), quick_cli("cite", "lred/exp1", "--format", "both")):
        assert both.stdout == f"{text}\n{bibtex}"


def test_json_has_the_same_entries(quick_cli: Cli) -> None:
    aqms = ["--aqm", "lred", "--aqm", "pie"]
    document = json.loads(quick_cli("cite", "lred/exp1", *aqms, "--json").stdout)
    assert document["name"] == "lred/exp1"
    listed = keys(quick_cli("cite", "lred/exp1", *aqms, "--format", "bibtex").stdout)
    assert [one["key"] for one in document["references"]] == listed
    paper = document["references"][1]
    assert (paper["year"], paper["journal"][:4], paper["type"]) == ("2007", "IEEE", "article")
    assert paper["cited_for"] == ["the scenarios of lred/", "the queue discipline lred"]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_has_references_and_only_papers_have_one(name: str) -> None:
    found = cited(name)
    assert len(found) > 2
    papers = {why.split()[-1] for reasons in found.values() for why in reasons if why.startswith("the scenarios of")}
    folder = name.partition("/")[0]
    has = any(entry.paper == folder for entry in bibliography().values())
    assert papers == ({f"{folder}/"} if has else set())


@pytest.mark.parametrize("name", aqmlab.disciplines())
def test_every_discipline_is_cited(name: str) -> None:
    resolved = {"aqm": Scenario.parse(SMALL).with_(aqm=name).resolved["aqm"]}
    assert all(use.keys for use in uses([Run(resolved, "packet")]))


def test_presets_add_their_sources_and_no_others(small: Scenario) -> None:
    def of(aqm: str) -> set[str]:
        why = cited(small.with_(aqm=aqm))
        return {key for key, reasons in why.items() if any("queue discipline" in reason for reason in reasons)}

    plain = {"floyd1993red", "floyd2000gentle", "ns2"}
    assert of("red") == plain
    assert of("red:preset=inet") == plain | {"inet"}
    assert of("red:preset=survey") == plain | {"koo2004survey"}
    assert of("pistar") == of("pi") | {"wang2007lred"}


def test_tests_of_a_discipline_are_no_sources(small: Scenario) -> None:
    assert "koo2004survey" not in cited(small.with_(aqm="pi"))  # its gains are compared with the survey's


def test_a_discipline_inside_another_is_cited(small: Scenario) -> None:
    found = cited(small.with_(aqm="fq:aqm=lred"))
    assert {"rfc8290", "wang2007lred"} <= found.keys()
    assert "rfc8289" in cited(small.with_(aqm="fq_codel"))


@pytest.mark.parametrize(
    ("tcp", "present", "absent"),
    [
        ("rfc5681", {"rfc5681", "rfc6582", "rfc3042"}, {"rfc3168", "rfc9438", "ns2"}),
        ("ns2.35", {"ns2"}, {"rfc3042", "rfc9438"}),
        ("linux", {"linux", "rfc9438", "ha2008cubic", "rfc8985", "rfc4015"}, {"cardwell2016bbr", "ns2"}),
        ("bbr", {"linux", "cardwell2016bbr"}, {"rfc9438"}),
        ("prague", {"draft-briscoe-prague", "rfc9331"}, {"rfc9438"}),
        ("tahoe", {"jacobson1988congestion"}, {"rfc2018"}),
        ("sack", {"rfc2018", "rfc6675"}, set()),
        ("ledbat", {"rfc6817"}, set()),
    ],
)
def test_a_tcp_cites_its_parts(small: Scenario, tcp: str, present: set[str], absent: set[str]) -> None:
    found = cited(small.with_({"aqm": "step", "traffic.long.tcp": tcp})).keys()
    assert present <= found
    assert not absent & found


def test_a_switch_of_tcp_cites_its_source_only_if_it_is_on(small: Scenario) -> None:
    assert "rfc3168" not in cited(small)
    found = cited(small.with_({"traffic.long.tcp.ecn": True}))
    assert found["rfc3168"] == ["TCP's ecn"]


def test_metrics_are_cited_if_the_traffic_has_them(small: Scenario) -> None:
    ping = '[[traffic]]\nname = "probe"\nkind = "ping"\n'
    found = cited(Scenario.parse(SMALL + ping))
    assert found["draft-ietf-responsiveness"] == ["the metric rpm"]
    assert "draft-ietf-qoo" in found
    assert "draft-ietf-responsiveness" not in cited(small)
    calls = cited("traffic/voip-video")
    assert "itu-g107" in calls
    assert "draft-ietf-qoo" not in calls


def test_traffic_and_engines_are_cited(small: Scenario) -> None:
    assert "davies1987hurst" in cited("traffic/fgn")
    assert cited(small.with_({"traffic.long.tcp": "newreno"}), engine="fluid")["padhye1998throughput"] == [
        "the fluid engine"
    ]
    assert "the linux engine" in cited(small, engine="linux")["linux"]


def test_a_scenario_that_extends_a_papers_scenario_cites_the_paper(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('extends = "raqm/case1"\ntitle = "Mine"\n', encoding="utf-8")
    assert keys(quick_cli("cite", "mine.toml", "--aqm", "pie").stdout)[:2] == ["aqmlab", "wang2004raqm"]


def test_a_result_cites_the_paper_of_the_scenario_on_which_it_is_based(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('extends = "raqm/case1"\ntitle = "Mine"\n', encoding="utf-8")
    short = {"duration": "1 s", "warmup": "0.5 s"}
    for number, name in enumerate((tmp_path / "mine.toml", "raqm/case1")):
        scenario = Scenario.load(name).with_(short, title="Mine", aqm="pie")
        assert scenario.based_on == "raqm/case1"
        aqmlab.run(scenario).save(tmp_path / f"run{number}")
        assert Result.load(tmp_path / f"run{number}").scenario.based_on == "raqm/case1"
        swept = aqmlab.sweep(scenario, vary={"aqm.target": ["15 ms"]}, store=tmp_path / "store")
        swept.save(tmp_path / f"sweep{number}")
        for found in (tmp_path / f"run{number}", swept, tmp_path / f"sweep{number}"):
            assert list(cited(found))[:2] == ["aqmlab", "wang2004raqm"]
    copied = Scenario.parse(Scenario.load("raqm/case1").to_toml())
    assert copied.based_on == ""
    assert list(cited(copied))[:2] == ["aqmlab", "wang2004raqm"]
    assert "wang2004raqm" not in cited(Scenario.load("quickstart").with_(title=copied.title))


def test_a_result_cites_as_its_scenario(quick_cli: Cli, tmp_path: Path, small_file: Path) -> None:
    file = tmp_path / "printed.json"
    file.write_text(quick_cli("run", "small.toml", "--out", "run", "--json").stdout, encoding="utf-8")
    scenario = keys(quick_cli("cite", "small.toml").stdout)
    for name in ("run", "run/result.json", "printed.json"):
        done = quick_cli("cite", name)
        assert (done.returncode, keys(done.stdout)) == (0, scenario), name
    assert list(cited(aqmlab.run(Scenario.load(small_file)))) == scenario


def test_a_folder_may_have_the_name_of_a_scenario(quick_cli: Cli, tmp_path: Path, small_file: Path) -> None:
    (tmp_path / "quickstart").mkdir()
    assert keys(quick_cli("cite", "quickstart").stdout) == list(cited("quickstart"))
    quick_cli("run", "small.toml", "--out", "quickstart")
    assert keys(quick_cli("cite", "quickstart").stdout) == list(cited("small.toml"))


def test_a_comparison_cites_all_its_disciplines(quick_cli: Cli, small_file: Path) -> None:
    options = ["--aqm", "pie", "--aqm", "fq_codel"]
    quick_cli("compare", "small.toml", *options, "--out", "both")
    found = keys(quick_cli("cite", "both").stdout)
    assert found == keys(quick_cli("cite", "small.toml", *options).stdout)
    assert {"rfc8033", "rfc8290"} <= set(found)


def test_metrics_of_a_result_are_those_that_have_values(quick_cli: Cli, tmp_path: Path) -> None:
    ping = '[[traffic]]\nname = "probe"\nkind = "ping"\nstart = "4 s"\n'
    (tmp_path / "ping.toml").write_text(SMALL + ping, encoding="utf-8")
    assert quick_cli("run", "ping.toml", "--out", "all").returncode == 0
    # The run ends before the first answer.
    short = quick_cli("run", "ping.toml", "--set", "traffic.probe.start=4.99 s", "--out", "short")
    assert short.returncode == 0, short.stderr
    assert "draft-ietf-responsiveness" in keys(quick_cli("cite", "all").stdout)
    found = keys(quick_cli("cite", "short").stdout)
    assert found[0] == "aqmlab"
    assert "draft-ietf-responsiveness" not in found


def test_a_sweep_cites_its_disciplines_and_the_tcps_that_vary(quick_cli: Cli, small_file: Path) -> None:
    vary = ["--vary", "traffic.long.tcp=rfc5681,cubic", "--aqm", "lred", "--aqm", "pie"]
    quick_cli("sweep", "small.toml", *vary, "--seeds", "1", "--out", "swept")
    found = keys(quick_cli("cite", "swept").stdout)
    assert {"wang2007lred", "rfc8033", "rfc6582", "rfc9438"} <= set(found)


def test_an_evaluation_cites_the_guidelines_and_its_disciplines(quick_cli: Cli) -> None:
    options = ["--section", "5.2", "--aqm", "codel", "--quick", "--jobs", "1"]
    assert quick_cli("evaluate", *options, "--out", "rfc").returncode == 0
    found = keys(quick_cli("cite", "rfc").stdout)
    assert found[:2] == ["aqmlab", "rfc7928"]
    assert {"rfc8289", "rfc7567"} <= set(found)


def test_a_reproduction_cites_its_paper(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "found").mkdir()
    base = Scenario.load("lred/exp1")
    document = {
        "paper": "lred",
        "title": "LRED",
        "source": "TPDS",
        "version": "0.1.0",
        "engine_name": "packet",
        "claims": [],
        "experiments": [{"name": "exp1", "toml": base.to_toml(), "aqms": {"PI": base.with_(aqm="pi").resolved["aqm"]}}],
    }
    file = tmp_path / "found/findings.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    found = keys(quick_cli("cite", "found").stdout)
    assert found[:3] == ["aqmlab", "wang2007lred", "hollot2001pi"]
    file.write_text(json.dumps({**document, "paper": "mine"}), encoding="utf-8")
    text = quick_cli("cite", "found", "--format", "text").stdout
    assert "No reference is known for the paper LRED (TPDS): add one of your own." in text


def test_a_discipline_of_ones_own_has_the_sources_of_its_documentation(
    quick_cli: Cli, tmp_path: Path, small_file: Path
) -> None:
    text = (ROOT / "examples/mine.py").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    done = quick_cli("cite", "small.toml", "--aqm", "mine.py:Mine", "--format", "text")
    assert "No reference is known for the queue discipline mine.py:Mine" in " ".join(done.stdout.split())
    (tmp_path / "mine.py").write_text(
        re.sub(r'(class Mine.*?""".*?)(\n *)"""', r"\1\n\2# Sources\2RFC 8034.\2" + '"""', text, count=1, flags=re.S),
        encoding="utf-8",
    )
    done = quick_cli("cite", "small.toml", "--aqm", "mine.py:Mine")
    assert "rfc8034" in keys(done.stdout)
    assert "No reference" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such file; `aqmlab list scenarios` lists those that are shipped"),
        (["some.zip"], "some.zip: an archive; unpack it and give its folder"),
        (["empty"], "empty: has no result; give a folder with one of result.json, "),
        (["text.json"], "text.json: not JSON"),
        (["other.json"], "other.json: not printed or saved by aqmlab run, compare or sweep: its keys are a"),
        (["two"], "two: has result.json and comparison.json: name one of them"),
        (["cut"], "cut/findings.json: from another version of aqmlab, or changed: KeyError('experiments')"),
        (["empty", "--aqm", "pie"], "--aqm: applies to a scenario only; empty is a result"),
        (["small.toml", "--aqm", "nonsense"], "nonsense"),
        (["small.toml", "--set", "nonsense=1"], "nonsense"),
        (["small.toml", "--json", "--format", "text"], "--format: not allowed with --json"),
        (["small.toml", "--format", "xml"], "--format"),
    ],
)
def test_errors_name_the_file_and_the_remedy(
    quick_cli: Cli, tmp_path: Path, small_file: Path, arguments: list[str], message: str
) -> None:
    for folder in ("empty", "two", "cut"):
        (tmp_path / folder).mkdir()
    for name, text in {
        "text.json": "text",
        "some.zip": "",
        "other.json": '{"a": 1}',
        "two/result.json": "{}",
        "two/comparison.json": "{}",
        "cut/findings.json": '{"claims": []}',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = quick_cli("cite", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not done.stdout

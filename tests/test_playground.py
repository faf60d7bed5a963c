"""The playground: its addresses, and the command that serves the page."""

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import TINY, Cli
from hypothesis import given
from hypothesis import strategies as st
from test_crusader import result, written

from aqmlab import Scenario
from aqmlab.cli.playground import addressed
from aqmlab.playground import built
from aqmlab.playground.address import Address
from aqmlab.playground.server import Server
from aqmlab.reports.opened import opened

MEASURED = [Path(__file__).parent / "measured" / name for name in ("irtt.json", "iperf3-tcp.json")]

TEXT = st.text(st.characters(codec="utf-8"))


@pytest.fixture
def server(pages: Path) -> Iterator[Server]:
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def asked(server: Server, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


@given(
    st.builds(
        Address,
        scenario=st.none() | TEXT,
        toml=st.none() | TEXT,
        name=st.none() | TEXT,
        aqms=st.lists(TEXT, max_size=3).map(tuple),
        settings=st.lists(TEXT, max_size=3).map(tuple),
        seed=st.none() | st.integers(0, 2**63),
        lesson=st.none() | TEXT,
        embed=st.booleans(),
    )
)
def test_what_an_address_carries_is_read_back(address: Address) -> None:
    assert Address.parse(address.fragment) == address
    assert address.fragment.isascii()


def test_an_address_can_be_read() -> None:
    address = Address(scenario="lred/exp1", aqms=("pi:q_ref=60,w=200",), settings=("dumbbell.rate=5 Mbit/s",), seed=2)
    assert address.fragment == "scenario=lred/exp1&aqm=pi:q_ref=60,w=200&set=dumbbell.rate=5+Mbit/s&seed=2"
    assert Address(scenario="l4s", embed=True).fragment == "scenario=l4s&embed"
    assert Address().fragment == ""


def test_the_text_of_a_scenario_is_base64_of_raw_deflate() -> None:
    made_by_node = "y0vMTVWwVVA6tFWJKw8HGwA"
    assert Address.parse(f"toml={made_by_node}").toml == 'name = "µ"\n' * 3


@pytest.mark.parametrize(
    ("fragment", "problem"),
    [
        ("scenario=a&scenario=b", "scenario = 'b': given twice"),
        ("scenari=a", "scenari = 'a': no such part"),
        ("seed=-1", "seed = '-1': must be a whole number"),
        ("toml=%00", "toml = .*: not the base64"),
        ("toml=AAAA", "toml = 'AAAA'.*: not the base64 of a deflated text"),
        ("toml=" + Address(toml="long" * 99).fragment[5:12], "cut off"),
        ("toml=" + Address(toml=" " * 40_000_000).fragment[5:], "more than"),
    ],
)
def test_an_address_that_the_page_could_not_read_is_refused(fragment: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Address.parse(fragment)


def test_a_shipped_scenario_goes_by_its_name_and_a_file_by_its_text(tmp_path: Path) -> None:
    assert addressed("lred/exp1.toml", ["pi"], ["dumbbell.rate = 5 Mbit/s"], 3) == Address(
        scenario="lred/exp1", aqms=("pi",), settings=("dumbbell.rate=5 Mbit/s",), seed=3
    )
    file = tmp_path / "mine.toml"
    file.write_text(f"# a comment\n{TINY}", encoding="utf-8")
    assert addressed(str(file), None, None, None) == Address(toml=f"# a comment\n{TINY}", name="mine.toml")
    assert addressed(None, None, None, None) == Address()
    assert addressed(None, ["codel"], None, None).scenario == "playground"


def test_a_file_that_extends_another_is_written_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "mine.toml").write_text('extends = "base.toml"\naqm = "pi"\n', encoding="utf-8")
    text = addressed(str(tmp_path / "mine.toml"), None, None, None).toml
    assert text
    assert Scenario.parse(text) == Scenario.load(tmp_path / "mine.toml")


MINE = "import aqmlab\n\nclass Mine(aqmlab.AQM):\n    def on_enqueue(self, packet, queue):\n        pass\n"
RATES = '[dumbbell]\nrates = { file = "cell.down" }\n[[traffic]]\nname = "x"\n'


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["none"], "none: no such file; `aqmlab list scenarios` lists"),
        (["quickstart", "--aqm", "codell"], "--aqm codell: aqm.name = "),
        (["quickstart", "--set", "dumbbell.rate=5"], "--set dumbbell.rate=5: dumbbell.rate = 5: must be a quantity"),
        (["quickstart", "--set", "a"], "--set: a: must be PATH=VALUE"),
        (["quickstart", "--aqm", "pi", "--aqm", "pi"], "--aqm: pi given twice"),
        (["quickstart", "--aqm", "codel", "--aqm", "codel:target=5ms"], "codel and codel:target=5ms are the same"),
        (
            ["quickstart", *(f"--aqm=pi:q_ref={n}" for n in (1, 2, 3, 4))],
            "--aqm: 4 given: the playground shows at most 3",
        ),
        (["quickstart", "--aqm", "kernel:pie"], "--aqm: kernel:pie: the playground has no kernel: choose one of"),
        (["traffic/trace"], "traffic/trace: traffic.conference.file = "),
        (
            ["quickstart", "--aqm", "mine.py:Mine"],
            '--aqm mine.py:Mine: aqm.name = "mine.py:Mine": the playground runs in',
        ),
        (
            ["quickstart", "--aqm", "fq:aqm=mine.py:Mine"],
            'mine.py:Mine": the playground runs in a page',
        ),
        (["rates.toml"], "rates.toml: dumbbell.rates.file = "),
    ],
)
def test_what_a_page_cannot_simulate_is_refused(
    quick_cli: Cli, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "rates.toml").write_text(RATES, encoding="utf-8")
    (tmp_path / "cell.down").write_text("1\n5\n9\n", encoding="utf-8")
    done = quick_cli("playground", *arguments, "--no-open")
    assert done.returncode == 2
    assert problem in done.stderr


def test_without_the_page_the_error_names_the_command_that_builds_it(
    quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built, "FOLDER", tmp_path)
    done = quick_cli("playground", "quickstart", "--no-open")
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / built.PAGE}: missing: `make setup` builds it, or tells what it needs for that\n"


def test_a_port_in_use_is_refused(quick_cli: Cli, pages: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = quick_cli("playground", "--no-open", "--port", str(port))
    assert done.returncode == 2
    assert f"--port: {port}: Address already in use: choose another port" in done.stderr


def sent(server: Server, body: bytes, path: str = "/open", **heads: str) -> tuple[int, list[dict[str, Any]]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("POST", path, body, {"Origin": server.origin, **heads})
    answer = connection.getresponse()
    lines = answer.read().splitlines() if answer.status == 200 else []
    connection.close()
    return answer.status, list(map(json.loads, lines))


def packed(files: Mapping[str, bytes]) -> bytes:
    return json.dumps({name: base64.b64encode(content).decode() for name, content in files.items()}).encode()


def test_what_a_router_says_becomes_a_scenario(server: Server) -> None:
    shown = b"qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms"
    shaper = b"qdisc tbf 1: dev eth1 root refcnt 2 rate 10Mbit burst 5Kb lat 50ms\n"
    server.opener = opened
    status, (found,) = sent(server, packed({"../tc.txt": shaper}))
    assert status == 200
    assert found["name"] == "tc.toml"
    assert Scenario.parse(found["toml"]).resolved["dumbbell"]
    assert "# tc.txt, line 1" in found["toml"]
    _, (problem,) = sent(server, packed({"tc.txt": shown}))
    assert problem["problem"].startswith("tc.txt, line 1: eth0 has no shaper")
    assert problem["problem"].endswith("--up 50mbit, an option of `aqmlab import`, whose scenario opens here")


def test_what_a_measurement_says_comes_with_a_picture(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[list[str]] = []

    def calibrated(paths: list[Path], progress: Callable[[float], None] | None) -> dict[str, str]:
        asked_for.append([path.name for path in paths])
        assert progress
        progress(0.5)
        return {"name": "calibrated.toml", "toml": "", "words": "w", "picture": "<svg/>"}

    monkeypatch.setattr("aqmlab.reports.opened._calibrated", calibrated)
    server.opener = opened
    recorded = {path.name: path.read_bytes() for path in MEASURED}
    _, told = sent(server, packed(recorded))
    assert told == [{"done": 0.5}, {"name": "calibrated.toml", "toml": "", "words": "w", "picture": "<svg/>"}]
    assert asked_for == [list(recorded)]


@pytest.mark.parametrize(
    ("body", "path", "heads", "status"),
    [
        (b"{}", "/open", {"Origin": "http://elsewhere.example"}, 403),
        (b"{}", "/open", {"Origin": "null"}, 403),
        (b"{}", "/index.html", {}, 404),
        (b"", "/open", {"Content-Length": "80000000"}, 413),
        (b"", "/open", {"Content-Length": "-1"}, 413),
    ],
)
def test_files_are_taken_from_the_page_alone(
    server: Server, body: bytes, path: str, heads: dict[str, str], status: int
) -> None:
    server.opener = opened
    assert sent(server, body, path, **heads) == (status, [])


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a": 1}', b'{"a": "%"}', b"\xff"])
def test_what_is_no_page_s_message_is_a_problem(server: Server, body: bytes) -> None:
    server.opener = opened
    assert sent(server, body) == (200, [{"problem": "not the files of a page"}])


def test_the_page_and_the_widget_are_served(server: Server, pages: Path) -> None:
    for path, name, type_ in [
        ("/", built.PAGE, "text/html; charset=utf-8"),
        ("/index.html?x=1", built.PAGE, "text/html; charset=utf-8"),
        ("/widget.js", built.WIDGET, "text/javascript; charset=utf-8"),
    ]:
        status, heads, body = asked(server, path)
        assert (status, heads["Content-Type"], heads["Cache-Control"]) == (200, type_, "no-store")
        assert body == (pages / name).read_bytes()
        status, heads, body = asked(server, path, "HEAD")
        assert (status, int(heads["Content-Length"]), body) == (200, (pages / name).stat().st_size, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/secret.txt",
        "/../built/secret.txt",
        "/%2e%2e/built/index.html",
        "/..%2fbuilt/index.html",
        "/x/../index.html",
        "//etc/passwd",
        "/built.py",
        "/.",
        "/index.html/",
        "/\\..\\index.html",
        "/index.html%00",
    ],
)
def test_nothing_else_is_served(server: Server, path: str) -> None:
    assert asked(server, path)[0] == 404


def test_a_missing_file_is_not_found(server: Server, pages: Path) -> None:
    (pages / built.WIDGET).unlink()
    assert asked(server, "/widget.js")[0] == 404


def test_only_this_machine_is_served(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


PROGRAM = """\
import sys, webbrowser
from pathlib import Path
from aqmlab.playground import built
built.FOLDER = Path(sys.argv.pop(1))
webbrowser.open = lambda url: print("opened", url, flush=True)
from aqmlab.cli import main
main()
"""


def started(pages: Path, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", PROGRAM, os.fspath(pages), "playground", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_the_command_serves_until_a_signal_and_logs_nothing(pages: Path, number: signal.Signals, status: int) -> None:
    with started(pages, "quickstart", "--aqm", "codel", "--no-open") as process:
        assert process.stdout
        url = urlsplit(process.stdout.readline().strip())
        connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=10)
        connection.request("GET", url.path)
        assert connection.getresponse().read() == (pages / built.PAGE).read_bytes()
        process.send_signal(number)
        out, errors = process.communicate(timeout=20)
    assert process.returncode == status
    assert parse_qs(url.fragment) == {"scenario": ["quickstart"], "aqm": ["codel"]}
    assert out == ""
    assert errors == "Ctrl-C ends the playground\n" + ("interrupted\n" if status else "")


def test_the_browser_opens_at_the_address(pages: Path) -> None:
    with started(pages, "l4s") as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert process.stdout.readline() == f"opened {url}\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_a_browser_in_the_terminal_does_not_hold_up_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab.cli import playground

    left = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda url: left.wait(20))
    playground._open("http://127.0.0.1/")
    left.set()


def test_page_names_the_command_whose_option_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no probe of the round trip") as refused:
        opened({MEASURED[1].name: MEASURED[1].read_bytes()})
    assert "an option of" not in str(refused.value)
    both = written(tmp_path, result())
    with pytest.raises(ValueError, match=r"choose --direction up or down, an option of `aqmlab calibrate`, whose"):
        opened({both.name: both.read_bytes()})

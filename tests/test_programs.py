"""Traffic of the kind `program`: programs of this machine in the guest of the Linux engine."""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Cli

import aqmlab
from aqmlab import Result, Run, RunFailed, Scenario, ScenarioError
from aqmlab.execute import programs
from aqmlab.reports.text import notes

pytestmark = [pytest.mark.linux, pytest.mark.filterwarnings("ignore::aqmlab.MachineWarning")]

GUIDE = Path(__file__).parent.parent / "docs/guide/programs.md"

KEPT = 1 << 20
"""Bytes that are kept of a stream, as the guide says."""


def scenario(*entries: str, seed: int = 3, duration: str = "3 s", more: str = "") -> Scenario:
    """A slow link, with entries of programs."""
    tables = [f'[[traffic]]\nname = "p{n}"\nkind = "program"\n{entry}\n' for n, entry in enumerate(entries)]
    head = f'duration = "{duration}"\nwarmup = "0 s"\nseed = {seed}\nrecord.series = false\n{more}\n'
    dumbbell = '[dumbbell]\nrate = "5 Mbit/s"\ndelay = "5 ms"\nbuffer = "100 packets"\n'
    return Scenario.parse(head + dumbbell + "".join(tables), "programs.toml")


def words(*given: str) -> str:
    return "[" + ", ".join(f"'''{word}'''" for word in given) + "]"


def python(text: str, key: str = "command") -> str:
    """The key of a program in Python."""
    return f"{key} = {words(sys.executable, '-u', '-c', text)}"


def shell(text: str) -> str:
    return f"command = {words('sh', '-c', text)}"


def run(*entries: str, seed: int = 3, duration: str = "3 s", more: str = "") -> Run:
    return aqmlab.run(scenario(*entries, seed=seed, duration=duration, more=more), engine="linux").runs[0]


def said(found: Run, stream: str = "stdout") -> list[str]:
    return [one[stream] for one in found.programs]


def needed(*names: str) -> None:
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not on this machine")


CALL = """
import os, socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as call:
    for number in range({count}):
        call.sendto(os.urandom({size}), ("{peer}", 9000))
        time.sleep(0.01)
"""

ANSWER = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as answer:
    answer.bind(("{address}", 9000))
    while True:
        print(len(answer.recv(2000)))
"""


def call(count: int, size: int) -> str:
    return python(CALL.replace("{count}", str(count)).replace("{size}", str(size)))


@pytest.mark.parametrize(("warmup", "counted"), [("0 s", 100), ("0.5 s", 53)])
def test_datagrams_are_counted_by_entry(guest: None, warmup: str, counted: int) -> None:
    server = python(ANSWER, "server")
    both = scenario(f"{call(100, 600)}\n{server}", call(10, 50))
    found = aqmlab.run(both.with_({"warmup": warmup}), engine="linux").runs[0]
    one, other = (found.classes[name] for name in ("p0", "p1"))
    seconds = 3 - float(warmup.split()[0])
    assert one["goodput"] == pytest.approx(8 * 600 * counted / seconds, abs=8 * 600 * 3 / seconds)
    assert said(found)[0].split() == ["600"] * 100
    # Nobody listens there: each datagram is answered by ICMP, whose payload counts.
    assert other["arrivals"] == (10 if warmup == "0 s" else 0)
    assert (one["started"], one["completed"], one["path_loss_ratio"]) == (1, 1, 0)
    assert one["retransmits"] is None
    assert found.metrics["link_goodput"] is None


def test_a_run_is_repeated_bit_for_bit_by_its_seed(guest: None) -> None:
    text = "import os, time, random; print(os.getpid(), time.time(), hash('x'), random.random(), os.urandom(4))"
    drawn = python(f"{text}; time.sleep(0.1); {text}")
    load = f"{call(50, 1400)}\n{python(ANSWER, 'server')}"
    first, again, other = (run(drawn, load, seed=seed) for seed in (3, 3, 4))
    for one in (first, again, other):
        one.engine.pop("cpu_seconds")
    assert first == again
    assert said(first) != said(other)
    assert re.fullmatch(r"\d+ 1767225\d{3}\.\d+ -?\d+ 0\.\d+ b.*", said(first)[1].splitlines()[0]), "on 1 January 2026"


def test_the_example_of_the_guide(guest: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("curl", "python3")
    monkeypatch.chdir(tmp_path)
    size = 2_000_000
    (tmp_path / "file").write_bytes(bytes(size))
    (text,) = re.findall(r"```toml\n(title.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    found = aqmlab.run(Scenario.parse(text), engine="linux")
    (one,) = found.runs
    download, probe = (one.classes[name] for name in ("download", "probe"))
    assert (download["started"], download["completed"]) == (2, 2)
    # Requests, heads and ends of connections come on top.
    assert 2 * size < (download["goodput"] or 0) * 8 / 8 < 2 * size + 2000
    # Alone, both would take 1.6 s with their headers; they start within a second of each other.
    assert 2 * 1.6 < (download["completion_time_max"] or 0) + 1 < 2 * 1.6 + 2
    assert (probe["rtt_p50"] or 0) < 0.1, "fq_codel keeps the probe from waiting behind the downloads"
    server = next(one for one in one.programs if one["key"] == "server")
    assert (server["status"], server["ended"], server["stderr"].count("GET /file")) == (None, None, 2)
    found.save(tmp_path / "out")
    seed = one.seed
    assert (tmp_path / f"out/program-{seed}-download.server-1.stderr").read_text() == server["stderr"]
    assert Result.load(tmp_path / "out").runs[0].programs == one.programs


def test_each_process_may_have_a_server_of_its_own(guest: None) -> None:
    both = f"count = 3\ncommand = {words('echo', '{n}', '{address}', '{peer}')}\n"
    found = run(f"{both}server = {words('echo', 'to', '{peer}', '{n}')}", duration="1 s")
    servers = [one["stdout"].split() for one in found.programs if one["key"] == "server"]
    clients = sorted(one["stdout"].split() for one in found.programs if one["key"] == "command")
    assert [one[0] for one in clients] == [one[2] for one in servers] == ["1", "2", "3"]
    assert {one[1] for one in clients} == {one[1] for one in servers}
    assert clients[0][1] != clients[0][2]
    (server,) = (one for one in run(f"{both}server = ['echo', 'once']").programs if one["key"] == "server")
    assert server["stdout"] == "once\n"


def test_ping_and_iperf3(guest: None) -> None:
    needed("ping", "iperf3")
    ping = "command = ['ping', '-c', '5', '-i', '0.2', '{peer}']"
    load = (
        "count = 2\ncommand = ['iperf3', '-c', '{peer}', '-p', '520{n}', '-t', '5', '-J']\n"
        "server = ['iperf3', '-s', '-1', '-p', '520{n}']"
    )
    found = run(ping, load, duration="8 s", more='aqm = "codel"')
    *_, probe, first, second = sorted(found.programs, key=lambda one: (one["key"] == "command", one["entry"]))
    assert "5 packets transmitted, 5 received" in probe["stdout"]
    assert found.classes["p0"]["goodput"] == 8 * 2 * 5 * 64 / 8
    received = [json.loads(one["stdout"])["end"]["sum_received"]["bytes"] for one in (first, second)]
    # The control connections come on top.
    assert sum(received) < (found.classes["p1"]["goodput"] or 0) < sum(received) + 20_000


def test_what_fails_ends_the_run_at_once(guest: None) -> None:
    began = 'traffic.p0.command = ["sh", "-c", '
    for text, ending in (
        ("sleep 0.2; echo nope >&2; exit 7", "exit status: 7: nope"),
        ("sleep 0.2; echo last; kill -SEGV $$", "signal: 11 (SIGSEGV): last"),
    ):
        with pytest.raises(RunFailed) as failed:
            run(shell(text), duration="1000 s")
        message = str(failed.value)
        assert began in message
        assert re.search(r"number 1 ended after 0\.20\d s with ", message), message
        assert ending in message
        assert "let a shell end with 0 in its place" in message


def test_programs_end_with_the_run_or_at_their_stop(guest: None) -> None:
    forever = "(trap '' TERM INT HUP; while :; do sleep 1; done) & while :; do sleep 1; echo tick; done"
    endless, stopped = run(shell(forever), f'{shell(forever)}\nstop = "1.5 s"').programs
    assert (endless["status"], endless["ended"], endless["stdout"]) == (None, None, "tick\n" * 2)
    assert (stopped["status"], stopped["stdout"]) == (None, "tick\n")
    assert stopped["ended"] == pytest.approx(1.5, abs=0.01)
    (orphan,) = run(shell("sleep 1000 & echo done")).programs
    assert (orphan["status"], orphan["stdout"], orphan["ended"] < 0.1) == (0, "done\n", True)


def test_output_beyond_the_limit_is_cut_and_said(guest: None) -> None:
    result = aqmlab.run(scenario(shell(f"head -c {3 * KEPT} /dev/zero; printf é >&2")), engine="linux")
    (one,) = result.runs[0].programs
    assert (one["stdout"], one["stdout_bytes"], one["stderr"]) == ("\0" * KEPT, 3 * KEPT, "é")
    remark = f"Seed 3: only the first {KEPT} of {3 * KEPT} bytes are kept of the stdout of command 1 of p0."
    assert remark in notes({"codel": result})
    assert f"{KEPT} bytes" in GUIDE.read_text(encoding="utf-8")


def test_a_program_that_never_waits_is_given_up(guest: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LONGEST", 3.0)
    with pytest.raises(RunFailed, match=r"traffic\.p0: after 0\.\d+ s of virtual time a program has computed for 3 s"):
        run(shell("sleep 0.5; while :; do :; done"))


def test_there_is_no_network_outside(guest: None) -> None:
    text = """
import socket
for address in ("192.0.2.1", "10.65.0.1", "127.0.0.1"):
    try:
        socket.create_connection((address, 80), 1)
    except OSError as error:
        print(error.strerror)
"""
    alone, beside = run(python(text), shell("true"), duration="2 s").programs
    assert alone["stdout"].splitlines() == ["Network is unreachable", "Connection refused", "Connection refused"]
    assert beside["status"] == 0


@pytest.mark.parametrize("engine", ["packet", "fluid", "linux:clock=real", "linux:ip=6"])
def test_other_engines_refuse_programs(engine: str) -> None:
    cure = r"traffic\.p0\.kind = \"program\": .*; use --engine linux"
    with pytest.raises((ScenarioError, aqmlab.EngineUnavailable), match=cure) as refused:
        aqmlab.run(scenario(shell("true")), engine=engine)
    if isinstance(refused.value, aqmlab.EngineUnavailable):
        pytest.skip(str(refused.value))


def test_a_sweep_refuses_programs() -> None:
    message = r"programs\.toml:\d+: traffic\.p0\.kind = \"program\": its runs cannot be stored"
    with pytest.raises(ScenarioError, match=message):
        aqmlab.sweep(scenario(shell("true")), vary={"dumbbell.rate": ["1 Mbit/s", "2 Mbit/s"]}, engine="linux")


def test_an_entry_without_processes_is_nothing() -> None:
    document = tomllib.loads(scenario(f"count = 0\n{shell('true')}").to_toml())
    load = {"name": "load", "kind": "cbr"}
    found = aqmlab.run(Scenario.from_dict({**document, "traffic": [*document["traffic"], load]}))
    assert (found.runs[0].classes["load"]["goodput"] or 0) > 0


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", r"programs\.toml:\d+: traffic\.p0: a program needs a command, such as \[\"ping\", \"\{peer\}\"\]"),
        ('command = "ping {peer}"', r"traffic\.p0\.command = \[\"ping \{peer\}\"\]: must be a list of words, such as"),
        ("command = []", r"traffic\.p0\.command = \[\]: must be a list"),
        ('command = ["a", "\\u0000"]', r"traffic\.p0\.command = .*: must not have the character U\+0000"),
        ('command = ["a"]\nserver = ["b c"]', r"traffic\.p0\.server = \[\"b c\"\]: must be a list of words"),
        ('command = ["a"]\nrate = "1 Mbit/s"', r"traffic\.p0\.rate = .*: only for kind \"cbr\""),
    ],
)
def test_words_that_are_no_command_are_refused(entry: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(entry).check()


def test_a_program_that_does_not_exist_is_named_with_its_line(guest: None, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(scenario("command = ['no-such-program', '{peer}']").to_toml(), encoding="utf-8")
    ended = cli("run", "x.toml", "--engine", "linux")
    assert ended.returncode == 2
    assert re.fullmatch(
        r'x\.toml:\d+: traffic\.p0\.command = \["no-such-program", "\{peer\}"\]: there is no program no-such-program '
        r"on this machine: install it, or give its path\n",
        ended.stderr,
    ), ended.stderr


def test_fates_have_the_packets_of_programs(guest: None, cli: Cli, tmp_path: Path) -> None:
    entries: Sequence[str] = (f"{call(20, 500)}\n{python(ANSWER, 'server')}",)
    (tmp_path / "x.toml").write_text(scenario(*entries).to_toml(), encoding="utf-8")
    ended = cli("run", "x.toml", "--engine", "linux", "--pcapng", "x.pcapng")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "x.pcapng").read_bytes().count(b"delivered after") == 20

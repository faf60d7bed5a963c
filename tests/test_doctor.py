"""The preflight of the engines: each finding on a machine that is well and on one that is not, and the command."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from conftest import Cli

from aqmlab.execute.preflight import (
    DISCIPLINES,
    ENGINES,
    FIFOS,
    GROUPS,
    LINK,
    Finding,
    Machine,
    State,
    examine,
    findings,
    verdict,
)
from aqmlab.execute.preflight.guest import memory_folder
from aqmlab.execute.preflight.machine import Done
from aqmlab.reports import preflight

KERNEL = "/home/user/.cache/aqmlab/kernel/linux"
CONFIGURATION = "\n".join(
    f"CONFIG_{option}=y"
    for option in (
        *("UML_TIME_TRAVEL_SUPPORT", "UML_TIME_TRAVEL_SEED", "HOSTFS", "TUN", "NET_NS", "HIGH_RES_TIMERS"),
        *("TCP_CONG_CUBIC", "TCP_CONG_BBR", "TCP_CONG_DCTCP"),
        *(f"NET_SCH_{name.upper()}" for name in (LINK, *DISCIPLINES)),
    )
)
CPU = "/sys/devices/system/cpu"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
MODULES = "/lib/modules/6.1.0"

FILES = {
    "/proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3",
    "/proc/self/cgroup": "0::/user.slice/session",
    "/proc/misc": "200 tun\n232 kvm",
    "/proc/stat": "cpu  100 0 100 700 50 0 50 0 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0",
    "/proc/loadavg": "0.20 0.30 0.70 2/85 22440",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/proc/sys/net/ipv4/tcp_available_congestion_control": "reno cubic bbr dctcp",
    f"{CPU}/online": "0-3",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/cpu0/cpuidle/state1/latency": "2",
    f"{CPU}/cpu0/cpuidle/state1/disable": "0",
    f"{CLOCK}/current_clocksource": "tsc",
    f"{CLOCK}/available_clocksource": "tsc hpet",
    f"{MODULES}/modules.builtin": "kernel/net/sched/sch_htb.ko",
    f"{MODULES}/modules.dep": "\n".join(f"kernel/net/sched/sch_{name}.ko.xz:" for name in (LINK, *DISCIPLINES)),
    f"{KERNEL}.version": "7.2.12",
    "/dev/net/tun": "",
    "/sys/kernel/btf/vmlinux": "tcp_congestion_ops\0bpf_struct_ops_Qdisc_ops",
    "/usr/lib/aqmlab/kernel/lred.bpf.o": "",
}
PROGRAMS = ("/bin/sh", KERNEL, "/usr/lib/aqmlab/bin/aqmlab-router", "/usr/lib/aqmlab/bin/aqmlab-traffic")
TRY = "/usr/lib/aqmlab/bin/aqmlab-router --try-device"
ANSWERS = {
    sys.executable: Done(0, "0.1.0"),
    "ip -V": Done(0, "ip utility, iproute2-6.1.0, libbpf 1.1.2"),
    "ip link help": Done(255, "[ gso_max_size BYTES ] | [ gso_max_segs PACKETS ]"),
    "tc -V": Done(0, "tc utility, iproute2-6.1.0, libbpf 1.1.2"),
    "bash ": Done(0, ""),
    "unshare": Done(0, ""),
    "chrt": Done(0, ""),
    TRY: Done(0, ""),
    f"{KERNEL} --showconfig": Done(0, CONFIGURATION),
    f"{KERNEL} mem=": Done(0, "Failed to initialize ubd device 0\nready\nreboot: Power down"),
}


class Fake(Machine):
    """A machine of files in a folder and of prepared answers, on which everything is well."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, {"HOME": "/home/user", "USER": "user"}, uid=1000, package=Path("/usr/lib/aqmlab"))
        self.system, self.processor, self.release = "Linux", "x86_64", "6.1.0"
        self.answers: dict[str, Done] = dict(ANSWERS)
        self.spaces: dict[str, int | str] = {"/dev/shm": 10**10}
        self.resolution = 1e-9
        self.error = ""
        for name, content in FILES.items():
            self.write(name, content)
        for name in PROGRAMS:
            self.write(name, "").chmod(0o755)

    def write(self, name: str, content: object) -> Path:
        file = self.path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{content}\n", encoding="utf-8")
        return file

    def remove(self, name: str) -> None:
        self.path(name).unlink()

    def run(self, command: Sequence[str], environ: Mapping[str, str] | None = None) -> Done | None:
        line = " ".join(command)
        return next((done for beginning, done in self.answers.items() if line.startswith(beginning)), None)

    def executable_space(self, name: str) -> int | str:
        return self.spaces.get(name, "not writable")

    def timer_resolution(self) -> float:
        return self.resolution

    def opening(self, name: str) -> str:
        return self.error


@pytest.fixture
def machine(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def finding(machine: Machine, group: str, name: str) -> Finding:
    (found,) = (one for one in examine(machine) if (one.group, one.name) == (group, name))
    return found


def test_everything_is_well_on_a_machine_that_has_everything(machine: Fake) -> None:
    found = examine(machine)
    assert [one for one in found if one.state != State.OK or one.fix] == []
    assert list(dict.fromkeys(one.group for one in found)) == list(GROUPS)
    assert all(one.found and one.spoils.endswith(".") for one in found)
    assert all(verdict(group, found).ready for group in GROUPS[:3])
    assert all(
        findings(engine, congestion=["dctcp"], disciplines=["cake"], machine=machine) == [] for engine in ENGINES
    )


Change = Callable[[Fake], object]


def kernel_without(option: str) -> Change:
    return lambda m: m.answers.update(
        {f"{KERNEL} --showconfig": Done(0, CONFIGURATION.replace(f"_{option}=y", "_X=y"))}
    )


def as_root(m: Fake) -> None:
    m.uid = 0


def refused(program: str, *changes: Change) -> Change:
    def change(m: Fake) -> None:
        m.answers[program] = Done(1, f"{program}: Operation not permitted")
        for one in changes:
            one(m)

    return change


def written(name: str, content: object, *changes: Change) -> Change:
    def change(m: Fake) -> None:
        m.write(name, content)
        for one in changes:
            one(m)

    return change


def no_modules(m: Fake) -> None:
    m.remove(f"{MODULES}/modules.dep")
    m.remove(f"{MODULES}/modules.builtin")


PACKET, VIRTUAL, REAL, DISCIPLINE, BPF = GROUPS
OK, DELAYS, SPOILS, MISSING, UNKNOWN = State

# The change to the machine; the finding and its state; parts of what was found and of the remedy.
CASES: Mapping[str, tuple[Change, str, str, State, str, str]] = {
    "the engine does not load": (
        lambda m: m.answers.update({sys.executable: Done(1, "Traceback:\nImportError: no _core")}),
        *(PACKET, "engine", MISSING, "ImportError: no _core", "pip install --force-reinstall aqmlab"),
    ),
    "the engine ends the process": (
        lambda m: m.answers.update({sys.executable: Done(-4, "")}),
        *(PACKET, "engine", MISSING, "without a message", "pip install"),
    ),
    "an ARM processor": (
        lambda m: setattr(m, "processor", "aarch64"),
        *(VIRTUAL, "platform", MISSING, "Linux on aarch64", "--engine packet"),
    ),
    "macOS": (lambda m: setattr(m, "system", "Darwin"), REAL, "platform", MISSING, "Darwin", "--engine packet"),
    "no router, virtual": (
        lambda m: m.remove("/usr/lib/aqmlab/bin/aqmlab-router"),
        *(VIRTUAL, "programs", MISSING, "no aqmlab-router in", "pip install"),
    ),
    "no senders, real": (
        lambda m: m.remove("/usr/lib/aqmlab/bin/aqmlab-traffic"),
        *(REAL, "programs", MISSING, "no aqmlab-traffic in", "pip install"),
    ),
    "no ip, virtual": (
        lambda m: m.answers.pop("ip -V"),
        *(VIRTUAL, "ip", MISSING, "not there", "sudo apt install iproute2"),
    ),
    "BusyBox's ip": (
        lambda m: m.answers.update({"ip -V": Done(1, "BusyBox v1.36")}),
        *(REAL, "ip", MISSING, "another program", "sudo apt install iproute2"),
    ),
    "an old ip": (
        lambda m: m.answers.update({"ip link help": Done(255, "Usage: ip link")}),
        *(REAL, "ip", MISSING, "without gso_max_segs", "sudo apt install iproute2"),
    ),
    "no shell": (lambda m: m.remove("/bin/sh"), VIRTUAL, "shell", MISSING, "no /bin/sh", "apt install dash"),
    "no kernel": (lambda m: m.remove(KERNEL), VIRTUAL, "kernel", MISSING, "not there", "make kernel"),
    "a kernel that is no program": (
        lambda m: m.path(KERNEL).chmod(0o644),
        *(VIRTUAL, "kernel", MISSING, "not executable", f"chmod +x {KERNEL}"),
    ),
    "a kernel of another machine": (
        refused(f"{KERNEL} --showconfig"),
        *(VIRTUAL, "kernel", MISSING, "does not start", f"{KERNEL} --version"),
    ),
    "a kernel without time travel": (
        kernel_without("UML_TIME_TRAVEL_SUPPORT"),
        *(
            VIRTUAL,
            "kernel",
            MISSING,
            "without UML_TIME_TRAVEL_SUPPORT",
            "rm -r /home/user/.cache/aqmlab/kernel && make",
        ),
    ),
    "no tracing": (
        written("/proc/sys/kernel/yama/ptrace_scope", 2),
        *(VIRTUAL, "tracing", MISSING, "ptrace_scope = 2", "sudo sysctl -w kernel.yama.ptrace_scope=1"),
    ),
    "no tracing until the next start": (
        written("/proc/sys/kernel/yama/ptrace_scope", 3, as_root),
        *(VIRTUAL, "tracing", MISSING, "ptrace_scope = 3", "| tee /etc/sysctl.d/99-aqmlab.conf && reboot"),
    ),
    "no executable folder": (
        lambda m: m.spaces.update({"/dev/shm": "mounted noexec"}),
        *(
            VIRTUAL,
            "memory",
            MISSING,
            "/dev/shm: mounted noexec; /tmp: not writable",
            "remount,exec,size=2048M /dev/shm",
        ),
    ),
    "a small folder": (
        lambda m: m.spaces.update({"/dev/shm": 64 * 2**20}),
        *(VIRTUAL, "memory", MISSING, "/dev/shm: 0.0671 GB", "size=2048M"),
    ),
    "a guest that does not start": (
        refused(f"{KERNEL} mem="),
        *(VIRTUAL, "trial", MISSING, "Operation not permitted", f"TMPDIR=/dev/shm {KERNEL} mem=64M"),
    ),
    "no kernel to try": (lambda m: m.remove(KERNEL), VIRTUAL, "trial", UNKNOWN, "without kernel", "make kernel"),
    "no memory to try": (lambda m: m.spaces.clear(), VIRTUAL, "trial", UNKNOWN, "without memory", "remount"),
    "a guest without DCTCP": (
        kernel_without("TCP_CONG_DCTCP"),
        *(VIRTUAL, "congestion controls", MISSING, "no dctcp", "make kernel"),
    ),
    "congestion controls of no guest": (
        lambda m: m.remove(KERNEL),
        *(VIRTUAL, "congestion controls", UNKNOWN, "no kernel", "make kernel"),
    ),
    "no namespaces for users": (
        refused("unshare", written("/proc/sys/kernel/unprivileged_userns_clone", 0)),
        *(REAL, "namespaces", MISSING, "userns_clone = 0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ),
    "AppArmor": (
        refused("unshare", written("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1)),
        *(REAL, "namespaces", MISSING, "_userns = 1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ),
    "no user namespaces": (
        refused("unshare", written("/proc/sys/user/max_user_namespaces", 0)),
        *(REAL, "namespaces", MISSING, "max_user_namespaces = 0", "sysctl -w user.max_user_namespaces=15000"),
    ),
    "namespaces refused": (
        refused("unshare"),
        *(REAL, "namespaces", MISSING, "Operation not permitted", "sudo -E aqmlab run"),
    ),
    "namespaces refused to root": (
        refused("unshare", as_root),
        *(REAL, "namespaces", MISSING, "Operation not permitted", "--cap-add SYS_ADMIN"),
    ),
    "no unshare": (lambda m: m.answers.pop("unshare"), REAL, "namespaces", UNKNOWN, "no unshare", "util-linux"),
    "TUN not loaded": (
        written("/proc/misc", "232 kvm", written(f"{MODULES}/modules.dep", "kernel/drivers/net/tun.ko:")),
        *(REAL, "TUN", MISSING, "not loaded", "sudo modprobe tun"),
    ),
    "a kernel without TUN": (written("/proc/misc", ""), REAL, "TUN", MISSING, "no TUN", "--engine linux"),
    "TUN, not known": (written("/proc/misc", "", no_modules), REAL, "TUN", UNKNOWN, "not known", "modprobe tun"),
    "TUN closed to users": (
        lambda m: setattr(m, "error", "Permission denied"),
        *(REAL, "TUN", MISSING, "Permission denied", "sudo chmod 666 /dev/net/tun"),
    ),
    "TUN closed to a container": (
        lambda m: (setattr(m, "error", "Operation not permitted"), as_root(m)),
        *(REAL, "TUN", MISSING, "not permitted", "--device /dev/net/tun"),
    ),
    "no device of TUN": (
        lambda m: (setattr(m, "error", "No such file or directory"), m.remove("/dev/net/tun")),
        *(REAL, "TUN", MISSING, "No such file", "mknod -m 666 /dev/net/tun c 10 200"),
    ),
    "DCTCP not loaded": (
        written(
            "/proc/sys/net/ipv4/tcp_available_congestion_control",
            "reno cubic bbr",
            written(f"{MODULES}/modules.dep", "kernel/net/ipv4/tcp_dctcp.ko.xz:"),
        ),
        *(REAL, "congestion controls", MISSING, "not loaded: dctcp", "sudo modprobe --all tcp_dctcp"),
    ),
    "no BBR": (
        written("/proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic dctcp"),
        *(REAL, "congestion controls", MISSING, "no bbr", "sudo apt install linux-image-amd64 && sudo reboot"),
    ),
    "SCHED_FIFO closed to users": (
        refused("chrt"),
        *(
            REAL,
            "scheduling",
            DELAYS,
            "this user",
            "echo 'user - rtprio 50' | sudo tee /etc/security/limits.d/aqmlab.conf",
        ),
    ),
    "SCHED_FIFO closed to a control group": (
        refused(
            "chrt",
            written("/proc/self/cgroup", "4:cpu,cpuacct:/box"),
            written("/sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", 0),
        ),
        *(REAL, "scheduling", DELAYS, "rt_runtime_us = 0", "sudo tee /sys/fs/cgroup/cpu/box/cpu.rt_runtime_us"),
    ),
    "SCHED_FIFO closed to root": (
        refused("chrt", as_root),
        *(REAL, "scheduling", DELAYS, "no CAP_SYS_NICE", "--cap-add SYS_NICE"),
    ),
    "no chrt": (lambda m: m.answers.pop("chrt"), REAL, "scheduling", UNKNOWN, "no chrt", "util-linux"),
    "half of the time": (
        written("/proc/sys/kernel/sched_rt_runtime_us", 500000),
        *(REAL, "real-time share", DELAYS, "50%", "sudo sysctl -w kernel.sched_rt_runtime_us=950000"),
    ),
    "one core of four": (
        written("/proc/self/status", "Cpus_allowed_list:\t2"),
        *(REAL, "cores", DELAYS, "1 of 4", "taskset"),
    ),
    "a single core": (
        written("/proc/self/status", "Cpus_allowed_list:\t0", written(f"{CPU}/online", "0")),
        *(REAL, "cores", DELAYS, "1 of 1", "--engine linux"),
    ),
    "a quota of a group above": (
        written("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000"),
        *(REAL, "quota", DELAYS, "1.5 cores", "echo max | sudo tee /sys/fs/cgroup/user.slice/cpu.max"),
    ),
    "a quota of version 1": (
        written(
            "/proc/self/cgroup",
            "1:cpu:/box",
            written("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", 50000),
            written("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", 100000),
        ),
        *(REAL, "quota", DELAYS, "0.5 cores", "echo -1 | sudo tee /sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"),
    ),
    "a slow clock": (
        written(f"{CLOCK}/current_clocksource", "hpet"),
        *(REAL, "clock source", DELAYS, "hpet", f"echo tsc | sudo tee {CLOCK}/current_clocksource"),
    ),
    "a slow clock alone": (
        written(f"{CLOCK}/current_clocksource", "hpet", written(f"{CLOCK}/available_clocksource", "hpet")),
        *(REAL, "clock source", DELAYS, "hpet", "--engine linux"),
    ),
    "coarse timers": (
        lambda m: setattr(m, "resolution", 4e-3),
        *(REAL, "timers", SPOILS, "4e+06 ns", "sed -i s/highres=off// /etc/default/grub"),
    ),
    "a governor that saves power": (
        written(f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave"),
        *(REAL, "frequency", DELAYS, "performance, powersave", "echo performance | sudo tee"),
    ),
    "deep sleep": (
        written(f"{CPU}/cpu1/cpuidle/state3/latency", 133),
        *(REAL, "idle states", DELAYS, "133 µs", "cpupower idle-set --disable-by-latency 51"),
    ),
    "a hypervisor that steals": (
        written("/proc/stat", "cpu  100 0 100 700 50 0 50 50 0 0"),
        *(REAL, "steal", DELAYS, "4.8%", "--engine linux"),
    ),
    "a busy machine": (written("/proc/loadavg", "3.5 1 1 5/9 9"), REAL, "load", DELAYS, "3.5", "ps -eo"),
    "no tc, virtual": (lambda m: m.answers.pop("tc -V"), VIRTUAL, "tc", MISSING, "not there", "apt install iproute2"),
    "no tc, real": (lambda m: m.answers.pop("tc -V"), REAL, "tc", MISSING, "not there", "apt install iproute2"),
    "a device with a second queue": (
        lambda m: m.answers.update({TRY: Done(1, "aqmlab0: qdisc is fq instead of noqueue")}),
        *(REAL, "device", SPOILS, "qdisc is fq", "--engine linux"),
    ),
    "no namespace for a device": (refused("unshare"), REAL, "device", UNKNOWN, "without namespaces", "sudo -E"),
    "a guest without cake": (
        kernel_without("NET_SCH_CAKE"),
        *(DISCIPLINE, "virtual time", MISSING, "no cake", "make kernel"),
    ),
    "a host without cake": (
        written(f"{MODULES}/modules.dep", FILES[f"{MODULES}/modules.dep"].replace("sch_cake", "sch_other")),
        *(DISCIPLINE, "real time", MISSING, "no cake", "sudo apt install linux-image-amd64"),
    ),
    "a kernel from outside": (
        lambda m: (no_modules(m), m.write("/boot/config-6.1.0", "CONFIG_NET_SCH_HTB=y")),
        *(DISCIPLINE, "real time", MISSING, "htb; no codel", "--engine linux"),
    ),
    "modules of a host outside": (
        lambda m: (no_modules(m), m.write("/boot/config-6.1.0", CONFIGURATION.replace("CAKE=y", "CAKE=m"))),
        *(DISCIPLINE, "real time", UNKNOWN, "not known: cake", "--engine linux"),
    ),
    "a kernel without disciplines in BPF": (
        lambda m: m.write("/sys/kernel/btf/vmlinux", "tcp_congestion_ops"),
        *(BPF, "kernel", MISSING, "Linux 6.1.0 does not take", "Linux 6.16 or later"),
    ),
    "no libbpf": (
        lambda m: setattr(m, "answers", {f"{sys.executable} -c import ctypes": Done(1, "OSError"), **m.answers}),
        *(BPF, "libbpf", MISSING, "not there", "apt install libbpf1"),
    ),
    "no tc, BPF": (lambda m: m.answers.pop("tc -V"), BPF, "tc", MISSING, "not there", "apt install iproute2"),
    "no compiled law": (
        lambda m: m.remove("/usr/lib/aqmlab/kernel/lred.bpf.o"),
        *(BPF, "laws", MISSING, "none in /usr/lib/aqmlab/kernel", "make kernel-disciplines"),
    ),
    "no clang": (
        lambda m: m.answers.update({"bash ": Done(1, "no clang")}),
        BPF,
        "clang",
        MISSING,
        "not there",
        "apt install clang",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_obstacle_has_its_finding_and_its_remedy(machine: Fake, case: str) -> None:
    change, group, name, state, part, remedy = CASES[case]
    change(machine)
    found = finding(machine, group, name)
    assert found.state == state
    assert part in found.found
    assert remedy in found.fix
    assert "\n" not in found.fix


def test_each_finding_is_tested_when_it_is_bad(machine: Fake) -> None:
    shared = {(VIRTUAL, "platform"), (REAL, "platform")}
    tested = {(group, name) for _, group, name, *_ in CASES.values()} | shared
    assert {(one.group, one.name) for one in examine(machine)} == tested


def test_facts_that_a_machine_does_not_reveal_are_unknown(machine: Fake) -> None:
    shutil.rmtree(machine.path("/proc"))
    shutil.rmtree(machine.path("/sys"))
    unknown = {one.name for one in examine(machine) if one.state == State.UNKNOWN}
    assert unknown >= {"real-time share", "cores", "clock source", "steal", "load"}
    assert {one.state for one in examine(machine) if one.name in ("frequency", "idle states", "quota")} == {State.OK}


def test_a_deep_idle_state_that_is_off_does_no_harm(machine: Fake) -> None:
    machine.write(f"{CPU}/cpu1/cpuidle/state3/latency", 133)
    machine.write(f"{CPU}/cpu1/cpuidle/state3/disable", 1)
    assert finding(machine, REAL, "idle states").state == State.OK


def test_the_administrator_may_trace_and_load_what_a_user_may_not(machine: Fake) -> None:
    machine.write("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3")
    machine.write("/proc/sys/kernel/yama/ptrace_scope", 2)
    machine.write("/proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic bbr")
    machine.write(f"{MODULES}/modules.dep", "kernel/net/ipv4/tcp_dctcp.ko.xz:")
    assert finding(machine, VIRTUAL, "tracing").state == State.OK
    assert finding(machine, REAL, "congestion controls").state == State.OK


def test_a_run_is_told_of_what_it_needs_alone(machine: Fake) -> None:
    kernel_without("TCP_CONG_BBR")(machine)
    kernel_without("NET_SCH_CAKE")(machine)
    assert findings("linux", congestion=["cubic"], machine=machine) == []
    assert findings("linux", disciplines=["pie"], machine=machine) == []
    (virtual,) = findings("linux", disciplines=["cake"], machine=machine)
    assert (virtual.name, virtual.group) == ("virtual time", DISCIPLINE)
    assert "rm -r" in virtual.fix
    assert findings("linux:clock=real", disciplines=["cake"], machine=machine) == []


def test_a_discipline_that_linux_does_not_have_is_answered_with_those_it_has(machine: Fake) -> None:
    for engine in ("linux", "linux:clock=real"):
        (one,) = findings(engine, disciplines=["pies"], machine=machine)
        assert (one.state, one.found) == (MISSING, "no pies" if engine == "linux" else "htb; no pies")
        assert "--aqm kernel:NAME, NAME one of pfifo, bfifo, pfifo_head_drop, codel," in one.fix


@pytest.mark.parametrize("name", FIFOS)
def test_fifos_are_always_there_and_need_only_the_link(machine: Fake, name: str) -> None:
    assert findings("linux", disciplines=[name], machine=machine) == []
    kernel_without(f"NET_SCH_{LINK.upper()}")(machine)
    assert [one.found for one in findings("linux", disciplines=[name], machine=machine)] == ["no htb"]


def test_a_run_is_refused_what_falsifies_it_and_told_what_delays_it(machine: Fake) -> None:
    machine.write("/proc/loadavg", "3.5 1 1 5/9 9")
    assert [one.state for one in findings("linux:clock=real", machine=machine)] == [DELAYS]
    assert findings("linux:clock=virtual", machine=machine) == []
    assert verdict(REAL, examine(machine)).ready
    machine.resolution = 4e-3
    assert [one.state for one in findings("linux:clock=real", machine=machine)] == [SPOILS, DELAYS]
    assert not verdict(REAL, examine(machine)).ready
    assert [state for state in State if state.refuses] == [SPOILS, MISSING]


def test_a_run_may_have_a_kernel_of_its_own(machine: Fake) -> None:
    (lacking, *_) = findings("linux", kernel="/opt/linux", machine=machine)
    assert lacking.found == "/opt/linux: not there"
    machine.write("/opt/linux", "").chmod(0o755)
    machine.answers |= {"/opt/linux --showconfig": Done(0, "CONFIG_TUN=y")}
    (poor, *_) = findings("linux", kernel="/opt/linux", machine=machine)
    assert "without UML_TIME_TRAVEL_SUPPORT, UML_TIME_TRAVEL_SEED, HOSTFS" in poor.found
    assert "rm" not in poor.fix, "a kernel that the user named stays"


def test_an_engine_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="engine = 'ns3': must be one of packet, fluid, linux"):
        findings("ns3")


def test_memory_goes_to_the_first_folder_with_space(machine: Fake) -> None:
    assert memory_folder(machine) == "/dev/shm"
    machine.spaces = {"/dev/shm": 64 * 2**20, "/scratch": 10**10, "/tmp": 10**10}
    assert memory_folder(machine) == "/tmp"
    machine.environ["TMPDIR"] = "/scratch"
    assert memory_folder(machine) == "/scratch"


def test_without_linux_only_its_absence_is_reported(machine: Fake) -> None:
    machine.system = "Darwin"
    assert [(one.name, one.state) for one in examine(machine)] == [
        ("engine", State.OK),
        ("platform", State.MISSING),
        ("platform", State.MISSING),
    ]


def test_the_text_ends_with_a_line_for_each_engine(machine: Fake) -> None:
    machine.remove(KERNEL)
    machine.write("/proc/loadavg", "3.5 1 1 5/9 9")
    found = examine(machine)
    lines = preflight.text(found, [verdict(group, found) for group in GROUPS[:3]]).splitlines()
    assert lines[-3:] == [
        "packet and fluid: ready",
        "linux, virtual time: not ready: kernel; fix: make kernel",
        "linux, real time: ready, but packets may be late: load; fix as above",
    ]
    assert [line for line in lines if line in GROUPS] == list(GROUPS)
    assert max(map(len, lines)) <= 200
    machine.resolution = 4e-3
    real = preflight.line(verdict(REAL, examine(machine)))
    assert real.startswith("linux, real time: not ready: timers; fix: sudo sed -i s/highres=off// ")


def state_of_the_network() -> list[str]:
    """Return the named namespaces, the devices, and the modules: what a check might leave behind."""
    commands = (["ip", "netns"], ["ip", "-o", "link"]) if shutil.which("ip") else ()
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in commands]
    modules = Path("/proc/modules")
    names = [line.split()[0] for line in modules.read_text().splitlines()] if modules.exists() else []
    return [*outputs, *names]


def test_the_command_prints_the_groups_and_leaves_nothing_behind(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AQMLAB_CACHE", os.environ.get("AQMLAB_CACHE") or str(Path.home() / ".cache/aqmlab"))
    for name in ("HOME", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    before = state_of_the_network()
    done = cli("doctor")
    assert state_of_the_network() == before
    assert (done.returncode, done.stderr) == (0, "")
    groups = [line for line in done.stdout.splitlines() if line in GROUPS]
    assert groups == list(GROUPS if sys.platform == "linux" else GROUPS[:3])
    assert "packet and fluid: ready" in done.stdout.splitlines()
    last = done.stdout.splitlines()[-1]
    assert last.startswith("disciplines in BPF: " if sys.platform == "linux" else "linux, real time: "), last
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["HOME", "TMPDIR"]


def test_the_document_of_this_machine_agrees_with_its_exit_status(quick_cli: Cli) -> None:
    for engine, group in ENGINES.items():
        done = quick_cli("doctor", "--json", "--engine", engine)
        document = json.loads(done.stdout)
        ready = {one["engine"]: one["ready"] for one in document["engines"]}
        assert list(ready) == [*dict.fromkeys(ENGINES.values()), *([BPF] if sys.platform == "linux" else [])]
        assert done.returncode == (0 if ready[group] else 1)
        assert {one["state"] for one in document["findings"]} <= set(State)


def test_the_command_reports_an_engine_that_does_not_load(tmp_path: Path) -> None:
    broken = "import sys; sys.modules['aqmlab._core'] = None; sys.argv = ['aqmlab', 'doctor']\n"
    broken += "from aqmlab.cli import main; main()"
    # The check has a process of its own, in which the engine does load: the command must get there.
    done = subprocess.run([sys.executable, "-c", broken], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "packet and fluid: ready" in done.stdout

"""Checks of the Linux engine in virtual time: a User-Mode Linux kernel, and what it needs of the host."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from aqmlab.execute.preflight.finding import Fact, State, install, make, missing, set_sysctl, write
from aqmlab.execute.preflight.machine import Done, Machine

MEMORY = 512 * 2**20
"""Bytes that the folder of the guest's memory must have free; the guest fills the file as it needs memory."""

_NEEDED = ("UML_TIME_TRAVEL_SUPPORT", "UML_TIME_TRAVEL_SEED", "HOSTFS", "TUN", "NET_NS", "HIGH_RES_TIMERS")
"""The options of the kernel's configuration without which no run is possible; without the seed, none is repeated."""

_SYS_PTRACE = 19
"""The capability to trace any process."""

_TRIAL = (
    *("mem=64M", "rootfstype=hostfs", "rootflags=/", "ro", "init=/bin/sh", "time-travel=inf-cpu"),
    *("con=null", "con0=null,fd:1", "quiet"),
)
_TRIAL_SCRIPT = '"mount -t proc proc /proc; echo ready; echo o > /proc/sysrq-trigger; sleep 5"'


def kernel_file(machine: Machine, kernel: str = "auto") -> str:
    """Return the path of the guest's kernel: the one named, or for ``auto`` the one that ``make kernel`` builds."""
    if kernel != "auto":
        return kernel
    cache = machine.environ.get("AQMLAB_CACHE") or f"{machine.environ.get('HOME') or Path.home()}/.cache/aqmlab"
    return f"{cache}/kernel/linux"


def memory_folder(machine: Machine) -> str | None:
    """Return the folder for the file that is the guest's memory: the first with space for it; None if there is none."""
    spaces = _spaces(machine)
    return next((folder for folder, space in spaces.items() if isinstance(space, int) and space >= MEMORY), None)


def memory_space(machine: Machine) -> int:
    """Return the free bytes of the folder for the memory of guests; 0 if there is none."""
    space = _spaces(machine).get(memory_folder(machine) or "", 0)
    return space if isinstance(space, int) else 0


@missing("platform", "User-Mode Linux is an ordinary process of Linux on x86-64 only.")
def platform(machine: Machine) -> Fact:
    """Check that User-Mode Linux runs on this kind of machine."""
    good = machine.system == "Linux" and machine.processor == "x86_64"
    return good, f"{machine.system} on {machine.processor}", "aqmlab run SCENARIO --engine packet"


@missing("shell", "The guest's first process is a shell script, and its files are those of this machine.")
def shell(machine: Machine) -> Fact:
    """Check that the guest can start a shell."""
    good = machine.is_executable("/bin/sh")
    return good, "/bin/sh" if good else "no /bin/sh", install(machine, "dash")


@missing("kernel", "Senders and router run in a guest, and this is its kernel.")
def built_kernel(machine: Machine, kernel: str = "auto") -> Fact:
    """Check that the guest's kernel is there, can be executed and was built with everything that a run needs."""
    file = kernel_file(machine, kernel)
    if not machine.is_executable(file):
        problem = "not executable" if os.path.exists(machine.path(file)) else "not there"
        return False, f"{file}: {problem}", make(machine, "kernel") if problem == "not there" else f"chmod +x {file}"
    options = configuration(machine, file)
    if options is None:
        return False, f"{file}: does not start on this machine", f"{file} --version"
    if lacking := [option for option in _NEEDED if options.get(option) != "y"]:
        return False, f"{file}: built without {', '.join(lacking)}", _rebuild(machine, kernel)
    version = machine.text(f"{file}.version") or (machine.run([file, "--version"]) or Done(0, "")).output
    return True, f"Linux {version}", ""


def configuration(machine: Machine, file: str) -> Mapping[str, str] | None:
    """Return the options with which a kernel was built, without their prefix; None if it does not start."""
    done = machine.run([file, "--showconfig"])
    return options_of(done.output) if done and done.status == 0 else None


def options_of(text: str) -> dict[str, str]:
    """Return the options of a kernel's configuration file, without their prefix."""
    pairs = (line.removeprefix("CONFIG_").partition("=") for line in text.splitlines() if line.startswith("CONFIG_"))
    return {name: value for name, _, value in pairs}


@missing("tracing", "User-Mode Linux runs the guest's programs as processes that it traces.")
def tracing(machine: Machine) -> Fact:
    """Check that the guest's kernel may trace its processes."""
    scope = machine.number("/proc/sys/kernel/yama/ptrace_scope") or 0
    good = scope < 2 or (scope == 2 and machine.has_capability(_SYS_PTRACE))
    # From 3 on it can only be changed by a new start.
    cure = set_sysctl(machine, "kernel.yama.ptrace_scope", 1)
    if scope > 2:
        cure = f"{write(machine, 'kernel.yama.ptrace_scope=1', '/etc/sysctl.d/99-aqmlab.conf')} && {machine.sudo}reboot"
    return good, f"kernel.yama.ptrace_scope = {scope}" if scope else "allowed", cure


@missing("memory", "The guest's memory is a file, which must be executable and on which a full folder ends the guest.")
def memory(machine: Machine) -> Fact:
    """Check that there is a folder for the guest's memory."""
    if folder := memory_folder(machine):
        return True, f"{folder}, {_gigabytes(_spaces(machine)[folder])} free", ""
    found = "; ".join(f"{folder}: {_gigabytes(space)}" for folder, space in _spaces(machine).items())
    return False, found, f"{machine.sudo}mount -o remount,exec,size={4 * MEMORY // 2**20}M /dev/shm"


@missing("trial", "A guest that does not start does no run.")
def boot(machine: Machine, kernel: str = "auto") -> Fact:
    """Check that the guest starts, finds the host's files and ends, which takes a fifth of a second."""
    for lacking in (built_kernel(machine, kernel), memory(machine)):
        if lacking.state != State.OK:
            return None, f"not tried without {lacking.name}", lacking.fix
    file, memory_at = kernel_file(machine, kernel), str(memory_folder(machine))
    with machine.guest_folder() as folder:
        command = [file, *_TRIAL, f"uml_dir={folder}", "--", "-c", _TRIAL_SCRIPT]
        done = machine.run(command, {"TMPDIR": memory_at}) or Done(-1, "")
    if "ready" in done.output.splitlines():
        return True, "the guest starts and ends", ""
    last = done.output.splitlines()[-1:] or ["no output"]
    by_hand = f"TMPDIR={memory_at} {' '.join([file, *_TRIAL])}"  # its messages have the cause
    return False, f"the guest does not start: {last[0]}", by_hand


@missing("congestion controls", "Senders with a congestion control that the guest lacks cannot run.", needed=False)
def congestion_controls(machine: Machine, names: Iterable[str], kernel: str = "auto") -> Fact:
    """Check that the guest's kernel has congestion controls."""
    return _built_in(machine, kernel, {name: f"TCP_CONG_{name.upper()}" for name in names})


@missing(
    "virtual time", "--aqm kernel:NAME needs the discipline, and HTB as the link, in the guest's kernel.", needed=False
)
def disciplines(machine: Machine, names: Iterable[str], kernel: str = "auto") -> Fact:
    """Check that the guest's kernel has queue disciplines."""
    return _built_in(machine, kernel, {name: f"NET_SCH_{name.upper()}" for name in names})


def _built_in(machine: Machine, kernel: str, options: Mapping[str, str]) -> Fact:
    file = kernel_file(machine, kernel)
    built = configuration(machine, file) if machine.is_executable(file) else None
    if built is None:
        return None, "no kernel", make(machine, "kernel")
    built = {**built, "TCP_CONG_RENO": "y"}  # it has no option: every kernel has it
    lacking = [name for name, option in options.items() if built.get(option) != "y"]
    return not lacking, f"no {', '.join(lacking)}" if lacking else ", ".join(options), _rebuild(machine, kernel)


def _rebuild(machine: Machine, kernel: str) -> str:
    """Return the command that builds the kernel anew; a kernel that the user named stays."""
    again = f"rm -r {shlex.quote(str(Path(kernel_file(machine)).parent))} && " if kernel == "auto" else ""
    return again + make(machine, "kernel")


def _spaces(machine: Machine) -> dict[str, int | str]:
    """Return for each folder that may have the guest's memory its free bytes, or the reason why it cannot."""
    folders = ["/dev/shm", machine.environ.get("TMPDIR", ""), "/tmp", "/var/tmp"]
    return {folder: machine.executable_space(folder) for folder in dict.fromkeys(folders) if folder}


def _gigabytes(space: int | str) -> str:
    return space if isinstance(space, str) else f"{space / 1e9:.3g} GB"

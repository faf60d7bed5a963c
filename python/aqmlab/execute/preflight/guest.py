"""Checks of the Linux engine in virtual time: a User-Mode Linux kernel, and what it needs of the host."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from aqmlab.execute.preflight.finding import Finding, State, install, make, missing_unless, set_sysctl, write
from aqmlab.execute.preflight.machine import Done, Machine

MEMORY = 512 * 2**20
"""Bytes that the folder of the guest's memory must have free; the guest fills the file as it needs memory."""

_NEEDED = ("UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "TUN", "NET_NS", "HIGH_RES_TIMERS")
"""The options of the kernel's configuration without which no run is possible."""

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


def platform(machine: Machine) -> Finding:
    """Check that User-Mode Linux runs on this kind of machine."""
    found = f"{machine.system} on {machine.processor}"
    good = machine.system == "Linux" and machine.processor == "x86_64"
    spoils = "User-Mode Linux is an ordinary process of Linux on x86-64 only."
    return missing_unless(good, "platform", found, spoils, "aqmlab run SCENARIO --engine packet")


def shell(machine: Machine) -> Finding:
    """Check that the guest can start a shell."""
    good = machine.is_executable("/bin/sh")
    spoils = "The guest's first process is a shell script, and its files are those of this machine."
    return missing_unless(good, "shell", "/bin/sh" if good else "no /bin/sh", spoils, install(machine, "dash"))


def built_kernel(machine: Machine, kernel: str = "auto") -> Finding:
    """Check that the guest's kernel is there, can be executed and was built with everything that a run needs."""
    file = kernel_file(machine, kernel)
    judged = partial(missing_unless, name="kernel", spoils="Senders and router run in a guest, and this is its kernel.")
    if not machine.is_executable(file):
        problem = "not executable" if os.path.exists(machine.path(file)) else "not there"
        cure = make(machine, "kernel") if problem == "not there" else f"chmod +x {file}"
        return judged(False, found=f"{file}: {problem}", fix=cure)
    options = configuration(machine, file)
    if options is None:
        return judged(False, found=f"{file}: does not start on this machine", fix=f"{file} --version")
    if lacking := [option for option in _NEEDED if options.get(option) != "y"]:
        return judged(False, found=f"{file}: built without {', '.join(lacking)}", fix=_rebuild(machine, kernel))
    version = machine.text(f"{file}.version") or (machine.run([file, "--version"]) or Done(0, "")).output
    return judged(True, found=f"Linux {version}", fix="")


def configuration(machine: Machine, file: str) -> Mapping[str, str] | None:
    """Return the options with which a kernel was built, without their prefix; None if it does not start."""
    done = machine.run([file, "--showconfig"])
    return options_of(done.output) if done and done.status == 0 else None


def options_of(text: str) -> dict[str, str]:
    """Return the options of a kernel's configuration file, without their prefix."""
    pairs = (line.removeprefix("CONFIG_").partition("=") for line in text.splitlines() if line.startswith("CONFIG_"))
    return {name: value for name, _, value in pairs}


def tracing(machine: Machine) -> Finding:
    """Check that the guest's kernel may trace its processes."""
    scope = machine.number("/proc/sys/kernel/yama/ptrace_scope") or 0
    good = scope < 2 or (scope == 2 and machine.has_capability(_SYS_PTRACE))
    # From 3 on it can only be changed by a new start.
    cure = set_sysctl(machine, "kernel.yama.ptrace_scope", 1)
    if scope > 2:
        cure = f"{write(machine, 'kernel.yama.ptrace_scope=1', '/etc/sysctl.d/99-aqmlab.conf')} && {machine.sudo}reboot"
    spoils = "User-Mode Linux runs the guest's programs as processes that it traces."
    return missing_unless(good, "tracing", f"kernel.yama.ptrace_scope = {scope}" if scope else "allowed", spoils, cure)


def memory(machine: Machine) -> Finding:
    """Check that there is a folder for the guest's memory."""
    judged = partial(
        missing_unless,
        name="memory",
        spoils="The guest's memory is a file, which must be executable and on which a full folder ends the guest.",
    )
    if folder := memory_folder(machine):
        space = _spaces(machine)[folder]
        return judged(True, found=f"{folder}, {_gigabytes(space)} free", fix="")
    found = "; ".join(f"{folder}: {_gigabytes(space)}" for folder, space in _spaces(machine).items())
    return judged(False, found=found, fix=f"{machine.sudo}mount -o remount,exec,size={4 * MEMORY // 2**20}M /dev/shm")


def boot(machine: Machine, kernel: str = "auto") -> Finding:
    """Check that the guest starts, finds the host's files and ends, which takes a fifth of a second."""
    judged = partial(missing_unless, name="trial", spoils="A guest that does not start does no run.")
    for lacking in (built_kernel(machine, kernel), memory(machine)):
        if lacking.state != State.OK:
            return judged(None, found=f"not tried without {lacking.name}", fix=lacking.fix)
    file, memory_at = kernel_file(machine, kernel), str(memory_folder(machine))
    with machine.guest_folder() as folder:
        command = [file, *_TRIAL, f"uml_dir={folder}", "--", "-c", _TRIAL_SCRIPT]
        done = machine.run(command, {"TMPDIR": memory_at}) or Done(-1, "")
    if "ready" in done.output.splitlines():
        return judged(True, found="the guest starts and ends", fix="")
    last = done.output.splitlines()[-1:] or ["no output"]
    by_hand = f"TMPDIR={memory_at} {' '.join([file, *_TRIAL])}"  # its messages have the cause
    return judged(False, found=f"the guest does not start: {last[0]}", fix=by_hand)


def congestion_controls(machine: Machine, names: Iterable[str], kernel: str = "auto") -> Finding:
    """Check that the guest's kernel has congestion controls."""
    return _built_in(
        machine,
        kernel,
        "congestion controls",
        {name: f"TCP_CONG_{name.upper()}" for name in names},
        "Senders with a congestion control that the guest lacks cannot run.",
    )


def disciplines(machine: Machine, names: Iterable[str], kernel: str = "auto") -> Finding:
    """Check that the guest's kernel has queue disciplines."""
    return _built_in(
        machine,
        kernel,
        "virtual time",
        {name: f"NET_SCH_{name.upper()}" for name in names},
        "--aqm kernel:NAME needs the discipline, and HTB as the link, in the guest's kernel.",
    )


def _built_in(machine: Machine, kernel: str, name: str, options: Mapping[str, str], spoils: str) -> Finding:
    file = kernel_file(machine, kernel)
    built = configuration(machine, file) if machine.is_executable(file) else None
    if built is None:
        return Finding(name, State.UNKNOWN, "no kernel", spoils, make(machine, "kernel"), needed=False)
    built = {**built, "TCP_CONG_RENO": "y"}  # it has no option: every kernel has it
    lacking = [name for name, option in options.items() if built.get(option) != "y"]
    found = f"no {', '.join(lacking)}" if lacking else ", ".join(options)
    return missing_unless(not lacking, name, found, spoils, _rebuild(machine, kernel), needed=False)


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

"""Checks of the Linux engine in real time: the rights, the clock and the quiet of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from aqmlab.execute.preflight import programs
from aqmlab.execute.preflight.finding import Fact, State, delays, install, missing, set_sysctl, spoils, write
from aqmlab.execute.preflight.machine import Machine
from aqmlab.execute.preflight.modules import support

VIRTUAL = "aqmlab run SCENARIO --engine linux"
"""The remedy where no command changes the machine: virtual time does not depend on it."""

_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
"""Clock sources that a program reads without a system call."""

_NAMESPACES: Mapping[str, Callable[[int], bool]] = {
    "kernel.unprivileged_userns_clone": lambda value: value == 0,
    "kernel.apparmor_restrict_unprivileged_userns": lambda value: value == 1,
    "user.max_user_namespaces": lambda value: value == 0,
    "user.max_net_namespaces": lambda value: value == 0,
}
"""The parameters of the kernel that forbid namespaces, and the values with which they do."""

_SPARE_CORES = 1.0
"""Cores that must be idle for the router to wake up in time."""

_STEAL = 0.01
"""The share of time taken by other virtual machines above which timing suffers."""

_WAKE_UP = 50
"""The longest time in µs that a core may need to leave an idle state; at 100 Mbit/s a full packet takes 120 µs."""


@missing("platform", "Namespaces, TUN devices and the senders' TCP are those of Linux.")
def platform(machine: Machine) -> Fact:
    """Check that this is Linux."""
    found = f"{machine.system} {machine.release}"
    return machine.system == "Linux", found, "aqmlab run SCENARIO --engine packet"


@missing("namespaces", "Each host of a scenario is a network namespace.")
def namespaces(machine: Machine) -> Fact:
    """Check that this user can make network namespaces, by making one for a program that does nothing."""
    tries = {"as root": ["unshare", "--net"], "in a user namespace": ["unshare", "--user", "--map-root-user", "--net"]}
    if machine.uid != 0:
        del tries["as root"]
    output = ""
    for how, command in tries.items():
        done = machine.run([*command, "true"])
        if done is None:
            return None, "no unshare to try with", install(machine, "util-linux")
        if done.status == 0:
            return True, how, ""
        output = done.output
    for name, forbids in _NAMESPACES.items():
        value = machine.number(f"/proc/sys/{name.replace('.', '/')}")
        if value is not None and forbids(value):
            allowed = 15000 if name.startswith("user.") else 1 - value
            return False, f"{name} = {value}", set_sysctl(machine, name, allowed)
    container = "docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun IMAGE aqmlab …"
    cure = container if machine.uid == 0 else "sudo -E aqmlab run SCENARIO --engine linux:clock=real"
    return False, output or "not permitted", cure


@missing("TUN", "The router receives and sends packets through TUN devices.")
def tun(machine: Machine) -> Fact:
    """Check that this user can open TUN devices."""
    devices = {line.split()[-1] for line in (machine.text("/proc/misc") or "").splitlines()}
    # Where the module is not loaded, opening the device would load it.
    if "tun" not in devices:
        has = support(machine, "tun", "TUN")
        if has is None:
            return None, "not known", f"{machine.sudo}modprobe tun"
        if has == "absent":
            return False, "the kernel has no TUN", VIRTUAL
        return False, "the module tun is not loaded", f"{machine.sudo}modprobe tun"
    error = machine.opening("/dev/net/tun")
    cure = f"{machine.sudo}chmod 666 /dev/net/tun"
    if not machine.path("/dev/net/tun").exists():
        cure = f"{machine.sudo}sh -c 'mkdir -p /dev/net && mknod -m 666 /dev/net/tun c 10 200'"
    elif machine.uid == 0:  # the container forbids it, not the file's mode
        cure = "docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun IMAGE aqmlab …"
    return not error, f"/dev/net/tun: {error}" if error else "/dev/net/tun", cure


@spoils("device", "A second queue or an offload would delay, drop or join packets before the router sees them.")
def device(machine: Machine) -> Fact:
    """Check that a host's device is transparent, by having the router make one as a run does."""
    for lacking in (
        programs.ours(machine),
        programs.ip(machine),
        programs.tc(machine),
        namespaces(machine),
        tun(machine),
    ):
        if lacking.state != State.OK:
            return None, f"not tried without {lacking.name}", lacking.fix
    done = machine.run([programs.router(machine), "--try-device"])
    good = done is not None and done.status == 0
    found = done.output if done else "the router does not start"
    return good, "no second queue, no offload" if good else found, VIRTUAL


@delays("scheduling", "Without real-time scheduling (SCHED_FIFO) other programs delay the router by milliseconds.")
def scheduling(machine: Machine) -> Fact:
    """Check that this user can have real-time scheduling, by trying it on a program that does nothing."""
    done = machine.run(["chrt", "--fifo", "1", "true"])
    if done is None:
        return None, "no chrt to try with", install(machine, "util-linux")
    if done.status == 0:
        return True, "SCHED_FIFO is permitted", ""
    file = f"/sys/fs/cgroup/cpu{_cgroup(machine, 'cpu')}/cpu.rt_runtime_us".replace("//", "/")
    if machine.number(file) == 0:
        return False, f"{file} = 0", write(machine, 100_000, file)
    if machine.uid == 0:
        return False, "no CAP_SYS_NICE", "docker run --cap-add SYS_NICE IMAGE aqmlab …"
    user = machine.environ.get("USER") or machine.uid
    limits = write(machine, f"'{user} - rtprio 50'", "/etc/security/limits.d/aqmlab.conf")
    return False, "not permitted to this user", f"{limits} && exec su - {user}"


@delays("real-time share", "The kernel stops a real-time router that has used its share, for the rest of each second.")
def throttling(machine: Machine) -> Fact:
    """Check the share of time that real-time programs may have."""
    runtime = machine.number("/proc/sys/kernel/sched_rt_runtime_us")
    period = machine.number("/proc/sys/kernel/sched_rt_period_us") or 1_000_000
    share = None if runtime is None else 1.0 if runtime < 0 else runtime / period
    return (
        None if share is None else share >= 0.95,
        "not known" if share is None else f"{share:.0%}",
        set_sysctl(machine, "kernel.sched_rt_runtime_us", period * 95 // 100),
    )


@delays("cores", "The router waits for the senders if they share one core.")
def cores(machine: Machine) -> Fact:
    """Check that there is a core for the router and one for the senders."""
    allowed = _count(machine.status("Cpus_allowed_list"))
    online = _count(machine.text("/sys/devices/system/cpu/online"))
    return (
        None if allowed is None else allowed >= 2,
        "not known" if allowed is None else f"{allowed} of {online or allowed}",
        "taskset --all-tasks --cpu-list --pid 0-1 $$" if (online or 0) > 1 else VIRTUAL,
    )


@delays("quota", "A control group stops the router when its quota is used up.")
def quota(machine: Machine) -> Fact:
    """Check that no control group limits the time of the cores."""
    smallest, file = min(_quotas(machine), default=(None, ""))
    return (
        smallest is None,
        "none" if smallest is None else f"{smallest:.2g} cores",
        write(machine, "max" if file.endswith("cpu.max") else -1, file),
    )


@delays("clock source", "Every look at the clock takes microseconds, and the router takes several for a packet.")
def clock_source(machine: Machine) -> Fact:
    """Check that programs read the clock without a system call."""
    folder = "/sys/devices/system/clocksource/clocksource0"
    current = machine.text(f"{folder}/current_clocksource")
    cure = VIRTUAL
    for better in _CLOCKS:
        if better in (machine.text(f"{folder}/available_clocksource") or "").split():
            cure = write(machine, better, f"{folder}/current_clocksource")
            break
    return current in _CLOCKS if current else None, current or "not known", cure


@spoils("timers", "Packets would leave the router at ticks of the kernel, milliseconds apart.")
def timers(machine: Machine) -> Fact:
    """Check that timers have a higher resolution than the kernel's ticks."""
    resolution = machine.timer_resolution()
    return (
        resolution < 1e-6,
        f"{resolution * 1e9:g} ns",
        f"{machine.sudo}sed -i s/highres=off// /etc/default/grub && {machine.sudo}update-grub && {machine.sudo}reboot",
    )


@delays("frequency", "An idle core is slow when a packet arrives, so that the time for a packet varies.")
def frequency(machine: Machine) -> Fact:
    """Check that the cores keep their frequency."""
    folder = "/sys/devices/system/cpu"
    governors = set(machine.texts(folder, "cpu[0-9]*/cpufreq/scaling_governor").values())
    return (
        governors <= {"performance"},
        ", ".join(sorted(governors)) or "not controlled by this kernel",
        write(machine, "performance", f"{folder}/cpu*/cpufreq/scaling_governor"),
    )


@delays("idle states", "A core in a deep idle state handles a packet late.")
def idle_states(machine: Machine) -> Fact:
    """Check that the cores wake up fast."""
    folder = "/sys/devices/system/cpu"
    latencies = machine.texts(folder, "cpu[0-9]*/cpuidle/state*/latency")
    disabled = machine.texts(folder, "cpu[0-9]*/cpuidle/state*/disable")
    enabled = [
        int(latency) for name, latency in latencies.items() if disabled.get(name.replace("latency", "disable")) != "1"
    ]
    longest = max(enabled, default=0)
    return (
        longest <= _WAKE_UP,
        f"{longest} µs to wake up" if enabled else "not controlled by this kernel",
        f"{install(machine, 'linux-cpupower')} && {machine.sudo}cpupower idle-set --disable-by-latency {_WAKE_UP + 1}",
    )


@delays("steal", "The hypervisor stops this machine for milliseconds to run others.")
def steal(machine: Machine) -> Fact:
    """Check the share of time, since the start of the machine, that a hypervisor gave to other virtual machines."""
    line = (machine.text("/proc/stat") or "").partition("\n")[0].split()
    times = [int(word) for word in line[1:9]]
    share = times[7] / max(sum(times), 1) if len(times) == 8 else None
    return (
        None if share is None else share <= _STEAL,
        "not known" if share is None else f"{share:.1%} of the time",
        VIRTUAL,
    )


@delays("load", "Other programs take the cores, caches and memory that senders and router need.")
def load(machine: Machine) -> Fact:
    """Check that a core is idle."""
    words = (machine.text("/proc/loadavg") or "").split()
    count = _count(machine.status("Cpus_allowed_list"))
    if not words or count is None:
        good, found = None, "not known"
    else:
        # The last minute may have been this engine's own; the task that asks runs, too.
        running = int(words[3].partition("/")[0]) - 1
        good = min(float(words[0]), running) <= max(count - _SPARE_CORES, 0.5)
        found = f"{words[0]} in the last minute, {running} now, {count} cores"
    return (
        good,
        found,
        "ps -eo pcpu,pid,user,args --sort=-pcpu | head",
    )


def _quotas(machine: Machine) -> Iterator[tuple[float, str]]:
    """Yield the cores that this process's control group and those above it allow, and the file of each limit."""
    for hierarchy, controller in (("", ""), ("/cpu", "cpu")):  # version 2, version 1
        group = PurePosixPath(_cgroup(machine, controller))
        for one in (group, *group.parents):
            folder = f"/sys/fs/cgroup{hierarchy}{one}".rstrip("/")
            words = (machine.text(f"{folder}/cpu.max") or "max").split()
            if words[0] != "max":
                yield int(words[0]) / int(words[1]), f"{folder}/cpu.max"
            if (quota := machine.number(f"{folder}/cpu.cfs_quota_us") or -1) > 0:
                yield quota / (machine.number(f"{folder}/cpu.cfs_period_us") or 100_000), f"{folder}/cpu.cfs_quota_us"


def _cgroup(machine: Machine, controller: str) -> str:
    """Return the path of this process in a controller's hierarchy; that of version 2 has an empty name."""
    for line in (machine.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _count(cores: str | None) -> int | None:
    """Count the cores of a list such as ``0-3,6``; None if there is no list."""
    if not cores:
        return None
    ends = [part.split("-") for part in cores.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)

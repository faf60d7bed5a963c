"""A guest of QEMU with the kernel of `make guest`, which has BPF queue disciplines; its root is the host's."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from oracle.linux.kernel import CACHE, Missing

HERE = Path(__file__).parent
KERNEL = CACHE.parent / "guest" / "vmlinuz"
MEMORY = "1024M"

VIRTIOFSD = {
    "/usr/lib/qemu/virtiofsd": ("-o", "source=/", "-o", "cache=always", "-o", "sandbox=chroot"),
    "/usr/libexec/virtiofsd": ("--shared-dir=/", "--cache=always", "--sandbox=chroot"),
}
"""The server of files: that of QEMU 7 in C, and its successor in Rust, which Debian has as a package of its own."""

NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "bpftool": "bpftool",
    "ip": "iproute2",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "cc": "gcc",
}
"""Programs that are called, here or inside, and the Debian package of each."""

VIRTUAL = ("-icount", "shift=1,sleep=off", "-smp", "1")
REAL = ("-accel", "tcg", "-smp", "1")
"""Time that counts instructions, two nanoseconds each, and skips sleep: what runs is undisturbed by the host's load.
Or that of the host, which is faster where time does not matter."""


def check() -> None:
    """Raise `Missing` unless all is there that a guest needs."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    lacking = sorted({package for program, package in NEEDED.items() if not shutil.which(program, path=path)})
    if not Path("/usr/include/bpf/libbpf.h").exists():
        lacking.append("libbpf-dev")
    if not any(map(os.path.exists, VIRTIOFSD)) and "qemu-system-x86" not in lacking:
        lacking.append("virtiofsd")
    if lacking:
        raise Missing(f"{' and '.join(lacking)}: not installed (Debian: apt install {' '.join(lacking)})")
    if os.geteuid():
        raise Missing("the guest's files are served by a program that needs root: run this as root")
    if not KERNEL.exists():
        raise Missing(f"{KERNEL}: not there yet; `make guest` gets it, in seconds")


def run(conf: Mapping[str, Any], patience: float, virtual: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what `inside` prints, line by line; `patience` is in seconds of the host, for all of it."""
    check()
    with TemporaryDirectory(prefix="aqmlab-guest-") as folder:
        given, out = Path(folder, "conf.json"), Path(folder, "out")
        modules = [str(file) for file in KERNEL.parent.glob("*.ko")]
        given.write_text(json.dumps({**conf, "modules": modules}))
        out.touch()
        with _files(Path(folder)) as socket, _ended(_machine(given, out, socket, virtual)) as machine:
            assert machine.stdout
            os.set_blocking(machine.stdout.fileno(), False)
            said, until = b"", time.monotonic() + patience
            with out.open() as lines:
                while True:
                    over = machine.poll() is not None
                    yield from _whole(lines)
                    said = (said + (machine.stdout.read() or b""))[-4000:]
                    if over:
                        break
                    if time.monotonic() > until:
                        raise RuntimeError(f"the guest has not ended after {patience:.0f} s; {_quoted(said)}")
                    time.sleep(0.1)
                if b"Traceback" in said or b"Kernel panic" in said or not out.stat().st_size:
                    raise RuntimeError(f"the guest failed; {_quoted(said)}")


def _whole(lines: IO[str]) -> Iterator[dict[str, Any]]:
    """The lines that are complete."""
    while True:
        at = lines.tell()
        line = lines.readline()
        if not line.endswith("\n"):
            lines.seek(at)
            return
        yield json.loads(line)


def _quoted(said: bytes) -> str:
    return f"the end of what it said:\n{said.decode(errors='replace')}"


def _machine(given: Path, out: Path, socket: Path, virtual: bool) -> list[str]:
    words = (
        "console=ttyS0 quiet panic=-1 oops=panic mitigations=off clocksource=tsc tsc=reliable nowatchdog",
        f"rootfstype=virtiofs root=files ro init={HERE / 'init.sh'} given={given} tests={HERE.parent.parent}",
    )
    memory = f"memory-backend-memfd,id=mem,size={MEMORY},share=on"
    devices: Sequence[tuple[str, ...]] = (
        ("-object", memory, "-numa", "node,memdev=mem", "-m", MEMORY, "-cpu", "max"),
        ("-chardev", f"socket,id=files,path={socket}", "-device", "vhost-user-fs-pci,chardev=files,tag=files"),
        ("-chardev", f"file,id=out,path={out}"),
        ("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=out"),
        ("-display", "none", "-nodefaults", "-no-reboot", "-serial", "stdio"),
        ("-kernel", str(KERNEL), "-append", " ".join(words)),
    )
    return ["qemu-system-x86_64", *(VIRTUAL if virtual else REAL), *(word for each in devices for word in each)]


@contextmanager
def _files(folder: Path) -> Iterator[Path]:
    """Serve the host's files at a socket."""
    program = next(each for each in VIRTIOFSD if os.path.exists(each))
    socket = folder / "files"
    with _ended([program, f"--socket-path={socket}", *VIRTIOFSD[program]]) as server:
        for _ in range(200):
            if socket.exists():
                break
            if server.poll() is not None:
                assert server.stdout
                raise RuntimeError(f"{program} failed; {_quoted(server.stdout.read())}")
            time.sleep(0.05)
        yield socket


@contextmanager
def _ended(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with all that it starts, none of which is left behind."""
    started = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    with started:
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, 9)

"""Make the files of a release in dist, check them, and stop: publishing them is left to a person.

`make wheel` runs this; `make release` does with `--guided`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from release import DIST, ROOT, WORK, build, check, foreign, guided, install, sbom, tools
from release.account import Account
from release.archive import difference, names, naming
from release.audit import audit
from release.build import PLACES
from release.target import Target, targets


def main() -> int:
    """Make and check all files. Return the exit status: 1 if a check failed, and then nothing is in dist."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--guided", action="store_true", help="lay out the engine of this processor by a profile")
    parser.add_argument("--targets", help="processors, such as 'x86_64 aarch64'; default: all that can be built here")
    given = parser.parse_args()
    wanted = targets(given.targets)
    account, absent = Account(), {lack.part: f"{lack.tool} is missing: {lack.remedy}" for lack in tools.lacks()}
    if tools.PLAYGROUND in absent:
        account.omit(tools.PLAYGROUND, absent[tools.PLAYGROUND])
    if not install.alone():
        account.omit(tools.OFFLINE, "this user cannot call `unshare --net`, and only options forbid the network")
    sdists = [build.sdist(place) for place in PLACES]
    account.check(f"{sdists[0].name}: the same bytes from another folder", difference(*sdists))
    bill = sbom.main(WORK)
    files = [
        sdists[0],
        *(wheel for target in wanted for wheel in _wheel(account, target, sdists, absent, given.guided, bill)),
        bill,
    ]
    _rebuilt(account, sdists[0], targets()[0])
    print(account.summary())
    if account.failures:
        print(f"dist is left as it was; the files are in {WORK.relative_to(ROOT)}")
        return 1
    for file in _collected(files):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.2f} MB  sha256:{digest}")
    return 0


def _wheel(
    account: Account, target: Target, sdists: Sequence[Path], absent: dict[str, str], by_profile: bool, bill: Path
) -> list[Path]:
    """Build the wheel for a processor from each sdist, and check it; return the one to publish, if any."""
    if not target.native and (reason := absent.get(tools.FOREIGN) or foreign.fetch_rust()):
        account.omit(f"the wheel for {target.arch}", reason)
        return []
    places = [place / target.arch for place in PLACES]
    sources = [build.unpacked(sdist, place / "source") for sdist, place in zip(sdists, places, strict=True)]
    flags, name = [], ""
    if by_profile and target.native:
        if (merger := tools.merger()) is None:
            account.omit(f"{target.arch}: {tools.GUIDED}", absent[tools.GUIDED])
        else:
            profile = guided.profile(sources[0], target, places[0], merger)
            flags, name = [f"-Cprofile-use={profile}"], guided.NAME
            account.note(f"trained {target.arch}: {len(guided.TRAINING)} training runs")
    wheels = []
    for source, place in zip(sources, places, strict=True):
        build.programs(source, target, place)
        wheels.append(build.wheel(source, target, place, flags, name, bill))
        account.note(f"built   {wheels[-1].relative_to(ROOT)}")
    wheel = wheels[0]
    account.check(f"{wheel.name}: the same bytes from another folder", difference(*wheels))
    account.check(f"{wheel.name}: auditwheel finds {target.tag}", audit(wheel))
    here = naming(wheel, [ROOT, Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))])
    account.check(f"{wheel.name}: names no folder of this machine", ", ".join(here))
    parts = ["share/man/man1/aqmlab.1", "licenses/THIRD-PARTY.txt", f"sboms/{bill.name}"]
    absent_parts = [part for part in parts if not any(name.endswith(part) for name in names(wheel))]
    account.check(f"{wheel.name}: has manual, licences and bill of materials", ", ".join(absent_parts))
    for part, files in {tools.PLAYGROUND: build.PLAYGROUND, tools.KERNEL: build.KERNEL}.items():
        lacking = sorted({name.removeprefix("python/") for name in files} - set(names(wheel)))
        if part not in absent:
            account.check(f"{wheel.name}: has {part}", f"{', '.join(lacking)} missing" if lacking else "")
    if not target.native and (reason := absent.get(tools.FOREIGN_RUN) or foreign.fetch_python()):
        account.omit(f"running the wheel for {target.arch}", reason)
        return [wheel]
    installed = install.installed(wheel, target, WORK / "installed" / target.arch)
    check.check(account, installed, target.arch, build=name)
    check.digests(account, installed, target.arch)
    return [wheel]


def _rebuilt(account: Account, sdist: Path, target: Target) -> None:
    """Build a wheel from the sdist as pip does for a user, and check it."""
    source = build.unpacked(sdist, WORK / "sdist-source")
    wheel = build.from_sdist(source, install.build_requirements(), WORK / "sdist-wheel")
    account.note(f"built   {wheel.relative_to(ROOT)}")
    check.check(account, install.installed(wheel, target, WORK / "installed" / "sdist"), "sdist", programs=False)


def _collected(files: Sequence[Path]) -> list[Path]:
    """Copy the files to dist, which then has no other files of aqmlab; return the copies."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("aqmlab-*"):
        old.unlink()
    return [Path(shutil.copy(file, DIST)) for file in files]


if __name__ == "__main__":
    sys.exit(main())

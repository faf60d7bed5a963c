"""Plans kept in a store: to check a million scenarios takes minutes, to read what came of it a second.

A plan is read only for the same study by the same version of aqmlab and of its engine. It is not kept if a scenario
consists of other files, too, which may change.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import _core, scenario
from aqmlab.execute import engine, room, task
from aqmlab.execute.engine import PACKETS
from aqmlab.execute.task import FORMAT, digest
from aqmlab.files import read_whole, remove_stale, write_whole
from aqmlab.sealed import checksum
from aqmlab.sweeps import study as study_module
from aqmlab.sweeps.keys import array, each
from aqmlab.sweeps.study import Plan, Study

if TYPE_CHECKING:
    import polars

LARGE = 2000
"""The fewest scenarios of a study whose plan is kept."""

MOST = 10
"""The most plans that are kept in a store; those written longest ago are removed."""

_SAMPLE = 20
"""The number of scenarios whose digests are checked when a plan is read."""

_FORM = 1
"""The version of this form of a plan."""

_FILE = re.compile(r"(?P<study>[0-9a-f]{64})-(?P<hash>[0-9a-f]{64})\.arrow")


def keep(plan: Plan, store: Path) -> None:
    """Keep a large plan in the folder of a store, if possible."""
    if not _is_kept(plan.study) or plan.reads_files:
        return
    folder, buffer = store / "plans", io.BytesIO()
    _framed(plan).write_ipc(buffer)
    data = buffer.getvalue()
    with suppress(OSError):  # a full or read-only disk: the scenarios are checked again
        write_whole(folder / f"{_name(plan.study)}-{checksum(data)}.arrow", data)
        kept = sorted(
            filter(lambda path: _FILE.fullmatch(path.name), folder.iterdir()), key=lambda p: p.stat().st_mtime
        )
        for path in kept[:-MOST]:
            path.unlink(missing_ok=True)
        remove_stale(folder)


def kept(study: Study, store: Path) -> Plan | None:
    """Return the plan of a study that the folder of a store has; None if there is none, or none that still holds."""
    import polars

    if not _is_kept(study):
        return None
    for path in (store / "plans").glob(f"{_name(study)}-*.arrow"):
        found = _FILE.fullmatch(path.name)
        with suppress(OSError, polars.exceptions.PolarsError):
            data = read_whole(path)
            if found and checksum(data) == found["hash"]:
                plan = _plan(study, polars.read_ipc(io.BytesIO(data)))
                if _holds(plan):
                    return plan
    return None


def _holds(plan: Plan) -> bool:
    """Check the refused scenarios again, because a missing file may be there now, and the digests of some others.

    The errors that are found now replace those that were kept: they name the present lines and files.
    """
    for index, (number, place, _) in enumerate(plan.refused):
        error = plan.study.refusal(number, place)
        if error is None:
            return False
        plan.refused[index] = (number, place, error)
    labels = list(plan.study.variants)
    digests = list(each(array(plan.digests)))
    for place in range(0, len(digests), max(1, len(digests) // _SAMPLE)):
        label, point = labels[plan.labels[place]], plan.study.design.points[plan.numbers[place]]
        if bytes.fromhex(digest(plan.study.bare_at(label, point))) != digests[place]:
            return False
    return True


def _is_kept(study: Study) -> bool:
    """Return whether the plan of a study is worth keeping, and depends on nothing but the study."""
    large = len(study.design.points) * len(study.variants) >= LARGE
    return large and all(study.engine_for(label) == PACKETS for label in study.variants)


def _name(study: Study) -> str:
    """Hash all that determines the plan of a study."""
    sources = [Path(str(module.__file__)).read_bytes() for module in (engine, room, scenario, study_module, task)]
    code = hashlib.sha256(b"".join(sources)).hexdigest()
    versions = [_FORM, FORMAT, _core.__version__, _core.engine_version, code]
    variants = {label: variant.to_toml() for label, variant in study.variants.items()}
    name = hashlib.sha256(json.dumps([versions, variants, study.design.paths]).encode())
    for point in study.design.points:
        name.update(repr(point).encode())
    return name.hexdigest()


def _framed(plan: Plan) -> polars.DataFrame:
    """Lay out a plan: a row for each scenario, with its digest, cost and memory, or its error."""
    import polars

    done = polars.DataFrame(
        [
            polars.Series("number", plan.numbers, polars.Int64),
            polars.Series("label", plan.labels, polars.Int64),
            polars.Series("digest", list(each(array(plan.digests))), polars.Binary),
            polars.Series("cost", plan.costs, polars.Float64),
            polars.Series("memory", plan.memories, polars.Int64),
        ]
    )
    refused = polars.DataFrame(
        plan.refused, {"number": polars.Int64, "label": polars.Int64, "error": polars.String}, orient="row"
    )
    return polars.concat([done, refused], how="diagonal")


def _plan(study: Study, frame: polars.DataFrame) -> Plan:
    """Read what `_framed` returned."""
    import polars

    done = frame.filter(polars.col("digest").is_not_null())
    plan = Plan(study, refused=frame.filter(polars.col("digest").is_null()).select("number", "label", "error").rows())
    for name, column in (
        ("number", plan.numbers),
        ("label", plan.labels),
        ("cost", plan.costs),
        ("memory", plan.memories),
    ):
        column.frombytes(done[name].to_numpy().tobytes())
    plan.digests += b"".join(done["digest"])
    return plan

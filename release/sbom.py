"""The software bill of materials: ``python -m release.sbom FOLDER`` writes it as CycloneDX.

``aqmlab-VERSION.cdx.json`` has all that is in a wheel, by the lock files of cargo and npm, and the packages of Python
that are installed beside a wheel: those of extras are optional. It is the same each time, byte for byte.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL

from release import ROOT, environment, parts

LICENCES = LicenseFactory()


def version() -> str:
    """Return the version of aqmlab."""
    with (ROOT / "Cargo.toml").open("rb") as file:
        return str(tomllib.load(file)["workspace"]["package"]["version"])


def document() -> dict[str, Any]:
    """Return the bill; raise ValueError if it is not what the schema of CycloneDX allows."""
    from cyclonedx.validation.json import JsonStrictValidator  # builds a grammar, which takes seconds

    purl = f"pkg:pypi/aqmlab@{version()}"
    ours = Component(
        name="aqmlab",
        version=version(),
        type=ComponentType.APPLICATION,
        bom_ref=purl,
        purl=PackageURL.from_string(purl),
        licenses=[LICENCES.make_from_string("Apache-2.0")],
    )
    built = parts.parts()
    every = environment.packages(extra for extra in environment.declared() if extra)
    required = environment.packages()
    components = {part.purl: _part(part) for part in built}
    components |= {one.purl: _package(one, required=name in required) for name, one in every.items()}
    needs = {part.purl: set(part.needs) for part in built}
    needs[purl] = {part.purl for part in built if part.direct}
    for one in every.values():
        for parent in one.through:
            needs.setdefault(every[parent].purl if parent else purl, set()).add(one.purl)
    bom = Bom(components=components.values())
    bom.metadata.component = ours
    for name, below in needs.items():
        bom.register_dependency(components.get(name, ours), [components[each] for each in below])
    found = json.loads(JsonV1Dot6(bom).output_as_string())
    # The time and a random number would make each build another one.
    del found["metadata"]["timestamp"], found["serialNumber"]
    found["serialNumber"] = uuid5(NAMESPACE_URL, json.dumps(found, sort_keys=True)).urn
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(found)):
        raise ValueError(str(error))
    return dict(found)


def _part(part: parts.Part) -> Component:
    digests = {HashAlgorithm.SHA_256: part.sha256, HashAlgorithm.SHA_512: part.sha512}
    return Component(
        name=part.name,
        version=part.version,
        type=ComponentType.LIBRARY,
        bom_ref=part.purl,
        purl=PackageURL.from_string(part.purl),
        licenses=[LICENCES.make_from_string(part.licence)],
        hashes=[HashType(alg=kind, content=digest) for kind, digest in digests.items() if digest],
        scope=ComponentScope.REQUIRED,
    )


def _package(one: environment.Package, *, required: bool) -> Component:
    return Component(
        name=one.name,
        version=one.version,
        type=ComponentType.LIBRARY,
        bom_ref=one.purl,
        purl=PackageURL.from_string(one.purl),
        licenses=[LICENCES.make_from_string(one.licence)] if one.licence else [],
        scope=ComponentScope.REQUIRED if required else ComponentScope.OPTIONAL,
    )


def main(out: Path) -> Path:
    """Write the bill to a folder; return its file."""
    file = out / f"aqmlab-{version()}.cdx.json"
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    print(f"written: {main(Path(sys.argv[1]))}")

"""Results of thirty scenarios to the last bit, in every build and on every machine: `make digests`."""

import json
from pathlib import Path

FILE = Path(__file__).with_name("digests.json")


def recorded() -> dict[str, str]:
    """Return the digests in the file, by scenario name."""
    digests: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return digests

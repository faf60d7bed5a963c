"""``python -m prose [FILE...]`` prints each finding with its file, line and remedy; it exits with 1 if there is one."""

import sys
from pathlib import Path

from prose.check import unused_words, violations
from prose.sources import FILES, passages


def main() -> int:
    files = [Path(name).resolve() for name in sys.argv[1:]]
    texts = [passage for file in files or FILES for passage in passages(file)]
    found = violations(texts)
    if not files:
        found += unused_words(texts)
    print("\n".join(found) or f"{len(texts)} passages, nothing found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m aqmlab`` is ``aqmlab``."""

from aqmlab.cli import main

main()

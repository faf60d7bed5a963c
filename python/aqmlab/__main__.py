"""``python -m aqmlab`` is ``aqmlab``."""

from aqmlab.cli.app import main

main()

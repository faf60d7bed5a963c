"""Attacks on aqmlab with odd input, from seeds: `make fuzz`; docs/internals/trust.md lists what each target checks.

A target is a module of this package with ``attack(seed, folder)``: it makes an input from the seed, tries it in the
empty folder, returns the name of the outcome, and raises AssertionError on a finding. It may also have

* ``case(seed) -> bytes`` and ``judge(case, folder) -> str``, which compose the attack; the input of a finding is then
  kept as a file, and reduced if it is a text;
* ``ready()``, which builds what the attacks need;
* ``SUFFIX``, the suffix of these files' names;
* ``TESTED``, the number of seeds that `make test` tries, from 0;
* ``LIMIT``, the time limit of one attack in seconds.
"""

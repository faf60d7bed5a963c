"""Attacks on aqmlab with odd input, from seeds: `make fuzz`; docs/internals/trust.md says what each target holds.

A target is a module of this package with ``attack(seed, folder)``: it makes an input from the seed, tries it in the
empty folder, gives the outcome a name, and raises AssertionError on a finding. It may also have

* ``case(seed) -> bytes`` and ``judge(case, folder) -> str``, of which attack is made: the input of a finding is then
  kept as a file, and made smaller if it is a text;
* ``ready()``, which builds what the attacks need;
* ``SUFFIX``, how the names of these files end;
* ``TESTED``, how many seeds `make test` tries, from 0 on;
* ``LIMIT``, the seconds that one attack may take.
"""

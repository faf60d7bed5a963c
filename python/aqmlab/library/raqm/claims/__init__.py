"""The claims of RAQM's paper in its order, then ours."""

from aqmlab.library.raqm.claims import balance, cases, future, law, readings, targets, theory
from aqmlab.papers import claims

CLAIMS = claims(theory, law, cases, targets, balance, readings, future)

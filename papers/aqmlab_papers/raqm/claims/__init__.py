"""The claims of RAQM's paper in its order, then ours."""

from aqmlab_papers import claims
from aqmlab_papers.raqm.claims import balance, cases, future, law, readings, targets, theory

CLAIMS = claims(theory, law, cases, targets, balance, readings, future)

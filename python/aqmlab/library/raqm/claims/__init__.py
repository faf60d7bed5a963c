"""The claims of RAQM's paper in its order, then ours."""

from aqmlab.library.raqm.claims import balance, cases, future, start, targets, theory

CLAIMS = (*theory.CLAIMS, *cases.CLAIMS, *targets.CLAIMS, *balance.BEYOND, *start.BEYOND, *future.BEYOND)

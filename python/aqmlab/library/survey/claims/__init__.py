"""The claims of the survey in its order, then ours."""

from aqmlab.library.survey.claims import blue, drop_tail, jobs, pi, red, rem, schemes, theory
from aqmlab.papers import claims

CLAIMS = claims(drop_tail, red, blue, rem, pi, jobs, schemes, theory)

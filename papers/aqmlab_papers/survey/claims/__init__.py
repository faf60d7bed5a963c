"""The claims of the survey in its order, then ours."""

from aqmlab_papers import claims
from aqmlab_papers.survey.claims import blue, drop_tail, jobs, pi, red, rem, schemes, theory

CLAIMS = claims(drop_tail, red, blue, rem, pi, jobs, schemes, theory)

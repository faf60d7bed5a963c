"""The claims of the survey in its order, then ours."""

from aqmlab.library.survey.claims import blue, drop_tail, jobs, pi, red, schemes, theory

CLAIMS = (
    *schemes.CLAIMS,
    *drop_tail.CLAIMS,
    *red.CLAIMS,
    *blue.CLAIMS,
    *pi.CLAIMS,
    *jobs.CLAIMS,
    *theory.CLAIMS,
    *drop_tail.BEYOND,
    *pi.BEYOND,
    *jobs.BEYOND,
)

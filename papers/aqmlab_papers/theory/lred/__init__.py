"""LRED: limits on its gain, and the loop at a given gain; its law and its response time are exported here too."""

from aqmlab_papers.theory.lred.gain import Design as Design
from aqmlab_papers.theory.lred.gain import beta0 as beta0
from aqmlab_papers.theory.lred.gain import beta_bound as beta_bound
from aqmlab_papers.theory.lred.gain import beta_star as beta_star
from aqmlab_papers.theory.lred.gain import check_corner as check_corner
from aqmlab_papers.theory.lred.gain import check_lemma5 as check_lemma5
from aqmlab_papers.theory.lred.gain import check_theorem2 as check_theorem2
from aqmlab_papers.theory.lred.gain import design as design
from aqmlab_papers.theory.lred.gain import gain as gain
from aqmlab_papers.theory.lred.gain import y as y
from aqmlab_papers.theory.lred.law import loss_ratio as loss_ratio
from aqmlab_papers.theory.lred.law import smoothed as smoothed
from aqmlab_papers.theory.lred.response import Law as Law
from aqmlab_papers.theory.lred.response import cold_start as cold_start
from aqmlab_papers.theory.lred.response import response_law as response_law
from aqmlab_papers.theory.lred.response import response_time as response_time
from aqmlab_papers.theory.lred.response import trajectory as trajectory

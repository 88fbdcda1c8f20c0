r"""Planning an audit: how large it must be, and what an audit of a given size can detect.

Two questions, two functions, two kinds of answer:

- :func:`fedparity.plan_size`: how many levels k, and how many records per cell, for a target
  error?
- :func:`fedparity.planning.detectable_disparity`: what is the smallest disparity that an audit of a given
  size finds with a given power?

Both are answered twice. *By simulation* from a stated shape of the score laws: sharp, and as
good as the shape. *By bounds* that hold for any laws on the score range: safe, and far larger.
"""

from fedparity.planning.audit_size import SizePlan, plan_size
from fedparity.planning.detection import DetectableDisparity, detectable_disparity
from fedparity.planning.noise_cost import PrivacyPlan, plan_privacy

__all__ = [
    "DetectableDisparity",
    "PrivacyPlan",
    "SizePlan",
    "detectable_disparity",
    "plan_privacy",
    "plan_size",
]

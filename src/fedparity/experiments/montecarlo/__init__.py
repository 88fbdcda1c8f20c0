"""Many allocations of one table to silos, and what estimators make of their sketches."""

from fedparity.experiments.montecarlo.intensity import RHOS, IntensityResult, run_intensity
from fedparity.experiments.montecarlo.result import StudyResult
from fedparity.experiments.montecarlo.running import run_study
from fedparity.experiments.montecarlo.study import ESTIMATORS, LEVELS, REGIMES, SILOS, Study

__all__ = [
    "ESTIMATORS",
    "LEVELS",
    "REGIMES",
    "RHOS",
    "SILOS",
    "IntensityResult",
    "Study",
    "StudyResult",
    "run_intensity",
    "run_study",
]

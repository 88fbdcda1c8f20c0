"""Measure demographic disparity across institutions that cannot pool their data.

Each silo releases, per sensitive group, a count and k numbers; the auditor recovers the
disparity of the whole, how it splits, and what every silo would have seen alone.

>>> import fedparity as fp
>>> fp.disparity([0.1, 0.2, 0.6, 0.9], sensitive_features=["a", "a", "b", "b"])
0.0925
"""

from fedparity.diagnostics.assessment import (
    Assessment,
    DisparityAssessment,
    LengthAssessment,
    assess,
)
from fedparity.diagnostics.attribution import Attribution, attribute
from fedparity.diagnostics.certificate import Certificate, certify
from fedparity.diagnostics.decomposition import Decomposition, TriangleTerms, decompose
from fedparity.diagnostics.guarantees import (
    ShareErrors,
    dkw_band,
    quantile_error,
    share_errors,
)
from fedparity.diagnostics.influence import SiloInfluence, influences
from fedparity.diagnostics.intervals import Interval
from fedparity.diagnostics.local import LocalAudit, local_audits
from fedparity.diagnostics.master_bound import MasterBound, likely_master_bound, master_bound
from fedparity.diagnostics.planning.detection import DetectableDisparity, detectable_disparity
from fedparity.diagnostics.planning.size import SizePlan, plan_size
from fedparity.diagnostics.pooled_bound import PooledBound, pooled_bound
from fedparity.errors import (
    CellError,
    FederationError,
    FedparityError,
    GroupError,
    GroupMismatchError,
    InputError,
    MagnitudeError,
    MassError,
    OptionError,
    ScoreError,
)
from fedparity.federated.centers import centers
from fedparity.federated.estimate import Estimate, estimate
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixtures
from fedparity.federated.pairs import Pair, pairs
from fedparity.functionals.barycenter import barycenter
from fedparity.functionals.cramer import cramer, cramer_power
from fedparity.functionals.disparity import disparity
from fedparity.functionals.heterogeneity import heterogeneity
from fedparity.functionals.wasserstein import wasserstein, wasserstein_power
from fedparity.laws.law import Law
from fedparity.laws.mixture import mixture
from fedparity.laws.weights import Weights
from fedparity.sketches.cell import Cell
from fedparity.sketches.discretised import (
    bin_averaged_disparity,
    linear_disparity,
    riemann_disparity,
    step_law,
)
from fedparity.sketches.levels import midpoints
from fedparity.sketches.reduce import bin_means, quantile_values

__version__ = "0.1.0"

__all__ = [
    "Assessment",
    "Attribution",
    "Cell",
    "CellError",
    "Certificate",
    "Decomposition",
    "DetectableDisparity",
    "DisparityAssessment",
    "Estimate",
    "Federation",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "InputError",
    "Interval",
    "Law",
    "LengthAssessment",
    "LocalAudit",
    "MagnitudeError",
    "MassError",
    "MasterBound",
    "Method",
    "OptionError",
    "Pair",
    "PooledBound",
    "ScoreError",
    "ShareErrors",
    "SiloInfluence",
    "SizePlan",
    "TriangleTerms",
    "Weights",
    "__version__",
    "assess",
    "attribute",
    "barycenter",
    "bin_averaged_disparity",
    "bin_means",
    "centers",
    "certify",
    "cramer",
    "cramer_power",
    "decompose",
    "detectable_disparity",
    "disparity",
    "dkw_band",
    "estimate",
    "heterogeneity",
    "influences",
    "likely_master_bound",
    "linear_disparity",
    "local_audits",
    "master_bound",
    "midpoints",
    "mixture",
    "mixtures",
    "pairs",
    "plan_size",
    "pooled_bound",
    "quantile_error",
    "quantile_values",
    "riemann_disparity",
    "share_errors",
    "step_law",
    "wasserstein",
    "wasserstein_power",
]

"""The paper's quantities one by one: distances, decompositions, certificates, bounds, discretizations.

An audit computes all of them; here each is a function of its own, for research and for notebooks.
"""

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.result_parts import GroupRate, Ratio, Sampled, TailReport, ThresholdReport
from fedparity.engines.allocations import Allocation, allocate
from fedparity.federated.decomposition import (
    Attribution,
    Decomposition,
    TriangleTerms,
    attribute,
    decompose,
)
from fedparity.federated.estimate import Estimate, Pair, centers, estimate, mixtures, pairs
from fedparity.federated.local_audits import LocalAudit, SiloInfluence, influences, local_audits
from fedparity.functionals.barycenter import barycenter
from fedparity.functionals.cramer import cramer, cramer_power
from fedparity.functionals.wasserstein import wasserstein_power
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.weights import mixture
from fedparity.sketches.cell import (
    bin_averaged_disparity,
    bin_means,
    linear_disparity,
    quantile_values,
    riemann_disparity,
    step_law,
)
from fedparity.sketches.kinds import midpoints
from fedparity.thresholds.tail_rates import ks_distance, scoring_rates, tail_rates
from fedparity.uncertainty.assessment import Assessment, DisparityAssessment
from fedparity.uncertainty.certificate import certify
from fedparity.uncertainty.guarantees import (
    PooledBound,
    ShareErrors,
    dkw_band,
    pooled_bound,
    quantile_error,
    share_errors,
)
from fedparity.uncertainty.intervals import LengthAssessment
from fedparity.uncertainty.magnitudes import Magnitudes, magnitudes
from fedparity.uncertainty.master_bound import MasterBound, likely_master_bound, master_bound

__all__ = [
    "Allocation",
    "Assessment",
    "Attribution",
    "AuditWarning",
    "Bounds",
    "Bracket",
    "Decomposition",
    "DisparityAssessment",
    "Estimate",
    "GroupRate",
    "LengthAssessment",
    "LocalAudit",
    "Magnitudes",
    "MasterBound",
    "Pair",
    "PooledBound",
    "Ratio",
    "Sampled",
    "ShareErrors",
    "SiloInfluence",
    "TailReport",
    "ThresholdReport",
    "TriangleTerms",
    "allocate",
    "attribute",
    "barycenter",
    "bin_averaged_disparity",
    "bin_means",
    "centers",
    "certify",
    "cramer",
    "cramer_power",
    "decompose",
    "dkw_band",
    "estimate",
    "influences",
    "ks_distance",
    "likely_master_bound",
    "linear_disparity",
    "local_audits",
    "magnitudes",
    "master_bound",
    "midpoints",
    "mixture",
    "mixtures",
    "pairs",
    "pooled_bound",
    "quantile_error",
    "quantile_values",
    "riemann_disparity",
    "scoring_rates",
    "share_errors",
    "step_law",
    "tail_rates",
    "wasserstein_power",
]

"""Measure demographic disparity across institutions that cannot pool their data.

Each silo releases, per sensitive group, a count and k numbers; the auditor recovers the
disparity of the whole, how it splits, and what every silo would have seen alone.

>>> import fedparity as fp
>>> fp.disparity([0.1, 0.2, 0.6, 0.9], sensitive_features=["a", "a", "b", "b"])
0.0925
"""

from fedparity.diagnostics.attribution import Attribution, attribute
from fedparity.diagnostics.decomposition import Decomposition, TriangleTerms, decompose
from fedparity.diagnostics.influence import SiloInfluence, influences
from fedparity.diagnostics.local import LocalAudit, local_audits
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
    "Attribution",
    "Cell",
    "CellError",
    "Decomposition",
    "Estimate",
    "Federation",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "InputError",
    "Law",
    "LocalAudit",
    "MagnitudeError",
    "MassError",
    "Method",
    "OptionError",
    "Pair",
    "ScoreError",
    "SiloInfluence",
    "TriangleTerms",
    "Weights",
    "__version__",
    "attribute",
    "barycenter",
    "bin_averaged_disparity",
    "bin_means",
    "centers",
    "cramer",
    "cramer_power",
    "decompose",
    "disparity",
    "estimate",
    "heterogeneity",
    "influences",
    "linear_disparity",
    "local_audits",
    "midpoints",
    "mixture",
    "mixtures",
    "pairs",
    "quantile_values",
    "riemann_disparity",
    "step_law",
    "wasserstein",
    "wasserstein_power",
]

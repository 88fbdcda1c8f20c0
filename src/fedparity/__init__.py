"""Measure demographic disparity across institutions that cannot pool their data.

Each silo releases, per sensitive group, a count and k numbers; the auditor recovers the
disparity of the whole, how it splits, and what every silo would have seen alone.

>>> import fedparity as fp
>>> fp.disparity([0.1, 0.2, 0.6, 0.9], sensitive_features=["a", "a", "b", "b"])
0.0925
"""

import importlib
import typing

from fedparity.version import __version__

__all__ = [
    "Allocation",
    "AnsweredError",
    "ApprovalError",
    "Assessment",
    "Attribution",
    "AuditResult",
    "AuditWarning",
    "Bracket",
    "BudgetError",
    "Cell",
    "CellError",
    "Certificate",
    "DatabaseError",
    "DatabaseNameError",
    "DatabaseTable",
    "DatabaseUnreachableError",
    "Decomposition",
    "DetectableDisparity",
    "DisclosureError",
    "DisparityAssessment",
    "DocumentError",
    "Estimate",
    "Federation",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "GroupRate",
    "HistogramCell",
    "InputError",
    "Interval",
    "KeyFileError",
    "LabelError",
    "Law",
    "LedgerError",
    "LengthAssessment",
    "LocalAudit",
    "MagnitudeError",
    "Magnitudes",
    "MassError",
    "MasterBound",
    "MessageError",
    "Method",
    "MissingExtraError",
    "MissingSiloError",
    "Mistake",
    "OptionError",
    "OutputError",
    "Pair",
    "Plan",
    "PlanError",
    "PolicyError",
    "PooledBound",
    "PrivacyError",
    "PrivacyPlan",
    "PrivacyTerms",
    "Ratio",
    "RecordsError",
    "ResultError",
    "RoundError",
    "RoundStateError",
    "RuleError",
    "Sampled",
    "ScoreError",
    "SecureMessageError",
    "SettingsError",
    "ShareErrors",
    "SignatureError",
    "SiloInfluence",
    "SiloSketch",
    "SizePlan",
    "SketchedCell",
    "Sketcher",
    "TableError",
    "TailReport",
    "ThresholdReport",
    "TriangleTerms",
    "Weights",
    "__version__",
    "allocate",
    "assess",
    "at_threshold",
    "attribute",
    "audit",
    "barycenter",
    "bin_averaged_disparity",
    "bin_means",
    "centers",
    "certify",
    "check_message",
    "check_messages",
    "check_plan",
    "cramer",
    "cramer_power",
    "decompose",
    "detectable_disparity",
    "disparity",
    "dkw_band",
    "estimate",
    "heterogeneity",
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
    "plan_privacy",
    "plan_size",
    "pooled_bound",
    "quantile_error",
    "quantile_values",
    "riemann_disparity",
    "scoring_rates",
    "share_errors",
    "simulate",
    "sketch",
    "step_law",
    "tail_rates",
    "wasserstein",
    "wasserstein_power",
]

_HOMES = {
    "auditing.audit": "audit",
    "auditing.result": "AuditResult",
    "diagnostics.assessment": "Assessment DisparityAssessment LengthAssessment assess",
    "diagnostics.attribution": "Attribution attribute",
    "diagnostics.brackets": "Bracket",
    "diagnostics.certificate": "Certificate certify",
    "diagnostics.decomposition": "Decomposition TriangleTerms decompose",
    "diagnostics.guarantees": "ShareErrors dkw_band quantile_error share_errors",
    "diagnostics.influence": "SiloInfluence influences",
    "laws.bounds": "Interval",
    "diagnostics.ks_distance": "ks_distance",
    "diagnostics.local": "LocalAudit local_audits",
    "diagnostics.magnitudes": "Magnitudes magnitudes",
    "diagnostics.master_bound": "MasterBound likely_master_bound master_bound",
    "diagnostics.planning.detection": "DetectableDisparity detectable_disparity",
    "diagnostics.planning.privacy": "PrivacyPlan plan_privacy",
    "diagnostics.planning.size": "SizePlan plan_size",
    "diagnostics.pooled_bound": "PooledBound pooled_bound",
    "diagnostics.pooled_rates": "TailReport scoring_rates tail_rates",
    "diagnostics.rates": "GroupRate Ratio Sampled",
    "diagnostics.thresholds": "ThresholdReport at_threshold",
    "diagnostics.warning": "AuditWarning",
    "engines.allocations": "Allocation allocate",
    "engines.in_process": "simulate",
    "errors": (
        "AnsweredError ApprovalError BudgetError CellError DatabaseError DatabaseNameError DatabaseUnreachableError "
        "DisclosureError DocumentError FederationError FedparityError "
        "GroupError GroupMismatchError InputError KeyFileError LabelError LedgerError "
        "MagnitudeError MassError MessageError MissingExtraError MissingSiloError "
        "OptionError OutputError PlanError PolicyError PrivacyError RecordsError ResultError "
        "RoundError RoundStateError RuleError ScoreError SecureMessageError SettingsError SignatureError "
        "TableError"
    ),
    "federated.centers": "centers",
    "federated.estimate": "Estimate estimate",
    "federated.federation": "Federation",
    "federated.method": "Method",
    "federated.mixtures": "mixtures",
    "federated.pairs": "Pair pairs",
    "functionals.barycenter": "barycenter",
    "functionals.cramer": "cramer cramer_power",
    "functionals.disparity": "disparity",
    "functionals.heterogeneity": "heterogeneity",
    "functionals.wasserstein": "wasserstein wasserstein_power",
    "laws.law": "Law",
    "laws.mixture": "mixture",
    "laws.weights": "Weights",
    "protocol.histogram_cell": "HistogramCell",
    "protocol.message": "SiloSketch",
    "protocol.message_checks": "check_message check_messages",
    "protocol.plan": "Plan",
    "protocol.plan_reading": "Mistake check_plan",
    "protocol.privacy_terms": "PrivacyTerms",
    "protocol.sketched_cell": "SketchedCell",
    "releasing.sketch": "sketch",
    "releasing.sketcher": "Sketcher",
    "sketches.cell": "Cell",
    "sketches.discretised": "bin_averaged_disparity linear_disparity riemann_disparity step_law",
    "sketches.levels": "midpoints",
    "sketches.reduce": "bin_means quantile_values",
    "sources.sql.database_table": "DatabaseTable",
}
"""Modules and their public names; a module is imported when one of its names is first used."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}
_PACKAGES = {"privacy", *(module.partition(".")[0] for module in _HOMES)}

if typing.TYPE_CHECKING:  # the same once more, for type checkers and editors
    from fedparity.auditing.audit import audit
    from fedparity.auditing.result import AuditResult
    from fedparity.diagnostics.assessment import (
        Assessment,
        DisparityAssessment,
        LengthAssessment,
        assess,
    )
    from fedparity.diagnostics.attribution import Attribution, attribute
    from fedparity.diagnostics.brackets import Bracket
    from fedparity.diagnostics.certificate import Certificate, certify
    from fedparity.diagnostics.decomposition import Decomposition, TriangleTerms, decompose
    from fedparity.diagnostics.guarantees import (
        ShareErrors,
        dkw_band,
        quantile_error,
        share_errors,
    )
    from fedparity.diagnostics.influence import SiloInfluence, influences
    from fedparity.laws.bounds import Interval
    from fedparity.diagnostics.ks_distance import ks_distance
    from fedparity.diagnostics.local import LocalAudit, local_audits
    from fedparity.diagnostics.magnitudes import Magnitudes, magnitudes
    from fedparity.diagnostics.master_bound import MasterBound, likely_master_bound, master_bound
    from fedparity.diagnostics.planning.detection import DetectableDisparity, detectable_disparity
    from fedparity.diagnostics.planning.privacy import PrivacyPlan, plan_privacy
    from fedparity.diagnostics.planning.size import SizePlan, plan_size
    from fedparity.diagnostics.pooled_bound import PooledBound, pooled_bound
    from fedparity.diagnostics.pooled_rates import TailReport, scoring_rates, tail_rates
    from fedparity.diagnostics.rates import GroupRate, Ratio, Sampled
    from fedparity.diagnostics.thresholds import ThresholdReport, at_threshold
    from fedparity.diagnostics.warning import AuditWarning
    from fedparity.engines.allocations import Allocation, allocate
    from fedparity.engines.in_process import simulate
    from fedparity.errors import (
        AnsweredError,
        ApprovalError,
        BudgetError,
        CellError,
        DatabaseError,
        DatabaseNameError,
        DatabaseUnreachableError,
        DisclosureError,
        DocumentError,
        FederationError,
        FedparityError,
        GroupError,
        GroupMismatchError,
        InputError,
        KeyFileError,
        LabelError,
        LedgerError,
        MagnitudeError,
        MassError,
        MessageError,
        MissingExtraError,
        MissingSiloError,
        OptionError,
        OutputError,
        PlanError,
        PolicyError,
        PrivacyError,
        RecordsError,
        ResultError,
        RoundError,
        RoundStateError,
        RuleError,
        ScoreError,
        SecureMessageError,
        SettingsError,
        SignatureError,
        TableError,
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
    from fedparity.protocol.histogram_cell import HistogramCell
    from fedparity.protocol.message import SiloSketch
    from fedparity.protocol.message_checks import check_message, check_messages
    from fedparity.protocol.plan import Plan
    from fedparity.protocol.plan_reading import Mistake, check_plan
    from fedparity.protocol.privacy_terms import PrivacyTerms
    from fedparity.protocol.sketched_cell import SketchedCell
    from fedparity.releasing.sketch import sketch
    from fedparity.releasing.sketcher import Sketcher
    from fedparity.sketches.cell import Cell
    from fedparity.sketches.discretised import (
        bin_averaged_disparity,
        linear_disparity,
        riemann_disparity,
        step_law,
    )
    from fedparity.sketches.levels import midpoints
    from fedparity.sketches.reduce import bin_means, quantile_values
    from fedparity.sources.sql.database_table import DatabaseTable

else:  # a type checker that saw __getattr__ would let every misspelt name pass

    def __getattr__(name: str) -> object:
        """Import a public name or a package when it is first used (PEP 562)."""
        if name in _PACKAGES:
            return importlib.import_module(f"{__name__}.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})

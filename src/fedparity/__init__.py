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
    "documents.audit_warnings": "AuditWarning",
    "documents.message": "SiloSketch",
    "documents.message_cells": "HistogramCell SketchedCell",
    "documents.message_checks": "check_message check_messages",
    "documents.plan": "Plan",
    "documents.plan_file": "Mistake check_plan",
    "documents.privacy_terms": "PrivacyTerms",
    "engines.allocations": "Allocation allocate",
    "engines.in_process": "simulate",
    "errors": (
        "AnsweredError ApprovalError BudgetError CellError DatabaseError DatabaseNameError "
        "DatabaseUnreachableError DisclosureError DocumentError FederationError "
        "FedparityError GroupError GroupMismatchError InputError KeyFileError LabelError "
        "LedgerError MagnitudeError MassError MessageError MissingExtraError "
        "MissingSiloError OptionError OutputError PlanError PolicyError PrivacyError "
        "RecordsError ResultError RoundError RoundStateError RuleError ScoreError "
        "SecureMessageError SettingsError SignatureError TableError"
    ),
    "federated.attribution": "Attribution attribute",
    "federated.decomposition": "Decomposition TriangleTerms decompose",
    "federated.estimate": "Estimate Pair centers estimate pairs",
    "federated.federation": "Federation",
    "federated.influence": "SiloInfluence influences",
    "federated.local_audits": "LocalAudit local_audits",
    "federated.mixtures": "Method mixtures",
    "functionals.barycenter": "barycenter",
    "functionals.cramer": "cramer cramer_power",
    "functionals.disparity": "disparity",
    "functionals.heterogeneity": "heterogeneity",
    "functionals.wasserstein": "wasserstein wasserstein_power",
    "laws.bounds": "Interval",
    "laws.law": "Law",
    "laws.mixture": "mixture",
    "laws.weights": "Weights",
    "planning.audit_size": "SizePlan plan_size",
    "planning.detection": "DetectableDisparity detectable_disparity",
    "planning.noise_cost": "PrivacyPlan plan_privacy",
    "silo.sketch": "Sketcher sketch",
    "sketches.cell": "Cell bin_means quantile_values",
    "sketches.discretized": ("bin_averaged_disparity linear_disparity riemann_disparity step_law"),
    "sketches.grids": "midpoints",
    "tables.sql.database_table": "DatabaseTable",
    "thresholds.at_threshold": "ThresholdReport at_threshold",
    "thresholds.rates": "GroupRate Ratio Sampled",
    "thresholds.tail_rates": "TailReport ks_distance scoring_rates tail_rates",
    "uncertainty.assessment": "Assessment DisparityAssessment LengthAssessment assess",
    "uncertainty.brackets": "Bracket",
    "uncertainty.certificate": "Certificate certify",
    "uncertainty.guarantees": (
        "PooledBound ShareErrors dkw_band pooled_bound quantile_error share_errors"
    ),
    "uncertainty.magnitudes": "Magnitudes magnitudes",
    "uncertainty.master_bound": "MasterBound likely_master_bound master_bound",
}
"""Modules and their public names; a module is imported when one of its names is first used."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}
_PACKAGES = {"privacy", *(module.partition(".")[0] for module in _HOMES)}

if typing.TYPE_CHECKING:  # the same once more, for type checkers and editors
    from fedparity.auditing.audit import audit
    from fedparity.auditing.result import AuditResult
    from fedparity.documents.audit_warnings import AuditWarning
    from fedparity.documents.message import SiloSketch
    from fedparity.documents.message_cells import HistogramCell, SketchedCell
    from fedparity.documents.message_checks import check_message, check_messages
    from fedparity.documents.plan import Plan
    from fedparity.documents.plan_file import Mistake, check_plan
    from fedparity.documents.privacy_terms import PrivacyTerms
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
    from fedparity.federated.attribution import Attribution, attribute
    from fedparity.federated.decomposition import Decomposition, TriangleTerms, decompose
    from fedparity.federated.estimate import Estimate, Pair, centers, estimate, pairs
    from fedparity.federated.federation import Federation
    from fedparity.federated.influence import SiloInfluence, influences
    from fedparity.federated.local_audits import LocalAudit, local_audits
    from fedparity.federated.mixtures import Method, mixtures
    from fedparity.functionals.barycenter import barycenter
    from fedparity.functionals.cramer import cramer, cramer_power
    from fedparity.functionals.disparity import disparity
    from fedparity.functionals.heterogeneity import heterogeneity
    from fedparity.functionals.wasserstein import wasserstein, wasserstein_power
    from fedparity.laws.bounds import Interval
    from fedparity.laws.law import Law
    from fedparity.laws.mixture import mixture
    from fedparity.laws.weights import Weights
    from fedparity.planning.audit_size import SizePlan, plan_size
    from fedparity.planning.detection import DetectableDisparity, detectable_disparity
    from fedparity.planning.noise_cost import PrivacyPlan, plan_privacy
    from fedparity.silo.sketch import Sketcher, sketch
    from fedparity.sketches.cell import Cell, bin_means, quantile_values
    from fedparity.sketches.discretized import (
        bin_averaged_disparity,
        linear_disparity,
        riemann_disparity,
        step_law,
    )
    from fedparity.sketches.grids import midpoints
    from fedparity.tables.sql.database_table import DatabaseTable
    from fedparity.thresholds.at_threshold import ThresholdReport, at_threshold
    from fedparity.thresholds.rates import GroupRate, Ratio, Sampled
    from fedparity.thresholds.tail_rates import TailReport, ks_distance, scoring_rates, tail_rates
    from fedparity.uncertainty.assessment import Assessment, DisparityAssessment, assess
    from fedparity.uncertainty.brackets import Bracket
    from fedparity.uncertainty.certificate import Certificate, certify
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

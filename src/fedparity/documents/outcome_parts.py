"""The parts of a result about outcomes and tests; each mirrors an object of the JSON.

A record is *positive* or *negative* by its outcome, and *predicted positive* if its score is at or above
a threshold, on whichever side of it is favorable to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fedparity.documents.plan_fields import Favorable
from fedparity.documents.result_parts import Amount, Ratio, Reach, Sampled
from fedparity.documents.tabular import Part
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group

__all__ = [
    "AucResult",
    "BreslowDay",
    "CalibrationBin",
    "CalibrationResult",
    "GivenOutcome",
    "Known",
    "LocalGap",
    "MantelHaenszel",
    "OutcomeGap",
    "OutcomeGroup",
    "OutcomeMeasure",
    "OutcomeRate",
    "OutcomeRates",
    "OutcomeResult",
    "OutcomeThreshold",
    "PairTest",
    "RateTests",
    "RocCurve",
    "SiloGap",
    "SiloLength",
    "ZTest",
]

OutcomeMeasure: TypeAlias = Literal["tpr", "fpr", "fnr", "ppv", "npv"]
"""True positive, false positive and false negative rate, positive and negative predictive value."""


@dataclass(frozen=True, kw_only=True)
class Known(Sampled):
    """A number of the records released with its bracket and interval, and what all records leave open."""

    outer: Bounds
    """What it could be if withheld cells and missing silos are counted; it contains the bracket."""


@dataclass(frozen=True, kw_only=True)
class AucResult(Known):
    """The area under an ROC curve; ties count one half."""

    sampling: Bounds
    """The interval without the guaranteed error of the sketches, with its estimate instead."""


@dataclass(frozen=True, kw_only=True)
class RocCurve(Part):
    """The true positive rate at each false positive rate, ties cut in proportion."""

    false_positive: tuple[float, ...]
    """From 0 to 1."""
    true_positive: tuple[float, ...]
    lower: tuple[float, ...]
    """At least this much in the records released."""
    upper: tuple[float, ...]
    """At most this much in the records released."""


@dataclass(frozen=True, kw_only=True)
class OutcomeGroup(Part):
    """One group with its outcomes, in all silos together."""

    group: Group
    positives: Amount
    """Records with the positive outcome, or their weight."""
    negatives: Amount
    base_rate: Known
    """The share of positive outcomes."""
    auc: AucResult
    roc: RocCurve
    brier: Known | None
    """The mean squared distance of score and outcome; ``None`` unless scores lie in [0, 1]."""


@dataclass(frozen=True, kw_only=True)
class SiloGap(Part):
    """The same difference inside one silo: the first group's number minus the second's."""

    silo: str
    value: float | None
    """``None`` where the silo lacks one of the two."""
    interval: Bounds | None


@dataclass(frozen=True, kw_only=True)
class LocalGap(Part):
    """A difference of two groups in all silos together, next to what each silo sees alone."""

    groups: tuple[Group, Group]
    """The highest and the lowest."""
    silos: tuple[SiloGap, ...]
    average: float | None
    """The mean difference inside silos, weighted by how much each says; ``None`` if none has both."""
    hidden: bool
    """Whether all silos together show a difference that no silo shows alone."""


@dataclass(frozen=True, kw_only=True)
class OutcomeGap(Part):
    """The largest difference of a number between two groups."""

    gap: Sampled | None
    """The highest minus the lowest; ``None`` with fewer than two groups to compare."""
    local: LocalGap | None
    """``None`` where silos were not seen apart."""


@dataclass(frozen=True, kw_only=True)
class OutcomeRate(Part):
    """A rate of one group next to those of the others."""

    group: Group
    n: Amount
    """Of how many records it is a share: the estimate where that is not known."""
    rate: Known | None
    """``None`` where there may be no record to take the share of."""
    ratio: Ratio | None
    """To the highest rate of all groups."""
    difference: Sampled | None
    """Minus the highest rate of all groups: at most 0."""


@dataclass(frozen=True, kw_only=True)
class OutcomeRates(OutcomeGap):
    """One kind of rate at a threshold, in all groups; gaps are of those that have one."""

    measure: OutcomeMeasure
    groups: tuple[OutcomeRate, ...]


@dataclass(frozen=True, kw_only=True)
class ZTest(Part):
    """The z test of two proportions, pooled."""

    statistic: float
    p_value: float


@dataclass(frozen=True, kw_only=True)
class MantelHaenszel(Part):
    """The odds ratio common to all silos, and the test that it is 1."""

    odds_ratio: float | None
    """``None`` if it has no limit."""
    interval: Reach
    statistic: float
    p_value: float
    strata: int
    """Silos in which both groups, and both decisions, occur."""


@dataclass(frozen=True, kw_only=True)
class BreslowDay(Part):
    """The test that all silos have the same odds ratio, with Tarone's correction."""

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class PairTest(Part):
    """A group compared with the reference group by the tests that people file."""

    group: Group
    selected: Amount
    n: Amount
    fisher: float | None
    """Two-sided p-value of Fisher's exact test; ``None`` for weights."""
    z: ZTest | None
    holm: float | None
    """The p-value of Fisher's test, or else of z, corrected for all pairs of groups."""
    odds_ratio: float | None
    """Of the group to the reference, silos added up; ``None`` if it is not a number."""
    mantel_haenszel: MantelHaenszel | None
    breslow_day: BreslowDay | None
    shortfall: float
    """How many more of the group would be selected at the rate of the two groups together."""
    standardized_mean_difference: float | None
    """Its mean score minus the reference's, in standard deviations within the two groups."""
    standardized_bounds: Reach | None
    """What it could be, given what the silos sent."""


@dataclass(frozen=True, kw_only=True)
class RateTests(Part):
    """Tests of equal selection rates at a threshold."""

    score: float
    favorable: Favorable
    """``above``: records at or above the threshold are selected; ``below``: those below it."""
    counted: bool
    """Whether every cell states its records at the threshold; else counts are estimates."""
    reference: Group
    """The group with the highest rate."""
    reference_selected: Amount
    reference_n: Amount
    groups: tuple[PairTest, ...]
    """The other groups."""
    assumptions: str
    not_given: str
    """What is not given or only estimated, and why; or the empty string."""


@dataclass(frozen=True, kw_only=True)
class OutcomeThreshold(Part):
    """Errors at one threshold, in all groups."""

    score: float
    rates: tuple[OutcomeRates, ...]
    """Of every kind, in the order of :data:`OutcomeMeasure`."""
    equalized_odds: Sampled | None
    """The larger of the gaps of true and of false positive rates."""
    among_positives: RateTests
    """Tests of equal true positive rates."""
    among_negatives: RateTests
    """Tests of equal false positive rates."""


@dataclass(frozen=True, kw_only=True)
class CalibrationBin(Part):
    """The records of one group in one public bin."""

    n: Sampled
    """Records with an outcome; the interval is the bracket."""
    rate: Known | None
    """Share of positive outcomes; ``None`` if there may be no record."""
    mean_score: Sampled | None
    """The mean score in the bin; the interval is the bracket."""


@dataclass(frozen=True, kw_only=True)
class CalibrationResult(Part):
    """Outcomes by public bins of the score, in one group."""

    group: Group
    bins: tuple[CalibrationBin, ...]
    ece: Sampled | None
    """Expected calibration error; ``None`` unless scores lie in [0, 1]."""


@dataclass(frozen=True, kw_only=True)
class SiloLength(Part):
    """The disparity given the outcome that one silo sees alone."""

    silo: str
    value: float | None
    """``None`` where it has fewer than two groups."""
    interval: Bounds | None


@dataclass(frozen=True, kw_only=True)
class GivenOutcome(Part):
    """The disparity of scores among records with the same outcome."""

    outcome: Literal["positive", "negative"]
    n: Amount
    share: float
    """Of all records with an outcome."""
    disparity: float
    corrected: float
    """The disparity without what sampling and sketches add on average."""
    interval: Bounds
    certificate: Bounds
    outer: Bounds
    p_value: float
    wasserstein: float
    """Between the two groups furthest apart, in score points."""
    groups: tuple[Group, Group]
    """These two."""
    selection: float | None
    """The part due to groups being spread differently over silos; ``None`` where silos were not seen."""
    within: float | None
    silos: tuple[SiloLength, ...]
    hidden: bool
    """Whether all silos together show a disparity that no silo shows alone."""


@dataclass(frozen=True, kw_only=True)
class OutcomeResult(Part):
    """Results from the cells of both outcomes."""

    confidence: float
    """Of all intervals."""
    groups: tuple[OutcomeGroup, ...]
    auc_gap: OutcomeGap
    thresholds: tuple[OutcomeThreshold, ...]
    edges: tuple[float, ...]
    """Of the public bins, ends of the score range included; none without calibration."""
    calibration: tuple[CalibrationResult, ...]
    """One per group; none without public bins."""
    calibration_gaps: tuple[OutcomeGap, ...]
    """The largest difference of the groups' shares of positive outcomes, one per bin."""
    given: tuple[GivenOutcome, ...]
    """Among positives, then among negatives."""
    separation: Bracket
    """The mean of both disparities, weighted by their shares: the disparity of equalized odds."""
    not_given: str
    """What the privacy mode does not let anybody compute, or the empty string."""

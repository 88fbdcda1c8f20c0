"""Read the arguments of a metric: one law and one share per group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedparity.errors import GroupError, GroupMismatchError, ScoreError
from fedparity.laws.labels import Group, check_aligned, encode_labels
from fedparity.laws.law import Law, as_masses, as_scores
from fedparity.laws.weights import Weights

__all__ = ["laws_and_weights"]


def laws_and_weights(
    first: object, second: object, sensitive_features: object, sample_weight: object
) -> tuple[Mapping[Group, Law], Weights]:
    """Read the three ways of calling a metric: laws and weights, scores, or Fairlearn's."""
    if isinstance(first, Mapping) and all(isinstance(law, Law) for law in first.values()):
        if not isinstance(second, Weights):
            raise GroupError(
                "laws were given without the shares of their groups.",
                fix="pass Weights as the second argument, for example Weights.from_counts(counts).",
            )
        if len(first) < 2:
            raise GroupError.too_few(list(first))
        if first.keys() != second.keys():
            raise GroupMismatchError.between(first, second)
        return first, second
    if sensitive_features is None:
        raise GroupError(
            "raw scores were given without their groups.",
            fix="pass sensitive_features=, one label per score, or a mapping of laws and weights.",
        )
    return _from_records(first if second is None else second, sensitive_features, sample_weight)


def _from_records(
    scores: object, sensitive_features: object, sample_weight: object
) -> tuple[dict[Group, Law], Weights]:
    values = as_scores(scores)
    groups, codes = encode_labels(sensitive_features)
    masses = None if sample_weight is None else as_masses(sample_weight, "sample_weight")
    for name, column in (("sensitive_features", codes), ("sample_weight", masses)):
        if column is not None and column.size != values.size:
            raise ScoreError.lengths_differ(name, column.size, "scores", values.size)
    check_aligned(
        {
            "scores": scores,
            "sensitive_features": sensitive_features,
            "sample_weight": sample_weight,
        }
    )
    counts = np.bincount(codes, minlength=len(groups))
    # A stable sort of small whole numbers is one pass per byte, and keeps the order of the records.
    order = np.argsort(codes.astype(np.min_scalar_type(len(groups))), kind="stable")
    ends = np.cumsum(counts)[:-1]
    samples = np.split(values[order], ends)
    if masses is None:
        totals = dict(zip(groups, counts.tolist(), strict=True))
        laws = dict(zip(groups, Law.from_samples(samples), strict=True))
    else:
        sums = np.bincount(codes, weights=masses, minlength=len(groups))
        totals = {g: total for g, total in zip(groups, sums.tolist(), strict=True) if total > 0}
        parts = zip(groups, samples, np.split(masses[order], ends), strict=True)
        laws = {
            group: Law.from_scores(sample, weights)
            for group, sample, weights in parts
            if group in totals
        }
    if len(totals) < 2:
        raise GroupError.too_few(list(totals))
    return laws, Weights(totals)

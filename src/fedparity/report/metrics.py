"""A result as flat names with numbers: what a tracker of experiments stores."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import Estimate, group_key

__all__ = ["metrics"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST = 60
"""Characters of a label; MLflow takes names of 250."""


def metrics(result: AuditResult) -> dict[str, float]:
    """Return the main numbers by name, without those that are not known or not finite.

    A label that holds other characters than letters, digits, ``_``, ``-`` and ``.`` has ``_`` in their
    place; where two labels become the same, their positions are added.
    """
    numbers = {name: value for name, value in _numbers(result) if value is not None}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def _numbers(result: AuditResult) -> Iterator[tuple[str, float | None]]:
    worst = result.magnitudes.worst_pair
    yield "records", result.n
    yield "silos", len(result.silos_received)
    yield "silos_missing", len(result.silos_missing)
    yield "warnings", len(result.warnings)
    yield from _estimate("worst_pair", worst)
    yield "worst_pair/share_of_range", worst.share_of_range
    yield "worst_pair/standardized", result.magnitudes.standardized.distance.value
    yield from _estimate("disparity", result.disparity)
    yield "disparity/p_value", result.disparity.p_value
    yield from _estimate("points", result.magnitudes.points)
    yield "heterogeneity/value", result.heterogeneity.value
    yield "attribution/selection", result.attribution.selection
    yield "attribution/within", result.attribution.within
    if result.disparity.review_level is not None:
        yield "review/level", result.disparity.review_level
        yield "review/value", result.disparity.compared.value
        yield "review/above", float(result.disparity.verdict.answered == "above")
        yield "review/below", float(result.disparity.verdict.answered == "below")
    names = _safe([group_key(label) for label in result.groups.labels])
    for name, group in zip(names, result.groups, strict=True):
        yield f"groups/{name}/records", group.n
        yield f"groups/{name}/share", group.share
        yield f"groups/{name}/mean", group.mean
    for place, rates in enumerate(result.thresholds):
        at = f"thresholds/{place}"
        yield f"{at}/score", rates.score
        yield f"{at}/widest_gap", rates.widest_gap.value
        yield f"{at}/lowest_ratio", _lowest([each.ratio.value for each in rates.groups])
        for name, each in zip(names, rates.groups, strict=True):
            yield f"{at}/{name}/rate", each.rate.value
    for name, silo in zip(_safe(result.silos.labels), result.silos, strict=True):
        yield f"silo/{name}/wasserstein", silo.wasserstein
        yield f"silo/{name}/disparity", silo.disparity


def _estimate(name: str, found: Estimate) -> Iterator[tuple[str, float]]:
    yield f"{name}/value", found.value
    yield f"{name}/corrected", found.corrected
    yield f"{name}/lower", found.interval.lower
    yield f"{name}/upper", found.interval.upper


def _lowest(ratios: list[float | None]) -> float | None:
    return min((ratio for ratio in ratios if ratio is not None), default=None)


def _safe(labels: list[str] | tuple[str, ...]) -> list[str]:
    """Names that every tracker takes, one for each label.

    Examples
    --------
    >>> _safe(["Elm Park", "elm", "a/b", "a b", ".."])
    ['Elm_Park', 'elm', 'a_b-2', 'a_b-3', 'x..']
    """
    names = [_UNSAFE.sub("_", label)[:_MOST] for label in labels]
    # a name of dots is a step up in a path, and MLflow refuses it
    names = [f"x{name}" if not name.strip(".") else name for name in names]
    folded = [name.casefold() for name in names]  # file names of some systems ignore case
    return [
        f"{name}-{place}" if folded.count(own) > 1 else name
        for place, (name, own) in enumerate(zip(names, folded, strict=True))
    ]

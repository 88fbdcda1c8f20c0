"""What a plan says of its scores, checked together: range, step, thresholds, sketch and rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedparity.errors import PlanError
from fedparity.privacy.disclosure import Disclosure, default_rounding
from fedparity.privacy.rounding import decimal, score_points, whole_steps
from fedparity.protocol.plan_fields import MOST_POINTS, MOST_VALUES
from fedparity.sketches.defaults import DEFAULT_LEVELS, DEFAULT_SKETCH
from fedparity.sketches.kinds import Kind

__all__ = ["ScoreMistake", "default_sketch", "settle_scores"]


class ScoreMistake(NamedTuple):
    """A mistake of keys that are right one by one, and the key to correct."""

    path: tuple[str, ...]
    error: PlanError


def settle_scores(settled: Mapping[str, Any]) -> tuple[dict[str, Any], list[ScoreMistake]]:
    """Return the defaults that follow from other keys, and all that is at odds.

    Parameters
    ----------
    settled : mapping
        The keys of a plan that are right one by one.

    Examples
    --------
    >>> stated, _ = settle_scores({"score_range": (1.0, 10.0), "score_step": 1.0, "levels": 100})
    >>> stated["sketch"], stated["disclosure"].rounding
    ('counts', 0.0)
    """
    bounds, step = settled.get("score_range"), settled.get("score_step")
    if bounds is not None and step is not None and (error := _step_error(bounds, step)):
        return {}, [ScoreMistake(("score_step",), error)]
    points = _points(settled)
    levels = settled.get("levels", DEFAULT_LEVELS)
    sketch = settled.get("sketch") or default_sketch(points, levels)
    rules = settled.get("disclosure", Disclosure())
    if rules.rounding is None:
        rules = replace(rules, rounding=default_rounding(sketch, stepped=step is not None))
    stated = {"sketch": sketch, "disclosure": rules}
    return stated, [*_mistakes({**settled, **stated}, points)]


def _points(settled: Mapping[str, Any]) -> int | None:
    """Return how many scores there can be; None if they lie on no grid, or on one that is wrong."""
    bounds, step = settled.get("score_range"), settled.get("score_step")
    steps = None if bounds is None or step is None else whole_steps(bounds, step)
    return None if steps is None else steps + 1


def default_sketch(points: int | None, levels: int) -> Kind:
    """Return the sketch of a plan that names none: counts where the scores have few points."""
    return "counts" if points is not None and points <= levels else DEFAULT_SKETCH


def _step_error(bounds: tuple[float, float], step: float) -> PlanError | None:
    steps = whole_steps(bounds, step)
    if steps is None:
        return PlanError.no_whole_steps(step, bounds)
    if steps >= MOST_POINTS:
        return PlanError.too_many_points(steps + 1, MOST_POINTS)
    if (np.diff(score_points(bounds, step)) <= 0).any():
        return PlanError.step_too_small(step)
    return None


def _mistakes(settled: Mapping[str, Any], points: int | None) -> Iterator[ScoreMistake]:
    sketch, bounds = settled["sketch"], settled.get("score_range")
    if sketch == "counts" and "score_step" not in settled:
        yield ScoreMistake(("sketch",), PlanError.counts_without_step())
    groups = len(settled.get("groups", ()))
    numbers: int = (points or 0) if sketch == "counts" else settled.get("levels", DEFAULT_LEVELS)
    if groups * numbers > MOST_VALUES:
        key = "score_step" if sketch == "counts" else "levels"
        error = PlanError.too_many_values(groups, numbers, MOST_VALUES)
        yield ScoreMistake((key,), error)
    if bounds is None:
        return
    for threshold in settled.get("thresholds", ()):
        if not bounds[0] < threshold <= bounds[1]:
            yield ScoreMistake(("thresholds",), PlanError.threshold_outside(threshold, bounds))
            break
    rounding, step = settled["disclosure"].rounding, settled.get("score_step")
    if rounding and sketch == "counts":
        yield ScoreMistake(("disclosure", "rounding"), PlanError.counts_rounded())
    elif rounding and sketch == "quantile" and step and not _on_grid(bounds, step, rounding):
        yield ScoreMistake(("disclosure", "rounding"), PlanError.rounded_off_grid(rounding, step))


def _on_grid(bounds: tuple[float, float], step: float, rounding: float) -> bool:
    """Whether values rounded to this share of the range are still points of the grid."""
    coarse = decimal(rounding) * (decimal(bounds[1]) - decimal(bounds[0]))
    return (coarse / decimal(step)).denominator == 1

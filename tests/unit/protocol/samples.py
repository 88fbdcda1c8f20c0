"""One small plan and one message that answers it, to be changed by a test."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fedparity import Plan, SiloSketch
from fedparity.documents import SketchedCell
from fedparity.privacy.disclosure import round_mean_square

SECRET = 0.125
"""A score that must not be printed; rounding leaves it where it is."""

MEAN_SQUARE = round_mean_square(
    0.02, values=np.array([SECRET, 0.5, 0.75]), count=40, score_range=(0.0, 1.0), rounding=0.005
)


def plan(**changes: Any) -> Plan:
    """A plan that asks for three quantiles."""
    options = {
        "title": "Q4",
        "groups": ["A", "B"],
        "score_range": (0, 1),
        "levels": 3,
        "sketch": "quantile",
    }
    return Plan(**{**options, **changes})


def means(**changes: Any) -> Plan:
    """A plan that asks for three bin means and a threshold."""
    return plan(**{"sketch": "mean", "thresholds": [0.5], **changes})


def counting(**changes: Any) -> Plan:
    """A plan that asks for counts at five scores, with a threshold at the fourth."""
    options = {"sketch": "counts", "score_range": (1, 5), "score_step": 1, "thresholds": [4]}
    return plan(**{**options, **changes})


def cell(**changes: Any) -> SketchedCell:
    return SketchedCell(**{"group": "A", "count": 40, "values": [SECRET, 0.5, 0.75], **changes})


def mean_cell(**changes: Any) -> SketchedCell:
    """A cell that answers :func:`means`."""
    return cell(**{"mean_square": MEAN_SQUARE, "above": [22], **changes})


def counted_cell(**changes: Any) -> SketchedCell:
    """A cell that answers :func:`counting`."""
    options = {"values": [1, 3, 5], "counts": [11, 15, 14], "above": [14]}
    return cell(**{**options, **changes})


def message(answered: Plan | None = None, **changes: Any) -> SiloSketch:
    answered = answered or plan()
    options = {
        "plan": answered.digest,
        "silo": "aurora",
        "kind": answered.sketch,
        "cells": [cell(), SketchedCell.kept_back("B", "small")],
        "guarantee": answered.guarantee,
        "software": "fedparity 0.1.0",
    }
    return SiloSketch(**{**options, **changes})


def document(**changes: Any) -> dict[str, Any]:
    """The JSON of the message, with some fields changed; one that is ... is left out."""
    fields = {**message().to_dict(), **changes}
    return {name: value for name, value in fields.items() if value is not ...}


def with_cell(**changes: Any) -> dict[str, Any]:
    """The JSON of the message, with some fields of its first cell changed."""
    first = {**cell().to_dict(), **changes}
    second = message().to_dict()["cells"][1]
    kept = {name: value for name, value in first.items() if value is not ...}
    return document(cells=[kept, second])


def encoded(fields: object) -> bytes:
    return json.dumps(fields).encode()

"""What the paper shows of each data set: its tables, and the labels of its figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedparity.experiments.allocations import Regime

__all__ = ["SPECIFICATIONS", "Specification"]

_ALL: tuple[Regime, ...] = ("random", "negative", "positive")


@dataclass(frozen=True)
class Specification:
    """What belongs to one data set of the paper."""

    title: str
    span: tuple[float, float]
    """The scores that figures show."""
    tables: dict[str, tuple[str, dict[str, tuple[Regime, ...]]]]
    """By name: a title, and the regimes of the paper's tables, by label."""
    jittered: bool = False
    whole: str | None = None
    """The data set of the scores before the jitter."""
    as_written: str | None = None
    """The data set that follows the paper's words, where its numbers do not."""
    labels: dict[str, str] = field(default_factory=dict)
    """The figures' labels in the paper's source."""


def _appendix(name: str) -> dict[str, str]:
    kinds = {
        "error": "mae-k",
        "boxes": "box-k",
        "reliability": "pok-k",
        "k95": "k95-heatmap",
        "intensity": "error-vs-corr",
        "centralised": "central-vs-fed",
        "budget": "budget",
    }
    return {kind: f"fig:{name}{ending}" for kind, ending in kinds.items()}


SPECIFICATIONS = {
    "compas": Specification(
        title="COMPAS",
        span=(0.0, 10.0),
        tables={
            "compas-table-1": (
                "COMPAS, Table 1",
                {"tab:compas_random": ("positive",)},
            ),
            "compas-regimes": ("COMPAS, three regimes", {"tab:compas:compare:three": _ALL}),
        },
        jittered=True,
        whole="compas-deciles",
        labels={
            **_appendix("compas-"),
            "laws": "fig:compas-plot",
            "original-laws": "fig:original-compas-plot",
        },
    ),
    "adult": Specification(
        title="Adult",
        span=(0.0, 1.0),
        tables={"adult-regimes": ("Adult, three regimes", {"tab:adult:compare:three": _ALL})},
        as_written="adult-without-race",
        labels=_appendix("adult:"),
    ),
    "law": Specification(
        title="Law",
        span=(0.0, 1.0),
        tables={"law-regimes": ("Law, three regimes", {"tab:law:compare:three": _ALL})},
        labels={
            kind: label
            for kind, label in _appendix("law:").items()
            if kind in ("error", "boxes", "reliability", "k95")  # the paper has no more
        },
    ),
}

"""What stands under each figure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FIGURES"]

_ROWS = (
    "Rows: the paper's estimator (midpoint quantiles, mixtures inverted on a grid), the same "
    "message integrated exactly, and bin means integrated exactly."
)

FIGURES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "laws": (
            "Score laws and their barycenter",
            (
                "Left: densities by beta kernels. Middle: distribution functions. Right: quantile "
                "functions. Dotted: the Wasserstein barycenter, whose quantile function is the mean "
                "of the groups' weighted by their shares."
            ),
        ),
        "original-laws": (
            "Original deciles and their barycenter",
            (
                "As above for the scores without jitter: whole numbers from 1 to 10. The "
                "barycenter takes values in between."
            ),
        ),
        "error": (
            "Convergence in k",
            (
                "Mean absolute error of the federated estimate by numbers k per group and silo, for "
                f"each regime (columns) and number of silos d (lines). {_ROWS}"
            ),
        ),
        "boxes": (
            "Distribution of the estimate over allocations",
            (
                "Boxes hold half of the draws, whiskers 90 %, dots are the extremes; dashed: the "
                "centralised U₂ of all records, with a band of 1 % around it. Each row has its own "
                f"scale; the band tells how large it is. {_ROWS}"
            ),
        ),
        "reliability": (
            "Reliability profile",
            (
                "Share of draws whose relative error is at most 1 %, with the line of 95 %, by k, "
                f"regime (columns) and number of silos d (lines). {_ROWS}"
            ),
        ),
        "k95": (
            "Smallest sketch for a target reliability",
            (
                "k95, the smallest k of the study with at most 1 % relative error in at least 95 % "
                "of the draws, by regime and number of silos d. Darker cells need more numbers."
            ),
        ),
        "intensity": (
            "Error against selection intensity",
            (
                "Relative error against the realised dependence of score and silo (Spearman), at "
                "k = 10 (above) and k = 20 (below), for the three estimators (columns). Dots are "
                "single allocations; lines join the medians of each strength ρ from 0 to 0.95."
            ),
        ),
        "centralised": (
            "Centralised discretisation and federated estimates",
            (
                "Dashed: U₂(k) of the pooled records, discretised in the same way. Lines and bands: "
                "mean and 90 % of the federated estimates. Thin line: U₂ of all records. Each row has "
                f"its own scale. {_ROWS}"
            ),
        ),
        "budget": (
            "Accuracy for what is sent",
            (
                "Mean relative error against the numbers sent in all: two groups, d silos, k values "
                f"and one count each. {_ROWS}"
            ),
        ),
        "coarse": (
            "Synthetic scores and coarse sketches",
            (
                "Left: densities of the two groups. Right: the estimate with k = 1 and k = 2 numbers "
                "per group and silo against the strength ρ of selection, five silos; bands hold 90 % "
                "of the draws, the thin line is U₂."
            ),
        ),
        "convergence": (
            "Sensitivity to k",
            (
                "Left: independent allocation. Right: selection. Above: the estimate, with bands of "
                "90 % of the draws, and the centralised discretisation. Below: its mean relative "
                "error, with the slope of 1/k."
            ),
        ),
    }
)
"""Title and caption of each kind of figure."""

"""What the text claims of its estimator, where the studies say something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fedparity.experiments.montecarlo import StudyResult
from fedparity.experiments.reproduction.parts import Part
from fedparity.laws.arrays import FloatArray

__all__ = ["claims"]


def claims(parts: Sequence[Part]) -> list[str]:
    """Return what the studies say of two claims of the text, where they say something else.

    That more silos need larger sketches, and that selection needs larger ones than random
    allocation; both of the paper's own estimator.
    """
    studies = {part.title: part.study for part in parts if part.study}
    silos = {title: said for title, study in studies.items() if (said := _by_silos(study))}
    regimes = {title: said for title, study in studies.items() if (said := _by_regime(study))}
    found = []
    if silos:
        found.append(
            "The text says that more silos need larger sketches; k95 of its estimator, for "
            f"random, positive and negative allocation: {_of_each(silos)}."
        )
    if regimes:
        found.append(
            "The text says that selection needs larger sketches; k95 of its estimator is larger "
            f"than under random allocation in {_of_each(regimes)}."
        )
    return found


def _of_each(said: Mapping[str, str]) -> str:
    return "; ".join(f"{words} ({title})" for title, words in said.items())


def _by_silos(result: StudyResult) -> str:
    """How k95 goes from the fewest to the most silos; nothing if it always grows."""
    silos, needed = result.study.silos, _needed(result)
    few, many = (needed[:, np.argsort(silos)[end]] for end in (0, -1))
    if (many > few).all():
        return ""
    return (
        f"{_listed_needs(result, few)} with {min(silos)} silos and "
        f"{_listed_needs(result, many)} with {max(silos)}"
    )


def _by_regime(result: StudyResult) -> str:
    """In how many cases selection needs more; nothing if in all."""
    if "random" not in result.study.regimes:
        return ""
    random, needed = result.study.regimes.index("random"), _needed(result)
    selected = np.delete(needed, random, axis=0)
    larger = int(np.count_nonzero(selected > needed[random]))
    return "" if larger == selected.size else f"{larger} of {selected.size} cases"


def _needed(result: StudyResult) -> FloatArray:
    """k95 of the paper's estimator by regime and number of silos; infinite beyond the study."""
    found = result.k95()[:, :, 0]
    return np.where(found > 0, found, np.inf)


def _listed_needs(result: StudyResult, values: FloatArray) -> str:
    beyond = f">{max(result.study.levels)}"
    return ", ".join(f"{k:.0f}" if np.isfinite(k) else beyond for k in values.tolist())

"""Seeded random laws, groups and federations, with many ties."""

from __future__ import annotations

import numpy as np

import fedparity as fp


def random_law(rng: np.random.Generator) -> fp.Law:
    """Return a law of one to nine whole-number atoms with unequal masses."""
    size = int(rng.integers(1, 10))
    return fp.Law(rng.integers(-8, 9, size), rng.integers(1, 6, size))


def random_groups(rng: np.random.Generator, count: int) -> tuple[dict[str, fp.Law], fp.Weights]:
    """Return ``count`` random laws and their random shares."""
    names = [f"group {i}" for i in range(count)]
    laws = {name: random_law(rng) for name in names}
    return laws, fp.Weights({name: int(rng.integers(1, 10)) for name in names})


def random_cells(
    rng: np.random.Generator, *, silos: int, groups: int, largest: int = 12
) -> dict[tuple[int, int], np.ndarray]:
    """Return whole-number scores for every silo and group, from one to ``largest`` of them."""
    return {
        (j, s): rng.integers(-5, 6, int(rng.integers(1, largest + 1))) + int(rng.integers(0, 4))
        for j in range(silos)
        for s in range(groups)
    }


def sketched(cells: dict[tuple[int, int], np.ndarray], levels: int) -> fp.Federation:
    """Return the federation in which every cell is reduced to ``levels`` quantiles."""
    return fp.Federation.from_cells(
        {label: fp.Cell.from_scores(scores, levels=levels) for label, scores in cells.items()}
    )


def lossless(cells: dict[tuple[int, int], np.ndarray]) -> fp.Federation:
    """Return the federation in which every cell sends as many quantiles as it has records."""
    return fp.Federation.from_cells(
        {label: fp.Cell.from_scores(scores, levels=len(scores)) for label, scores in cells.items()}
    )


def pooled(cells: dict[tuple[int, int], np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Return all scores in one array, and the group of each: what pooling would give."""
    scores = np.concatenate(list(cells.values()))
    return scores, [s for (_, s), own in cells.items() for _ in own]

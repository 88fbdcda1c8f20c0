"""A part of a study that is computed and kept as one: a regime and a number of silos."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from fedparity.experiments.allocations import Regime
from fedparity.experiments.montecarlo.array_files import array_file, read_arrays
from fedparity.experiments.montecarlo.study import ESTIMATORS, Study
from fedparity.laws.arrays import FloatArray
from fedparity.protocol.files import Path, write_whole

__all__ = ["Chunk", "Found"]


@dataclass(frozen=True, eq=False)
class Found:
    """What all allocations of a chunk gave."""

    estimates: FloatArray
    """By replicate, estimator and number of levels."""
    pearson: FloatArray
    spearman: FloatArray

    @classmethod
    def empty(cls, study: Study) -> Found:
        """Return room for the allocations of one chunk."""
        size = study.replicates
        room = np.full((size, len(ESTIMATORS), len(study.levels)), np.nan)
        return cls(room, np.full(size, np.nan), np.full(size, np.nan))


@dataclass(frozen=True, eq=False)
class Chunk:
    """All allocations of one regime to so many silos."""

    study: Study
    regime: Regime
    silos: int

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the numbers of this chunk, and nothing else.

        Studies that differ in other chunks share this one.
        """
        settings = self.study.settings | {"regimes": [self.regime], "silos": [self.silos]}
        if self.regime == "random":  # scores play no part, and strength none either
            settings |= {"rho": None, "cut": None}
        return settings

    def file_in(self, folder: Path) -> str:
        """Return the path of this chunk's file in a folder."""
        digest = sha256(json.dumps(self.settings).encode()).hexdigest()
        name = f"{self.study.dataset.name}-{self.regime}-{self.silos:03}-{digest[:16]}.npz"
        return os.path.join(folder, name)  # noqa: PTH118 -- pathlib takes 7 ms to import

    def read(self, folder: Path) -> Found | None:
        """Return what a folder keeps of this chunk, or None if it keeps nothing whole."""
        found = read_arrays(self.file_in(folder), self.settings)
        expected = Found.empty(self.study)
        if found is None or found["estimates"].shape != expected.estimates.shape:
            return None
        return Found(found["estimates"], found["pearson"], found["spearman"])

    def write(self, folder: Path, found: Found) -> None:
        """Keep a chunk in a folder: whole, or not at all."""
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        arrays = {
            "estimates": found.estimates,
            "pearson": found.pearson,
            "spearman": found.spearman,
        }
        write_whole(self.file_in(folder), array_file(self.settings, **arrays), force=True)

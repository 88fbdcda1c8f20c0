"""What a study found: estimates of every allocation, and how far they are from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.errors import ResultError
from fedparity.experiments.montecarlo.array_files import array_file, read_arrays
from fedparity.experiments.montecarlo.study import ESTIMATORS, Study
from fedparity.laws.arrays import FloatArray
from fedparity.protocol.files import Path, write_whole

__all__ = ["StudyResult", "relative"]

_ARRAYS = ("estimates", "truth", "centralised", "pearson", "spearman")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StudyResult:
    r"""The estimates :math:`\widehat U_2(k)` of all allocations of a study."""

    study: Study
    estimates: FloatArray
    """By regime, number of silos, replicate, estimator and number of levels."""
    truth: float
    r"""The exact :math:`U_2` of the pooled data."""
    centralised: FloatArray
    r"""The :math:`U_2(k)` of the pooled data in one silo, by estimator and number of levels."""
    pearson: FloatArray
    """Correlation of score and silo, by regime, number of silos and replicate; NaN where none is."""
    spearman: FloatArray
    """The same of their ranks."""

    @property
    def estimators(self) -> tuple[str, ...]:
        """The names of the estimators, in their order."""
        return ESTIMATORS

    @property
    def relative_errors(self) -> FloatArray:
        r""":math:`|\widehat U_2(k) - U_2| / U_2`, in the shape of ``estimates``."""
        return relative(self.estimates, self.truth)

    def mae(self) -> FloatArray:
        r"""Return :math:`\mathrm{MAE}(k) = E|\widehat U_2(k) - U_2|`.

        By regime, number of silos, estimator and number of levels.
        """
        errors: FloatArray = np.abs(self.estimates - self.truth).mean(axis=2)
        return errors

    def mean_relative_error(self) -> FloatArray:
        r"""Return :math:`E[|\widehat U_2(k) - U_2| / U_2]`, in the shape of :meth:`mae`."""
        means: FloatArray = self.relative_errors.mean(axis=2)
        return means

    def reliability(self, tolerance: float = 0.01) -> FloatArray:
        r"""Return :math:`p_{\mathrm{ok}}(k)`, how often the relative error is within tolerance.

        By regime, number of silos, estimator and number of levels.
        """
        shares: FloatArray = (self.relative_errors <= tolerance).mean(axis=2)
        return shares

    def k95(self, share: float = 0.95, tolerance: float = 0.01) -> npt.NDArray[np.int64]:
        r"""Return the smallest k of the study with :math:`p_{\mathrm{ok}}(k) \ge` ``share``.

        By regime, number of silos and estimator; 0 where no k of the study suffices.
        """
        order = np.argsort(self.study.levels)
        reached = self.reliability(tolerance)[..., order] >= share
        first = np.array(self.study.levels)[order][np.argmax(reached, axis=-1)]
        return np.where(reached.any(axis=-1), first, 0)

    def budget(self) -> npt.NDArray[np.int64]:
        """Return the numbers sent, by number of silos and number of levels.

        Per silo and group, k values and one count: the paper's 2d(k + 1) for two groups.
        """
        groups = len(self.study.dataset.group_names)
        numbers: npt.NDArray[np.int64] = np.array(self.study.levels) + 1
        return groups * np.array(self.study.silos)[:, None] * numbers

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write the numbers and the settings as an ``.npz`` file: whole, or not at all."""
        arrays = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        write_whole(path, array_file(self.study.settings, **arrays), force=force)

    @classmethod
    def load(cls, path: Path, study: Study) -> StudyResult:
        """Return the result of a study that was saved.

        Raises
        ------
        ResultError
            If the file does not hold the result of these settings, whole.
        """
        arrays = read_arrays(path, study.settings)
        if arrays is None or not arrays.keys() >= set(_ARRAYS):
            raise ResultError(
                f"{str(path)!r} does not hold the result of this study.",
                fix="run the study again, and save it.",
            )
        truth = float(arrays.pop("truth"))
        return cls(study=study, truth=truth, **arrays)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.estimates.shape))
        return f"StudyResult({self.study.dataset.name!r}, {shape} estimates)"


def relative(estimates: FloatArray, truth: float) -> FloatArray:
    """Return how far estimates are from the truth, as a share of it.

    Where the truth is 0 every other value is infinitely far.
    """
    errors: FloatArray = np.abs(estimates - truth)
    if truth == 0:
        return np.where(errors > 0, np.inf, 0.0)
    return errors / truth

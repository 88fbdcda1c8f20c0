"""Which code computes the estimates: NumPy always, numba where it is installed and pays."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import MissingExtraError, OptionError
from fedparity.experiments.montecarlo.numpy_kernel import NumpyKernel
from fedparity.experiments.montecarlo.ranking import Ranking
from fedparity.experiments.montecarlo.study import Study
from fedparity.laws.arrays import FloatArray

__all__ = ["Kernel", "KernelName", "choose_kernel"]

KernelName: TypeAlias = Literal["auto", "numpy", "numba"]
"""``auto``: numba above the amount of work from which it pays, if it is installed."""

_PAYS = 60_000_000
"""Records and numbers to read from which loading numba is faster than doing without."""


class Kernel(Protocol):
    """The estimates of one allocation; every kernel finds the same bits."""

    name: str

    def estimates(self, silos: npt.NDArray[np.int64], number: int) -> FloatArray:
        """Return the estimates of an allocation, by estimator and number of levels."""
        ...  # pragma: no cover


def choose_kernel(name: str, study: Study, ranking: Ranking) -> Kernel:
    """Return the kernel of this name, or the one that suits a study of this size."""
    if name not in get_args(KernelName):
        raise OptionError.unknown("kernel", name, get_args(KernelName))
    if name == "numpy" or (name == "auto" and not _pays(study)):
        return NumpyKernel(ranking, study.levels)
    if find_spec("numba") is None:
        raise MissingExtraError.for_use("numba", "this kernel", "fast")
    from fedparity.experiments.montecarlo.numba_kernel import (  # noqa: PLC0415 -- heavy, optional
        NumbaKernel,
    )

    return NumbaKernel(ranking, study.levels)


def _pays(study: Study) -> bool:
    if "fedparity.experiments.montecarlo.numba_kernel" in sys.modules:
        return True
    groups = len(study.dataset.group_names)
    records = len(study.dataset) * len(study.levels) * len(study.silos)
    numbers = groups * sum(study.levels) * sum(study.silos)
    work = (records + 4 * numbers) * study.replicates * len(study.regimes)
    return work >= _PAYS and find_spec("numba") is not None

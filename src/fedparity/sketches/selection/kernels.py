"""Which code runs the passes: NumPy always, numba where it is installed and pays."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Literal, Protocol, TypeAlias, get_args

from fedparity.errors import OptionError
from fedparity.errors.tables import MissingExtraError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import Batch
from fedparity.sketches.selection.bucket_maps import BucketMap
from fedparity.sketches.selection.moments import Moments
from fedparity.sketches.selection.numpy_kernel import NumpyKernel
from fedparity.sketches.selection.state import Bag, Bounds, Rules, Tally

__all__ = ["Kernel", "KernelName", "choose_kernel"]

KernelName: TypeAlias = Literal["auto", "numpy", "numba"]
"""``auto``: numba above the number of rows from which it pays, if it is installed."""

_PAYS_COLD = 40_000_000
"""Rows from which loading and compiling numba is faster than doing without."""
_PAYS_LOADED = 500_000
"""The same once it is loaded."""


class Kernel(Protocol):
    """The passes over a batch; every kernel finds the same bits."""

    name: str
    windows: bool
    """Whether it can keep a window of a bucket instead of all of it."""

    def count(self, chosen: BucketMap, batch: Batch, bounds: Bounds, tally: Tally) -> None:
        """Count the records of a batch by bucket; those that may not be counted, by reason."""
        ...  # pragma: no cover

    def gather(
        self,
        chosen: BucketMap,
        batch: Batch,
        bounds: Bounds,
        rules: Rules,
        bag: Bag,
    ) -> None:
        """Keep the records of a batch, or add them to sums, as the rules say."""
        ...  # pragma: no cover

    def add_up(self, batch: Batch, moments: Moments) -> None:
        """Add the records of a batch, all of which count, to exact sums."""
        ...  # pragma: no cover

    def sort(self, scores: FloatArray) -> None:
        """Put finite scores in increasing order, where they are."""
        ...  # pragma: no cover


def choose_kernel(name: str, rows: int | None) -> Kernel:
    """Return the kernel of this name, or the one that suits so many rows."""
    if name not in get_args(KernelName):
        raise OptionError.unknown("kernel", name, get_args(KernelName))
    if name == "numpy" or (name == "auto" and not _pays(rows)):
        return NumpyKernel()
    if find_spec("numba") is None:
        raise MissingExtraError.for_use("numba", "this kernel", "fast")
    from fedparity.sketches.selection.numba_kernel import (  # noqa: PLC0415 -- heavy, optional
        NumbaKernel,
    )

    return NumbaKernel()


def _pays(rows: int | None) -> bool:
    loaded = "fedparity.sketches.selection.numba_kernel" in sys.modules
    least = _PAYS_LOADED if loaded else _PAYS_COLD
    return rows is not None and rows >= least and (loaded or find_spec("numba") is not None)

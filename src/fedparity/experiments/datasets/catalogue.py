"""The data sets by name."""

from __future__ import annotations

import os

from fedparity.errors import OptionError
from fedparity.experiments.datasets.dataset import Dataset

__all__ = ["DATASETS", "load_dataset"]

DATASETS = {
    "compas": "compas",
    "compas-deciles": "compas",
    "adult": "adult",
    "adult-without-race": "adult",
    "law": "law",
    "synthetic": None,
}
"""The names, and the file that each is read from; None for made-up data."""


def load_dataset(
    name: str, *, data: str | os.PathLike[str] | None = None, seed: int = 0
) -> Dataset:
    """Return one of the paper's data sets.

    Parameters
    ----------
    name : str
        ``compas``: deciles less a uniform number; ``compas-deciles``: as they are; ``adult``: with
        race and sex among the covariates, as the paper's numbers have it; ``adult-without-race``: without
        both, as its text says; ``law``; ``synthetic``.
    data : path, optional
        The folder of the files; if absent ``FEDPARITY_DATA``, else the folder that
        ``fedparity datasets fetch`` fills.
    seed : int
        Of the uniform numbers of ``compas`` and the draws of ``synthetic``.

    Raises
    ------
    OptionError
        If there is no data set of this name.
    TableError
        If its file is not there, or not what it should be.

    Examples
    --------
    >>> load_dataset("synthetic", seed=1)
    Dataset('synthetic', 10,000 records: 5,000 A, 5,000 B)
    """
    # read where they are needed: the commands that list names start without them
    from fedparity.experiments.datasets.adult import load_adult  # noqa: PLC0415
    from fedparity.experiments.datasets.compas import load_compas  # noqa: PLC0415
    from fedparity.experiments.datasets.law import load_law  # noqa: PLC0415
    from fedparity.experiments.datasets.synthetic import make_synthetic  # noqa: PLC0415

    match name:
        case "compas" | "compas-deciles":
            return load_compas(jittered=name == "compas", data=data, seed=seed)
        case "adult" | "adult-without-race":
            return load_adult(with_race=name == "adult", data=data)
        case "law":
            return load_law(data=data)
        case "synthetic":
            return make_synthetic(seed=seed)
    raise OptionError.unknown("name", name, DATASETS)

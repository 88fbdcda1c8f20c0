"""The data sets of the paper's experiments: scores, groups, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyreadr
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fedparity.errors import TableError
from fedparity_reproduction.data_files import UPSTREAM, find_file

__all__ = ["DATASETS", "SHAPES", "Dataset", "fitted_probabilities", "load_dataset"]

DATASETS = {
    "compas": "compas",
    "compas-deciles": "compas",
    "adult": "adult",
    "adult-without-race": "adult",
    "law": "law",
    "synthetic": None,
}
"""The names, and the file that each is read from; None for simulated data."""

SHAPES = ((3.0, 4.0), (6.0, 4.0))
"""Of the synthetic Beta laws; the paper gives none, and these have its U₂ of 0.0076."""

_ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
# education-num is a function of education: it would change no fitted probability
_ADULT_UNUSED = ["fnlwgt", "native-country", "income", "education-num"]
_LAW_NUMBERS = ["fam_inc", "lsat", "ugpa", "age"]
_LAW_LEVELS = ["gender", "cluster", "fulltime"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Dataset:
    """Scores of people in two groups.

    The last group is the one that the ``negative`` regime sorts the other way round.
    """

    name: str
    """The name that :func:`load_dataset` takes."""
    title: str
    scores: npt.NDArray[np.float64]
    codes: npt.NDArray[np.int64]
    """Position in ``group_names`` of each record's group."""
    group_names: tuple[str, ...]
    specification: str
    """How the scores come about, in words."""
    file: str | None = None
    """Name of the file that was read; None for simulated data."""
    sha256: str | None = None
    rows_read: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of records of each group."""
        found = np.bincount(self.codes, minlength=len(self.group_names)).tolist()
        return dict(zip(self.group_names, found, strict=True))

    @cached_property
    def digest(self) -> str:
        """The sha256 of scores and groups: equal for equal data, whatever their source."""
        content = sha256(repr(self.group_names).encode())
        content.update(self.scores.astype("<f8").tobytes())
        content.update(self.codes.astype("<i8").tobytes())
        return content.hexdigest()

    def __len__(self) -> int:
        return self.scores.size

    def __repr__(self) -> str:
        groups = ", ".join(f"{count:,} {group}" for group, count in self.counts.items())
        return f"Dataset({self.name!r}, {len(self):,} records: {groups})"


def load_dataset(name: str, *, data: Path | None = None, seed: int = 0) -> Dataset:
    """Return one of the paper's data sets.

    Parameters
    ----------
    name : str
        ``compas``: deciles minus a uniform number; ``compas-deciles``: as they are; ``adult``: with
        race and sex among the covariates, as in the paper's numbers; ``adult-without-race``: without
        both, as in its text; ``law``; ``synthetic``.
    data : path, optional
        The folder of the files; see :func:`fedparity_reproduction.data_files.data_folder`.
    seed : int
        Of the uniform numbers of ``compas`` and the draws of ``synthetic``.

    Raises
    ------
    TableError
        If its file is missing, or has another content than it should.

    Examples
    --------
    >>> load_dataset("synthetic", seed=1)
    Dataset('synthetic', 10,000 records: 5,000 A, 5,000 B)
    """
    if name == "synthetic":
        return _synthetic(seed)
    path = find_file(UPSTREAM[name.partition("-")[0]], data)
    try:
        match name:
            case "compas" | "compas-deciles":
                return _compas(path, seed if name == "compas" else None)
            case "adult" | "adult-without-race":
                return _adult(path, with_race=name == "adult")
            case _:
                return _law(path)
    except (ValueError, KeyError, pyreadr.PyreadrError, pyreadr.LibrdataError):
        raise TableError(
            f"{str(path)!r} has another content than the published file.",
            fix="run `fedparity-reproduce fetch` into an empty folder, and name it with --data.",
        ) from None


def _synthetic(seed: int, size: int = 5000) -> Dataset:
    random = np.random.default_rng(seed)
    words = " and ".join(f"Beta({a:g}, {b:g})" for a, b in SHAPES)
    return Dataset(
        name="synthetic",
        title="Synthetic Beta",
        scores=np.concatenate([random.beta(a, b, size) for a, b in SHAPES]),
        codes=np.repeat([0, 1], size),
        group_names=("A", "B"),
        specification=f"{words}, {size:,} draws each, seed {seed}",
        rows_read=2 * size,
    )


def _compas(path: Path, seed: int | None) -> Dataset:
    """Return the deciles of two races, with no other filter; a seed spreads them over their bins."""
    table = pd.read_csv(path, usecols=["race", "decile_score"])
    words = "decile_score" if seed is None else f"decile_score - U(0, 1), seed {seed}"

    def scores(kept: pd.DataFrame) -> npt.NDArray[np.float64]:
        deciles: npt.NDArray[np.float64] = kept["decile_score"].to_numpy(float)
        return deciles if seed is None else deciles - np.random.default_rng(seed).random(len(kept))

    return _of_two_races(
        name="compas-deciles" if seed is None else "compas",
        title="COMPAS, original deciles" if seed is None else "COMPAS",
        path=path,
        table=table,
        race="race",
        races=("African-American", "Caucasian"),
        scores=scores,
        specification=f"{words}; African-American and Caucasian, no other filter",
    )


def _adult(path: Path, *, with_race: bool) -> Dataset:
    table = pd.read_csv(path, names=list(_ADULT), skipinitialspace=True)
    complete = table[(table != "?").all(axis=1)]
    unused = _ADULT_UNUSED if with_race else [*_ADULT_UNUSED, "race", "sex"]
    words = "race and sex among them" if with_race else "race and sex not among them"
    return _of_two_races(
        name="adult" if with_race else "adult-without-race",
        title="Adult" if with_race else "Adult, without race and sex",
        path=path,
        table=complete,
        race="race",
        races=("Black", "White"),
        scores=lambda kept: fitted_probabilities(
            kept.drop(columns=unused), kept["income"] == ">50K"
        ),
        rows_read=len(table),
        specification=(
            "logistic regression of income > 50K on all columns but fnlwgt and native-country, "
            f"{words}; rows with ? dropped; Black and White"
        ),
    )


def _law(path: Path) -> Dataset:
    """Return probabilities of passing the bar; neither race nor grades at law school enter."""
    if path.suffix == ".rda":
        (table,) = pyreadr.read_r(str(path)).values()
    else:
        table = pd.read_csv(path)
    return _of_two_races(
        name="law",
        title="Law",
        path=path,
        table=table,
        race="race1",
        races=("black", "white"),
        scores=lambda kept: fitted_probabilities(
            kept[_LAW_NUMBERS].astype(float).join(kept[_LAW_LEVELS].astype(str)),
            kept["bar"].astype(str).str.upper() == "TRUE",
        ),
        specification=(
            f"logistic regression of bar on {', '.join(_LAW_NUMBERS)}, and the levels of "
            f"{', '.join(_LAW_LEVELS)}; black and white"
        ),
    )


def _of_two_races(
    *,
    path: Path,
    table: pd.DataFrame,
    race: str,
    races: Sequence[str],
    scores: Callable[[pd.DataFrame], npt.NDArray[np.float64]],
    rows_read: int | None = None,
    **words: str,
) -> Dataset:
    """Return the data set of the records of two races."""
    kept = table[table[race].isin(races)].reset_index(drop=True)
    values = scores(kept)
    if kept[race].nunique() < 2 or not np.isfinite(values).all():
        raise ValueError
    return Dataset(
        scores=values,
        codes=(kept[race] == races[1]).to_numpy().astype(np.int64),
        group_names=tuple(races),
        file=path.name,
        sha256=sha256(path.read_bytes()).hexdigest(),
        rows_read=len(table) if rows_read is None else rows_read,
        **words,
    )


def fitted_probabilities(columns: pd.DataFrame, outcomes: Any) -> npt.NDArray[np.float64]:  # noqa: ANN401 -- a series
    """Return the probabilities of a logistic regression, by maximum likelihood.

    Numbers enter standardized, texts as indicators of all levels but the first.

    Examples
    --------
    >>> texts = pd.DataFrame({"x": list("aaaabb")})
    >>> fitted_probabilities(texts, [1, 0, 0, 0, 1, 0]).round(6)
    array([0.25, 0.25, 0.25, 0.25, 0.5 , 0.5 ])
    """
    matrix = pd.get_dummies(columns, drop_first=True, dtype=float)
    numbers = list(columns.select_dtypes("number"))
    matrix[numbers] = (matrix[numbers] - matrix[numbers].mean()) / matrix[numbers].std(ddof=0)
    values = matrix.to_numpy()
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=100)
    model.fit(values, np.asarray(outcomes))
    # not predict_proba: a matrix product may give equal records in different places other last
    # bits, and ties must stay ties, since allocations break them at random
    probabilities: npt.NDArray[np.float64] = expit(
        np.sum(values * model.coef_[0], axis=1) + model.intercept_[0]
    )
    return probabilities

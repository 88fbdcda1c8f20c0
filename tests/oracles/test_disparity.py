"""The disparity against rational arithmetic, a dense grid, and every container of records."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import rational
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import half, orders, reach, real_masses, samples_by_group, tables

from fedparity import Law, Weights, disparity
from fedparity.errors import GroupError, ScoreError
from fedparity.theory import wasserstein_power

TRIMS = st.sampled_from([0.0, 0.0, 0.05, 0.1, 0.25, 0.3])
SCORES = [0.1, 0.7, 0.7, 0.2, 0.9, 0.4, 0.4, 0.3, 0.6]
SEX = ["f", "m", "f", "f", "m", "m", "f", "m", "f"]
OLD = [True, False, True, False, True, False, False, True, True]


def by_label(scores, labels, masses=None):
    """The raw side of the groups: laws and total masses, in rational numbers."""
    rows = defaultdict(list)
    for score, label, mass in zip(scores, labels, masses or [1] * len(scores), strict=True):
        if mass:
            rows[label].append((score, mass))
    laws = {label: rational.law(*zip(*held, strict=True)) for label, held in rows.items()}
    return laws, {label: sum(mass for _, mass in held) for label, held in rows.items()}


@half
@given(orders, samples_by_group(), TRIMS)
def test_it_is_the_mean_power_distance_to_the_barycenter(order, groups, trim):
    """U_p = Σ α ∫|Q_s − Q*|^p over [ε, 1−ε], for two, three or four groups."""
    samples, shares = groups
    expected = rational.disparity(
        {group: rational.law(*sample) for group, sample in samples.items()}, shares, order, trim
    )

    laws = {group: Law(*sample) for group, sample in samples.items()}
    actual = disparity(laws, Weights(shares), order=order, trim=trim)

    # The ends of a trimmed range are rounded, to half an ulp of one each.
    widest = 2 * reach(*(values for values, _ in samples.values()))
    assert actual == agrees_with(expected, slack=2 * EPS * widest**order if trim else 0.0)


@half
@given(orders, samples_by_group(real_masses))
def test_real_masses_count_as_they_are(order, groups):
    """Laws whose masses have no exact sum are measured to the rounding of that sum."""
    samples, shares = groups
    expected = rational.disparity(
        {group: rational.law(*sample) for group, sample in samples.items()}, shares, order
    )

    laws = {group: Law(*sample) for group, sample in samples.items()}
    actual = disparity(laws, Weights(shares), order=order)

    # Every cdf value of every group is a sum of up to eight masses, one rounding each.
    widest = 2 * reach(*(values for values, _ in samples.values()))
    slack = sum(8 * EPS * len(values) for values, _ in samples.values()) * widest**order
    assert actual == agrees_with(expected, slack=slack)


@half
@given(samples_by_group())
def test_two_groups_have_a_closed_form(groups):
    """U₂ = α₀ α₁ W₂² for two groups, and min(α₀, α₁) W₁ for order 1."""
    samples, shares = groups
    first, second = list(samples)[:2]
    laws = {group: Law(*samples[group]) for group in (first, second)}
    weights = Weights({group: shares[group] for group in laws})
    ordered = list(laws.values())

    assert disparity(laws, weights) == agrees_with(
        weights[first] * weights[second] * wasserstein_power(*ordered)
    )
    assert disparity(laws, weights, order=1) == agrees_with(
        min(weights.values()) * wasserstein_power(*ordered, order=1)
    )


@given(orders, tables(), TRIMS)
def test_records_are_grouped_by_their_label(order, table, trim):
    """Scores with one label each give the laws and shares of their groups."""
    scores, groups, _ = table
    expected = rational.disparity(*by_label(scores, groups), order, trim)

    actual = disparity(scores, sensitive_features=groups, order=order, trim=trim)

    slack = 2 * EPS * (2 * reach(scores)) ** order if trim else 0.0
    assert actual == agrees_with(expected, slack=slack)


@given(orders, st.data())
def test_a_whole_sample_weight_is_a_repetition(order, data):
    """A record of weight w counts as w records, and one of weight zero as none."""
    scores, groups, _ = data.draw(tables())
    size = len(scores) - 2
    weights = [1, 2, *data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))]
    rows = [
        row
        for row, weight in zip(zip(scores, groups, strict=True), weights, strict=True)
        for _ in range(weight)
    ]
    expected = disparity(
        [score for score, _ in rows],
        sensitive_features=[group for _, group in rows],
        order=order,
    )

    actual = disparity(scores, sensitive_features=groups, sample_weight=weights, order=order)

    assert actual == agrees_with(expected)
    assert actual == agrees_with(rational.disparity(*by_label(scores, groups, weights), order))


@pytest.mark.parametrize("order", [1, 2])
def test_a_real_sample_weight_is_a_mass(order):
    """Weights need not be whole; shares are then shares of the total weight."""
    rng = np.random.default_rng(3)
    scores, weights = rng.normal(size=60), rng.exponential(size=60)
    groups = rng.choice(["a", "b", "c"], 60).tolist()
    expected = rational.disparity(
        *by_label(scores.tolist(), groups, [rational.Fraction(w) for w in weights.tolist()]),
        order,
    )

    actual = disparity(scores, sensitive_features=groups, sample_weight=weights, order=order)

    assert actual == agrees_with(expected)


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "pandas": pd.Series,
    "pandas with its own index": lambda x: pd.Series(x, index=range(100, 100 + len(x))),
    "pandas category": lambda x: pd.Series(x).astype("category"),
    "pandas string": lambda x: pd.Series(x).astype("string"),
    "polars": pl.Series,
    "polars category": lambda x: pl.Series(x).cast(pl.Categorical),
    "polars enum category": lambda x: pl.Series(x).cast(pl.Enum(["m", "f", "x"])),
    "arrow category": lambda x: pa.array(x).dictionary_encode(),
    "arrow": pa.array,
    "arrow chunks": lambda x: pa.chunked_array([x[:4], x[4:]]),
}
NUMERIC = [name for name in CONTAINERS if "category" not in name and "string" not in name]


@pytest.mark.parametrize("of_labels", CONTAINERS)
@pytest.mark.parametrize("of_scores", NUMERIC)
def test_every_container_of_records_gives_the_same_number(of_scores, of_labels):
    """Lists, NumPy, pandas, polars and Arrow hold the same records; two pandas indexes must agree."""
    expected = rational.disparity(*by_label(SCORES, SEX), 2)
    scores, labels = CONTAINERS[of_scores](SCORES), CONTAINERS[of_labels](SEX)
    own_index = [name.endswith("its own index") for name in (of_scores, of_labels)]
    if hasattr(scores, "iloc") and hasattr(labels, "iloc") and len(set(own_index)) == 2:
        with pytest.raises(ScoreError, match="different pandas indexes"):
            disparity(scores, sensitive_features=labels)
        labels = labels.to_numpy()

    actual = disparity(scores, sensitive_features=labels)

    assert actual == agrees_with(expected)


@pytest.mark.parametrize("container", NUMERIC)
def test_every_container_of_sample_weights_gives_the_same_number(container):
    """Weights may come in the container of the scores."""
    weights = [3, 1, 4, 1, 5, 9, 2, 6, 5]
    expected = rational.disparity(*by_label(SCORES, SEX, weights), 2)

    actual = disparity(
        SCORES, sensitive_features=SEX, sample_weight=CONTAINERS[container](weights)
    )

    assert actual == agrees_with(expected)


@pytest.mark.parametrize("container", NUMERIC)
def test_the_second_argument_holds_the_scores(container):
    """Fairlearn's signature: y_true is ignored and y_pred measured."""
    expected = rational.disparity(*by_label(SCORES, SEX), 2)

    actual = disparity(
        CONTAINERS[container]([0] * 9), CONTAINERS[container](SCORES), sensitive_features=SEX
    )

    assert actual == agrees_with(expected)


FRAMES = {
    "mapping": lambda columns: columns,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "mapping of series": lambda columns: {k: pl.Series(v) for k, v in columns.items()},
    "rows": lambda columns: list(zip(*columns.values(), strict=True)),
    "object array": lambda columns: np.array(list(columns.values()), dtype=object).T,
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("frame", FRAMES)
def test_several_sensitive_columns_give_intersections(frame, order):
    """The groups of two columns are the pairs of values that occur."""
    expected = rational.disparity(*by_label(SCORES, zip(SEX, OLD, strict=True)), order)

    actual = disparity(
        SCORES, sensitive_features=FRAMES[frame]({"sex": SEX, "old": OLD}), order=order
    )

    assert actual == agrees_with(expected)


@pytest.mark.parametrize("frame", [name for name in FRAMES if name != "rows"])
def test_a_frame_of_one_column_is_that_column(frame):
    """One sensitive column gives its own values as labels."""
    expected = rational.disparity(*by_label(SCORES, SEX), 2)

    assert disparity(SCORES, sensitive_features=FRAMES[frame]({"sex": SEX})) == agrees_with(
        expected
    )


MISSING = {
    "list": lambda x: x,
    "numpy": lambda x: np.array(x, dtype=object),
    "pandas": pd.Series,
    "pandas string": lambda x: pd.Series(x, dtype="string"),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda x: pa.chunked_array([x]),
    "nan": lambda x: [float("nan") if label is None else label for label in x],
}


@pytest.mark.parametrize("container", MISSING)
def test_a_missing_label_is_refused_in_every_container(container):
    """A record without a group is never a group of its own."""
    labels = MISSING[container](["a", "a", None, "b", "b"])

    with pytest.raises(GroupError, match="1 of 5 labels are missing"):
        disparity([0.1, 0.2, 0.3, 0.4, 0.5], sensitive_features=labels)


@pytest.mark.parametrize("trim", [0.0, 0.1])
@pytest.mark.parametrize("order", [1, 2])
def test_a_dense_grid_of_levels_comes_near(order, trim):
    """The integral over levels is the limit of its midpoint sums."""
    rng = np.random.default_rng(11)
    laws = {
        group: Law.from_scores(rng.normal(shift, 1 + shift, size))
        for group, shift, size in (("a", 0, 40), ("b", 1, 55), ("c", 2, 7))
    }
    weights = Weights({"a": 3, "b": 5, "c": 2})
    points = 1_000_000
    levels = trim + (np.arange(points) + 0.5) * (1 - 2 * trim) / points
    quantiles = np.array([law.quantile(levels) for law in laws.values()])
    shares = np.array(list(weights.values()))[:, None]
    center = (shares * quantiles).sum(axis=0)
    if order == 1:  # b holds one half: it is the lower median unless both others are below it
        a, b, c = quantiles
        center = np.minimum(b, np.maximum(a, c))
    expected = (shares * np.abs(quantiles - center) ** order).sum() * (1 - 2 * trim) / points

    # A midpoint sum misses at most the range to the power p over one cell per breakpoint.
    cells = sum(len(law) for law in laws.values()) * (1 - 2 * trim) / points
    slack = cells * (quantiles.max() - quantiles.min()) ** order
    assert disparity(laws, weights, order=order, trim=trim) == pytest.approx(
        expected, rel=0, abs=slack
    )
    assert slack < 0.02 * expected

"""What every allocation does, whatever the scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import half, scaled_scores, tables

import fedparity as fp

options = st.fixed_dictionaries(
    {
        "silos": st.integers(1, 8),
        "regime": st.sampled_from(["random", "positive", "negative"]),
        "rho": st.sampled_from([0, 0.3, 0.8, 0.999]),
        "cut": st.sampled_from(["paper", "margins"]),
        "seed": st.integers(0, 2**40),
    }
)


def table_of(silos, groups, number):
    labels = sorted(set(groups))
    flat = [labels.index(group) * number + silo for group, silo in zip(groups, silos, strict=True)]
    return np.bincount(flat, minlength=number * len(labels)).tolist()


@given(tables(), options)
def test_every_record_gets_one_of_the_silos(table, chosen):
    scores, groups, _ = table
    made = fp.theory.allocate(scores, groups=groups, **chosen)

    assert made.silos.shape == (len(scores),)
    assert 0 <= made.silos.min() <= made.silos.max() < chosen["silos"]
    for correlation in (made.pearson, made.spearman):
        assert correlation is None or -1 <= correlation <= 1


@given(tables(), options)
def test_cutting_ranks_gives_every_regime_the_counts_of_the_baseline(table, chosen):
    scores, groups, _ = table
    chosen = chosen | {"cut": "margins", "groups": groups}
    baseline = fp.theory.allocate(scores, **(chosen | {"regime": "random"}))
    made = fp.theory.allocate(scores, **chosen)

    number = chosen["silos"]
    assert table_of(made.silos, groups, number) == table_of(baseline.silos, groups, number)


@given(tables(), options, st.sampled_from([(2.0, 0.0), (0.5, 3.0), (1024.0, -8.0)]))
def test_only_the_order_of_scores_matters(table, chosen, change):
    """Copulas see ranks: an increasing map of the scores leaves every silo as it is."""
    factor, shift = change
    scores = np.round(np.asarray(table[0]) * 4) / 4
    made = fp.theory.allocate(scores, groups=table[1], **chosen)
    moved = fp.theory.allocate(factor * scores + shift, groups=table[1], **chosen)

    assert made.silos.tolist() == moved.silos.tolist()


@half
@given(scaled_scores(), st.integers(0, 99))
def test_any_magnitude_that_can_be_measured_can_be_dealt(scores, seed):
    made = fp.theory.allocate(scores, silos=2, regime="positive", seed=seed)

    assert made.pearson is None or -1 <= made.pearson <= 1

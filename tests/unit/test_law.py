"""What a law is once built."""

import numpy as np
import pytest

import fedparity as fp


def test_counts_give_the_order_statistic_of_rank_ceil_n_u():
    """N = 100, u = 0.55: the 55th value, where n·u in floats is 55.00000000000001."""
    law = fp.Law.from_scores(np.arange(1.0, 101.0))

    assert law.quantile(0.55) == 55.0


def test_weights_count_like_repetitions():
    weighted = fp.Law.from_scores([1.0, 2.0, 3.0], [2, 0, 1])
    repeated = fp.Law.from_scores([1.0, 1.0, 3.0])

    assert np.array_equal(weighted.atoms, repeated.atoms)
    assert np.array_equal(weighted.masses, repeated.masses)


def test_the_last_value_of_the_cdf_is_exactly_one():
    for weights in ([0.1] * 10, [1 / 3] * 3, [1e-300, 1.0], [3, 5, 7]):
        law = fp.Law(np.arange(len(weights)), weights)

        assert law.cumulative[-1] == 1.0
        assert law.quantile(1.0) == law.atoms[-1]


def test_a_law_cannot_be_changed():
    law = fp.Law.from_scores([1.0, 2.0])

    with pytest.raises(AttributeError, match="read-only"):
        law.atoms = np.zeros(2)
    for array in (law.atoms, law.masses, law.cumulative, law.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0


def test_building_a_law_leaves_the_callers_arrays_alone():
    atoms, masses = np.array([1.0, 2.0]), np.array([0.5, 0.5])

    fp.Law(atoms, masses)
    fp.Law.from_scores(atoms)
    atoms[0], masses[0] = 5.0, 9.0

    assert atoms[0] == 5.0
    assert masses[0] == 9.0


def test_negative_zero_is_zero():
    law = fp.Law.from_scores([-0.0, 1.0])

    assert not np.signbit(law.atoms[0])
    assert len(fp.Law.from_scores([-0.0, 0.0])) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool"])
def test_any_numeric_type_is_read(dtype):
    law = fp.Law.from_scores(np.array([0, 1, 1], dtype=dtype))

    assert law.mean == pytest.approx(2 / 3)


def test_the_repr_names_no_extreme():
    """An extreme is somebody's score."""
    assert repr(fp.Law.from_scores([0.125, 0.5, 0.875])) == "Law(3 atoms, mean 0.5)"

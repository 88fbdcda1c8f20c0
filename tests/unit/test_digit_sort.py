"""Sorting by digits gives what NumPy's sort gives."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

pytest.importorskip("numba")

from fedparity.sketches import compiled
from fedparity.sketches.numba_kernel import NumbaKernel

scores = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, 1.0, -1.0, 5e-324]
)


@given(arrays(np.float64, st.integers(0, 60), elements=scores))
def test_any_floats_are_put_in_order(values):
    """Denormals, both ends of the floats, negative ones and ties; zeros are equal, whatever their sign."""
    found = values.copy()

    compiled.sort(found.view(np.uint64), np.empty(found.size, np.uint64))

    assert np.array_equal(found, np.sort(values))


def test_the_kernel_sorts_many_and_few_alike():
    random = np.random.default_rng(3)
    for size in (10, 10_000):
        values = random.standard_cauchy(size)
        found = values.copy()

        NumbaKernel().sort(found)

        assert found.tolist() == sorted(values.tolist())

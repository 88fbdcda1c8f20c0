"""Names beside curves: they meet neither a curve nor each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedparity.plots.group_curves import free_spots

increasing = st.lists(st.floats(0, 1), min_size=2, max_size=30).map(
    lambda values: (np.sort(values), np.linspace(0, 1, len(values)))
)
names = st.floats(0.02, 0.4)
heights = st.floats(0.05, 0.2)


@given(st.lists(st.tuples(increasing, names), min_size=1, max_size=5), st.booleans(), heights)
def test_names_meet_no_curve_and_no_other_name(items, steep, height):
    curves = [curve if steep else (curve[1], curve[0]) for curve, _ in items]

    spots = free_spots(curves, [width for _, width in items], steep=steep, height=height)

    for i, spot in enumerate(spots or ()):
        left, right, low, high = spot.box
        assert left >= 0
        assert right <= 1
        assert low >= 0
        assert high <= 1
        assert not any(spot.meets(other) for other in spots[:i])
        for x, y in curves:
            if steep:  # on the left of all curves at its lower edge, or on the right at its upper
                at = np.interp(low if spot.before else high, y, x)
                assert right <= at if spot.before else left >= at
            else:
                at = np.interp(spot.at[0], x, y)
                assert low >= at if spot.before else high <= at


def test_names_that_do_not_fit_are_not_placed():
    line = np.linspace(0, 1, 5)

    assert free_spots([(line, line)], [1.1], steep=True) is None


def test_the_outer_curves_are_named_on_their_own_sides():
    line = np.linspace(0, 1, 5)
    curves = [(0.3 + line / 10, line), (0.6 + line / 10, line)]

    first, second = free_spots(curves, [0.1, 0.1], steep=True)

    assert first.before
    assert not second.before

"""The strip of the first screen places the numbers of the result, and no other."""

from dataclasses import replace

import pytest
from tests.report_audits import AUDITS, named_audit, synthetic

from fedparity.laws.bounds import Bounds
from fedparity.report.html.page_figures import strip


@pytest.mark.parametrize("name", [*AUDITS])
def test_everything_lies_inside(name):
    drawn = strip(named_audit(name))
    places = [
        *(dot.x for dot in drawn.dots), drawn.value, *drawn.combined,
        *(place for place, _ in drawn.ticks),
    ]  # fmt: skip

    assert all(0 <= place <= 100 for place in places)


def test_places_are_proportional_to_the_numbers():
    result = named_audit("above")
    drawn = strip(result)
    (place, number) = drawn.ticks[-1]

    worst, level = result.magnitudes.worst_pair, result.disparity.review_level
    assert drawn.review / place == pytest.approx(level / number, rel=1e-2, abs=1e-4)
    assert drawn.value / place == pytest.approx(worst.corrected / number, rel=1e-2)


def test_a_level_of_squares_is_drawn_beside_the_disparity():
    result = named_audit("squared")
    drawn = strip(result)
    (place, number) = drawn.ticks[-1]

    assert drawn.value / place == pytest.approx(result.disparity.corrected / number, rel=1e-2)
    assert {dot.path for dot in drawn.dots} == {f"/silos/{i}/disparity" for i in range(5)}


def test_up_to_sixty_silos_each_has_its_dot():
    result = synthetic(60, redraws=20)

    paths = {dot.path for dot in strip(result).dots}

    assert paths == {f"/silos/{index}/wasserstein" for index in range(60)}


def test_beyond_sixty_silos_dots_gather():
    drawn = strip(synthetic(300, redraws=20))

    assert drawn.gathered
    assert len(drawn.dots) <= 201
    assert {dot.path for dot in drawn.dots} == {""}


def test_bounds_far_out_do_not_squeeze_the_rest():
    """Few levels of a sketch leave the guaranteed error large."""
    result = named_audit("above")
    found = result.magnitudes.worst_pair
    wide = replace(found, combined=Bounds(0.0, 9 * found.combined.upper))
    drawn = strip(replace(result, magnitudes=replace(result.magnitudes, worst_pair=wide)))

    assert drawn.beyond
    assert drawn.combined[1] == 100
    assert max(dot.x for dot in drawn.dots) > 30


def test_bounds_that_are_near_are_shown_whole():
    drawn = strip(named_audit("above"))

    assert not drawn.beyond
    assert drawn.combined[1] < 100


def test_dots_at_one_place_do_not_cover_each_other():
    result = synthetic(names=("a", "b", "c"))
    same = result.to_dict()
    for silo in same["silos"]:
        silo["wasserstein"] = 0.1
    drawn = strip(type(result).from_dict(same))

    assert len({dot.lane for dot in drawn.dots}) == 3

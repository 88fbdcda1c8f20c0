"""Two figures side by side on the page are small: their texts stay inside, and apart from each other."""

from itertools import combinations

import pytest
from matplotlib.text import Text
from tests.unit.plots.results import make_result

from fedparity.plots import GroupCDFDisplay, GroupDensityDisplay, GroupQuantileDisplay

HALF = 3.4
"""Inches, as the page draws them."""


def boxes(figure):
    """The places of all names and titles, but not of the numbers at the axes."""
    figure.draw_without_rendering()
    [ax] = figure.axes
    named = [each for each in ax.get_children() if isinstance(each, Text) and each.get_text()]
    texts = [*named, ax.xaxis.label, ax.yaxis.label]
    return {text.get_text(): text.get_window_extent() for text in texts}


@pytest.mark.parametrize("display", [GroupCDFDisplay, GroupDensityDisplay, GroupQuantileDisplay])
@pytest.mark.parametrize("groups", [("A", "B"), ("A", "B", "C"), ("women", "men")])
@pytest.mark.parametrize("steps", [0, 9])
def test_texts_of_small_figures_are_whole_and_apart(display, groups, steps):
    drawn = display.from_audit(make_result(groups=groups, steps=steps), width=HALF)

    found = boxes(drawn.figure_)
    page = drawn.figure_.bbox
    for name, box in found.items():
        assert page.x0 <= box.x0, name
        assert page.y0 <= box.y0, name
        assert box.x1 <= page.x1, name
        assert box.y1 <= page.y1, name
    for (first, one), (second, other) in combinations(found.items(), 2):
        assert not one.overlaps(other), (first, second)

"""The small parts of figures: units, names, numbers, rows, and the marks that they place."""

from itertools import pairwise

import numpy as np
import pytest
from tests.unit.plots.results import make_equal, make_result, make_summed

from fedparity import text as report_numbers
from fedparity.plots import (
    AttributionDisplay,
    CellCountDisplay,
    DecompositionDisplay,
    GroupCDFDisplay,
    GroupDensityDisplay,
    GroupQuantileDisplay,
    InfluenceDisplay,
    LocalForestDisplay,
    UncertaintyDisplay,
)
from fedparity.plots.silo_forest import silo_rows
from fedparity.plots.style import Units, group_style, shortened
from fedparity.text import number, span


def marks(display):
    """The artists of a display by the place in the result that they show."""
    held = [artist for artist in display.ax_.get_children() if artist.get_gid()]
    return {artist.get_gid().removeprefix("at:"): artist for artist in held}


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def bar_ends(bar):
    return bar.get_x(), bar.get_x() + bar.get_width()


@pytest.mark.parametrize("size", [1e-320, 1e-200, 4e-5, 0.02, 7.0, 1e7, 1e300])
def test_an_axis_in_units_has_short_numbers(size):
    units = Units.for_values([0.0, None, -size])

    assert 1e-3 <= abs(units.place(size)) < 1e6
    assert ("×10" in units.label("score")) == (units.exponent != 0)


def test_numbers_are_written_as_in_the_report():
    for value in (0.0, 0.0421053, -123456.0, 4.2e-9, 1e300, 0.99999, -0.5, 1000.4, 999.6):
        assert number(value) == report_numbers.number(value)
    ends = make_result().disparity.interval
    assert span(ends) == report_numbers.span(ends)


def test_a_long_name_keeps_its_ends():
    assert shortened("x" * 50 + "12", 20).endswith("x12")
    assert len(shortened("x" * 500, 20)) == 20
    assert shortened("a\nb\x00c\ud800") == "a b c"


def test_twenty_groups_have_twenty_looks():
    assert len({group_style(i) for i in range(20)}) == 20


def test_neighboring_groups_differ_in_lightness():
    """In gray too: the luminance of two groups one after the other is at least 5 % apart."""
    light = [lightness(group_style(i).color) for i in range(10)]

    assert min(abs(a - b) for a, b in pairwise(light)) > 5


def lightness(color):
    """L* of CIELAB, from 0 to 100."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16


@pytest.mark.parametrize("position", range(10))
def test_colors_and_the_names_in_them_stand_out_from_white(position):
    def contrast(color):
        return 1.05 / (((lightness(color) + 16) / 116) ** 3 + 0.05)

    assert contrast(group_style(position).color) >= 3
    assert contrast(group_style(position).text) >= 4.5


def test_up_to_sixty_silos_have_a_row_each():
    rows = silo_rows([*range(59), None])

    assert sorted(rows.places) == list(range(60))
    assert rows.gap is None
    assert rows.above[-1] == 59


def test_beyond_sixty_the_extremes_have_one():
    keys = [float(i) for i in range(200)] + [None] * 30

    rows = silo_rows(keys)

    assert rows.above == tuple(range(199, 179, -1))
    assert rows.below[:20] == tuple(range(19, -1, -1))
    assert all(keys[i] is None for i in rows.below[20:])
    assert len(rows.places) + len(rows.hidden) == 230
    assert sorted(rows.places.values()) == [r for r in range(rows.height) if r != rows.gap]


def test_silos_are_counted_even_if_nearly_none_can_be_compared():
    rows = silo_rows([1.0, 2.0] + [None] * 100)

    assert rows.above == (1, 0)
    assert len(rows.places) + len(rows.hidden) == 102


def test_the_waterfall_s_steps_join_and_end_at_the_disparity():
    result = make_result()

    held = marks(DecompositionDisplay.from_audit(result))

    mix, bar, rest, total = (
        bar_ends(held[f"/{place}"])
        for place in (
            *("decomposition/v_mix", "decomposition/v_bar", "decomposition/remainder"),
            "disparity/value",
        )
    )
    assert mix == pytest.approx((0, result.decomposition.v_mix))
    assert bar == pytest.approx((mix[1], mix[1] + result.decomposition.v_bar))
    assert rest == pytest.approx((bar[1], result.disparity.value))
    assert total == pytest.approx((0, result.disparity.value))


def test_for_order_1_there_are_no_steps():
    result = make_result(order=1)

    held = marks(DecompositionDisplay.from_audit(result))

    assert "/decomposition/remainder" not in held
    assert bar_ends(held["/decomposition/v_bar"])[0] == 0
    assert [line.get_xdata() for line in bracket(DecompositionDisplay.from_audit(result))]


def bracket(display):
    return [line for line in display.ax_.lines if len(line.get_xdata()) == 6]


@pytest.mark.parametrize("order", [1, 2])
def test_the_bracket_spans_what_is_proven(order):
    result = make_result(order=order)

    (line,) = bracket(DecompositionDisplay.from_audit(result))

    assert min(line.get_xdata()) == pytest.approx(result.decomposition.lower)
    assert max(line.get_xdata()) == pytest.approx(result.decomposition.upper)


def test_the_terms_are_not_called_selection():
    said = " ".join(texts(DecompositionDisplay.from_audit(make_result())))

    assert "how far silos differ" in said
    assert "selection" not in said


def test_the_parts_of_the_attribution_start_at_zero():
    result = make_result()

    held = marks(AttributionDisplay.from_audit(result))

    for name in ("selection", "within"):
        value = getattr(result.attribution, name)
        assert sorted(bar_ends(held[f"/attribution/{name}"])) == pytest.approx(sorted((0, value)))


def test_the_forest_says_which_silos_cannot_be_compared():
    withheld, none = (
        LocalForestDisplay.from_audit(make_result(lacking=said)) for said in ("withheld", "none")
    )

    assert "B withheld (small)" in texts(withheld)
    assert "lacks B" in texts(none)


def test_the_forest_of_many_silos_says_how_many_it_leaves_out():
    result = make_result(silos=75)

    display = LocalForestDisplay.from_audit(result)

    assert "… 35 more in the table" in texts(display)
    dots = [at for at in marks(display) if at.endswith("/disparity")]
    assert len(dots) == 40


def test_the_forest_has_the_unit_of_the_headline():
    """In points there is no interval of a silo to draw."""
    squared = LocalForestDisplay.from_audit(make_result())
    points = LocalForestDisplay.from_audit(make_result(review_level=0.05, review_unit="points"))

    assert {"/silos/0/disparity", "/disparity/value"} <= marks(squared).keys()
    assert {"/silos/0/wasserstein", "/magnitudes/worst_pair/corrected"} <= marks(points).keys()
    assert "/silos/0/disparity" not in marks(points)
    assert points.ax_.get_xlabel() == "score points W₂ inside the silo"
    assert len(points.ax_.lines) == len(squared.ax_.lines) - len(make_result().silos)


def test_without_a_review_level_none_is_drawn():
    display = LocalForestDisplay.from_audit(make_result(review_level=None))

    assert "/disparity/review_level" not in marks(display)
    assert not [text for text in texts(display) if "review" in text]


def test_a_dot_s_area_is_the_number_of_records():
    result = make_result()
    held = marks(LocalForestDisplay.from_audit(result))

    records = [sum(silo.n.values()) for silo in result.silos]
    areas = [held[f"/silos/{i}/disparity"].get_markersize() ** 2 for i in range(len(result.silos))]

    assert np.array(areas) / max(areas) == pytest.approx(np.array(records) / max(records))


def test_withheld_cells_are_hatched_and_say_so():
    withheld, none = (
        CellCountDisplay.from_audit(make_result(lacking=said)) for said in ("withheld", "none")
    )

    assert marks(withheld)["/silos/4/n/B"].get_hatch()
    assert not marks(withheld)["/silos/3/n/B"].get_hatch()
    assert texts(withheld).count("withheld") == 1
    assert not marks(none)["/silos/4/n/B"].get_hatch()
    assert "0" in texts(none)


def test_a_silo_without_which_nothing_is_left_says_so():
    assert any(
        "nothing is left to compare" in text
        for text in texts(InfluenceDisplay.from_audit(make_result(silos=1)))
    )


def test_a_silo_that_was_not_seen_is_not_said_to_be_the_only_one():
    said = texts(InfluenceDisplay.from_audit(make_summed()))

    assert said.count("not seen: secure sum") == 5
    assert not [text for text in said if "nothing is left" in text]


def test_what_a_secure_sum_does_not_hold_is_not_drawn():
    """Only the whole remains, and the figure says that its terms and parts are not known."""
    result = make_summed()

    for display, words in (
        (DecompositionDisplay, "terms not known"),
        (AttributionDisplay, "its parts are not known"),
    ):
        shown = display.from_audit(result)
        assert set(marks(shown)) == {"/disparity/value"}
        assert words in texts(shown)


def test_densities_hold_all_of_each_group():
    """The shares of the bins add up to one, also where scores have ties."""
    for result in (make_result(steps=5), make_equal(), make_result()):
        for line in GroupDensityDisplay.from_audit(result).ax_.lines:
            if line.get_gid():
                assert sum(line.get_ydata()) == pytest.approx(1, abs=0.02)


def test_a_bound_far_beyond_the_others_leaves_the_axes():
    """A missing silo of unknown size makes the outer bounds those of any data."""
    result = make_result(missing=True)
    assert result.disparity.outer.upper > 5 * result.disparity.interval.upper

    display = UncertaintyDisplay.from_audit(result)

    assert display.ax_.get_xlim()[1] < result.disparity.outer.upper
    assert number(result.disparity.outer.upper) in " ".join(texts(display))


@pytest.mark.parametrize(
    ("display", "style"),
    [(GroupCDFDisplay, "steps-post"), (GroupQuantileDisplay, "steps-pre")],
    ids=["cdf", "quantiles"],
)
def test_scores_on_a_grid_have_steps_and_others_lines(display, style):
    """Between two points of the grid there is nobody, so no curve may rise there."""
    for result, expected in ((on_a_grid(), style), (make_result(), "default")):
        held = marks(display.from_audit(result))

        assert {line.get_drawstyle() for line in held.values()} == {expected}


def on_a_grid(**options):
    return make_result(steps=10, score_step=0.1, **options)


@pytest.mark.parametrize("groups", [("A", "B"), tuple("ABCDE")], ids=len)
def test_scores_on_a_grid_have_bars_at_its_points(groups):
    """One for each group and point, beside each other, and all of the group in them."""
    result = on_a_grid(groups=groups)
    display = GroupDensityDisplay.from_audit(result)

    bars = display.ax_.containers
    assert len(bars) == len(groups)
    for place, held in enumerate(bars):
        assert {bar.get_gid() for bar in held} == {f"at:/curves/groups/{place}/quantiles"}
        assert sum(bar.get_height() for bar in held) == pytest.approx(1)
        for point, bar in enumerate(held):
            start, end = bar_ends(bar)
            assert 0.1 * point - 0.05 < start < end < 0.1 * point + 0.05
    for left, right in pairwise(bars):
        assert bar_ends(left[3])[1] == pytest.approx(bar_ends(right[3])[0])


def test_bars_have_the_shares_of_the_scores():
    """Known from the quantiles to one of their levels."""
    result = on_a_grid(silos=1)
    law = np.array(result.curves.groups[0].quantiles)

    held = GroupDensityDisplay.from_audit(result).ax_.containers[0]

    for point, bar in enumerate(held):
        share = np.mean(np.abs(law - 0.1 * point) < 0.05)
        assert bar.get_height() == pytest.approx(share, abs=0.015)


def test_of_a_fine_grid_a_few_points_share_a_bar():
    result = make_result(steps=500, score_step=0.002)

    bars = GroupDensityDisplay.from_audit(result).ax_.containers[0]

    assert 40 <= len(bars) <= 48
    assert sum(bar.get_height() for bar in bars) == pytest.approx(1)


@pytest.mark.parametrize(
    ("unit", "base", "level"),
    [
        ("squared", "disparity", 0.05),
        ("points", "magnitudes/worst_pair", 0.05),
        ("share", "magnitudes/worst_pair", 0.1),
        ("sd", "magnitudes/worst_pair", None),
    ],
)
def test_the_headline_s_interval_is_drawn_first(unit, base, level):
    """In the unit of the review level; then combined, then the outer bounds."""
    result = make_result(scale=2.0, review_level=0.05, review_unit=unit)
    display = UncertaintyDisplay.from_audit(result)
    held = marks(display)

    rows = [held[f"/{base}/{name}"].get_ydata()[0] for name in ("interval", "combined", "outer")]
    assert rows == [0, 1, 2]
    line = held.get("/disparity/review_level")
    assert (None if line is None else line.get_xdata()[0]) == level


def test_the_terms_have_no_interval():
    said = texts(DecompositionDisplay.from_audit(make_result()))

    assert [text for text in said if " to " in text] == [
        text for text in said if text.startswith("proven: ")
    ]

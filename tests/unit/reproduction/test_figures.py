"""Figures are drawn without a warning, the same bytes each time, legible without color."""

import io
import re

import numpy as np
import pytest
from tests.unit.reproduction.samples import dataset, intensity, study

from fedparity.experiments.reproduction.captions import FIGURES
from fedparity.experiments.reproduction.figures.boxes import draw_boxes
from fedparity.experiments.reproduction.figures.by_silos import (
    draw_budget,
    draw_error,
    draw_reliability,
)
from fedparity.experiments.reproduction.figures.centralised import draw_centralised
from fedparity.experiments.reproduction.figures.heat_map import draw_heat_map
from fedparity.experiments.reproduction.figures.intensity import draw_intensity
from fedparity.experiments.reproduction.figures.laws import beta_kernel_density, draw_laws
from fedparity.experiments.reproduction.figures.style import GROUPS, SILO_STYLES, style
from fedparity.experiments.reproduction.figures.synthetic import draw_coarse, draw_convergence
from fedparity.experiments.reproduction.figures.writing import figure_files

KINDS = {
    "laws": lambda: draw_laws(dataset(), span=(0, 1)),
    "original-laws": lambda: draw_laws(dataset(whole=True), span=(0, 10.5), whole=True),
    "error": lambda: draw_error(study()),
    "boxes": lambda: draw_boxes(study()),
    "reliability": lambda: draw_reliability(study()),
    "k95": lambda: draw_heat_map(study()),
    "intensity": lambda: draw_intensity(intensity()),
    "centralised": lambda: draw_centralised(study()),
    "budget": lambda: draw_budget(study()),
    "coarse": lambda: draw_coarse(intensity((1, 2), regimes=("positive",), silos=(5,))),
    "convergence": lambda: draw_convergence(study()),
}


def lightness(color):
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_kind_of_figure_has_a_caption_and_a_test():
    assert KINDS.keys() == FIGURES.keys()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_has_the_same_bytes_each_time_and_no_date(kind):
    first, second = figure_files(KINDS[kind]), figure_files(KINDS[kind])

    assert first == second
    assert b"<dc:date>" not in first["svg"]
    assert b"CreationDate" not in first["pdf"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_a_figure_is_cut_off(kind):
    with style():
        figure = KINDS[kind]()
        figure.savefig(io.BytesIO(), format="svg")
        cut = [text.get_text() for text in shown_texts(figure) if not within(text, figure)]

    assert cut == []


def shown_texts(figure):
    """The texts that can be seen: ticks beyond the limits of their axis have texts too."""
    yield from figure.texts
    for legend in figure.legends:
        yield from legend.get_texts()
    for axes in figure.axes:
        yield from (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            yield from (tick.label1 for tick in ticks if tick.label1.get_visible())


def within(text, figure):
    if not text.get_text():
        return True
    box, whole = text.get_window_extent(), figure.bbox.padded(1.0)
    return whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1


def test_numbers_of_silos_can_be_told_apart_in_grey():
    shades = [lightness(look["color"]) for look in SILO_STYLES]

    assert shades == sorted(shades, reverse=True)
    assert min(-np.diff(shades)) > 0.04
    assert len({look["marker"] for look in SILO_STYLES}) == len(SILO_STYLES)


def test_groups_differ_by_more_than_color():
    assert GROUPS[0]["linestyle"] != GROUPS[1]["linestyle"]


def test_the_heat_map_prints_each_number():
    result = study([[0.3, 0.1, 0.1], [0.3, 0.005, 0.005], [0.005] * 3])
    with style():
        figure = draw_heat_map(result)

    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert texts == [[">50"] * 6, ["10"] * 6, ["5"] * 6]


def test_the_user_s_own_settings_play_no_part_and_stay():
    import matplotlib as mpl  # noqa: PLC0415

    before = figure_files(KINDS["k95"])
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9}):
        assert figure_files(KINDS["k95"]) == before
        assert mpl.rcParams["font.size"] == 30


def test_the_density_integrates_to_about_one():
    scores = np.random.default_rng(0).beta(2, 5, 4000)
    at = np.linspace(0, 1, 400)

    assert np.trapezoid(beta_kernel_density(scores, at), at) == pytest.approx(1, abs=0.02)


def test_coordinates_are_short_and_scales_of_letters_are_not():
    svg = figure_files(KINDS["error"])["svg"].decode()

    assert not re.search(r' d="[^"]*\d\.\d{3,}', svg)
    assert re.search(r"scale\(0\.\d{3,}", svg)

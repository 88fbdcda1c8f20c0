"""Figures are drawn without a warning, the same bytes each time, legible without color."""

import re
from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from reproduction.tests.samples import dataset, intensity, study, whole_scores

from fedparity_reproduction.experiments import FIGURES
from fedparity_reproduction.figure_style import GROUPS, SILO_STYLES, figure_files, style
from fedparity_reproduction.law_figures import beta_kernel_density, draw_laws
from fedparity_reproduction.study_figures import (
    draw_boxes,
    draw_budget,
    draw_centralized,
    draw_coarse,
    draw_convergence,
    draw_error,
    draw_heat_map,
    draw_intensity,
    draw_reliability,
)

KINDS = {
    "laws": lambda: draw_laws(dataset(), span=(0, 1)),
    "original-laws": lambda: draw_laws(whole_scores(), span=(0, 10.5), whole=True),
    "error": lambda: draw_error(study()),
    "boxes": lambda: draw_boxes(study()),
    "reliability": lambda: draw_reliability(study()),
    "k95": lambda: draw_heat_map(study()),
    "intensity": lambda: draw_intensity(intensity()),
    "centralized": lambda: draw_centralized(study()),
    "budget": lambda: draw_budget(study()),
    "coarse": lambda: draw_coarse(intensity((1, 2), regimes=("positive",), silos=(5,))),
    "convergence": lambda: draw_convergence(study(regimes=("random", "positive"))),
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
def test_no_text_of_a_figure_is_cut_off_or_over_another(kind):
    with style():
        figure = KINDS[kind]()
        figure.draw_without_rendering()
        texts = [text for text in shown_texts(figure) if text.get_text()]
        boxes = {(text.get_text(), i): text.get_window_extent() for i, text in enumerate(texts)}

    assert [name for name, box in boxes.items() if not within(box, figure.bbox)] == []
    over = [(a, b) for a, b in combinations(boxes, 2) if boxes[a].overlaps(boxes[b])]
    assert over == []


def test_long_labels_of_ticks_leave_room_for_the_name_of_the_axis():
    """Disparities of a few thousandths, as those of Law, have ticks of five decimals."""
    made = study()
    small = replace(made, estimates=made.estimates / 137.0, truth=made.truth / 137.0)
    with style():
        figure = draw_boxes(small)
        figure.draw_without_rendering()
        (name,) = figure.texts
        ticks = [label for axes in figure.axes[::3] for label in axes.get_yticklabels()]
        edge = name.get_window_extent().x1
        starts = [label.get_window_extent().x0 for label in ticks]

    assert max(len(label.get_text()) for label in ticks) >= len("0.00365")
    assert edge <= min(starts)


def test_texts_do_not_stand_among_the_lines():
    """What a line means is said by the legend or at the axis; heat maps print their numbers."""
    for kind in sorted(KINDS.keys() - {"k95"}):
        with style():
            figure = KINDS[kind]()
            figure.draw_without_rendering()
            inside = [
                text.get_text()
                for axes in figure.axes
                for text in axes.texts
                if axes.bbox.overlaps(text.get_window_extent())
            ]

        assert inside == []


def test_a_peak_that_hides_the_rest_is_drawn_on_a_log_scale():
    flat = dataset()
    steep = replace(flat, scores=flat.scores**12)
    scales = []
    for data in (flat, steep):
        with style():
            scales.append(draw_laws(data, span=(0, 1)).axes[0].get_yscale())

    assert scales == ["linear", "log"]


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


def within(box, whole):
    slack = 1.0
    return (
        whole.x0 - slack <= box.x0
        and box.x1 <= whole.x1 + slack
        and whole.y0 - slack <= box.y0
        and box.y1 <= whole.y1 + slack
    )


def test_numbers_of_silos_can_be_told_apart_in_gray():
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


@pytest.mark.slow
def test_the_user_s_own_settings_play_no_part_and_stay():
    before = figure_files(KINDS["k95"])
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9}):
        assert figure_files(KINDS["k95"]) == before
        assert mpl.rcParams["font.size"] == 30


def test_the_density_integrates_to_about_one():
    scores = np.random.default_rng(0).beta(2, 5, 4000)
    at = np.linspace(0, 1, 400)

    assert np.trapezoid(beta_kernel_density(scores, at), at) == pytest.approx(1, abs=0.02)


@pytest.mark.slow
def test_coordinates_are_short_and_scales_of_letters_are_not():
    svg = figure_files(KINDS["error"])["svg"].decode()

    assert not re.search(r' d="[^"]*\d\.\d{3,}', svg)
    assert re.search(r"scale\(0\.\d{3,}", svg)

"""What all displays keep: they draw any result, where they are told, and change nothing else."""

import base64
import json
import sys
import warnings

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from tests.unit.plots.results import SHAPES, make_result

import fedparity.plots as plots_package
from fedparity import AuditResult
from fedparity.errors import MissingExtraError
from fedparity.plots import Display, OutcomeDisplay, drawing

DISPLAYS = sorted(
    (
        each
        for name in plots_package.__all__
        if isinstance(each := getattr(plots_package, name), type)
        and issubclass(each, Display)
        and each is not Display
        and not issubclass(each, OutcomeDisplay)  # which need outcomes: test_outcome_figures.py
    ),
    key=lambda each: each.__name__,
)


def named(value):
    return getattr(value, "__name__", value)


def test_there_are_ten():
    assert len(DISPLAYS) == 10


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_any_result_is_drawn_without_a_warning(display, shape):
    shown = display.from_audit(SHAPES[shape]())

    made = drawing(shown, alt="what it shows", name="d")

    assert made.svg.startswith("<svg ")
    assert made.axes


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_caller_s_axes_are_used(display):
    figure = Figure()
    _, ax = figure.subplots(1, 2)

    shown = display.from_audit(make_result(), ax=ax)

    assert shown.ax_ is ax
    assert shown.figure_ is figure
    assert set(shown.axes_) <= {ax, *ax.child_axes}


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_new_figure_is_as_wide_as_asked_and_not_pyplot_s(display):
    shown = display.from_audit(make_result(), width=4.5)

    assert shown.figure_.get_figwidth() == 4.5
    assert shown.ax_.get_figure(root=True) is shown.figure_
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or shown.figure_ not in map(pyplot.figure, pyplot.get_fignums())


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_settings_of_matplotlib_stay_as_they_were(display):
    with mpl.rc_context({"font.size": 31.0, "text.parse_math": True}):
        before = dict(mpl.rcParams)

        drawing(display.from_audit(make_result()), alt="a", name="d")

        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_the_look_does_not_depend_on_settings_of_the_caller(display):
    plain = drawing(display.from_audit(make_result()), alt="a", name="d")

    with mpl.rc_context({"font.size": 31.0, "axes.edgecolor": "red", "xtick.color": "red"}):
        among_others = drawing(display.from_audit(make_result()), alt="a", name="d")

    assert among_others == plain


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_result_from_a_file_is_drawn_like_the_one_written(display):
    result = make_result(lacking="withheld", missing=True)

    again = AuditResult.from_dict(json.loads(result.to_json()))

    assert drawing(display.from_audit(again), alt="a", name="d") == drawing(
        display.from_audit(result), alt="a", name="d"
    )


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_notebook_shows_the_drawing(display):
    shown = display.from_audit(make_result())

    bundle, details = shown._repr_mimebundle_()

    assert bundle["image/svg+xml"].startswith("<svg ")
    assert 'fill="#ffffff"' in bundle["image/svg+xml"]  # also on a dark page
    assert "sans-serif" in bundle["image/svg+xml"]
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == repr(shown)
    assert details["image/png"]["alt"]
    assert repr(shown) == f"{display.__name__}()"


def test_names_are_not_read_as_mathematics_when_the_caller_saves(tmp_path):
    """A dollar sign of a name is drawn, although ticks and texts are made outside our style."""
    shown = plots_package.CellCountDisplay.from_audit(SHAPES["hard names"]())

    with warnings.catch_warnings(), mpl.rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message="Glyph")
        shown.figure_.savefig(tmp_path / "figure.svg")

    assert ">$a_1$<" in (tmp_path / "figure.svg").read_text("utf-8")


def test_without_matplotlib_the_fix_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(MissingExtraError, match=r"fedparity\[report\]"):
        plots_package.GroupCDFDisplay.from_audit(make_result())

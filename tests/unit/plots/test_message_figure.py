"""The figure of a message, and figures of arrays."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedparity as fp
from fedparity.plots import GroupCDFDisplay, MessageDisplay, drawing

RANDOM = np.random.default_rng(0)
TABLE = {"z": RANDOM.random(300).round(1), "g": np.repeat(["a", "b", "c"], [200, 95, 5])}


def message(**options):
    plan = fp.Plan(title="t", groups=("a", "b", "c"), score_range=(0, 1), **options)
    return fp.sketch(TABLE, plan=plan, silo="<s$>", score="z", group="g", ledger=False)


@pytest.mark.parametrize("options", [{}, {"score_step": 0.1}], ids=["mean", "counts"])
def test_every_value_that_leaves_has_a_mark(options):
    sent = message(**options)

    shown = MessageDisplay.from_message(sent)

    marks = sum(len(each.get_segments()) for each in shown.ax_.collections)
    assert (
        marks
        == sum(cell.levels for cell in sent.cells)
        == sent.to_frame("pandas")["value"].count()
    )
    assert [text.get_text() for text in shown.ax_.texts] == ["withheld (small)"]
    assert drawing(shown, alt="a", name="d").svg.startswith("<svg ")


def test_a_message_is_drawn_on_the_axes_of_a_caller_and_shown_in_a_notebook():
    ax = Figure().subplots()
    sent = message()

    assert MessageDisplay.from_message(sent, ax=ax).ax_ is ax
    assert "image/png" in MessageDisplay.from_message(sent)._repr_mimebundle_()[0]
    page = sent._repr_html_()
    assert "&lt;s$&gt;" in page
    assert "small" in page


def test_arrays_are_drawn_as_their_audit_is():
    options = {"score_range": (0, 1), "redraws": 20}
    result = fp.audit(TABLE, score="z", group="g", **options)

    drawn = GroupCDFDisplay.from_scores(TABLE["z"], sensitive_features=TABLE["g"], **options)
    audited = GroupCDFDisplay.from_audit(result)

    for own, other in zip(drawn.ax_.lines, audited.ax_.lines, strict=True):
        assert np.array_equal(own.get_xydata(), other.get_xydata())


def test_plans_are_tables():
    plan = fp.Plan(title="t", groups=("a", "b"), score_range=(0, 1))
    settings = dict(plan.to_frame("pandas").itertuples(index=False))

    assert settings["groups"] == '["a","b"]'
    assert settings["disclosure.minimum_cell"] == "11"
    assert "minimum_cell" in plan._repr_html_()
    size = fp.plan_size(error=0.5, replicates=20)
    assert len(size.to_frame("pandas")) == len(size.table)

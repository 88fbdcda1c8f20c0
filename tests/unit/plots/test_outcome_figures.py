"""Figures of outcomes: the numbers of the result in their places, and errors where there are none."""

import pytest
from matplotlib.figure import Figure
from tests.outcome_audits import outcome_result
from tests.unit.plots.results import make_result

from fedparity import AuditResult
from fedparity.errors import OptionError
from fedparity.plots import CalibrationDisplay, RateDisplay, ROCDisplay, drawing

DISPLAYS = ROCDisplay, CalibrationDisplay, RateDisplay


def marks(display):
    held = [artist for artist in display.ax_.get_children() if artist.get_gid()]
    return {artist.get_gid().removeprefix("at:"): artist for artist in held}


@pytest.mark.parametrize("by", [None, "sex", "region"])
@pytest.mark.parametrize("display", DISPLAYS)
def test_a_result_that_was_read_is_drawn(display, by):
    result = AuditResult.from_dict(outcome_result().to_dict())

    made = drawing(display.from_audit(result, by=by), alt="what it shows", name="d")

    assert made.svg.startswith("<svg ")


@pytest.mark.parametrize("display", DISPLAYS)
def test_a_caller_s_axes_are_used(display):
    ax = Figure().subplots()

    assert display.from_audit(outcome_result(), ax=ax).ax_ is ax


def test_the_curve_of_a_group_is_that_of_the_result():
    result = outcome_result()
    found = marks(ROCDisplay.from_audit(result, by="sex"))
    place = [table.by for table in result.tables].index(("sex",))
    curve = result.tables[place].outcome.groups[1].roc

    line = found[f"/tables/{place}/outcome/groups/1/roc/true_positive"]

    assert tuple(line.get_ydata()) == curve.true_positive
    assert tuple(line.get_xdata()) == curve.false_positive


def test_every_rate_has_its_mark():
    result = outcome_result()
    found = marks(RateDisplay.from_audit(result))
    rates = result.tables[0].outcome.thresholds[0].rates
    for row, kind in enumerate(rates):
        for position, group in enumerate(kind.groups):
            at = f"/tables/0/outcome/thresholds/0/rates/{row}/groups/{position}/rate"
            assert found[at].get_xdata()[0] == group.rate.value


@pytest.mark.parametrize("display", DISPLAYS)
def test_a_result_without_outcomes_is_refused_with_a_fix(display):
    with pytest.raises(OptionError, match="no outcomes by its groups") as caught:
        display.from_audit(make_result())

    assert "[outcome]" in caught.value.fix

"""The curves of a result: the laws that were compared, at fixed levels, from the sketches alone."""

import json

import numpy as np
import pytest
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table

import fedparity as fp
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import SILO_LEVELS
from fedparity.engines.in_process import audit
from fedparity.errors import ResultError


def of_a_table(**options):
    plan = make_plan(**({"levels": 7} | options))
    return audit(plan, make_messages(plan, *make_table(3)), redraws=20)


@pytest.mark.parametrize("sketch", ["quantile", "mean"])
def test_a_group_s_curve_is_the_quantile_function_of_its_mixture(sketch):
    """At every level but 0 it is inf{z : F(z) ≥ u} of the mixture; at 0 the smallest atom."""
    result = of_a_table(sketch=sketch, estimator="exact")

    laws = fp.theory.mixtures(result.sketches())
    for curve in result.curves.groups:
        law = laws[curve.group]
        expected = [law.atoms[0], *law.quantile(np.array(result.curves.levels[1:]))]
        assert expected == list(curve.quantiles)
        assert law.atoms[-1] == curve.quantiles[-1]


@pytest.mark.parametrize("order", [1, 2])
def test_the_center_is_the_barycenter_of_the_mixtures(order):
    """Order 2 has the mean of the quantiles at each level, order 1 the lower weighted median."""
    result = of_a_table(order=order)

    federation = result.sketches()
    whole = fp.theory.barycenter(fp.theory.mixtures(federation), federation.weights, order=order)
    levels = np.array(result.curves.levels[1:])
    assert whole.quantile(levels - 1e-9) == pytest.approx(result.curves.center[1:], abs=1e-15)
    assert whole.atoms[0] == pytest.approx(result.curves.center[0], abs=1e-15)


def test_a_silo_has_the_quantiles_of_the_cells_it_released():
    """They are those of the step law of the cell, and null where it released no values."""
    plan = make_plan(levels=20, silos=["north", "south"], disclosure={"rounding": 0})
    scores = np.random.default_rng(0).random(300)
    cells = {
        "north": [make_cell(plan, "A", scores), make_cell(plan, "B", scores**2)],
        "south": [make_cell(plan, "A", scores / 2), SketchedCell.kept_back("B", "small")],
    }
    messages = [make_message(plan, silo, held) for silo, held in cells.items()]

    north, south = audit(plan, messages, redraws=20).silos

    released = cells["north"][1]
    assert tuple(fp.Law.from_scores(released.values).quantile(SILO_LEVELS)) == north.quantiles["B"]
    assert len(south.quantiles["A"]) == 5
    assert south.quantiles["B"] is None


def test_the_levels_are_the_ones_that_the_schema_names():
    assert SILO_LEVELS == (0.05, 0.25, 0.5, 0.75, 0.95)
    assert of_a_table().curves.levels == tuple(i / 200 for i in range(201))


def test_at_level_0_stands_the_smallest_atom_however_small_its_mass():
    plan = make_plan(levels=1, sketch="quantile")
    cells = {
        "few": [SketchedCell(group=group, count=1, values=[0.1]) for group in plan.groups],
        "many": [SketchedCell(group=group, count=9999, values=[0.7]) for group in plan.groups],
    }
    messages = [make_message(plan, silo, held) for silo, held in cells.items()]

    curves = audit(plan, messages, redraws=20).curves

    assert curves.groups[0].quantiles[:2] == (0.1, 0.7)
    assert curves.center[:2] == (0.1, 0.7)


def test_the_curves_survive_a_round_trip():
    result = of_a_table(order=1)

    again = AuditResult.from_dict(json.loads(result.to_json()))

    assert again.curves == result.curves
    assert again.silos[0].quantiles == result.silos[0].quantiles


def broken(result, change):
    document = json.loads(result.to_json())
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.pop("curves"), "lacks the fields 'curves'"),
        (lambda d: d["silos"][0].pop("quantiles"), "lacks the fields 'quantiles'"),
        (lambda d: d["curves"]["center"].pop(), r"curves\.center"),
        (lambda d: d["curves"]["levels"].pop(), r"curves\.levels"),
        (lambda d: d["curves"].update(levels=[]), r"curves\.levels"),
        (lambda d: d["curves"]["levels"].insert(1, 0), r"curves\.levels"),
        (lambda d: d["curves"]["groups"].reverse(), r"curves\.groups"),
        (lambda d: d["curves"]["groups"][1]["quantiles"].reverse(), r"groups\[1\]\.quantiles"),
        (lambda d: d["silos"][0]["quantiles"]["A"].pop(), "quantiles of a silo"),
        (lambda d: d["silos"][0]["quantiles"].update(Z=None), "quantiles of a silo"),
    ],
)
def test_curves_that_are_none_are_refused(change, where):
    with pytest.raises(ResultError, match=where):
        AuditResult.from_dict(broken(of_a_table(), change))

"""An audit from messages: the same numbers as from the pooled table, whatever the order."""

import math

import numpy as np
import pytest
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table
from tests.paper.algorithm_1 import one_shot_audit
from tests.paper.algorithm_1 import sketch as literal_sketch

import fedparity as fp
from fedparity.auditing.audit import audit
from fedparity.protocol.sketched_cell import SketchedCell


def audited(plan, table, **options):
    return audit(plan, make_messages(plan, *table), **({"redraws": 20} | options))


@pytest.mark.parametrize("sketch", ["quantile", "mean"])
@pytest.mark.parametrize("estimator", ["grid", "exact"])
@pytest.mark.parametrize("order", [1, 2])
def test_without_rules_the_numbers_are_those_of_the_pooled_table(order, estimator, sketch):
    """Bit for bit: nothing is lost between a table and its messages."""
    scores, groups, silos = make_table(1)
    plan = make_plan(order=order, estimator=estimator, sketch=sketch, levels=20)
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=silos, levels=20, kind=sketch
    )
    method = fp.Method(order=order, estimator=estimator, levels=20)

    result = audited(plan, (scores, groups, silos))

    expected = fp.estimate(federation, method)
    terms, parts = fp.decompose(federation, method), fp.attribute(federation, method)
    assert result.disparity.value == expected.disparity
    assert result.heterogeneity.value == expected.heterogeneity
    assert result.decomposition.v_mix == terms.v_mix
    assert result.decomposition.v_bar == terms.v_bar
    assert result.decomposition.remainder == getattr(terms, "remainder", None)
    assert (result.decomposition.lower, result.decomposition.upper) == (terms.lower, terms.upper)
    assert (result.attribution.selection, result.attribution.within) == (
        parts.selection,
        parts.within,
    )
    assert [each.influence for each in result.attribution.silos] == [
        each.change for each in fp.influences(federation, method)
    ]
    assert [pair.wasserstein for pair in result.pairs] == [
        pair.wasserstein for pair in fp.pairs(federation, method)
    ]
    assert [silo.disparity for silo in result.silos] == [
        local.disparity for local in fp.local_audits(federation, method)
    ]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_without_rules_the_numbers_are_those_of_algorithm_1(seed, order):
    """The brute-force algorithm in fractions, which shares no code with the library."""
    scores, groups, silos = make_table(seed, size=60)
    cells = {
        (silo, group): scores[(silos == silo) & (groups == group)].tolist()
        for silo in np.unique(silos)
        for group in "AB"
    }
    sketches = {key: literal_sketch(own, 5) for key, own in cells.items() if own}
    expected = one_shot_audit(sketches, order)

    result = audited(make_plan(order=order, levels=5), (scores, groups, silos))

    assert result.disparity.value == pytest.approx(float(expected.disparity), rel=1e-13)
    assert result.heterogeneity.value == pytest.approx(float(expected.heterogeneity), rel=1e-13)
    assert result.decomposition.v_mix == pytest.approx(float(expected.v_mix), rel=1e-12)
    assert result.decomposition.v_bar == pytest.approx(float(expected.v_bar), rel=1e-12)


def test_the_order_of_the_messages_does_not_change_a_byte():
    plan = make_plan(levels=10, disclosure={})
    messages = make_messages(plan, *make_table(2, silos=6))

    forwards = audit(plan, messages, redraws=20).to_json()

    assert audit(plan, reversed(messages), redraws=20).to_json() == forwards
    assert audit(plan, messages[3:] + messages[:3], redraws=20).to_json() == forwards


def test_messages_may_be_files(tmp_path):
    plan = make_plan(levels=10)
    messages = make_messages(plan, *make_table(3))
    paths = [tmp_path / f"{message.silo}.json" for message in messages]
    for message, path in zip(messages, paths, strict=True):
        message.write(path)

    from_files = audit(plan, [paths[0], str(paths[1]), *messages[2:]], redraws=20)

    assert from_files == audit(plan, messages, redraws=20)


def test_a_message_that_does_not_answer_the_plan_is_refused_not_left_out():
    plan = make_plan(levels=10)
    messages = make_messages(plan, *make_table(3))
    other = make_messages(make_plan(levels=11), *make_table(3))

    with pytest.raises(fp.FedparityError, match="plan"):
        audit(plan, [*messages[1:], other[0]])
    with pytest.raises(fp.FedparityError, match="s0"):
        audit(plan, [*messages, messages[0]])


def test_no_message_at_all_is_refused():
    with pytest.raises(fp.FederationError):
        audit(make_plan(), [])


def test_a_group_that_no_silo_released_is_refused_with_a_fix():
    plan = make_plan(disclosure={}, silos=["x", "y"])
    scores = np.linspace(0, 1, 50)
    cells = [make_cell(plan, "A", scores), make_cell(plan, "B", scores[:5])]

    with pytest.raises(fp.GroupError, match="no silo released group 'B'") as caught:
        audit(plan, [make_message(plan, "x", cells)])

    assert "'y'" in caught.value.message
    assert "missing messages" in caught.value.fix


def test_a_silo_that_withheld_everything_is_still_in_the_result():
    plan = make_plan(disclosure={})
    nothing = [SketchedCell.kept_back(group, "small") for group in "AB"]
    messages = [*make_messages(plan, *make_table(4)), make_message(plan, "tiny", nothing)]

    result = audit(plan, messages, redraws=20)
    tiny = result.silos[-1]

    assert result.silos_received == ("s0", "s1", "s2", "tiny")
    assert tiny.note == "A withheld (small), B withheld (small)"
    assert dict(tiny.n) == {"A": None, "B": None}
    assert tiny.disparity is None
    assert result.attribution.silos[-1].influence is None
    assert any("2 of 8 cells were withheld, by 'tiny'" in warning for warning in result.warnings)


def test_one_silo_is_an_audit_too():
    result = audited(make_plan(), make_table(5, silos=1))

    assert result.attribution.selection == 0
    assert result.attribution.silos[0].influence is None
    assert result.silos[0].disparity == result.disparity.value


def test_counts_may_be_weights():
    """A total weight that is whole travels as a whole number next to others that are not."""
    plan = make_plan(levels=2)
    cells = [
        SketchedCell(group="A", count=150.5, values=[0.1, 0.4]),
        SketchedCell(group="B", count=200, values=[0.3, 0.9]),
    ]

    result = audit(plan, [make_message(plan, "x", cells)], redraws=20)

    assert result.n == 350.5
    assert any("weights" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("level", "verdict"), [(None, "none"), (1e-6, "above"), (0.2, "below"), (0.01, "inconclusive")]
)
def test_the_verdict_compares_with_the_plan_s_review_level(level, verdict):
    result = audited(make_plan(review_level=level), make_table(6))

    assert result.disparity.verdict == verdict


def test_missing_silos_make_a_clear_verdict_inconclusive():
    """The sketches say above; a silo of unknown size could change that."""
    table = make_table(7)
    complete = make_plan(review_level=0.001)
    incomplete = make_plan(review_level=0.001, silos=["s0", "s1", "s2", "absent"])

    found = audited(incomplete, table)

    assert audited(complete, table).disparity.verdict == "above"
    assert found.disparity.verdict == "inconclusive"
    assert found.silos_missing == ("absent",)
    assert found.disparity.outer == (0.0, 0.25)
    assert any("1 of 4 silos sent nothing: 'absent'" in warning for warning in found.warnings)


def test_a_public_total_bounds_what_a_missing_silo_can_change():
    silos = ["s0", "s1", "s2", "absent"]
    small = make_plan(silos=silos, totals={"absent": 5})
    large = make_plan(silos=silos, totals={"absent": 500})
    table = make_table(7)

    near, far = (audited(plan, table).disparity for plan in (small, large))

    assert near.certificate == far.certificate
    assert near.outer.lower < near.certificate.lower
    assert far.outer.lower < near.outer.lower < near.outer.upper < far.outer.upper < 0.25


def test_rounded_values_widen_the_certificate():
    table = make_table(8)
    exact, rounded = (
        audited(
            make_plan(disclosure={"minimum_cell": 1, "records_per_level": 0, "rounding": r}), table
        )
        for r in (0.0, 0.01)
    )

    assert not exact.sketches().value_errors.any()
    assert rounded.sketches().value_errors == pytest.approx(0.005)
    assert rounded.disparity.certificate.lower < exact.disparity.certificate.lower
    assert rounded.disparity.certificate.upper > exact.disparity.certificate.upper


def test_progress_is_told_what_is_done():
    told = []
    plan = make_plan(levels=10)
    messages = make_messages(plan, *make_table(9))

    audit(plan, messages, redraws=20, progress=lambda *step: told.append(step))

    assert told[:3] == [(1, 3, "reading"), (2, 3, "reading"), (3, 3, "reading")]
    assert told[-1] == (20, 20, "redrawing")


def test_seed_and_confidence_are_stated_and_used():
    plan, table = make_plan(levels=10), make_table(10)
    narrow, wide = (audited(plan, table, confidence=c, redraws=200) for c in (0.5, 0.99))

    assert (wide.confidence, wide.seed, wide.redraws) == (0.99, 0, 200)
    assert wide.disparity.interval.lower < narrow.disparity.interval.lower
    assert audited(plan, table, seed=1).seed == 1


def test_intersections_are_groups():
    plan = make_plan(groups=(("F", True), ("M", False)), levels=4)
    cells = [
        SketchedCell(group=("F", True), count=40, values=[0.1, 0.2, 0.3, 0.4]),
        SketchedCell(group=("M", False), count=40, values=[0.3, 0.4, 0.5, 0.6]),
    ]

    result = audit(plan, [make_message(plan, "x", cells)], redraws=20)

    assert math.isclose(result.disparity.value, 0.01)
    assert result.to_dict()["silos"][0]["n"] == {'["F",true]': 40, '["M",false]': 40}
    assert fp.AuditResult.from_dict(result.to_dict()).silos[0].n["F", True] == 40

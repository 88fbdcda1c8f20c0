"""An audit from messages: the same numbers as from the pooled table, whatever the order."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table
from tests.paper.algorithm_1 import one_shot_audit
from tests.paper.algorithm_1 import sketch as literal_sketch

import fedparity as fp
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result_parts import Verdicts
from fedparity.engines.in_process import audit
from fedparity.federated.estimate import Method
from fedparity.uncertainty.assessment import assess, assess_silos


def said(result, code):
    """The sentence of a warning, by its code."""
    return " ".join(warning.text for warning in result.warnings if warning.code == code)


def audited(plan, table, **options):
    return audit(plan, make_messages(plan, *table), **({"redraws": 20} | options))


@pytest.mark.parametrize("sketch", ["quantile", "mean"])
@pytest.mark.parametrize("estimator", ["grid", "exact"])
@pytest.mark.parametrize("order", [1, 2])
def test_without_rules_the_numbers_are_those_of_the_pooled_table(order, estimator, sketch):
    """Bit for bit: nothing is lost between a table and its messages.

    Mean squares of messages are sums without any rounding error; those of a table in memory are not.
    """
    scores, groups, silos = make_table(1)
    plan = make_plan(order=order, estimator=estimator, sketch=sketch, levels=20)
    sketches = fp.Federation.from_scores(
        scores, groups=groups, silos=silos, levels=20, kind=sketch
    )
    federation = fp.Federation.from_cells(sketches.cells, score_range=(0.0, 1.0))
    method = fp.Method(order=order, estimator=estimator, levels=20)

    result = audited(plan, (scores, groups, silos))

    expected = fp.theory.estimate(federation, method)
    terms, parts = fp.theory.decompose(federation, method), fp.theory.attribute(federation, method)
    found = [
        result.disparity.value,
        result.heterogeneity.value,
        result.decomposition.v_mix,
        result.decomposition.v_bar,
        result.decomposition.lower,
        result.decomposition.upper,
        result.attribution.selection,
        result.attribution.within,
        *(each.influence for each in result.attribution.silos),
        *(pair.wasserstein for pair in result.pairs),
        *(silo.disparity for silo in result.silos),
    ]
    wanted = [
        expected.disparity,
        expected.heterogeneity,
        terms.v_mix,
        terms.v_bar,
        terms.lower,
        terms.upper,
        parts.selection,
        parts.within,
        *(each.change for each in fp.theory.influences(federation, method)),
        *(pair.wasserstein for pair in fp.theory.pairs(federation, method)),
        *(local.disparity for local in fp.theory.local_audits(federation, method)),
    ]
    assert found == (wanted if sketch == "quantile" else pytest.approx(wanted, rel=1e-10))
    assert (result.decomposition.remainder is None) == (order == 1)


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

    plan = make_plan(order=order, levels=5, sketch="quantile", estimator="grid")
    result = audited(plan, (scores, groups, silos))

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
    with pytest.raises(fp.errors.FederationError):
        audit(make_plan(), [])


def test_where_fewer_than_two_groups_were_released_it_is_refused_with_a_fix():
    plan = make_plan(disclosure={}, silos=["x", "y"])
    scores = np.linspace(0, 1, 50)
    cells = [make_cell(plan, "A", scores), make_cell(plan, "B", scores[:5])]

    with pytest.raises(fp.errors.GroupError, match="no silo released group 'B'") as caught:
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
    assert "2 of 8 cells were withheld, by 'tiny'" in said(result, "cells_withheld")


def test_one_silo_is_an_audit_too():
    result = audited(make_plan(), make_table(5, silos=1))

    assert result.attribution.selection == 0
    assert result.attribution.silos[0].influence is None
    assert result.silos[0].disparity == pytest.approx(result.disparity.value, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_nothing_is_larger_than_the_score_range_allows(order):
    """Two records as far apart as can be: redraws of them scatter beyond the range."""
    plan = make_plan(order=order, score_range=(0.3, 0.7), score_step=0.1, review_level=0.1)
    found = audit(plan, make_messages(plan, [0.3, 0.7], ["A", "B"], ["x", "x"]), redraws=100)
    beyond = assess(found.sketches(), Method(order=order), score_range=(0.3, 0.7), redraws=100)
    worst, width = found.magnitudes.worst_pair, 0.7 - 0.3
    largest = width / 2 if order == 1 else width**2 / 4

    assert beyond.pairs[0].interval.upper > width
    assert beyond.disparity.interval.upper > largest
    assert worst.share_of_range <= 1
    assert worst.corrected <= worst.interval.upper == worst.combined.upper == width
    assert found.pairs[0].interval.upper == width
    assert found.disparity.interval.upper == found.disparity.combined.upper
    assert found.disparity.combined.upper == pytest.approx(largest, rel=1e-12)
    assert found.silos[0].interval.upper == pytest.approx(largest, rel=1e-12)
    assert found.heterogeneity.interval.upper <= width / (2 * order) + 1e-12
    assert found.attribution.intervals.within.upper <= largest + 1e-12


def test_the_interval_of_a_silo_is_that_of_what_it_shows_alone():
    """Merged counts are spread as those of all silos are, in what a silo shows and in its redraws."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        plan = make_plan(order=1, score_range=(1, 10), score_step=1, disclosure={})
        scores = 1.0 + random.binomial(9, 0.4, 300)
        groups, silos = random.choice(["A", "B"], 300), random.integers(0, 5, 300).astype(str)
        found = audit(plan, make_messages(plan, scores, groups, silos), redraws=20)
        alone = assess_silos(
            found.sketches(), Method(order=1), found.silos_received, confidence=0.95, seed=0
        )
        for silo in found.silos:
            assert silo.disparity == pytest.approx(alone[silo.silo].value, rel=1e-12)
            assert silo.disparity in silo.interval


def test_counts_may_be_weights():
    """A total weight that is whole travels as a whole number next to others that are not."""
    plan = make_plan(levels=2, sketch="quantile")
    cells = [
        SketchedCell(group="A", count=150.5, values=[0.1, 0.4], effective=100),
        SketchedCell(group="B", count=200, values=[0.3, 0.9], effective=100),
    ]
    message = make_message(plan, "x", cells, guarantee={**plan.guarantee, "weighted": True})

    result = audit(plan, [message], redraws=20)

    assert result.n == 350.5
    assert "counts are weights" in said(result, "weights")


@pytest.mark.parametrize("unit", ["points", "share", "sd", "squared"])
@pytest.mark.parametrize("order", [1, 2])
def test_the_verdict_compares_what_the_review_unit_says(unit, order):
    """The worst pair in points, as a share of the range or in deviations; or the disparity."""
    table = make_table(6)
    worst = audited(make_plan(score_range=(-1, 3), order=order), table).magnitudes.worst_pair
    found = audited(
        make_plan(score_range=(-1, 3), order=order, review_level=1e-6, review_unit=unit), table
    )
    compared, deviation = found.disparity.compared, found.magnitudes.standardized.deviation

    expected = {
        "points": worst.corrected,
        "share": worst.corrected / 4,
        "sd": worst.corrected / deviation.value,
        "squared": found.disparity.corrected,
    }[unit]
    assert compared.value == expected
    assert compared.answered == compared.all
    assert found.disparity.verdict == Verdicts(answered="above", all="above")


@pytest.mark.parametrize(
    ("share", "verdict"), [(None, "none"), (0.5, "above"), (2.0, "below"), (1.0, "inconclusive")]
)
def test_the_verdict_compares_with_the_plan_s_review_level(share, verdict):
    table = make_table(6)
    found = audited(make_plan(), table).disparity.compared.value
    level = None if share is None else share * found

    result = audited(make_plan(review_level=level), table)

    assert result.disparity.verdict == Verdicts(answered=verdict, all=verdict)
    assert result.disparity.review_unit == "points"


def test_a_missing_silo_does_not_void_what_those_who_answered_say():
    """Four of five silos, each above the level alone: that stands, and what holds for all is open."""
    table = make_table(7, size=4000, silos=5)
    level = 0.05
    plan = make_plan(review_level=level, silos=[f"s{j}" for j in range(5)])
    messages = make_messages(plan, *table)[:4]

    found = audit(plan, messages, redraws=50)

    assert all(silo.wasserstein > level for silo in found.silos)
    assert found.disparity.verdict == Verdicts(answered="above", all="inconclusive")
    assert tuple(found.disparity.compared.all) == (0.0, 1.0)
    assert found.silos_missing == ("s4",)
    assert tuple(found.disparity.outer) == (0.0, 0.25)
    assert "1 of 5 silos sent nothing: 's4'" in said(found, "silos_missing")


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_a_public_total_settles_what_holds_for_all_of_any_number_of_groups(groups):
    """Ten records of any group cannot undo what thousands show."""
    random = np.random.default_rng(groups)
    labels = random.integers(0, groups, 6000)
    scores = random.beta(2 + labels, 6)
    names = np.array([f"g{label}" for label in labels])
    silos = random.choice(["x", "y"], 6000)
    asked = {
        "groups": tuple(f"g{i}" for i in range(groups)),
        "silos": ["x", "y", "absent"],
    }
    table = (scores, names, silos)
    apart = audited(make_plan(**asked), table).magnitudes.worst_pair.corrected
    asked["review_level"] = 0.7 * apart

    bounded, unbounded = (
        audited(make_plan(**asked, totals=totals), table).disparity
        for totals in ({"absent": 10}, {})
    )

    assert bounded.verdict == Verdicts(answered="above", all="above")
    assert unbounded.verdict == Verdicts(answered="above", all="inconclusive")
    assert bounded.compared.all.upper < 1 == unbounded.compared.all.upper


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
    plan = make_plan(groups=(("F", True), ("M", False)), levels=4, sketch="quantile")
    cells = [
        SketchedCell(group=("F", True), count=40, values=[0.1, 0.2, 0.3, 0.4]),
        SketchedCell(group=("M", False), count=40, values=[0.3, 0.4, 0.5, 0.6]),
    ]

    result = audit(plan, [make_message(plan, "x", cells)], redraws=20)

    assert math.isclose(result.disparity.value, 0.01)
    assert result.to_dict()["silos"][0]["n"] == {'["F",true]': 40, '["M",false]': 40}
    assert fp.AuditResult.from_dict(result.to_dict()).silos[0].n["F", True] == 40


def test_a_message_that_replaces_another_is_told():
    plan = make_plan()
    first, *others = make_messages(plan, *make_table(0))
    corrected = replace(first, replaces=first.digest)

    result = audit(plan, [corrected, *others], redraws=20)

    assert repr(first.silo) in said(result, "messages_replaced")
    assert not said(audit(plan, [first, *others], redraws=20), "messages_replaced")

"""A group that no silo could release is set aside by name; the others are audited."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.audit_strategies import make_messages, make_plan
from tests.tiers import DATA

import fedparity as fp
from fedparity.auditing.comparison import Beyond
from fedparity.cli.audit_text import audit_text
from fedparity.documents.result_parts import SetAside, Verdicts
from fedparity.engines.in_process import audit

GROUPS = ("A", "B", "C")


def table(few=8, silos=4):
    """Many records of A and B, and in each silo a few of C, far from the others."""
    random = np.random.default_rng(3)
    rows = [(0.3, "A", 400), (0.45, "B", 300), (0.95, "C", few)]
    scores, groups, where = [], [], []
    for silo, (middle, group, count) in product(range(silos), rows):
        scores.append(np.clip(random.normal(middle, 0.1, count), 0, 1))
        groups += [group] * count
        where += [f"s{silo}"] * count
    return np.concatenate(scores), np.array(groups), np.array(where)


def audited(plan, data, **options):
    return audit(plan, make_messages(plan, *data), **({"redraws": 50} | options))


@pytest.fixture(scope="module")
def found():
    return audited(make_plan(groups=GROUPS, disclosure={}, review_level=0.05), table())


def test_it_is_named_with_what_is_known_of_its_number(found):
    (aside,) = found.set_aside

    assert (aside.group, aside.withheld, aside.most) == ("C", 4, 40)
    assert aside.known == "withheld by 4 of 4 silos; at most 40 records"
    assert [each.group for each in found.groups] == ["A", "B"]


def test_it_is_said_first(found):
    first = found.warnings[0]

    assert first.code == "group_set_aside"
    assert first.text.startswith("no silo released group C, so it was set aside")
    start = audit_text(found).split("\n\n")[0]
    assert "\n  ! C: no silo released it (withheld by 4 of 4 silos" in start


def test_the_others_are_measured_as_if_it_were_not_in_the_plan(found):
    scores, groups, silos = table()
    kept = groups != "C"
    alone = audited(
        make_plan(groups=GROUPS[:2], disclosure={}, review_level=0.05),
        (scores[kept], groups[kept], silos[kept]),
    )

    assert found.disparity.value == alone.disparity.value
    assert found.disparity.interval == alone.disparity.interval
    assert found.disparity.certificate == alone.disparity.certificate
    assert found.disparity.compared.answered == alone.disparity.compared.answered
    assert found.pairs == alone.pairs


def test_it_counts_in_what_holds_for_all(found):
    """It may be anywhere, so two groups may be as far apart as the range is wide."""
    scores, groups, _ = table()
    truth = fp.disparity(scores, sensitive_features=groups)
    apart = fp.wasserstein(*(fp.Law.from_scores(scores[groups == group]) for group in ("A", "C")))
    worst, disparity = found.magnitudes.worst_pair, found.disparity

    assert disparity.outer.lower <= truth <= disparity.outer.upper
    assert not disparity.certificate.lower <= truth <= disparity.certificate.upper
    assert worst.outer.lower <= apart <= worst.outer.upper == 1
    assert disparity.compared.all.upper == 1
    assert disparity.verdict == Verdicts(answered="above", all="above")


def test_below_for_those_who_answered_is_open_for_all():
    found = audited(make_plan(groups=GROUPS, disclosure={}, review_level=0.5), table())

    assert found.disparity.verdict == Verdicts(answered="below", all="inconclusive")


def test_squared_it_moves_the_disparity_by_no_more_than_its_share():
    plan = make_plan(groups=GROUPS, disclosure={}, review_level=0.05, review_unit="squared")

    found = audited(plan, table()).disparity

    assert found.verdict == Verdicts(answered="below", all="below")
    assert found.compared.answered.upper < found.compared.all.upper < 0.05


@pytest.mark.parametrize("unit", ["points", "share", "sd", "squared"])
@pytest.mark.parametrize("order", [1, 2])
def test_such_a_result_survives_its_json(unit, order):
    plan = make_plan(
        groups=GROUPS, disclosure={}, order=order, review_level=0.05, review_unit=unit
    )
    found = audited(plan, table(few=3, silos=2))

    assert fp.AuditResult.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("hidden", [0.05, 0.95])
def test_no_group_set_aside_is_taken_to_be_at_four_fifths(hidden):
    """A and B have the same rates; all records of C lie on one side of the threshold."""
    random = np.random.default_rng(4)
    groups = np.repeat(["A", "B", "C"], [4000, 4000, 16])
    scores = np.where(groups == "C", hidden, random.random(groups.size))
    silos = np.arange(groups.size) % 2
    plan = make_plan(groups=GROUPS, disclosure={}, thresholds=(0.5,))

    found = audited(plan, (scores, groups, silos)).with_rates(tails=(0.5,))
    above = scores >= 0.5
    best = max(above[groups == group].mean() for group in GROUPS)

    for rates in (*found.thresholds, *found.tails):
        assert (rates.answer, rates.all) == ("at least four fifths", "undetermined")
    for report in (found.at_threshold(0.5, of="all"), found.at_quantile(0.5, of="all")):
        assert report.answer == "undetermined"
        assert report.widest_gap.interval.upper == report.widest_gap.upper == 1.0
    for row in found.at_threshold(0.5, of="all").groups:
        rate = above[groups == row.group].mean()
        assert rate / best in row.ratio
        assert rate - best in row.difference_to_best
        assert row.ratio.interval.lower <= row.ratio.lower
    assert np.quantile(scores, 0.5) in found.at_quantile(0.5, of="all").cutoff
    assert found.at_quantile(0.5, of="all").cutoff.upper > found.tails[0].cutoff.upper


def test_a_group_below_four_fifths_stays_so_whatever_others_have():
    scores, groups, silos = table()
    plan = make_plan(groups=GROUPS, disclosure={}, thresholds=(0.45,))

    (rates,) = audited(plan, (scores, groups, silos)).thresholds

    assert rates.answer == rates.all == "below four fifths"


def test_a_group_of_which_nobody_has_a_record_leaves_nothing_open():
    scores, groups, silos = table()
    kept = groups != "C"
    plan = make_plan(groups=GROUPS, thresholds=(0.0001,))

    (rates,) = audited(plan, (scores[kept], groups[kept], silos[kept])).thresholds

    assert rates.answer == rates.all == "at least four fifths"


def test_with_noise_it_is_set_aside_too():
    plan = make_plan(groups=GROUPS, disclosure={}, privacy={"mode": "dp", "epsilon": 1.0})
    scores, groups, silos = table()
    found = fp.simulate(
        {"z": scores, "g": groups, "s": silos},
        plan=replace(plan, disclosure={"minimum_cell": 60}),
        silo="s",
        score="z",
        group="g",
        redraws=20,
    )

    assert [each.group for each in found.set_aside] == ["C"]
    assert [each.group for each in found.groups] == ["A", "B"]
    assert fp.AuditResult.from_dict(found.to_dict()) == found


def test_what_others_can_do_is_nothing_where_nobody_is_set_aside():
    nobody = Beyond.from_groups((), seen=10.0, score_range=(0, 1), order=2)
    bounds = fp.theory.Bounds(0.1, 0.2)

    assert nobody.largest_distance(bounds) == nobody.burden(bounds) == bounds
    assert nobody.part(bounds) == nobody.equal_weights(bounds, 3) == bounds


@pytest.mark.parametrize("order", [1, 2])
def test_the_bounds_of_the_disparity_hold_wherever_such_groups_lie(order):
    """Random laws of all groups, of which some are set aside: none leaves the bounds."""
    for seed in range(200):
        random = np.random.default_rng(seed)
        groups = int(random.integers(3, 6))
        labels = np.concatenate([np.arange(groups), random.integers(0, groups, 40)])
        shape = random.choice([0.2, 1.0, 5.0], groups)
        scores = random.beta(shape[labels], random.choice([0.2, 1.0, 5.0], groups)[labels])
        seen = labels >= int(random.integers(1, groups - 1))
        hidden = int(np.sum(~seen))
        aside = [SetAside(group="?", withheld=1, most=float(hidden), known="")]
        beyond = Beyond.from_groups(aside, seen=float(seen.sum()), score_range=(0, 1), order=order)
        others = fp.disparity(scores[seen], sensitive_features=labels[seen], order=order)

        bounds = beyond.disparity(fp.theory.Bounds(lower=others, upper=others))

        assert fp.disparity(scores, sensitive_features=labels, order=order) in bounds


@pytest.mark.data
def test_sex_and_race_on_compas_in_five_silos_is_an_audit():
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(f"{DATA}/compas-scores-two-years.csv")
    frame["silo"] = np.random.default_rng(0).integers(0, 5, len(frame)).astype(str)
    groups = sorted(set(zip(frame["sex"], frame["race"], strict=True)))
    plan = fp.Plan(
        title="COMPAS",
        groups=groups,
        score_range=(1, 10),
        score_step=1,
        thresholds=[5],
        favorable="below",
        review_level=1.0,
    )

    found = fp.simulate(
        frame,
        plan=plan,
        silo="silo",
        score="decile_score",
        group=["sex", "race"],
        redraws=100,
    )

    aside = {each.group for each in found.set_aside}
    assert ("Female", "Native American") in aside
    assert len(found.groups) + len(aside) == len(groups)
    assert found.disparity.verdict.answered == "above"
    assert found.warnings[0].code == "group_set_aside"
    assert max(map(len, audit_text(found).splitlines())) <= 80


def test_in_tables_by_axis_too():
    """Two people of a third race in each silo, whom no silo released."""
    random = np.random.default_rng(0)
    size = 6000
    table = {
        "z": random.random(size),
        "sex": np.array(["F", "M"])[random.integers(0, 2, size)],
        "race": np.where(np.arange(size) < 4, "c", np.array(["a", "b"])[np.arange(size) % 2]),
        "silo": np.array(["x", "y"])[random.integers(0, 2, size)],
    }
    axes = {"sex": ("F", "M"), "race": ("a", "b", "c")}
    plan = fp.Plan(title="t", axes=axes, score_range=(0, 1), thresholds=(0.5,))
    columns = {name: name for name in axes}

    found = fp.simulate(table, plan=plan, silo="silo", score="z", axes=columns, redraws=20)
    found = found.with_rates(thresholds=(0.3,))

    by_axis = {
        table.by: [(each.answer, each.all) for each in table.thresholds] for table in found.tables
    }
    known, open_ = ("at least four fifths",) * 2, ("at least four fifths", "undetermined")
    assert by_axis["sex",] == [known, known]
    assert by_axis["race",] == [open_, open_]

"""Tables by axis against the pooled data of COMPAS: sex, race, and both, in five silos."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.tiers import DATA

import fedparity as fp

pytestmark = pytest.mark.data

AXES = {
    "sex": ["Female", "Male"],
    "race": ["African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"],
}


@pytest.fixture(scope="module")
def compas():
    table = pd.read_csv(Path(DATA) / "compas-scores-two-years.csv")
    table["score"] = table["decile_score"].astype(float)
    table["silo"] = np.random.default_rng(7).choice(list("abcde"), len(table))
    return table[["silo", "score", "sex", "race", "two_year_recid"]]


@pytest.fixture(scope="module", params=["counts", "mean", "quantile"])
def kind(request):
    return request.param


def plan_of(kind, **asked):
    return fp.Plan(
        title="COMPAS",
        axes=AXES,
        score_range=(1, 10),
        score_step=1,
        sketch=kind,
        thresholds=[5.0],
        favorable="below",
        **asked,
    )


@pytest.fixture(scope="module")
def result(compas, kind):
    plan = plan_of(kind, set_aside=0.02)
    return fp.audit(compas, plan=plan, silo="silo", score="score", redraws=60)


def released(compas, table):
    """The records that the silos released in a table: those of categories large enough there."""
    large = compas
    for axis in AXES:
        sizes = large.groupby(["silo", axis])[axis].transform("size")
        large = large[sizes >= 11]
    return large if table.by else None


def test_there_is_a_table_by_each_axis_and_by_both(result):
    assert [table.by for table in result.tables] == [(), ("sex",), ("race",)]
    assert all(table.disparity is not None for table in result.tables)


def test_margins_count_everybody_in_a_category_that_is_large_enough(compas, result):
    """Also people whose intersection is withheld: the counts are those of the pooled data."""
    for table in result.tables[1:]:
        (axis,) = table.by
        counts = released(compas, table).groupby(axis).size()

        assert {row.group: row.n for row in table.groups if row.n} == counts.to_dict()


def test_rates_are_those_of_the_pooled_data(compas, result):
    """The share below 5 of every row lies in its bracket."""
    for table in result.tables[1:]:
        (axis,) = table.by
        truth = released(compas, table).groupby(axis)["score"].apply(lambda own: (own < 5).mean())
        for row in table.groups:
            if row.n:
                (rate,) = row.rates
                assert rate.lower - 1e-9 <= truth[row.group] <= rate.upper + 1e-9


def test_the_disparity_of_the_pooled_data_is_inside_its_certificate(compas, result):
    for table in result.tables[1:]:
        (axis,) = table.by
        compared = [row.group for row in table.groups if row.status == "compared"]
        own = released(compas, table)
        own = own[own[axis].isin(compared)]

        truth = fp.disparity(own["score"], sensitive_features=own[axis])

        assert truth in table.disparity.certificate


def test_small_categories_are_printed_and_not_compared(result):
    rows = {row.group: row for row in result.tables[2].groups}

    assert rows["Native American"].status == "withheld"
    assert "no silo released it" in rows["Native American"].known
    assert rows["African-American"].status == "compared"
    thresholds = result.tables[2].thresholds[0]
    assert "Native American" not in [each.group for each in thresholds.groups]


def test_a_plan_of_one_axis_alone_says_the_same_of_large_groups(compas, kind):
    """The table by sex is the audit of sex alone, up to what the finer sketches leave open."""
    both = fp.audit(compas, plan=plan_of(kind), silo="silo", score="score", redraws=60)
    alone = fp.Plan(
        title="sex", groups=("Female", "Male"), score_range=(1, 10), score_step=1, sketch=kind
    )
    one = fp.audit(compas, plan=alone, silo="silo", score="score", group="sex", redraws=60)

    table = both.tables[1]
    shared = max(table.disparity.outer.lower, one.disparity.certificate.lower)
    assert shared <= min(table.disparity.outer.upper, one.disparity.certificate.upper)


def test_a_result_with_tables_is_the_same_after_json(result):
    assert fp.AuditResult.from_dict(result.to_dict()) == result


def test_without_rules_margins_are_exact(compas):
    """No plan: counts at each score, nothing withheld, so that every number is that of the data."""
    result = fp.audit(
        compas, axes={"sex": "sex", "race": "race"}, silo="silo", score="score", redraws=60
    )

    for table in result.tables[1:]:
        (axis,) = table.by
        truth = fp.disparity(compas["score"], sensitive_features=compas[axis])
        assert table.disparity.value == pytest.approx(truth, rel=1e-9)
        local = compas[compas["silo"] == "a"]
        seen = {each.silo: each.disparity for each in table.silos}
        alone = fp.disparity(local["score"], sensitive_features=local[axis])
        assert seen["a"] == pytest.approx(alone, rel=1e-9)
        parts = table.attribution
        assert parts.selection + parts.within == pytest.approx(truth, rel=1e-6)


@pytest.fixture(scope="module")
def outcomes(compas, kind):
    plan = plan_of(kind, outcome={"positive": 1, "negative": 0, "bins": [3.0, 8.0]})
    names = {"silo": "silo", "score": "score", "outcome": "two_year_recid"}
    return fp.audit(compas, plan=plan, redraws=60, **names)


def split(compas):
    """The records of categories whose rarer outcome is not too rare in their silo."""
    large = compas
    for _ in range(3):
        for axis in AXES:
            pairs = large.groupby(["silo", "sex", "race"])["two_year_recid"].agg(["sum", "size"])
            rarer = np.minimum(pairs["sum"], pairs["size"] - pairs["sum"])
            enough = rarer.groupby(["silo", axis]).sum() >= 11
            kept = pd.MultiIndex.from_frame(large[["silo", axis]])
            large = large[enough.reindex(kept, fill_value=False).to_numpy()]
    return large


def test_areas_and_error_rates_of_the_pooled_data_are_inside_their_brackets(compas, outcomes):
    """scikit-learn on the pooled records, by sex and by race."""
    for table in outcomes.tables[1:]:
        (axis,) = table.by
        own = split(compas)
        assert table.outcome is not None
        for row in table.outcome.groups:
            group = own[own[axis] == row.group]
            assert (row.positives, row.negatives) == (
                group["two_year_recid"].sum(),
                (1 - group["two_year_recid"]).sum(),
            )
            area = roc_auc_score(group["two_year_recid"], group["score"])
            assert row.auc.lower - 1e-9 <= area <= row.auc.upper + 1e-9
            assert len(group) < 2000 or abs(row.auc.value - area) < 0.006
        (threshold,) = table.outcome.thresholds
        for rates in threshold.rates[:2]:
            for row in rates.groups:
                wanted = 1 if rates.measure == "tpr" else 0
                group = own[(own[axis] == row.group) & (own["two_year_recid"] == wanted)]
                rate = (group["score"] >= 5).mean()
                assert row.rate.lower - 1e-9 <= rate <= row.rate.upper + 1e-9


def test_calibration_of_the_pooled_data_is_inside_its_brackets(compas, outcomes):
    """Shares of positive outcomes between the public edges."""
    own = split(compas)
    for table in outcomes.tables[1:]:
        (axis,) = table.by
        assert table.outcome.edges == (1.0, 3.0, 5.0, 8.0, 10.0)
        for row in table.outcome.calibration:
            group = own[own[axis] == row.group]
            places = np.searchsorted([3.0, 5.0, 8.0], group["score"], side="right")
            for place, found in enumerate(row.bins):
                inside = group[places == place]["two_year_recid"]
                assert found.n.lower - 1e-9 <= len(inside) <= found.n.upper + 1e-9
                if found.rate is not None:
                    assert found.rate.lower - 1e-9 <= inside.mean() <= found.rate.upper + 1e-9


def test_outcomes_change_nothing_of_the_groups_without_them(compas):
    """Without rules the parity of a plan with an outcome is that of a plan without one."""
    names = {"silo": "silo", "score": "score", "redraws": 60}
    axes = {"sex": "sex", "race": "race"}
    one = fp.audit(compas, axes=axes, **names)
    two = fp.audit(compas, axes=axes, outcome="two_year_recid", **names)

    for first, second in zip(one.tables, two.tables, strict=True):
        assert second.disparity.value == pytest.approx(first.disparity.value, rel=1e-9)
        assert [row.n for row in second.groups] == [row.n for row in first.groups]

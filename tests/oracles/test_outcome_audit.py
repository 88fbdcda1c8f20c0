"""COMPAS by sex and race, from messages under the default rules: the pooled records stay in their bounds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.outcome_records import true_rate
from tests.tiers import DATA

import fedparity as fp

pytestmark = pytest.mark.data
SILOS = 5
NEAR = 1e-9


@pytest.fixture(scope="module")
def pooled():
    table = pd.read_csv(Path(DATA) / "compas-scores-two-years.csv")
    table["silo"] = np.random.default_rng(0).integers(0, SILOS, len(table))
    return table[["sex", "race", "decile_score", "two_year_recid", "silo"]]


@pytest.fixture(scope="module")
def audited(pooled, tmp_path_factory):
    plan = fp.Plan(
        title="COMPAS",
        axes={"sex": ("Female", "Male"), "race": tuple(sorted(set(pooled["race"])))},
        unknown=("Other",),
        set_aside=0.02,
        score_range=(1.0, 10.0),
        score_step=1.0,
        thresholds=(5.0,),
        favorable="below",
        outcome={"positive": "1", "negative": "0", "bins": (3.0, 5.0, 7.0, 9.0)},
    )
    messages = [
        fp.sketch(
            pooled[pooled["silo"] == silo],
            plan=plan,
            silo=f"silo {silo}",
            score="decile_score",
            outcome="two_year_recid",
            ledger=tmp_path_factory.mktemp("ledger") / "ledger.jsonl",
        )
        for silo in range(SILOS)
    ]
    return fp.audit(plan, messages, redraws=20)


def own(pooled, table, group):
    chosen = np.ones(len(pooled), bool)
    parts = group if isinstance(group, tuple) else (group,)
    for axis, label in zip(table.by or ("sex", "race"), parts, strict=True):
        chosen &= (pooled[axis] == label).to_numpy()
    records = pooled[chosen]
    return records["decile_score"].to_numpy(float), records["two_year_recid"].to_numpy() == 1


def test_there_are_three_tables_with_outcomes(audited):
    assert [table.by for table in audited.tables] == [(), ("sex",), ("race",)]
    assert all(table.outcome is not None for table in audited.tables)


def test_areas_and_rates_of_all_records_lie_in_their_outer_bounds(audited, pooled):
    for table in audited.tables:
        for row in table.outcome.groups:
            scores, outcomes = own(pooled, table, row.group)
            truth = roc_auc_score(outcomes, scores)
            assert row.auc.outer.lower - NEAR <= truth <= row.auc.outer.upper + NEAR
        for rates in table.outcome.thresholds[0].rates:
            for row in rates.groups:
                if row.rate is None:
                    continue
                truth = true_rate(rates.measure, *own(pooled, table, row.group), 5.0)
                assert row.rate.outer.lower - NEAR <= truth <= row.rate.outer.upper + NEAR


def test_rates_in_bins_of_all_records_lie_in_their_outer_bounds(audited, pooled):
    for table in audited.tables:
        edges = table.outcome.edges
        for each in table.outcome.calibration:
            scores, outcomes = own(pooled, table, each.group)
            places = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)
            for place, found in enumerate(each.bins):
                if found.rate is not None:
                    truth = outcomes[places == place].mean()
                    assert found.rate.outer.lower - NEAR <= truth <= found.rate.outer.upper + NEAR

"""A simulation gives what real silos would, each with a table of its own: every bit."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow.parquet  # noqa: F401 -- polars writes Parquet without it, silos read with it
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper import algorithm_1
from tests.tiers import examples

import fedparity as fp

RULES = {"minimum_cell": 11, "records_per_level": 10, "rounding": 0.001}
OFF = {"minimum_cell": 1, "records_per_level": 0, "rounding": 0.0}

pytestmark = pytest.mark.usefixtures("lenient_law")


def pooled(seed, *, size=900, missing=0.0):
    """A table of four silos: scores, two columns of labels, weights with zeros, an age."""
    random = np.random.default_rng(seed)
    race = random.choice(["A", "B", "C"], size, p=[0.5, 0.3, 0.2])
    scores = np.round(random.beta(2 + (race == "B"), 4), random.choice([1, 2, 12]))
    hospital = random.choice(["aurora", "bayside", "cedar", "A"], size, p=[0.5, 0.3, 0.15, 0.05])
    return pl.DataFrame(
        {
            "z": pl.Series([None if random.random() < missing else score for score in scores]),
            "race": race,
            "sex": random.choice(["f", "m"], size),
            "w": random.choice([0.0, 0.5, 1.0, 2.7], size),
            "age": random.integers(18, 90, size),
            "hospital": hospital,
        }
    )


def from_real_silos(table, plan, **options):
    """The result of silos that each sketch their own rows."""
    messages = [
        fp.sketch(part.drop("hospital"), plan=plan, silo=name, score="z", ledger=False, **options)
        for (name,), part in table.group_by("hospital")
    ]
    return fp.audit(plan, messages, redraws=20)


def simulated(table, plan, **options):
    return fp.simulate(table, silo="hospital", score="z", plan=plan, redraws=20, **options)


def make_plan(**options):
    defaults = {"title": "Q4", "groups": ("A", "B", "C"), "score_range": (0.0, 1.0), "levels": 12}
    return fp.Plan(**(defaults | options))


WAYS = {
    "plain": {},
    "weights": {"weight": "w"},
    "filter": {"where": "age >= 40"},
    "dropped": {"missing": "drop"},
    "dropped and filtered": {"missing": "drop", "where": "age >= 40", "weight": "w"},
    "mapping": {"mapping": {"C": "A", "A": "B"}},
    "other": {"other": "B"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rules", [RULES, OFF], ids=["rules", "no rules"])
@pytest.mark.parametrize("kind", ["quantile", "mean"])
def test_a_simulation_under_a_plan_is_the_audit_of_real_silos(way, rules, kind):
    """Silo A has the name of a group: a mapping of labels must not rename it."""
    options = {"group": "race"} | WAYS[way]
    table = pooled(list(WAYS).index(way), missing=0.1 if "dropped" in way else 0)
    groups = ("B", "A") if way == "other" else ("A", "B", "C")
    plan = make_plan(disclosure=rules, sketch=kind, groups=groups, review_level=0.01)
    if way == "mapping":
        plan = make_plan(disclosure=rules, sketch=kind, groups=("B", "A"))

    expected = from_real_silos(table, plan, **options)
    found = simulated(table, plan, **options)

    assert found.to_json() == expected.to_json()


def test_intersections_and_a_roster_with_missing_silos_are_those_of_real_silos():
    table = pooled(20).filter(pl.col("race") != "C")
    plan = make_plan(
        groups=[(race, sex) for race in "AB" for sex in "mf"],
        silos=["aurora", "bayside", "cedar", "A", "dunmore"],
        totals={"dunmore": 40, "cedar": 200},
    )
    options = {"group": ["race", "sex"]}

    found = simulated(table, plan, **options)

    assert found.silos_missing == ("dunmore",)
    assert found.to_json() == from_real_silos(table, plan, **options).to_json()


def test_a_silo_whose_rows_are_all_dropped_still_sends_its_message():
    table = pooled(21).with_columns(
        z=pl.when(pl.col("hospital") == "cedar").then(None).otherwise(pl.col("z"))
    )
    plan = make_plan(disclosure=OFF)
    options = {"group": "race", "missing": "drop"}

    found = simulated(table, plan, **options)

    assert "cedar" in found.silos_received
    assert found.to_json() == from_real_silos(table, plan, **options).to_json()


def test_labels_of_rows_without_a_score_are_not_looked_at():
    """A silo that drops such a row never reads its label; it must not become a group here."""
    table = pooled(22).with_columns(
        z=pl.when(pl.col("race") == "C").then(None).otherwise(pl.col("z"))
    )
    options = {"group": "race", "missing": "drop"}
    plan = make_plan(groups=("A", "B"), disclosure=OFF)

    assert simulated(table, plan, **options).to_json() == (
        from_real_silos(table, plan, **options).to_json()
    )
    found = fp.simulate(table, silo="hospital", score="z", redraws=20, **options)
    assert [each.group for each in found.groups] == ["A", "B"]


def test_every_source_of_the_table_gives_the_same_bits(tmp_path):
    """Files, frames, arrays, and batches that come once."""
    table = pooled(23)
    table.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    table.write_csv(tmp_path / "t.csv")
    arrays = {name: table[name].to_list() for name in table.columns}
    batches = (part for part in table.iter_slices(70))
    sources = [tmp_path / "t.parquet", tmp_path / "t.csv", arrays, table.to_pandas(), batches]
    expected = fp.simulate(table, silo="hospital", score="z", group="race", redraws=20)

    for source in sources:
        found = fp.simulate(source, silo="hospital", score="z", group="race", redraws=20)

        assert found.to_json() == expected.to_json()


def test_order_of_rows_does_not_matter():
    table = pooled(24)
    first, second = (
        fp.simulate(rows, silo="hospital", score="z", group="race", weight="w", redraws=20)
        for rows in (table, table.sample(fraction=1, shuffle=True, seed=1))
    )

    assert first.to_json() == second.to_json()


def test_without_a_plan_it_is_the_audit_under_the_plan_that_the_data_imply():
    table = pooled(25)
    found = fp.simulate(
        table, silo="hospital", score="z", group="race", levels=9, sketch="mean", redraws=20
    )
    implied = make_plan(
        title="simulation",
        levels=9,
        sketch="mean",
        disclosure=OFF,
        score_range=(table["z"].min(), table["z"].max()),
    )
    expected = from_real_silos(table, implied, group="race")

    assert found.plan.digest == implied.digest
    assert (found.plan.simulated, expected.plan.simulated) == (True, False)
    found = replace(found, plan=replace(found.plan, simulated=False))
    assert found.to_dict() | {"warnings": []} == expected.to_dict() | {"warnings": []}
    assert found.warnings[1:] == expected.warnings
    assert "taken from the data" in found.warnings[0].text


records = st.lists(
    st.tuples(
        st.integers(0, 8).map(lambda eighth: eighth / 8),
        st.sampled_from("ab"),
        st.sampled_from(["x", "y", "z"]),
    ),
    max_size=20,
)


@examples(12)
@given(records, st.sampled_from([1, 2]), st.integers(1, 5))
def test_a_simulation_is_algorithm_1(rows, order, levels):
    """The paper's, line by line in fractions: disparity, heterogeneity and every term."""
    rows = [(0.0, "a", "x"), (1.0, "b", "y"), *rows]
    scores, groups, silos = map(list, zip(*rows, strict=True))
    cells = {
        (j, s): algorithm_1.sketch([z for z, g, a in rows if (a, g) == (j, s)], levels)
        for j, s in {(a, g) for _, g, a in rows}
    }
    expected = algorithm_1.one_shot_audit(cells, order)

    found = fp.simulate(
        {"score": scores, "group": groups, "silo": silos},
        silo="silo",
        levels=levels,
        sketch="quantile",
        estimator="grid",
        order=order,
        redraws=20,
    )

    terms = found.decomposition
    assert close(found.disparity.value, expected.disparity)
    assert close(found.heterogeneity.value, expected.heterogeneity)
    assert close(terms.v_mix, expected.v_mix)
    assert close(terms.v_bar, expected.v_bar)
    assert expected.remainder is None or close(terms.remainder, expected.remainder)


def close(found, exact):
    return math.isclose(found, exact, rel_tol=1e-9, abs_tol=1e-12)

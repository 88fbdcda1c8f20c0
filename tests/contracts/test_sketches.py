"""The silo's whole path: the same bits from every source, way and type of number."""

import decimal

import numpy as np
import polars as pl
import pytest
from tests.contracts.table_sources import DATABASES, FILES, ONCE, SOURCES, each, table_rows
from tests.oracles.exact_sketch import (
    exact_above,
    exact_counts,
    exact_effective,
    exact_inside,
    exact_sketch,
)

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare
from fedparity.sketches.select import ComputeOptions

GROUPS = ("A", "B", "O'Neil", "Ż, x")


@pytest.fixture(scope="module")
def rows():
    return table_rows(400, seed=5)


def plan(kind="quantile", levels=7, **changes):
    return fp.Plan(
        **{
            "title": "contract",
            "groups": GROUPS,
            "score_range": (-3, 3),
            "levels": levels,
            "sketch": kind,
            "disclosure": Disclosure.off(),
            **changes,
        }
    )


def parts(rows, weight=None, score="z"):
    """The scores and the weights of each group."""
    own = {group: [row for row in rows if row["race"] == group] for group in GROUPS}
    return [
        (
            [row[score] for row in mine],
            None if weight is None else [row[weight] for row in mine],
        )
        for mine in own.values()
    ]


def expected(rows, kind, levels, weight=None):
    return [exact_sketch(*part, levels, kind) for part in parts(rows, weight)]


def numbers(sketch):
    return [(cell.count, cell.values.tolist()) for cell in sketch.cells]


def effective(part):
    return None if part[1] is None else int(exact_effective(part[1]))


@pytest.mark.parametrize("make", each(SOURCES))
@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_source_gives_the_bits_of_the_oracle(make, kind, weight, rows, tmp_path):
    """The numbers of the sketch, what they leave inside, and the counts at thresholds."""
    thresholds = (-0.5, rows[0]["z"], 2.9)
    sketch = fp.sketch(
        make(rows, tmp_path),
        plan=plan(kind, thresholds=sorted(thresholds)),
        silo="s",
        score="z",
        group="race",
        weight=weight,
        ledger=False,
    )

    assert expected(rows, kind, 7, weight) == numbers(sketch)
    for part, cell in zip(parts(rows, weight), sketch.cells, strict=True):
        assert cell.mean_square == (exact_inside(*part, 7) if kind == "mean" else None)
        assert cell.above == exact_above(*part, sorted(thresholds))
        assert cell.effective == effective(part)


@pytest.mark.parametrize("make", each(SOURCES))
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_source_counts_the_records_at_the_points_of_a_grid(make, weight, rows, tmp_path):
    """Ages are whole numbers: all of them are counted, those that nobody has included."""
    asked = plan("counts", score_range=(18, 95), score_step=1, thresholds=(40, 65))
    points = list(range(18, 96))

    release = prepare(
        make(rows, tmp_path), plan=asked, silo="s", score="age", group="race", weight=weight
    )

    for part, cell in zip(parts(rows, weight, "age"), release.sketch.cells, strict=True):
        assert cell.values.tolist() == points
        assert list(cell.counts) == exact_counts(*part, points)
        assert cell.above == exact_above(*part, (40, 65))
        assert (cell.count, cell.rank_error) == (exact_sketch(*part, 1, "mean")[0], 0)
        assert cell.effective == effective(part)


@pytest.mark.parametrize("make", each(SOURCES))
@pytest.mark.parametrize("step", [3.5, 7])
def test_every_source_refuses_scores_off_the_grid_with_their_number_alone(
    make, step, rows, tmp_path
):
    """Where a database would have to tell more values than a few for each point, rows are read."""
    asked = plan("counts", score_range=(18, 95), score_step=step)
    off = sum((row["age"] - 18) % 7 > 0 for row in rows)

    with pytest.raises(fp.errors.ScoreError, match=rf"but {off} of 400 are not"):
        fp.sketch(make(rows, tmp_path), plan=asked, silo="s", score="age", group="race")


@pytest.mark.parametrize("make", each(FILES | DATABASES))
@pytest.mark.parametrize("levels", [1, 50, 130])
def test_several_scans_give_the_bits_of_one(make, levels, rows, tmp_path):
    """Without memory to hold anything, a file is read again: more levels than records too."""
    asked = plan(levels=levels)
    release = prepare(
        make(rows, tmp_path),
        plan=asked,
        silo="s",
        score="z",
        group="race",
        options=ComputeOptions(memory=0, threads=2),
        where="age > 0",  # which keeps them all; without it PostgreSQL would rank them itself
    )

    assert release.execution.strategy == "several scans"
    assert expected(rows, "quantile", levels) == numbers(release.sketch)


@pytest.mark.parametrize("make", each(ONCE))
def test_what_comes_once_is_exact_as_long_as_it_fits_a_chunk(make, rows, tmp_path):
    release = prepare(make(rows, tmp_path), plan=plan(), silo="s", score="z", group="race")

    assert release.execution.strategy == "one pass"
    assert {0.0} == {cell.rank_error for cell in release.sketch.cells}


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int8", "uint16", "int64", "bool", "decimal"]
)
def test_every_type_of_number_is_read_without_loss(dtype):
    random = np.random.default_rng(3)
    if dtype == "decimal":
        scores = [decimal.Decimal(int(n)) / 100 for n in random.integers(-300, 300, 200)]
        column = pl.Series(scores, dtype=pl.Decimal(10, 2))
    else:
        column = random.integers(0, 2, 200).astype(dtype)
        scores = column.tolist()
    groups = ["A", "B"] * 100

    sketch = fp.sketch(
        pl.DataFrame({"z": column, "g": groups})
        if dtype == "decimal"
        else {"z": column, "g": groups},
        plan=plan(groups=("A", "B"), levels=9),
        silo="s",
        score="z",
        group="g",
    )

    for cell, start in zip(sketch.cells, (0, 1), strict=True):
        assert exact_sketch(map(float, scores[start::2]), None, 9, "quantile") == (
            cell.count,
            cell.values.tolist(),
        )


def test_a_sketcher_gives_what_one_table_gives(rows):
    """Batches of any size, from workers that are merged."""
    options = {"plan": plan(), "silo": "s", "score": "z", "group": "race"}
    first, second = fp.Sketcher(**options), fp.Sketcher(**options)
    for start in range(0, 200, 30):
        first.update(table_columns(rows[start : min(start + 30, 200)]))
    second.update(table_columns(rows[200:]))

    first.merge(second)

    assert fp.sketch(table_columns(rows), **options) == first.finish()


def table_columns(rows):
    return {name: [row[name] for row in rows] for name in ("z", "race")}


def test_a_sketcher_states_how_far_ranks_may_be_off():
    """Beyond one chunk the sketch is approximate, says so, and the auditor's bounds grow."""
    random = np.random.default_rng(0)
    sketcher = fp.Sketcher(
        plan=plan(groups=("A", "B"), score_range=(0, 1)),
        silo="s",
        score="z",
        group="g",
        resolution=16,
    )
    sketcher._stream.chunk = 1000  # noqa: SLF001 -- four million records would take long
    for _ in range(4):
        sketcher.update({"z": random.random(1000), "g": np.tile(["A", "B"], 500)})

    errors = {cell.rank_error for cell in sketcher.finish().cells}

    assert all(1 / 32 <= error < 1 / 31 for error in errors)


def test_a_sketcher_without_rows_says_so():
    sketcher = fp.Sketcher(plan=plan(), silo="s", score="z", group="race")

    with pytest.raises(fp.errors.TableError, match="the stream"):
        sketcher.finish()


def test_sketchers_of_other_plans_are_not_merged():
    sketcher = fp.Sketcher(plan=plan(), silo="s", score="z", group="race")

    with pytest.raises(fp.errors.OptionError, match="same plan"):
        sketcher.merge(fp.Sketcher(plan=plan(levels=3), silo="s", score="z", group="race"))


def test_a_plan_with_noise_is_answered_with_noisy_counts(rows):
    asked = plan(privacy={"mode": "dp", "epsilon": 1.0})

    found = fp.sketch(
        table_columns(rows), plan=asked, silo="s", score="z", group="race", ledger=False
    )

    assert found.kind == "histogram"
    fp.documents.check_message(asked, found)


def test_scores_outside_the_plan_s_range_are_refused(rows):
    with pytest.raises(fp.errors.ScoreError, match="between 0 and 1"):
        fp.sketch(
            table_columns(rows), plan=plan(score_range=(0, 1)), silo="s", score="z", group="race"
        )


def test_disclosure_rules_shape_what_leaves(rows):
    """A small cell is withheld, k is cut, values are rounded; the message names the rules."""
    few = [row for row in rows if row["race"] == "A"][:8]
    many = [row for row in rows if row["race"] != "A"]
    asked = plan(levels=100, disclosure=Disclosure())

    release = prepare(table_columns(few + many), plan=asked, silo="s", score="z", group="race")

    cells = dict(zip(GROUPS, release.sketch.cells, strict=True))
    assert (cells["A"].withheld, cells["A"].count, cells["A"].values) == ("small", None, None)
    for group in GROUPS[1:]:
        count = sum(row["race"] == group for row in many)
        assert (count, count // 10) == (cells[group].count, cells[group].levels)
        steps = cells[group].values / 0.006
        assert np.allclose(steps, np.round(steps), atol=1e-9)
    assert {"minimum_cell": 11, "rounding": 0.001}.items() <= dict(
        release.sketch.guarantee
    ).items()
    assert release.records["A"] == 8

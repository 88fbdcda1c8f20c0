"""Ranks inside Spark: the bits of NumPy for both kinds of sketch, and no row leaves Spark."""

import decimal
import struct

import numpy as np
import pytest
from tests import sparks
from tests.contracts.table_sources import columns, table_rows
from tests.oracles.exact_sketch import exact_above, exact_inside, exact_sketch

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare
from fedparity.tables.opening import open_records
from fedparity.tables.spark import spark_ranks as ranks
from fedparity.tables.spark.spark_sql import MOST_DEPTH
from fedparity.tables.spark.spark_table import SparkTable

KINDS = ("quantile", "mean")
pytestmark = pytest.mark.spark
every_kind = pytest.mark.parametrize("kind", KINDS)


def plan(groups=("A", "B"), levels=7, **changes):
    options = {"title": "t", "groups": groups, "levels": levels, "score_range": (-1e9, 1e9)}
    options |= {"sketch": "quantile", "disclosure": Disclosure.off()}
    return fp.Plan(**{**options, **changes})


def release(data, asked, **options):
    return prepare(data, plan=asked, silo="s", **{"score": "z", "group": "race", **options})


def bits(found):
    """All numbers of a message, told apart to the last bit."""
    return [
        (
            cell.count,
            cell.rank_error,
            None if cell.values is None else cell.values.tobytes(),
            cell.mean_square,
            cell.above,
            cell.counts,
        )
        for cell in found.sketch.cells
    ]


def records(scores, labels="AB"):
    return [
        {"z": score, "race": labels[place % len(labels)]}
        for place, score in enumerate(np.asarray(scores, dtype=float).tolist())
    ]


_DRAW = np.random.default_rng(5)
_SCORES = {
    "one record": [0.25],
    "two records": [0.75, 0.25],
    "fewer records than levels": [0.5, 0.25, 0.125, 0.375, 1.0],
    "all equal": [0.1] * 101,
    "heavy ties": _DRAW.choice([0.1, 0.2, 0.3, 0.7], 999, p=[0.1, 0.6, 0.2, 0.1]),
    "an atom among many": np.where(_DRAW.random(2000) < 0.5, 0.5, _DRAW.random(2000)),
    "zeros of both signs": [0.0, -0.0, 0.0, -0.0, 0.5, -0.5, -0.0] * 9,
    "denormals": np.array([5e-324, 1e-310, 0.0, 2.5e-308, 1e-300, -5e-324] * 20),
    "tiny and large": np.concatenate((10.0 ** _DRAW.uniform(-40, 0, 500), -_DRAW.random(300))),
    "at both ends of the range": [-1.0, 1.0] * 30,
    "neighboring floats": 0.5 + np.arange(300) * 2.0**-53,
    "normal": _DRAW.normal(0, 0.2, 3000).clip(-1, 1),
    "a multiple of the levels": _DRAW.random(700),
}


def together(names):
    """A table in which every set of scores is a group."""
    return [{"z": score, "race": name} for name in names for score in map(float, _SCORES[name])]


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("levels", [1, 50])
def test_the_bits_are_those_of_numpy(kind, levels):
    names = [name for name in _SCORES if kind == "quantile" or name != "denormals"]
    rows = together(names)
    asked = plan(
        names, levels=levels, sketch=kind, score_range=(-1, 1), thresholds=[-0.5, 0.0, 0.3, 1.0]
    )

    with sparks.compiled():
        found = release(sparks.frame(rows), asked)

    assert (found.execution.strategy, found.execution.kernel) == ("where they are", "Spark")
    assert bits(release(columns_of(rows), asked)) == bits(found)


@every_kind
def test_the_bits_are_those_of_fractions(kind):
    """By sorting Python's floats and adding fractions, which shares no code with either."""
    names = ["heavy ties", "fewer records than levels", "tiny and large", "zeros of both signs"]
    thresholds = [0.0, 0.2, 0.3]
    asked = plan(names, levels=12, sketch=kind, score_range=(-1, 1), thresholds=thresholds)

    found = release(sparks.frame(together(names)), asked)

    for name, cell in zip(names, found.sketch.cells, strict=True):
        count, values = exact_sketch(_SCORES[name], None, 12, kind)
        assert (count, values) == (cell.count, cell.values.tolist())
        inside = exact_inside(_SCORES[name], None, 12) if kind == "mean" else None
        assert inside == cell.mean_square
        assert exact_above(_SCORES[name], None, thresholds) == cell.above


def test_counts_are_made_inside_spark():
    """Of labels that are put together too, with zeros of both signs; one job for all groups."""
    rows = records([0.1 + 0.2, 0.3, 0.1, -0.0, 0.0, 0.7, 1.0] * 9, labels="ABC")
    grid = {"sketch": "counts", "score_range": (0, 1), "thresholds": [0.3, 1.0]}
    asked = plan(("A", "B", "nobody"), score_step=0.1, **grid)

    with sparks.compiled():
        found = release(sparks.frame(rows), asked, mapping={"C": "A"})

    assert (found.execution.strategy, found.execution.passes) == ("where they are", 2)
    assert bits(release(columns_of(rows), asked, mapping={"C": "A"})) == bits(found)
    with pytest.raises(fp.errors.ScoreError, match="36 of 63 are not"):
        release(sparks.frame(rows), plan(("A", "B", "C"), score_step=0.5, **grid))


def test_sums_of_more_bits_than_can_be_added_up_are_left_to_numpy():
    rows = together(["denormals", "one record"])
    asked = plan(("denormals", "one record"), sketch="mean", score_range=(-1, 1))

    found = release(sparks.frame(rows), asked)

    assert found.execution.strategy == "in memory"
    assert bits(release(columns_of(rows), asked)) == bits(found)


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.slow
@every_kind
def test_cells_that_hold_many_records_are_cut_again(kind, monkeypatch):
    """Here as if a hundred records were many; the answer is the same."""
    monkeypatch.setattr(ranks, "_MOST_SORTED", 100)
    names = ["normal", "an atom among many", "neighboring floats"]
    rows = together(names)
    asked = plan(names, levels=10, sketch=kind, score_range=(-1, 1))

    found = release(sparks.frame(rows), asked)

    assert 3 < found.execution.passes < MOST_DEPTH + 1  # cells grow smaller by each cut
    assert bits(release(columns_of(rows), asked)) == bits(found)


def test_a_score_that_all_records_of_a_cell_have_is_not_cut_again(monkeypatch):
    monkeypatch.setattr(ranks, "_MOST_SORTED", 20)
    rows = records([0.25, 0.25, 0.75, 0.75] * 50)

    found = release(sparks.frame(rows), plan(levels=25, score_range=(0, 1)))

    assert found.execution.passes == 2


def test_labels_of_one_group_that_differ_within_a_cell_are_cut_again(monkeypatch):
    monkeypatch.setattr(ranks, "_MOST_SORTED", 20)
    rows = records([0.25, 0.25 + 2.0**-20] * 50)
    asked = plan(("A", "C"), score_range=(0, 1))

    found = release(sparks.frame(rows), asked, mapping={"B": "A"})

    assert found.execution.passes > 2
    assert bits(release(columns_of(rows), asked, mapping={"B": "A"})) == bits(found)


def test_bin_means_of_scores_far_below_the_range_need_more_pieces():
    """Scores of 1e-30 in a range up to 1: more bits than the first count adds up."""
    rows = records(10.0 ** _DRAW.uniform(-60, -30, 200))
    asked = plan(levels=5, sketch="mean", score_range=(0, 1))

    found = release(sparks.frame(rows), asked)

    assert (found.execution.strategy, found.execution.passes) == ("where they are", 3)
    assert bits(release(columns_of(rows), asked)) == bits(found)


@every_kind
@pytest.mark.parametrize("ends", [(-1e120, 1e120), (0, 1e-250), (-7.3e-12, 2.9e15)], ids=str)
def test_every_range_gives_the_bits_of_numpy(ends, kind):
    low, high = ends
    rows = records(low + _DRAW.random(300) * (high - low) * 0.999)
    asked = plan(levels=9, sketch=kind, score_range=ends)

    assert bits(release(columns_of(rows), asked)) == bits(release(sparks.frame(rows), asked))


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("DOUBLE", "mean"), ("FLOAT", "mean"), ("FLOAT", "quantile"), ("DECIMAL(12,5)", "quantile"),
        ("DECIMAL(30,18)", "mean"), ("TINYINT", "quantile"), ("SMALLINT", "mean"), ("INT", "mean"),
        ("BIGINT", "quantile"), ("BOOLEAN", "mean"),
    ],
)  # fmt: skip
def test_every_type_has_the_bits_of_reading_it(form, kind):
    """Ranked inside Spark, read from it, and NumPy: three ways, one answer."""
    draw = np.random.default_rng(3)
    if form.endswith("INT"):
        values = draw.integers(-100, 100, 200).tolist()
    elif form == "BOOLEAN":
        values = (draw.random(200) < 0.3).tolist()
    elif form.startswith("DECIMAL"):
        places = int(form.rstrip(")").partition(",")[2])
        values = [
            round(decimal.Decimal(repr(value)), places) for value in draw.random(200).tolist()
        ]
    else:
        values = draw.normal(size=200).tolist()
    rows = [{"z": value, "race": "AB"[at % 2]} for at, value in enumerate(values)]
    data = sparks.frame(rows, {"z": form})
    plain = columns_of(rows)
    if form == "FLOAT":
        plain["z"] = np.array(values, np.float32)
    asked = plan(levels=9, sketch=kind)

    ranked = release(data, asked)
    read = release(data, asked, where="upper(race) <> ''")

    assert (ranked.execution.strategy, read.execution.strategy) == ("where they are", "in memory")
    assert bits(release(plain, asked)) == bits(ranked) == bits(read)


@pytest.mark.parametrize(
    "options",
    [
        {"groups": ("A", "B", "O'Neil", "Ż, x")},
        {"groups": ("A", "rest"), "mapping": {"B": "A"}, "other": "rest"},
        {"groups": ("A", "B", "O'Neil", "Ż, x", "unknown"), "missing": "drop"},
        {"groups": ("A", "B", "O'Neil", "Ż, x"), "missing": "drop", "mapping": {"": "B"}},
        {"groups": (("f", 1), ("m", 2), ("f", 10), ("m", 1), ("f", 2), ("m", 10)),
         "group": ("sex", "band"), "missing": "drop"},
        {"groups": (True, False), "group": "smoker", "missing": "drop"},
        {"groups": ("A", "B", "O'Neil", "Ż, x", "nobody"), "missing": "drop", "mapping": {"": "B"}},
        {"groups": ("A", "B")},
        {"groups": ("A", "B", "O'Neil", "Ż, x"), "missing": "drop"},
        {"groups": ("f", "m"), "group": "sex"},
        {"groups": ("f", "m"), "group": "sex", "missing": "drop", "score_range": (-1, 1)},
        {"groups": ("f", "m"), "group": "sex", "missing": "drop", "where": "age > 40 AND z < 2"},
        {"groups": ("f", "m"), "group": "sex", "where": "age > 400"},
        {"groups": ("A", "B", "O'Neil", "Ż, x"), "gaps": 0.0},
        {"groups": ("A", "rest"), "mapping": {"B": "A"}, "other": "rest", "gaps": 0.0},
        {"groups": ("A", "B"), "gaps": 0.0},
        {"groups": ("f", "m"), "group": "sex", "score_range": (-1, 1), "gaps": 0.0},
    ],
    ids=str,
)  # fmt: skip
def test_labels_and_faults_are_those_of_reading(options):
    """The same groups, the same rows dropped, the same refusal in the same words."""
    options = dict(options)
    gaps = options.pop("gaps", 0.1)
    rows = table_rows(seed=7, scores=gaps, labels=gaps)
    asked = plan(options.pop("groups"), score_range=options.pop("score_range", (-9, 9)))

    def outcome(data):
        try:
            found = release(data, asked, **options)
        except fp.FedparityError as error:
            return str(error)
        return bits(found), found.sketch.rows_dropped

    assert outcome(columns(rows)) == outcome(sparks.frame(rows))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_scores_that_are_not_finite_are_refused_as_by_numpy(value, form, missing):
    rows = [{"z": value, "race": "A"}, {"z": 0.5, "race": "B"}, {"z": 0.25, "race": "A"}]

    def outcome(source):
        try:
            return bits(release(source, plan(levels=2), missing=missing))
        except fp.FedparityError as error:
            return str(error)

    assert outcome(columns_of(rows)) == outcome(sparks.frame(rows, {"z": form}))


@pytest.mark.parametrize(
    ("form", "value", "label"),
    [
        ("DOUBLE", 0.5, "0.5"), ("DOUBLE", -0.0, 0), ("FLOAT", 2.0, 2), ("DECIMAL(5,2)", decimal.Decimal("2.50"), "2.5"),
        ("STRING", "a\\b'c{x}", "a\\b'c{x}"), ("TINYINT", 7, 7), ("BOOLEAN", True, True), ("STRING", "Ż", "Ż"),
    ],
)  # fmt: skip
def test_labels_of_every_type_are_the_same_text(form, value, label):
    rows = [{"z": 0.5, "race": value}] * 3
    asked = plan((label, "none"), levels=1)

    found = release(sparks.frame(rows, {"race": form}), asked)

    assert found.execution.strategy == "where they are"
    assert [(cell.count, cell.levels) for cell in found.sketch.cells] == [(3, 1), (0, 0)]


def test_a_collation_does_not_put_labels_together():
    """In Spark 'a' and 'A' may be one label; in a plan they are two."""
    made = sparks.session()
    data = made.sql(
        "SELECT 0.5D AS z, l COLLATE UTF8_LCASE AS race FROM VALUES ('a'), ('A'), ('A') AS t(l)"
    )

    found = release(data, plan(("a", "A"), levels=1))

    assert [cell.count for cell in found.sketch.cells] == [1, 2]


def test_names_with_any_characters_are_names():
    rows = [{"ri`sk.1": 0.5, "a {b} 'c'": "x"}] * 3
    made = sparks.session().createDataFrame(
        [tuple(row.values()) for row in rows], "`ri``sk.1` DOUBLE, `a {b} 'c'` STRING"
    )

    found = release(made, plan(("x", "y"), levels=1), score="ri`sk.1", group="a {b} 'c'")

    assert (found.execution.strategy, found.sketch.cells[0].count) == ("where they are", 3)


def test_too_many_labels_are_read_instead():
    data = sparks.session().sql("SELECT CAST(id AS DOUBLE) AS z, id % 300 AS race FROM range(900)")

    found = release(data, plan(tuple(range(300)), levels=1))

    assert found.execution.strategy == "in memory"
    assert [cell.count for cell in found.sketch.cells] == [3] * 300


@pytest.mark.parametrize("options", [{"weight": "w"}, {"where": "abs(age) > 40"}], ids=str)
@every_kind
def test_what_spark_cannot_rank_is_read(options, kind):
    rows = [row for row in table_rows() if row["race"] in ("A", "B")]
    asked = plan(sketch=kind)

    found = release(sparks.frame(rows), asked, **options)

    assert found.execution.strategy == "in memory"
    assert bits(release(columns(rows), asked, **options)) == bits(found)


def test_noise_is_drawn_from_the_counts_of_rows_that_are_read():
    """A plan with noise: the counts are those of the rows, up to noise of a large epsilon."""
    rows = [row for row in table_rows() if row["race"] in ("A", "B")]
    asked = plan(
        score_range=(-3, 3), levels=10, privacy={"mode": "dp", "epsilon": 60.0, "bins": 10}
    )

    found = release(sparks.frame(rows), asked)

    counts = [cell.values.sum() for cell in found.sketch.cells]
    assert counts == [sum(row["race"] == label for row in rows) for label in "AB"]


@every_kind
def test_no_row_leaves_spark(kind, monkeypatch):
    """Counts by cells, and one row for each number of the sketch; nothing is iterated over."""
    rows = records(_SCORES["normal"])
    frame = sparks.frame(rows)
    answers = []
    collected = ranks.SparkRanks._collected  # noqa: SLF001 -- to listen in
    monkeypatch.setattr(
        ranks.SparkRanks,
        "_collected",
        lambda self, sql: answers.append(collected(self, sql)) or answers[-1],
    )
    monkeypatch.setattr(SparkTable, "scan", None)

    release(frame, plan(levels=10, sketch=kind, score_range=(-1, 1)))

    assert [len(answer) for answer in answers] == [2, 20 if kind == "quantile" else 18]


def test_other_rows_the_second_time_are_found_out(monkeypatch):
    """As in a table that somebody writes to: an error, and no number of a mixture."""
    before, after = sparks.frame(records([0.1, 0.2] * 20)), sparks.frame(records([0.1, 0.2] * 21))
    collected = ranks.SparkRanks._collected  # noqa: SLF001 -- to change the rows between

    def changing(self, sql):
        answer = collected(self, sql)
        self.rows = after.selectExpr("z AS x", "race AS v0", "race AS t0")
        return answer

    monkeypatch.setattr(ranks.SparkRanks, "_collected", changing)
    for limit in (1 << 20, 10):
        monkeypatch.setattr(ranks, "_MOST_SORTED", limit)

        with pytest.raises(fp.errors.TableError, match="returned other rows"):
            release(before, plan(levels=3))


def test_rows_that_vanish_are_found_out(monkeypatch):
    before, after = sparks.frame(records([0.1, 0.2] * 20)), sparks.frame(records([0.7, 0.8] * 20))
    collected = ranks.SparkRanks._collected  # noqa: SLF001 -- to change the rows between

    def changing(self, sql):
        answer = collected(self, sql)
        self.rows = after.selectExpr("z AS x", "race AS v0", "race AS t0")
        return answer

    monkeypatch.setattr(ranks.SparkRanks, "_collected", changing)

    with pytest.raises(fp.errors.TableError, match="returned other rows"):
        release(before, plan(levels=3, score_range=(0, 1)))


def test_the_order_of_rows_and_partitions_does_not_matter():
    rows = records(_SCORES["normal"])
    asked = plan(levels=20, sketch="mean", score_range=(-1, 1))
    frame = sparks.frame(rows)

    several = {
        release(data, asked).sketch.digest for data in (frame.coalesce(1), frame.orderBy("z"))
    }

    assert len(several) == 1


def test_a_filter_runs_inside_spark():
    rows = [row for row in table_rows() if row["race"] in ("A", "B")]
    where = "age >= 40 AND (sex = 'f' OR band IN (1, 10)) AND note NOT LIKE '%comma%'"

    found = release(sparks.frame(rows), plan(), where=where)

    assert found.execution.strategy == "where they are"
    assert bits(release(columns(rows), plan(), where=where)) == bits(found)


def test_a_filter_that_does_not_fit_its_columns_is_refused_in_the_same_words():
    rows = table_rows(20)

    def words(data):
        with pytest.raises(fp.errors.TableError) as caught:
            release(data, plan(), where="age > 'x'")
        return caught.value.message

    assert words(columns(rows)) == words(sparks.frame(rows))


def test_a_score_that_is_no_number_is_refused():
    data = sparks.frame([{"z": "0.5", "race": "A"}], {"z": "STRING"})

    with pytest.raises(fp.errors.ScoreError, match="'z'"):
        release(data, plan())


def test_a_label_that_is_none_is_refused():
    data = sparks.session().sql("SELECT 0.5D AS z, DATE '2026-01-01' AS race")

    with pytest.raises(fp.errors.LabelError, match="'race'"):
        release(data, plan())


def test_an_empty_frame_is_refused_in_the_words_of_other_tables():
    data = sparks.session().sql("SELECT 0.5D AS z, 'A' AS race WHERE 1 = 0")

    with pytest.raises(fp.errors.TableError, match="the table has no row"):
        release(data, plan())


def test_a_stream_is_refused():
    stream = sparks.session().readStream.format("rate").load()

    with pytest.raises(fp.errors.TableError, match="stream"):
        release(stream, plan(), score="value", group="timestamp")


def test_a_failing_job_shows_no_value(capfd):
    """Neither in the error nor in a log: Spark's own words would hold it."""
    text = "0.123456secret"
    data = sparks.session().sql(
        f"SELECT CAST('{text}' || id AS DOUBLE) AS z, 'A' AS race FROM range(3)"
    )

    for options in ({}, {"where": "abs(z) > 0"}):
        with pytest.raises(fp.errors.DatabaseError) as caught:
            release(data, plan(), **options)

        assert "the Spark database" in str(caught.value)
        assert "secret" not in str(caught.value)
    assert "secret" not in "".join(capfd.readouterr())


def test_simulate_discovers_groups_and_silos_in_a_frame():
    rows = [{**row, "race": row["sex"], "sex": "NS"[row["id"] % 2]} for row in table_rows()]
    asked = {"score": "z", "group": "race", "silo": "sex", "levels": 20, "score_range": (-3, 3)}

    expected = fp.simulate(columns(rows), **asked).disparity.value

    assert expected == fp.simulate(sparks.frame(rows), **asked).disparity.value


def test_floats_are_given_to_spark_to_the_last_bit():
    made = sparks.session()
    from fedparity.tables.spark.spark_sql import double  # noqa: PLC0415

    values = [0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 2.0**-1022, 1e22, 123456789.123456789]
    found = made.sql(f"SELECT {', '.join(map(double, values))}").collect()[0]

    assert [struct.pack("d", value) for value in values] == [struct.pack("d", v) for v in found]


def test_a_frame_is_opened_without_looking_at_its_rows():
    data = sparks.session().sql("SELECT CAST('x' AS DOUBLE) AS z, 'A' AS race FROM range(3)")

    assert open_records(data, score="z", group="race", groups=("A",)).rows is None

"""Ranks inside PostgreSQL: the bits of NumPy, and no row leaves the server."""

import decimal

import numpy as np
import pytest
from tests.contracts.table_sources import table_rows
from tests.databases import POSTGRES, by_adbc, by_psycopg, created, driver, postgres
from tests.oracles.exact_sketch import exact_inside, exact_sketch

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare
from fedparity.sketches.kinds import ranks
from fedparity.tables.opening import open_records

DRIVERS = {"ADBC": by_adbc, "psycopg": by_psycopg}
pytestmark = pytest.mark.database
every_kind = pytest.mark.parametrize("kind", ["quantile", "mean"])
every_driver = pytest.mark.parametrize("make", DRIVERS.values(), ids=DRIVERS)


def plan(groups=("A", "B"), levels=100, **changes):
    """Quantiles, which PostgreSQL finds itself; for means rows are read."""
    options = {"title": "t", "groups": groups, "levels": levels, "score_range": (-1e9, 1e9)}
    options |= {"sketch": "quantile", "disclosure": Disclosure.off()}
    return fp.Plan(**{**options, **changes})


def release(data, asked, **options):
    return prepare(data, plan=asked, silo="s", **{"score": "z", "group": "race", **options})


def numbers(found):
    return [
        (
            cell.count,
            None if cell.values is None else cell.values.tolist(),
            (cell.mean_square, cell.above, cell.counts),
        )
        for cell in found.sketch.cells
    ]


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def series(count, form="float8", draw="random()"):
    """A table of scores made by the server; group A has all of them."""
    name = f"SELECT ({draw})::{form} AS z, 'A'::text AS race FROM generate_series(1, {count}) AS i"
    postgres()
    return fp.DatabaseTable(POSTGRES, query=name)


def test_ranks_are_right_where_the_level_times_n_is_whole():
    """In floats 0.55 · 100 is 55.00000000000001, and its ceiling 56."""
    for count in (1, 2, 3, 10, 99, 100, 101, 1000, 20_000):
        for levels in (1, 10, 50, 100):
            found = release(series(count, draw="i"), plan(levels=levels))

            assert found.execution.strategy == "where they are"
            assert ranks(count, levels).tolist() == found.sketch.cells[0].values.tolist()


def test_ranks_are_right_for_a_million_records():
    found = release(series(10**6, draw="(i::int8 * 7919) % 1000003"), plan(levels=1000))
    scores = np.sort(np.arange(1, 10**6 + 1) * 7919 % 1000003)

    assert scores[ranks(10**6, 1000) - 1].tolist() == found.sketch.cells[0].values.tolist()


@every_driver
@every_kind
@pytest.mark.parametrize(
    "form", ["float8", "float4", "numeric", "numeric(12,5)", "int2", "int8", "bool"]
)
def test_every_type_has_the_bits_of_reading_it(make, form, kind):
    """Ranked inside the server, read from it, and NumPy: three ways, one answer."""
    draw = np.random.default_rng(3)
    whole = form.startswith(("int", "bool"))
    values = (
        draw.integers(0, 2 if form == "bool" else 300, 500) if whole else draw.normal(size=500)
    )
    rows = [
        {"z": decimal.Decimal(repr(value)) if "numeric" in form else value, "race": "AB"[at % 2]}
        for at, value in enumerate(values.tolist())
    ]
    if form == "bool":
        rows = [{**row, "z": bool(row["z"])} for row in rows]
    data = make_typed(make, rows, form)

    asked = plan(levels=9, sketch=kind)
    ranked = release(data, asked)
    read = release(data, asked, where="race <> ''")

    assert (ranked.execution.strategy, read.execution.strategy) == ("where they are", "in memory")
    assert numbers(ranked) == numbers(read) == numbers(release(stored(rows, form), asked))


def by(make, **what):
    """A table or query, read by the driver of our choice."""
    return fp.DatabaseTable(driver(POSTGRES, "adbc" if make is by_adbc else "psycopg"), **what)


def make_typed(make, rows, form):
    name = created(postgres(), rows, {"z": form})
    return by(make, table=name)


def stored(rows, form):
    """What the server stores of the values, as NumPy knows it."""
    table = columns(rows)
    if form == "float4":
        table["z"] = np.array(table["z"], np.float32)
    elif form == "numeric(12,5)":
        table["z"] = [round(value, 5) for value in table["z"]]
    return table


@every_driver
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
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@every_kind
def test_labels_and_faults_are_those_of_reading(make, options, gaps, kind):
    """The same groups, the same rows dropped, the same refusal in the same words."""
    rows = table_rows(seed=7, scores=gaps, labels=gaps)
    options = dict(options)
    asked = plan(
        options.pop("groups"),
        levels=7,
        sketch=kind,
        score_range=options.pop("score_range", (-9, 9)),
        thresholds=[-0.5, 0.0, 1.0],
    )

    def outcome(data):
        try:
            found = release(data, asked, **options)
        except fp.FedparityError as error:
            return str(error)
        return numbers(found), found.sketch.rows_dropped

    assert outcome(columns(rows)) == outcome(make(rows))


@every_driver
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("form", ["float8", "float4", "numeric"])
@pytest.mark.parametrize("missing", ["refuse", "drop"])
@every_kind
def test_scores_that_are_not_finite_are_refused_as_by_numpy(make, value, form, missing, kind):
    postgres()
    rows = (value, "A"), ("0.5", "B"), ("0.25", "A")
    selects = [f"SELECT '{score}'::{form} AS z, '{label}' AS race" for score, label in rows]
    data = by(make, query=" UNION ALL ".join(selects))

    def outcome(source):
        try:
            return numbers(release(source, plan(levels=2, sketch=kind), missing=missing))
        except fp.FedparityError as error:
            return str(error)

    plain = {"z": [float(score) for score, _ in rows], "race": [label for _, label in rows]}
    assert outcome(plain) == outcome(data)


@every_driver
def test_labels_of_every_type_are_the_same_text(make):
    """Numbers, enumerations, padded characters: a group of the plan fits them as in a file."""
    postgres()
    forms = {
        "0.5::float8": "0.5", "3::numeric": 3, "2.5::numeric": "2.5", "'ab'::char(5)": "ab",
        "'x'::varchar": "x", "7::int2": 7, "true": True, "'a\\b''c'::text": "a\\b'c",
        "'6b1d9a3e-0000-0000-0000-000000000000'::uuid": "6b1d9a3e-0000-0000-0000-000000000000",
    }  # fmt: skip
    for literal, label in forms.items():
        data = by(
            make,
            query=f"SELECT 0.5::float8 AS z, {literal} AS race FROM generate_series(1, 3)",
        )
        asked = plan((label, "none"), levels=1)

        none = (None, (), None)
        assert numbers(release(data, asked)) == [(3, [0.5], none), (0, None, none)]
        assert numbers(release(data, asked, where="z > 0")) == numbers(release(data, asked))


def test_too_many_labels_are_read_instead():
    postgres()
    query = "SELECT i::float8 AS z, i % 300 AS race FROM generate_series(1, 900) AS i"
    data = fp.DatabaseTable(POSTGRES, query=query)

    found = release(data, plan(tuple(range(300)), levels=1))

    assert found.execution.strategy == "in memory"
    assert [cell.count for cell in found.sketch.cells] == [3] * 300


@pytest.mark.parametrize("options", [{"weight": "w"}, {"where": "age > 0"}], ids=str)
@every_kind
def test_what_the_server_cannot_rank_is_read(options, kind):
    rows = [row for row in table_rows() if row["race"] in ("A", "B")]
    asked = plan(sketch=kind)

    found = release(by_adbc(rows), asked, **options)

    assert found.execution.strategy == "in memory"
    assert numbers(release(columns(rows), asked, **options)) == numbers(found)


_DRAW = np.random.default_rng(8)
_SCORES = {
    "one record": [0.25],
    "fewer records than levels": [0.5, 0.25, 0.125, 0.375, 1.0],
    "all equal": [0.1] * 101,
    "heavy ties": _DRAW.choice([0.1, 0.2, 0.3, 0.7], 500, p=[0.1, 0.6, 0.2, 0.1]).tolist(),
    "zeros of both signs": [0.0, -0.0, 0.0, -0.0, 0.5, -0.5, -0.0] * 9,
    "both signs": _DRAW.normal(0, 0.2, 700).clip(-1, 1).tolist(),
    "at both ends of the range": [-1.0, 1.0] * 30,
    "neighboring floats": (0.5 + np.arange(300) * 2.0**-53).tolist(),
    "small ones": (10.0 ** _DRAW.uniform(-14, 0, 300)).tolist(),
}


@every_driver
@pytest.mark.parametrize("levels", [1, 2, 12])
def test_bin_means_and_what_they_leave_inside_are_those_of_fractions(make, levels):
    """Scores are added up inside the server, in whole numbers; no row is read."""
    rows = [{"z": z, "race": name} for name, scores in _SCORES.items() for z in scores]
    asked = plan(tuple(_SCORES), levels=levels, sketch="mean", score_range=(-1, 1))

    found = release(make(rows), asked)

    assert found.execution.strategy == "where they are"
    for cell, scores in zip(found.sketch.cells, _SCORES.values(), strict=True):
        assert exact_sketch(scores, None, levels, "mean") == (cell.count, cell.values.tolist())
        assert exact_inside(scores, None, levels) == cell.mean_square


@pytest.mark.parametrize(
    ("scores", "score_range"),
    [
        ([1e-40, 0.5, 5e-324, 0.25], (0, 1)),
        ([0.5, 1e139, -1e139], (-1e140, 1e140)),
        ([2e-301, 1e-300, 3e-310], (0, 1e-300)),
    ],
    ids=["too many bits", "large", "tiny"],
)
def test_scores_that_cannot_be_added_up_inside_are_read(scores, score_range):
    rows = [{"z": score, "race": "A"} for score in scores * 5]
    asked = plan(levels=3, sketch="mean", score_range=score_range)

    found = release(by_adbc(rows), asked)

    assert numbers(release(columns(rows), asked)) == numbers(found)
    assert exact_inside(scores * 5, None, 3) == found.sketch.cells[0].mean_square


@every_driver
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize(
    "options",
    [
        {"groups": ("A", "B", "O'Neil", "Ż, x", "unknown")},
        {"groups": ("A", "nobody", "rest"), "mapping": {"B": "A"}, "other": "rest"},
        {"groups": ("f", "m"), "group": "sex", "score_range": (30, 95)},
    ],
    ids=str,
)
def test_counts_are_made_inside_the_server(make, options, gaps):
    """Of labels that are put together too; the numbers, and the refusals, are those of reading."""
    rows = table_rows(seed=7, labels=gaps)
    options = dict(options)
    asked = plan(
        options.pop("groups"),
        sketch="counts",
        score_range=options.pop("score_range", (18, 95)),
        score_step=1,
        thresholds=[40, 41, 95],
    )

    def outcome(data, way):
        try:
            found = release(data, asked, score="age", **options)
        except fp.FedparityError as error:
            return str(error)
        assert found.execution.strategy == way
        return numbers(found)

    assert outcome(columns(rows), "in memory") == outcome(make(rows), "where they are")


@every_driver
def test_scores_near_a_point_are_that_point_and_others_are_counted(make):
    rows = [{"z": z, "race": "A"} for z in (0.1 + 0.2, 0.3, 0.1, -0.0, 0.7, 0.35)]
    data = make(rows)
    grid = {"sketch": "counts", "score_range": (0, 1), "thresholds": [0.3]}

    with pytest.raises(fp.errors.ScoreError, match="1 of 6 are not"):
        release(data, plan(score_step=0.1, **grid))
    found = release(data, plan(score_step=0.05, **grid))

    assert found.execution.strategy == "where they are"
    assert found.sketch.cells[0].above == (4,)
    assert {0.0: 1, 0.1: 1, 0.3: 2, 0.35: 1, 0.7: 1}.items() <= dict(
        zip(found.sketch.cells[0].values.tolist(), found.sketch.cells[0].counts, strict=True)
    ).items()


def test_no_row_leaves_the_server(monkeypatch):
    """Only counts and the numbers of the sketch are fetched, and nothing is streamed."""
    rows = [row for row in table_rows(400) if row["race"] in ("A", "B")]
    table = open_records(by_adbc(rows), score="z", group="race", groups=("A", "B")).table
    session = table._session  # noqa: SLF001 -- to listen in
    fetched = []
    fetch = session.fetch
    monkeypatch.setattr(session, "fetch", lambda sql: fetched.append(fetch(sql)) or fetched[-1])
    monkeypatch.setattr(session, "stream", None)
    monkeypatch.setattr(fp.DatabaseTable, "open", lambda _: table)

    release(by_adbc(rows), plan(levels=5))

    assert sum(len(answer) for answer in fetched) == 2 + 1 + 1
    assert [len(answer[0][0]) for answer in fetched[1:]] == [5, 5]

    fetched.clear()
    release(by_adbc(rows), plan(levels=5, sketch="mean"))

    assert [len(answer) for answer in fetched] == [2, 1, 5, 1, 5]


def test_an_empty_table_is_refused_in_the_words_of_other_tables():
    postgres()
    data = fp.DatabaseTable(POSTGRES, query="SELECT 1.0 AS z, 'A' AS race WHERE 1 = 0")

    with pytest.raises(fp.errors.TableError, match="the table has no row"):
        release(data, plan())

"""Every source gives the records that a plain reading of the rows gives."""

import math
from collections import Counter

import numpy as np
import pytest
from tests.contracts.table_sources import (
    AGAIN,
    FILES,
    ONCE,
    SOURCES,
    collect,
    columns,
    each,
    plain,
    plain_reader,
    read,
    scan,
    table_rows,
)

import fedparity as fp
from fedparity.tables.opening import open_records

CSV = [name for name in FILES if "SV" in name]
every_source = pytest.mark.parametrize("make", each(SOURCES))


@pytest.fixture(scope="module")
def rows():
    return table_rows()


@pytest.fixture(scope="module")
def gaps():
    """Rows some of which have no score, and some no label."""
    return table_rows(seed=2, scores=0.1, labels=0.15)


@every_source
def test_records_are_those_of_the_rows(make, rows, tmp_path):
    reading = read(make(rows, tmp_path))

    assert reading.records == plain(rows)
    assert sorted(reading.groups) == ["A", "B", "O'Neil", "Ż, x"]
    assert reading.dropped == 0


@every_source
def test_codes_follow_the_groups_of_the_plan(make, rows, tmp_path):
    groups = ("Ż, x", "B", "nobody", "A", "O'Neil")
    records = open_records(make(rows, tmp_path), score="z", group="race", groups=groups)

    batches = scan(records)

    assert records.groups == groups
    assert all(batch.codes.dtype == np.uint8 for batch in batches)
    assert collect(records, batches)[0] == plain(rows)


@every_source
def test_a_filter_keeps_the_rows_that_satisfy_it(make, rows, tmp_path):
    where = "age >= 40 AND (sex = 'f' OR band IN (1, 10)) AND note NOT LIKE '%comma%'"

    reading = read(make(rows, tmp_path), where=where)

    kept = [
        row
        for row in rows
        if row["age"] >= 40
        and (row["sex"] == "f" or row["band"] in (1, 10))
        and "comma" not in row["note"]
    ]
    assert reading.records == plain(kept)


@every_source
def test_a_filter_may_use_the_score_and_the_group(make, gaps, tmp_path):
    """Where it is null, because one of them is missing, the row is not kept."""
    reading = read(make(gaps, tmp_path), where="z > 0.5 AND race <> 'A'")

    kept = [row for row in gaps if (row["z"] or 0) > 0.5 and row["race"] not in ("A", None)]
    assert reading.records == plain(kept)


def three_valued(row):
    """The outcomes of some conditions, by SQL's logic of three values; a score of NaN is missing."""
    z, race = row["z"], row["race"]
    z = None if z is None or math.isnan(z) else z
    return {
        "z > 0.5": z is not None and z > 0.5,
        "NOT (z > 0.5)": z is not None and not z > 0.5,
        "z IS NULL": z is None,
        "z IS NOT NULL OR race = 'A'": z is not None or race == "A",
        "race <> 'A'": race is not None and race != "A",
        "race IS NULL": race is None,
        "race = ''": False,
        "race NOT IN ('A', 'B')": race is not None and race not in ("A", "B"),
        "z = z": z is not None,
    }


CONDITIONS = tuple(three_valued({"z": None, "race": None}))


@every_source
@pytest.mark.parametrize("where", CONDITIONS)
def test_nothing_is_null_to_a_filter_whatever_the_source(make, where, gaps, tmp_path):
    kept = [row for row in gaps if three_valued(row)[where]]
    options = {"where": where, "missing": "drop", "mapping": {"": "none"}}
    if not kept:
        with pytest.raises(fp.errors.TableError, match="keeps no row"):
            read(make(gaps, tmp_path), **options)
        return

    reading = read(make(gaps, tmp_path), **options)

    assert reading.records == plain(kept, label=lambda row: row["race"] or "none")
    assert (reading.rows.read, reading.rows.filtered) == (len(gaps), len(gaps) - len(kept))
    assert reading.rows.without_score == sum(row["z"] is None for row in kept)
    assert reading.rows.records == reading.records.total()


HOLD_NAN = {
    name: make
    for name, make in SOURCES.items()
    if "MariaDB" not in name and name not in ("pandas nullable", "Dask")
}


@pytest.mark.parametrize("make", each(HOLD_NAN))
@pytest.mark.parametrize("where", ["z > 0.5", "NOT (z > 0.5)", "z IS NULL", "z = z"])
def test_a_nan_is_null_to_a_filter_whatever_the_source(make, where, gaps, tmp_path):
    rows = [{**row, "z": math.nan if row["z"] is None else row["z"]} for row in gaps]
    kept = [row for row in gaps if three_valued(row)[where]]

    reading = read(make(rows, tmp_path), where=where, missing="drop", mapping={"": "none"})

    assert reading.records == plain(kept, label=lambda row: row["race"] or "none")
    assert reading.rows.filtered == len(gaps) - len(kept)


@every_source
def test_every_row_is_accounted_for(make, gaps, tmp_path):
    """Read = filtered + without a score + records, and each label that counts as another is listed."""
    groups = ("A", "B", "rest", "unknown")
    options = {"groups": groups, "missing": "drop", "mapping": {"O'Neil": "B"}, "other": "rest"}

    rows = read(make(gaps, tmp_path), where="age >= 40", **options).rows

    kept = [row for row in gaps if row["age"] >= 40]
    scored = Counter(row["race"] for row in kept if row["z"] is not None)
    assert (rows.read, rows.filtered) == (len(gaps), len(gaps) - len(kept))
    assert rows.without_score == sum(row["z"] is None for row in kept)
    assert rows.records == scored.total()
    assert rows.relabeled == {
        (None, "unknown", "missing"): scored[None],
        ("O'Neil", "B", "map"): scored["O'Neil"],
        ("Ż, x", "rest", "other"): scored["Ż, x"],
    }


@every_source
def test_missing_scores_are_dropped_and_counted(make, gaps, tmp_path):
    reading = read(make(gaps, tmp_path), missing="drop", mapping={"": "none"})

    labeled = plain(gaps, label=lambda row: row["race"] or "none")
    assert reading.records == labeled
    assert reading.dropped == sum(row["z"] is None for row in gaps)


@every_source
def test_missing_scores_are_refused_with_their_number(make, gaps, tmp_path):
    """A NaN is left to the kernels, which count it in the same way."""
    data = make(gaps, tmp_path)
    records = open_records(data, score="z", group="sex", groups=("f", "m"))
    batches = scan(records)
    _, faults = collect(records, batches)
    faults.missing_scores += sum(int(np.isnan(batch.scores).sum()) for batch in batches)
    expected = sum(row["z"] is None for row in gaps)

    with pytest.raises(fp.errors.TableError, match=rf"lacks a score in {expected} rows"):
        records.accept(faults)


@every_source
def test_missing_labels_are_refused_with_their_number(make, gaps, tmp_path):
    expected = sum(row["race"] is None for row in gaps if row["z"] is not None)

    with pytest.raises(fp.errors.LabelError, match=rf"{expected} records have no label in 'race'"):
        read(make(gaps, tmp_path), missing="drop")


@every_source
def test_missing_labels_are_a_group_if_the_plan_lists_it(make, gaps, tmp_path):
    groups = ("A", "B", "O'Neil", "Ż, x", "Unknown")

    reading = read(make(gaps, tmp_path), missing="drop", groups=groups)

    assert reading.records == plain(gaps, label=lambda row: row["race"] or "Unknown")


@every_source
def test_labels_are_mapped_and_the_others_collected(make, rows, tmp_path):
    reading = read(make(rows, tmp_path), groups=("A", "rest"), mapping={"B": "A"}, other="rest")

    label = {"A": "A", "B": "A"}
    assert reading.records == plain(rows, label=lambda row: label.get(row["race"], "rest"))


@every_source
def test_unlisted_labels_are_named_and_refused(make, rows, tmp_path):
    counts = Counter(row["race"] for row in rows)

    with pytest.raises(fp.errors.LabelError) as caught:
        read(make(rows, tmp_path), groups=("A", "B", "ONeil"))

    message = str(caught.value)
    for label in ("O'Neil", "Ż, x"):
        assert f"{label!r} ({counts[label]})" in message
    assert "--map" in message
    assert "--other" in message


@every_source
def test_intersections_and_weights(make, rows, tmp_path):
    """Groups are tuples of texts; a weight of zero is a weight."""
    groups = [(sex, band) for sex in "mf" for band in (10, 2, 1)]

    reading = read(make(rows, tmp_path), group=("sex", "band"), groups=groups, weight="w")

    expected = plain(rows, label=lambda r: (r["sex"], r["band"]), weight=lambda r: r["w"])
    assert reading.records == expected


@every_source
@pytest.mark.parametrize("groups", [(True, False), ("False", "True")])
def test_boolean_labels(make, groups, rows, tmp_path):
    reading = read(make(rows, tmp_path), group="smoker", groups=groups)

    label = {str(group).lower() == "true": group for group in groups}
    assert reading.records == plain(rows, label=lambda row: label[row["smoker"]])


@every_source
@pytest.mark.parametrize("groups", [(1, 2.0, 10), ("10", "2", "1")])
def test_whole_numbers_as_labels(make, groups, rows, tmp_path):
    reading = read(make(rows, tmp_path), group="band", groups=groups)

    label = {int(group): group for group in groups}
    assert reading.records == plain(rows, label=lambda row: label[row["band"]])


@every_source
def test_axes_and_outcomes_give_the_same_message(make, tmp_path):
    """Several tables of the same rows, whatever they come from."""
    rows = table_rows(600, seed=3)
    plan = fp.Plan(
        title="tables",
        axes={"sex": ("f", "m"), "race": ("A", "B", "O'Neil", "Ż, x")},
        outcome={"positive": True, "negative": False, "bins": (-1.0, 1.0)},
        score_range=(-3.0, 3.0),
        thresholds=(0.0,),
    )
    reading = {"plan": plan, "silo": "a", "score": "z", "outcome": "smoker", "ledger": False}

    found = fp.sketch(make(rows, tmp_path), **reading)

    assert found.to_bytes() == fp.sketch(columns(rows), **reading).to_bytes()


@pytest.mark.parametrize("make", each(AGAIN))
def test_a_second_scan_gives_the_same_records(make, rows, tmp_path):
    records = open_records(make(rows, tmp_path), score="z", group="race", groups=None)

    first, _ = collect(records, scan(records))
    second, _ = collect(records, scan(records))

    assert records.rescannable
    assert first == second == plain(rows)


@pytest.mark.parametrize("make", each(ONCE))
def test_a_second_scan_of_what_can_be_read_once_is_refused(make, rows, tmp_path):
    records = open_records(make(rows, tmp_path), score="z", group="race", groups=None)
    scan(records)

    with pytest.raises(fp.errors.TableError, match="only once"):
        scan(records)

    assert not records.rescannable


@every_source
def test_the_number_of_rows_is_right_where_it_is_known(make, rows, tmp_path):
    records = open_records(make(rows, tmp_path), score="z", group="race", groups=None)

    assert records.rows in (None, len(rows))


@every_source
def test_no_message_shows_a_score(make, tmp_path):
    """Not in the faults, and not in what is raised."""
    secret = 0.123456789
    rows = [{**row, "z": secret, "w": -secret} for row in table_rows(20)]
    records = open_records(
        make(rows, tmp_path), score="z", group="race", groups=("A",), weight="w", where="z < 1"
    )
    _, faults = collect(records, scan(records))

    with pytest.raises(fp.FedparityError) as caught:
        records.accept(faults)

    assert "0.1234" not in f"{caught.value}{faults}"


@every_source
def test_a_missing_column_names_the_nearest(make, rows, tmp_path):
    with pytest.raises(fp.errors.TableError, match="no column 'Rcae'") as caught:
        read(make(rows, tmp_path), group="Rcae")

    assert caught.value.fix == "did you mean 'race'?"


@pytest.mark.parametrize("name", CSV)
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_standard_library_reads_the_same_csv(name, weight, gaps, tmp_path, monkeypatch):
    path = FILES[name](gaps, tmp_path)
    expected = read(path, missing="drop", mapping={"": "none"}, weight=weight)
    monkeypatch.setattr("fedparity.tables.opening.find_spec", lambda _: None)

    actual = read(path, missing="drop", mapping={"": "none"}, weight=weight)

    assert type(open_records(path, score="z", group="sex", groups=None).table) is type(
        plain_reader(path)
    )
    assert actual.records == expected.records
    assert actual.faults == expected.faults

"""Labels of a table and the groups of a plan."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as shared  # noqa: F401 -- loads the settings

import fedparity as fp
from fedparity.laws.labels import Labels, intersect
from fedparity.sketches.records import Faults
from fedparity.tables.groups import Discovery, Listing, encode
from fedparity.tables.opening import open_records


def coded(scheme, *columns, keep=None):
    """The groups of rows given as columns of texts (None: no group), and the faults."""
    labels = []
    for column in columns:
        texts = tuple(dict.fromkeys(column))
        labels.append(Labels(np.array([texts.index(text) for text in column]), texts))
    faults = Faults()
    codes, good = encode(scheme, labels, None if keep is None else np.array(keep), faults)
    good = np.ones(codes.size, bool) if good is None else good
    return [scheme.groups[c] if g else None for c, g in zip(codes, good, strict=True)], faults


def test_the_missing_label_is_the_group_called_so():
    for name in ("missing", "Unknown", "UNKNOWN"):
        groups, faults = coded(Listing(("a", name), ["g"]), ["a", None])

        assert groups == ["a", name]
        assert not faults.found


def test_missing_goes_before_unknown():
    groups, _ = coded(Listing(("unknown", "missing"), ["g"]), [None, "unknown"])

    assert groups == ["missing", "unknown"]


def test_a_missing_part_of_an_intersection_is_looked_up_in_its_column():
    listing = Listing([("f", "unknown"), ("m", "old")], ["sex", "age"])

    groups, faults = coded(listing, ["f", "m", "m", None], [None, "old", None, "old"])

    assert groups == [("f", "unknown"), ("m", "old"), None, None]
    assert faults.unlisted == {"m & ": 1}
    assert faults.missing_labels == 1


def test_other_takes_unlisted_parts_of_an_intersection():
    listing = Listing([("f", "x"), ("f", "other"), ("m", "x")], ["sex", "race"], other="other")

    groups, faults = coded(listing, ["f", "f", "m"], ["x", "y", "y"])

    assert groups == [("f", "x"), ("f", "other"), None]
    assert faults.unlisted == {"m & y": 1}


def test_the_mapping_goes_before_the_lookup_and_takes_missing_labels():
    listing = Listing(("a", "b"), ["g"], mapping={"AA": "a", "": "b", "b": "a"})

    assert coded(listing, ["AA", None, "b"])[0] == ["a", "b", "a"]


@pytest.mark.parametrize("spelling", ["true", "True", "TRUE"])
def test_a_boolean_may_be_spelled_in_three_ways(spelling):
    listing = Listing((True, False), ["g"])

    assert coded(listing, [spelling, "false"])[0] == [True, False]


def test_two_spellings_in_a_plan_are_two_groups():
    listing = Listing(("True", "true"), ["g"])

    assert coded(listing, ["true", "True", "TRUE"])[0] == ["true", "True", None]


def test_labels_of_rows_that_are_not_kept_are_neither_groups_nor_faults():
    found = Discovery(["g"])

    assert coded(found, ["a", "b", None], keep=[True, False, False])[1] == Faults()
    assert found.groups == ("a",)
    assert coded(Listing(("a",), ["g"]), ["a", "b"], keep=[True, False])[1] == Faults()


def test_discovered_codes_stay_the_same():
    found = Discovery(["g"], mapping={"z": "a"})
    first, _ = coded(found, ["b", "a"])

    second, _ = coded(found, ["c", "a", "z", "b"])

    assert first == ["b", "a"]
    assert second == ["c", "a", "a", "b"]
    assert sorted(found.groups) == ["a", "b", "c"]


def test_discovered_intersections_are_tuples():
    found = Discovery(["sex", "race"])

    coded(found, ["f", "m"], ["x", "x"])

    assert set(found.groups) == {("f", "x"), ("m", "x")}


def test_a_column_that_differs_in_every_record_is_refused_early_and_briefly():
    names = [f"name {number}" for number in range(5000)]

    with pytest.raises(fp.errors.LabelError, match="more than 1,000 labels") as caught:
        coded(Listing(("a", "b"), ["g"]), names)

    assert len(str(caught.value)) < 400


def test_many_unlisted_labels_are_fine_where_one_group_takes_them():
    names = [f"name {number}" for number in range(5000)]

    groups, _ = coded(Listing(("a", "rest"), ["g"], other="rest"), names)

    assert set(groups) == {"rest"}


def test_more_than_256_groups_have_wider_codes():
    listing = Listing([str(number) for number in range(257)], ["g"])
    labels = Labels(np.array([256, 3]), tuple(str(number) for number in range(257)))

    codes, _ = encode(listing, [labels], None, Faults())

    assert codes.dtype == np.uint16
    assert codes.tolist() == [256, 3]


def refused(records):
    faults = Faults()
    for task in records.batches():
        faults.add(task().faults)
    return faults


def test_unlisted_labels_are_cut_and_counted():
    table = {"z": range(700), "g": [f"{'x' * 100}{number % 7}" for number in range(700)]}
    records = open_records(table, score="z", group="g", groups=("a", "b"))

    with pytest.raises(fp.errors.LabelError, match="and 2 more labels, in 700 records") as caught:
        records.accept(refused(records))

    assert "x" * 61 not in str(caught.value)


def test_labels_of_few_records_are_counted_and_not_printed():
    """They may be names of people; other spellings of a group, and labels of many records, name nobody."""
    labels = ["a"] * 20 + ["b"] * 20 + ["rest"] * 11 + ["Zsolt", "A "]
    records = open_records(
        {"z": [0.5] * len(labels), "g": labels}, score="z", group="g", groups=("a", "b")
    )

    with pytest.raises(fp.errors.LabelError) as caught:
        records.accept(refused(records))

    assert "'rest' (11), 'A ' (1) and 1 more label, in 13 records" in caught.value.message
    assert "Zsolt" not in str(caught.value)


def test_only_labels_of_few_records_are_found_by_their_lines(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("z,g\n" + "1,a\n" * 20 + "1,b\n" * 20 + "1,Zsolt\n")
    plan = fp.Plan(title="t", groups=("a", "b"), score_range=(0, 1))

    with pytest.raises(fp.errors.LabelError) as caught:
        fp.sketch(path, plan=plan, silo="s", score="z", group="g")

    assert "1 label, in 1 record in all (line 42)" in caught.value.message
    assert "Zsolt" not in str(caught.value)


def test_a_column_of_names_is_refused_without_a_name(tmp_path):
    names = [f"Patient {number}" for number in range(1500)]
    path = tmp_path / "scores.csv"
    path.write_text(
        "z,g,s\n" + "".join(f"{place % 2},{name},x\n" for place, name in enumerate(names))
    )
    plan = fp.Plan(title="t", groups=("a", "b"), score_range=(0, 1))

    with pytest.raises(fp.errors.LabelError, match="more than 1,000 labels") as planned:
        fp.sketch(path, plan=plan, silo="s", score="z", group="g")
    with pytest.raises(fp.errors.PlanError, match="not 1,500") as simulated:
        fp.simulate(path, silo="s", score="z", group="g")

    assert "Patient" not in str(planned.value) + str(simulated.value)


BAD_PLANS = {
    "same text": (("1", 1), {}, "have the same text"),
    "whole float": ((1, 1.0), {}, "have the same text"),
    "no text": (("a", ""), {}, "has no text"),
    "too many parts": ((("a", "b"),), {}, "one part for each of the 1 group columns"),
    "other not listed": (("a",), {"other": "b"}, "not among 'a'"),
    "mapped to nothing": (("apple",), {"mapping": {"x": "aple"}}, "mapped to 'aple'"),
}


@pytest.mark.parametrize(("groups", "options", "message"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_groups_that_do_not_fit_are_refused(groups, options, message):
    with pytest.raises(fp.errors.LabelError, match=message):
        Listing(groups, ["g"], **options)


def test_too_few_parts_are_refused():
    with pytest.raises(fp.errors.LabelError, match="does not have one part"):
        Listing(("a",), ["g", "h"])


def test_other_needs_a_plan():
    with pytest.raises(fp.errors.LabelError, match="where no group is listed"):
        open_records({"z": [1.0], "g": ["a"]}, score="z", group="g", groups=None, other="a")


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1))
def test_an_intersection_has_one_key_for_each_combination(rows):
    columns = [Labels(np.array(codes), tuple("abcdef")) for codes in zip(*rows, strict=True)]

    codes, keys = intersect(columns)

    assert [keys[code] for code in codes] == [tuple("abcdef"[i] for i in row) for row in rows]
    assert len(set(keys)) == len(keys) == len(set(rows))


def test_intersections_of_large_columns_do_not_need_a_table_of_all():
    many = tuple(str(number) for number in range(3000))
    column = Labels(np.array([0, 2999, 0]), many)

    codes, keys = intersect([column, column])

    assert [keys[code] for code in codes] == [("0", "0"), ("2999", "2999"), ("0", "0")]

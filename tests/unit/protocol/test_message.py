"""A message is valid once built or read, and says the same again when written."""

import copy
import hashlib
import json
import math
import pickle

import numpy as np
import pytest
from tests.unit.protocol.samples import (
    MEAN_SQUARE,
    SECRET,
    cell,
    counted_cell,
    counting,
    document,
    encoded,
    mean_cell,
    means,
    message,
    plan,
    with_cell,
)

import fedparity as fp
from fedparity.privacy.disclosure import rounding_error


def counted(**changes):
    """The JSON of a message of counts, with some fields of its first cell changed."""
    first = {**counted_cell().to_dict(), **changes}
    return document(kind="counts", cells=[first, document()["cells"][1]])


REFUSED = {
    "no JSON": b"sketch",
    "another schema": encoded(document(schema="fedparity/sketch/2")),
    "no schema": encoded(document(schema=...)),
    "an unknown field": encoded(document(note="hello")),
    "no silo": encoded(document(silo=...)),
    "no guarantee": encoded(document(guarantee=...)),
    "no cells": encoded(document(cells=...)),
    "a plan that is no digest": encoded(document(plan="sha256:123")),
    "a plan in capitals": encoded(document(plan="sha256:" + "A" * 64)),
    "a silo that is a number": encoded(document(silo=3)),
    "a silo of two lines": encoded(document(silo="a\nb")),
    "an unknown kind": encoded(document(kind="median")),
    "a kind that is a list": encoded(document(kind=["quantile"])),
    "cells that are an object": encoded(document(cells={})),
    "cells that are numbers": encoded(document(cells=[1, 2])),
    "one cell": encoded(document(cells=[cell().to_dict()])),
    "a group twice": encoded(document(cells=[cell().to_dict()] * 2)),
    "negative rows": encoded(document(rows_dropped=-1)),
    "rows that are a boolean": encoded(document(rows_dropped=True)),
    "rows that are not whole": encoded(document(rows_dropped=0.5)),
    "a guarantee that is a text": encoded(document(guarantee="none")),
    "a guarantee without a mode": encoded(document(guarantee={"minimum_cell": 11})),
    "a guarantee that holds a list": encoded(document(guarantee={"mode": "none", "x": [1]})),
    "a guarantee of many terms": encoded(
        document(guarantee={"mode": "none", **{f"x{i}": i for i in range(40)}})
    ),
    "a long text in the guarantee": encoded(document(guarantee={"mode": "none", "x": "y" * 300})),
    "no software": encoded(document(software="")),
    "a signature that is null": encoded(document(signature=None)),
    "a short signature": encoded(document(signature="AAAA")),
    "a signature with a line end": encoded(document(signature="A" * 86 + "==\n")),
    "an unknown field of a cell": encoded(with_cell(mean=0.5)),
    "a cell without levels": encoded(with_cell(levels=...)),
    "levels that are null": encoded(with_cell(levels=None)),
    "more levels than values": encoded(with_cell(levels=4)),
    "fewer levels than values": encoded(with_cell(levels=2)),
    "levels that are a text": encoded(with_cell(levels="3")),
    "negative levels": encoded(with_cell(levels=-1)),
    "levels with a fraction": encoded(with_cell(levels=3.0)),
    "enormous levels": encoded(with_cell(levels=10**15)),
    "a group that is null": encoded(with_cell(group=None)),
    "a group that is a fraction": encoded(with_cell(group=1.5)),
    "a group that is an object": encoded(with_cell(group={})),
    "a group of one part": encoded(with_cell(group=["A"])),
    "a count that is a text": encoded(with_cell(count="40")),
    "a negative count": encoded(with_cell(count=-4)),
    "a count that is a boolean": encoded(with_cell(count=True)),
    "an enormous count": encoded(with_cell(count=10**12 + 1)),
    "no count and no reason": encoded(with_cell(count=None)),
    "a count of zero with values": encoded(with_cell(count=0)),
    "a count without values": encoded(with_cell(values=None, levels=0)),
    "no values": encoded(with_cell(values=[], levels=0)),
    "values that are a number": encoded(with_cell(values=SECRET)),
    "values that are texts": encoded(with_cell(values=["0.1", "0.2", "0.3"])),
    "a boolean among the values": encoded(with_cell(values=[False, SECRET, 0.5])),
    "only booleans": encoded(with_cell(values=[False, True, True])),
    "a null among the values": encoded(with_cell(values=[SECRET, None, 0.5])),
    "a list among the values": encoded(with_cell(values=[SECRET, [0.2], 0.5])),
    "NaN among the values": encoded(with_cell(values=[SECRET, math.nan, 0.5])),
    "an infinity among the values": encoded(with_cell(values=[SECRET, 0.5, math.inf])),
    "decreasing values": encoded(with_cell(values=[0.5, SECRET, 0.75])),
    "a rank error of 1": encoded(with_cell(rank_error=1)),
    "a rank error that is null": encoded(with_cell(rank_error=None)),
    "an unknown reason": encoded(with_cell(count=None, values=None, levels=0, withheld="shy")),
    "a reason and a count": encoded(with_cell(values=None, levels=0, withheld="small")),
    "a reason and values": encoded(with_cell(count=None, withheld="small")),
    "a reason and a rank error": encoded(
        with_cell(count=None, values=None, levels=0, withheld="small", rank_error=0.1)
    ),
    "an empty cell with a rank error": encoded(
        with_cell(count=0, values=None, levels=0, rank_error=0.1)
    ),
    "a reason and a count above": encoded(
        with_cell(count=None, values=None, levels=0, withheld="small", above=[3])
    ),
    "a reason and what weights amount to": encoded(
        with_cell(count=None, values=None, levels=0, withheld="small", effective=3)
    ),
    "an empty cell with a mean square": encoded(
        with_cell(count=0, values=None, levels=0, mean_square=0.1)
    ),
    "part of an effective record": encoded(with_cell(effective=12.5)),
    "no effective record": encoded(with_cell(effective=0)),
    "a mean square among quantiles": encoded(with_cell(mean_square=0.1)),
    "a negative mean square": encoded(with_cell(mean_square=-0.1)),
    "a mean square that is a text": encoded(with_cell(mean_square="0.1")),
    "means without a mean square": encoded({**document(), "kind": "mean"}),
    "counts among quantiles": encoded(with_cell(counts=[10, 15, 15])),
    "no counts where they are the kind": encoded({**document(), "kind": "counts"}),
    "counts that are a number": encoded(counted(counts=40)),
    "no counts at all": encoded(counted(counts=[])),
    "a run without a count first": encoded(counted(counts=[None, 25, 15])),
    "two runs without a count": encoded(counted(counts=[40, None, None])),
    "a negative number among the counts": encoded(counted(counts=[-1, 26, 15])),
    "fewer counts than values": encoded(counted(counts=[20, 20])),
    "counts of another sum": encoded(counted(counts=[10, 15, 14])),
    "counts of weights of another sum": encoded(counted(count=40.5, counts=[10, 15, 15.49])),
    "counts at one value twice": encoded(counted(values=[1, 1, 5])),
    "counts with an error of ranks": encoded(counted(rank_error=0.1)),
    "counts with a mean square": encoded(counted(mean_square=0.1)),
    "above that is null": encoded(with_cell(above=None)),
    "a text above": encoded(with_cell(above=["3"])),
    "more above than there are": encoded(with_cell(above=[41])),
    "more above than below": encoded(with_cell(above=[20, None, 21])),
    "twenty-one thresholds": encoded(with_cell(above=[3] * 21)),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_message_is_refused_and_no_score_is_printed(data):
    with pytest.raises(fp.errors.MessageError) as caught:
        fp.SiloSketch.from_bytes(data)

    sentence, fix = str(caught.value).split("\nfix: ")
    assert sentence.endswith(".")
    assert fix
    assert str(SECRET) not in str(caught.value)
    assert len(sentence) < 300


@pytest.mark.parametrize(
    ("name", "words"),
    {
        "another schema": "must be 'fedparity/sketch/1', not 'fedparity/sketch/2'",
        "an unknown field": "the message has unknown fields: 'note'",
        "an unknown field of a cell": "a cell has unknown fields: 'mean'",
        "no silo": "the message lacks 'silo'",
        "a cell without levels": "a cell lacks 'levels'",
        "a group twice": "group 'A' has two cells",
        "more levels than values": "says 4 levels and holds 3 values",
        "a boolean among the values": "values must be a list of at least one number (group 'A')",
        "NaN among the values": "holds NaN",
        "decreasing values": "the values of group 'A' decrease after level 1",
        "a reason and a count": "the cell of group 'A' is withheld, but states numbers",
        "no count and no reason": "has no count, and does not say why",
        "a short signature": "the base64 text of 64 bytes",
    }.items(),
)
def test_a_refusal_says_what_is_wrong(name, words):
    with pytest.raises(fp.errors.MessageError) as caught:
        fp.SiloSketch.from_bytes(REFUSED[name])

    assert words in caught.value.message


def test_refusals_say_different_things():
    """Each mistake has its own words, but for fields of which several mistakes are possible."""
    said = set()
    for data in REFUSED.values():
        with pytest.raises(fp.errors.MessageError) as caught:
            fp.SiloSketch.from_bytes(data)
        said.add(caught.value.message)

    assert len(said) > 0.7 * len(REFUSED)


def test_what_is_written_is_read_again():
    sketch = message()

    again = fp.SiloSketch.from_bytes(sketch.to_bytes())

    assert again == sketch
    assert again.digest == sketch.digest
    assert hash(again) == hash(sketch)


def test_formatting_does_not_matter():
    """An editor may have reformatted the file; digest and signature are of canonical bytes."""
    pretty = json.dumps(message().to_dict(), indent=2, ensure_ascii=False).encode()

    assert fp.SiloSketch.from_bytes(pretty) == message()


def test_the_bytes_are_those_of_the_fields():
    expected = (
        '{"cells":[{"above":[],"count":40,"counts":null,"effective":null,"group":"A","levels":3,'
        '"mean_square":null,"rank_error":0,"values":[0.125,0.5,0.75],"withheld":null},'
        '{"above":[],"count":null,"counts":null,"effective":null,"group":"B","levels":0,'
        '"mean_square":null,"rank_error":0,"values":null,"withheld":"small"}],'
        '"guarantee":{"minimum_cell":11,"mode":"none","records_per_level":10,"rounding":0.001},'
        f'"kind":"quantile","plan":"{plan().digest}","rows_dropped":0,"rows_filtered":0,'
        '"schema":"fedparity/sketch/1","silo":"aurora","software":"fedparity 0.1.0"}'
    ).encode()

    assert message().to_bytes() == expected
    assert message().digest == "sha256:" + hashlib.sha256(expected).hexdigest()


def test_the_signature_does_not_count_for_the_digest():
    signed = message(signature="A" * 86 + "==")

    assert signed.digest == message().digest
    assert signed != message()
    assert fp.SiloSketch.from_bytes(signed.to_bytes()) == signed


def test_a_whole_weight_is_a_count():
    """JSON has one kind of number, so that both must give the same result before and after."""
    weighted = cell(count=40.0)

    assert type(weighted.count) is int
    assert cell(count=40.5).count == 40.5


def test_negative_zeros_are_zeros():
    values = cell(values=np.array([-0.0, 0.0, 1.0])).values

    assert not np.signbit(values).any()


def test_values_cannot_be_changed_from_outside():
    given = np.array([0.1, 0.5, 0.75])
    built = cell(values=given)
    given[0] = 9

    assert built.values[0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        built.values[0] = 9


def test_values_of_other_types_are_checked_too():
    assert cell(values=np.array([1, 2, 3], dtype=np.int16)).values.dtype == np.float64
    assert cell(values=(np.float32(0.5), 1)).levels == 2
    for values in (np.array([[0.5]]), np.array([True]), np.array(["a"]), [10**400], np.array([])):
        with pytest.raises(fp.errors.MessageError):
            cell(values=values)


def test_released_cells_are_those_of_a_federation():
    released = message().released(plan())

    assert list(released) == [("aurora", "A")]
    assert released["aurora", "A"].kind == "quantile"
    assert released["aurora", "A"].values.tolist() == [SECRET, 0.5, 0.75]


def test_a_cell_of_means_says_how_far_rounding_may_have_moved_its_numbers():
    asked = means()
    cell = mean_cell().to_cell(asked)
    farthest = np.diff([0, SECRET, 0.5, 0.75, 1]).max() + rounding_error((0, 1), 0.005)

    assert (cell.kind, cell.mean_square, cell.effective) == ("mean", MEAN_SQUARE, 40.0)
    assert cell.value_error == rounding_error((0.0, 1.0), 0.005)
    assert cell.mean_square_error == pytest.approx(10 * 0.005 * farthest / 40)
    assert cell.above == {0.5: 22}


def test_a_weighted_cell_says_what_its_weights_amount_to():
    cell = mean_cell(count=52.5, effective=30, above=[None]).to_cell(means())

    assert (cell.count, cell.effective, cell.above) == (52.5, 30.0, {})
    assert cell.mean_square_error == mean_cell(count=30).to_cell(means()).mean_square_error


def test_a_cell_of_counts_says_where_its_records_are():
    """Of 15 at scores 2 and 3, ten may be at 2; the 14 above the threshold may be anywhere there."""
    cell = counted_cell().to_cell(counting(thresholds=[5], levels=9))
    cut = counted_cell().to_cell(counting())

    assert (cell.kind, cell.count) == ("counts", 40)
    assert cell.values.tolist() == [1.0, 2.5, 3.0, 4.5]
    assert cell.masses.tolist() == [11, 10, 5, 14]
    assert cell.value_error.tolist() == [0.0, 0.5, 0.0, 0.5]
    assert cut.values.tolist() == [1.0, 2.5, 4.5]
    assert cut.masses.tolist() == [11, 15, 14]
    assert cut.above == {4.0: 14}


def test_runs_without_records_are_no_part_of_a_law():
    asked = counting(disclosure={"minimum_cell": 1, "records_per_level": 0})
    cell = counted_cell(values=[1, 2, 3, 4, 5], counts=[0, 26, 0, 14, 0]).to_cell(asked)

    assert (cell.values.tolist(), cell.masses.tolist()) == ([2.0, 4.0], [26, 14])


def test_quantiles_of_a_grid_are_where_they_say():
    asked = plan(score_range=(1, 10), score_step=1)

    assert cell(values=[2, 5, 9]).to_cell(asked).value_error == 0


def test_cells_are_equal_by_what_they_say():
    assert cell() == cell()
    assert hash(cell()) == hash(cell())
    assert cell(group=1) != cell(group=True)
    assert cell() != fp.documents.SketchedCell.kept_back("A", "small")
    assert fp.documents.SketchedCell.kept_back("A", "small") != fp.documents.SketchedCell.empty(
        "A"
    )
    assert cell() != "cell"
    assert message() != "message"


def test_messages_survive_pickling_and_copying():
    assert pickle.loads(pickle.dumps(message())) == message()  # noqa: S301
    assert copy.deepcopy(message()) == message()


def test_a_message_prints_on_one_line_without_values():
    assert repr(message()) == "SiloSketch('aurora', 2 cells, 1 withheld, unsigned)"
    assert repr(cell()) == "SketchedCell('A', count=40, levels=3)"


def test_a_message_is_written_whole_and_not_over_another(tmp_path):
    path = tmp_path / "aurora.json"
    message().write(path)

    with pytest.raises(fp.errors.OutputError, match="exists already"):
        message(rows_dropped=3).write(path)
    assert fp.SiloSketch.read(path) == message()
    message(rows_dropped=3).write(path, overwrite=True)
    assert fp.SiloSketch.read(path).rows_dropped == 3
    assert [file.name for file in tmp_path.iterdir()] == ["aurora.json"]


def test_a_message_that_cannot_be_read_names_its_file(tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_bytes(encoded(document(silo=3)))

    for path in (tmp_path / "nowhere.json", tmp_path, wrong):
        with pytest.raises(fp.errors.MessageError, match=path.name):
            fp.SiloSketch.read(path)

"""Parts of a result by name, as frames and as tables of a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import fedparity as fp
from fedparity.documents.tabular import Parts
from fedparity.errors import PartError


@pytest.fixture(scope="module")
def result():
    random = np.random.default_rng(0)
    table = {
        "hospital": random.choice(["Aurora", "Elm Park", "<b>"], 600),
        "race": random.choice(["A", "B", "C"], 600),
        "sex": random.choice([True, False], 600),
        "risk": random.random(600),
    }
    return fp.simulate(
        table,
        silo="hospital",
        score="risk",
        group="race",
        score_range=(0, 1),
        thresholds=[0.25, 0.5],
        redraws=20,
    )


def test_a_part_is_found_by_its_label_and_by_its_position(result):
    assert result.silos["Elm Park"].silo == "Elm Park"
    assert result.silos["Elm Park"] is result.silos[result.silos.labels.index("Elm Park")]
    assert result.groups["B"].group == "B"
    assert result.pairs["A", "C"].groups == ("A", "C")
    assert result.thresholds[0.5].groups["B"].group == "B"
    assert result.attribution.silos["Aurora"].silo == "Aurora"
    assert result.magnitudes.burden["C"].group == "C"
    assert result.silos[-1] == tuple(result.silos)[-1]
    assert result.silos[np.int64(1)] == result.silos[1]
    assert isinstance(result.silos[:2], Parts)


def test_a_result_that_was_read_has_the_same_parts(result):
    read = fp.AuditResult.from_dict(result.to_dict())

    assert read == result
    assert read.silos["Elm Park"] == result.silos["Elm Park"]


@pytest.mark.parametrize("label", ["Elm", True, ("A", "B"), [1], 0.5])
def test_an_unknown_label_is_refused_with_those_that_exist(result, label):
    with pytest.raises(
        PartError, match=r"(?s)'Aurora', 'Elm Park'.*fix: use one of these"
    ) as found:
        result.silos[label]

    assert isinstance(found.value, KeyError)


def test_a_position_out_of_range_is_an_index_error(result):
    with pytest.raises(IndexError):
        result.silos[7]


def test_whole_numbers_and_booleans_are_found_by_labeled():
    table = {"g": [1, 0, 1, 0], "b": [True, True, False, False], "z": [0.1, 0.2, 0.3, 0.4]}
    found = fp.simulate(table, score="z", group="g", score_range=(0, 1), redraws=20)
    other = fp.simulate(table, score="z", group="b", score_range=(0, 1), redraws=20)

    assert found.groups.labeled(1).group == 1
    assert found.groups[0].group == 0
    assert other.groups[True].group is True
    with pytest.raises(PartError):
        found.groups.labeled(True)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_every_sequence_is_a_frame(result, backend):
    pytest.importorskip(backend)

    def rows(parts):
        frame = parts.to_frame(backend)
        names = list(getattr(frame, "column_names", None) or frame.columns)
        columns = (list(frame[name]) for name in names)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    assert [str(row["group"]) for row in rows(result.groups)] == ["A", "B", "C"]
    assert float(str(rows(result.groups)[1]["mean"])) == result.groups["B"].mean
    pairs = rows(result.pairs)
    assert [(str(row["first"]), str(row["second"])) for row in pairs] == list(result.pairs.labels)
    assert float(str(pairs[0]["interval_lower"])) == result.pairs[0].interval.lower
    rates = rows(result.thresholds)
    assert [float(str(row["threshold"])) for row in rates] == [0.25] * 3 + [0.5] * 3
    last = result.thresholds[0.5].groups["C"]
    assert float(str(rates[-1]["rate"])) == last.rate.value
    assert float(str(rates[-1]["ratio_interval_lower"])) == last.ratio.interval.lower
    assert rows(result.thresholds[0.5])[0].keys() == rows(result.thresholds[0.5].groups)[0].keys()
    assert len(rows(result.silos)) == len(rows(result)) == 3
    assert "influence" in rows(result)[0]
    assert rows(result.set_aside) == []


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, _):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_a_notebook_shows_the_same_numbers_and_escapes_names(result):
    for parts in (result.groups, result.pairs, result.silos, result.thresholds):
        page = _Cells()
        page.feed(parts._repr_html_())

        assert page.tags.count("tr") == 1 + len(parts.to_frame("pandas"))
        assert "b" not in page.tags
    assert "<b>" in _texts(result.silos)
    assert f"{result.groups['A'].n}" in _texts(result.groups)


def _texts(parts):
    page = _Cells()
    page.feed(parts._repr_html_())
    return page.texts


def test_a_notebook_shows_the_first_rows_of_many():
    random = np.random.default_rng(0)
    table = {"s": np.arange(400) % 100, "g": np.arange(400) // 100 % 2, "z": random.random(400)}
    result = fp.simulate(table, silo="s", score="z", group="g", score_range=(0, 1), redraws=20)

    assert "and 40 more rows" in result.silos._repr_html_()
    assert len(result.silos.to_frame("pandas")) == 100

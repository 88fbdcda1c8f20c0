"""`repr` of public objects is one line, however much they hold."""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import fedparity as fp
from fedparity.documents import result_parts
from fedparity.text import OneLine

MANY = 1_000
PLACES = (fp, fp.theory, fp.planning, fp.documents, result_parts)
PUBLIC = sorted(
    {
        thing
        for place in PLACES
        for name in place.__all__
        if inspect.isclass(thing := getattr(place, name)) and is_dataclass(thing)
    },
    key=lambda thing: (thing.__module__, thing.__name__),
)
SCALARS = {"AuditWarning", "DatabaseTable", "Method", "Mistake", "PrivacyTerms"}
"""Objects with a few numbers and names: they cannot hold much."""


def is_short(thing, most=450):
    shown = repr(thing)
    return "\n" not in shown and len(shown) <= most


def filled(kind, content):
    """An object with this content in every field, whatever it should hold."""
    made = object.__new__(kind)
    for field in fields(kind):
        object.__setattr__(made, field.name, content)
    return made


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "content",
    [
        np.arange(float(MANY)),
        tuple(range(MANY)),
        dict.fromkeys(range(MANY), "much"),
        "a text\nof many lines\n" * MANY,
    ],
    ids=["array", "tuple", "mapping", "text"],
)
def test_a_public_dataclass_is_shown_on_one_line(kind, content):
    if not issubclass(kind, OneLine):
        assert vars(kind).get("__repr__") or kind.__name__ in SCALARS
    elif kind.__repr__ is OneLine.__repr__:
        assert is_short(filled(kind, content), most=100 * (1 + len(fields(kind))))


@pytest.fixture(scope="module")
def large():
    """The result of an audit of many silos and groups, with whole numbers as labels."""
    random = np.random.default_rng(0)
    table = {
        "silo": random.integers(0, 200, 4000),
        "group": random.integers(0, 12, 4000),
        "score": random.random(4000),
    }
    return fp.simulate(
        table, silo="silo", score="score", group="group", score_range=(0, 1), redraws=20
    )


def everything_in(thing):
    """An object and all dataclasses inside it."""
    if is_dataclass(thing):
        yield thing
        thing = [getattr(thing, field.name) for field in fields(thing)]
    if isinstance(thing, tuple | list):
        yield thing if isinstance(thing, result_parts.Parts) else None
        for held in thing:
            yield from everything_in(held)


def test_everything_in_a_large_result_is_shown_on_one_line(large):
    shown = [thing for thing in everything_in(large) if thing is not None]

    assert len(shown) > 1000
    assert [type(thing).__name__ for thing in shown if not is_short(thing)] == []


def test_what_is_computed_from_a_federation_is_shown_on_one_line(large):
    federation, theory = large.sketches(), fp.theory
    message = fp.sketch(
        {"z": np.linspace(0, 1, MANY), "g": ["a", "b"] * (MANY // 2)},
        plan=fp.Plan(title="many", groups=("a", "b"), score_range=(0, 1), levels=500),
        silo="s",
        score="z",
        group="g",
    )
    things = [
        federation,
        fp.assess(federation, score_range=(0, 1), redraws=20),
        fp.at_threshold(federation, 0.5, score_range=(0, 1)),
        fp.Law.from_scores(np.linspace(0, 1, MANY)),
        fp.Cell.from_scores(np.linspace(0, 1, MANY), levels=500),
        fp.Weights(dict.fromkeys(range(50), 1)),
        fp.plan_size(error=0.5, replicates=20),
        theory.decompose(federation),
        theory.attribute(federation),
        theory.local_audits(federation)[0],
        theory.magnitudes(federation, score_range=(0, 1)),
        theory.allocate(np.linspace(0, 1, MANY), silos=4, regime="random"),
        message,
        *message.cells,
    ]

    assert [repr(thing) for thing in things if not is_short(thing)] == []


def test_whole_numbers_stay_whole_numbers(large):
    assert large.groups.labels == tuple(range(12))
    assert list(large.silos[0].n) == list(range(12))
    assert large.magnitudes.worst_pair.groups in large.pairs.labels
    assert [row["group"] for row in large.to_dict()["groups"]] == list(range(12))
    assert fp.AuditResult.from_dict(large.to_dict()).groups.labels == tuple(range(12))


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_labels_keep_the_type_of_their_column(library):
    random = np.random.default_rng(1)
    table = {
        "old": random.random(200) < 0.5,
        "code": random.integers(9, 11, 200),
        "name": random.choice(["1", "2"], 200),
        "score": random.random(200),
    }
    if library != "numpy":
        module = pytest.importorskip(library)
        table = (module.table if library == "pyarrow" else module.DataFrame)(table)

    def found(group):
        return fp.simulate(
            table, score="score", group=group, score_range=(0, 1), redraws=20
        ).groups.labels

    assert found("code") == (9, 10)
    assert found("name") == ("1", "2")
    assert found(["old", "code"]) == ((False, 9), (False, 10), (True, 9), (True, 10))
    assert all(type(old) is bool for old in found("old"))


def test_a_mapping_makes_texts_of_labels():
    table = {"code": [1, 2, 3, 1, 2, 3], "score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}

    result = fp.simulate(
        table, score="score", group="code", mapping={"3": "2"}, score_range=(0, 1), redraws=20
    )

    assert result.groups.labels == ("1", "2")

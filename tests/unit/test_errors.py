"""Bad input of every kind gets one clear sentence and a fix, and never a record's value."""

import math
import pickle

import numpy as np
import pytest

import fedparity as fp
from fedparity import errors

SECRET = 0.123456789
LAWS = {"a": fp.Law.from_scores([0.0, 1.0]), "b": fp.Law.from_scores([2.0])}
EQUAL = fp.Weights({"a": 1, "b": 1})


def cell(**changes):
    return fp.Cell(**{"count": 3, "values": [0.1, 0.2], **changes})


def federation(cells, **options):
    return fp.Federation.from_cells(cells, **options)


BAD_INPUT = {
    "no score": (fp.errors.ScoreError, lambda: fp.Law.from_scores([])),
    "NaN": (fp.errors.ScoreError, lambda: fp.Law.from_scores([SECRET, math.nan])),
    "infinite": (fp.errors.ScoreError, lambda: fp.Law.from_scores([SECRET, -math.inf])),
    "missing": (fp.errors.ScoreError, lambda: fp.Law.from_scores([SECRET, None])),
    "strings": (fp.errors.ScoreError, lambda: fp.Law.from_scores(["0.5", "high"])),
    "numbers as strings": (fp.errors.ScoreError, lambda: fp.Law.from_scores(["0.5", "0.6"])),
    "mixed with strings": (
        fp.errors.ScoreError,
        lambda: fp.Law.from_scores([SECRET, "0.6", None]),
    ),
    "complex": (fp.errors.ScoreError, lambda: fp.Law.from_scores([1j])),
    "dates": (fp.errors.ScoreError, lambda: fp.Law.from_scores(np.array(["2026-01-01"], "M8[D]"))),
    "a table": (fp.errors.ScoreError, lambda: fp.Law.from_scores([[0.1], [0.2]])),
    "a number": (fp.errors.ScoreError, lambda: fp.Law.from_scores(3.0)),
    "atoms without masses": (fp.errors.ScoreError, lambda: fp.Law([1.0, 2.0], [1.0])),
    "negative mass": (fp.errors.MassError, lambda: fp.Law([1.0, 2.0], [1, -1])),
    "NaN mass": (fp.errors.MassError, lambda: fp.Law([1.0, 2.0], [1.0, math.nan])),
    "no mass": (fp.errors.MassError, lambda: fp.Law([1.0, 2.0], [0, 0])),
    "level 0": (fp.errors.OptionError, lambda: LAWS["a"].quantile(0.0)),
    "level above 1": (fp.errors.OptionError, lambda: LAWS["a"].quantile([0.5, 1.1])),
    "level NaN": (fp.errors.OptionError, lambda: LAWS["a"].quantile(math.nan)),
    "negative share": (fp.errors.MassError, lambda: fp.Weights({"a": 2, "b": -1})),
    "infinite share": (fp.errors.MassError, lambda: fp.Weights({"a": math.inf})),
    "no share": (fp.errors.MassError, lambda: fp.Weights({})),
    "order 3": (fp.errors.OptionError, lambda: fp.wasserstein([1.0], [2.0], order=3)),
    "order 0": (fp.errors.OptionError, lambda: fp.theory.cramer(*LAWS.values(), order=0)),
    "order True": (fp.errors.OptionError, lambda: fp.disparity(LAWS, EQUAL, order=True)),
    "trim of a half": (fp.errors.OptionError, lambda: fp.disparity(LAWS, EQUAL, trim=0.5)),
    "negative trim": (fp.errors.OptionError, lambda: fp.wasserstein([1.0], [2.0], trim=-0.1)),
    "NaN trim": (fp.errors.OptionError, lambda: fp.Method(trim=math.nan)),
    "unknown estimator": (fp.errors.OptionError, lambda: fp.Method(estimator="magic")),
    "zero levels": (fp.errors.OptionError, lambda: fp.Method(levels=0)),
    "fractional levels": (fp.errors.OptionError, lambda: fp.theory.midpoints(2.5)),
    "unknown kind": (fp.errors.OptionError, lambda: cell(kind="median")),
    "laws without weights": (fp.errors.GroupError, lambda: fp.disparity(LAWS)),
    "scores without groups": (fp.errors.GroupError, lambda: fp.disparity([0.1, 0.2])),
    "other groups": (
        fp.errors.GroupMismatchError,
        lambda: fp.heterogeneity(LAWS, fp.Weights({"a": 1, "c": 1})),
    ),
    "mixture of other groups": (
        fp.errors.GroupMismatchError,
        lambda: fp.theory.mixture(LAWS, fp.Weights({"a": 1})),
    ),
    "one law": (
        fp.errors.GroupError,
        lambda: fp.disparity({"a": LAWS["a"]}, fp.Weights({"a": 1})),
    ),
    "one group": (
        fp.errors.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=["a", "a"]),
    ),
    "missing group": (
        fp.errors.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=["a", None]),
    ),
    "NaN group": (
        fp.errors.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=[1.0, math.nan]),
    ),
    "fewer labels": (
        fp.errors.ScoreError,
        lambda: fp.disparity([0.1, 0.2, 0.3], sensitive_features=["a", "b"]),
    ),
    "more sample weights": (
        fp.errors.ScoreError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features="ab", sample_weight=[1, 1, 1]),
    ),
    "one group of weight": (
        fp.errors.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features="ab", sample_weight=[1, 0]),
    ),
    "overflow": (fp.errors.MagnitudeError, lambda: fp.theory.wasserstein_power([-1e200], [1e200])),
    "overflow of a distance": (
        fp.errors.MagnitudeError,
        lambda: fp.wasserstein([-1e308], [1e308]),
    ),
    "underflow": (fp.errors.MagnitudeError, lambda: fp.theory.wasserstein_power([0.0], [1e-200])),
    "overflow of a disparity": (
        fp.errors.MagnitudeError,
        lambda: fp.disparity([-1e300, 1e300], sensitive_features="ab"),
    ),
    "values of two lengths": (
        fp.errors.ScoreError,
        lambda: fp.theory.riemann_disparity({"a": [1.0], "b": [1.0, 2.0]}, EQUAL),
    ),
    "no group of values": (fp.errors.GroupError, lambda: fp.theory.linear_disparity({}, EQUAL)),
    "count 0": (fp.errors.CellError, lambda: cell(count=0)),
    "negative count": (fp.errors.CellError, lambda: cell(count=-5)),
    "NaN count": (fp.errors.CellError, lambda: cell(count=math.nan)),
    "count as text": (fp.errors.CellError, lambda: cell(count="12")),
    "count True": (fp.errors.CellError, lambda: cell(count=True)),
    "enormous count": (fp.errors.CellError, lambda: cell(count=2**70)),
    "no value": (fp.errors.ScoreError, lambda: cell(values=[])),
    "NaN value": (fp.errors.ScoreError, lambda: cell(values=[0.1, math.nan])),
    "decreasing values": (fp.errors.CellError, lambda: cell(values=[SECRET, 0.1])),
    "rank error of 1": (fp.errors.CellError, lambda: cell(rank_error=1.0)),
    "no cell": (fp.errors.FederationError, lambda: federation({})),
    "one group of cells": (fp.errors.GroupError, lambda: federation({("north", "a"): cell()})),
    "an empty listed group": (
        fp.errors.GroupError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "b", "c"]),
    ),
    "an unlisted group": (
        fp.errors.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "c"]),
    ),
    "a group listed twice": (
        fp.errors.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "b", "a"]),
    ),
    "mixed kinds": (
        fp.errors.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell(kind="mean")}),
    ),
    "an unknown silo": (
        fp.errors.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}).without("s"),
    ),
    "the last silo": (
        fp.errors.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}).without("n"),
    ),
    "fewer silo labels": (
        fp.errors.ScoreError,
        lambda: fp.Federation.from_scores([0.1, 0.2], groups="ab", silos=[1], levels=1),
    ),
}


@pytest.mark.parametrize(("expected", "call"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_refused_with_a_fix(expected, call):
    with pytest.raises(expected) as caught:
        call()

    sentence, fix = str(caught.value).split("\nfix: ")
    assert sentence.endswith(".")
    assert fix
    assert isinstance(caught.value, fp.FedparityError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("expected", "call"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_messages_do_not_print_a_record(expected, call):
    with pytest.raises(expected) as caught:
        call()

    assert str(SECRET) not in str(caught.value)


def test_errors_survive_pickling():
    """Worker processes send them home."""
    error = fp.errors.ScoreError.empty("scores")

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert type(copy) is fp.errors.ScoreError
    assert str(copy) == str(error)


def test_every_error_class_is_public_and_drawn_in_the_tree():
    for name in errors.__all__:
        assert getattr(fp.errors, name) is getattr(errors, name)
        assert name in errors.__doc__

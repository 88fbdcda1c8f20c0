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
    "no score": (fp.ScoreError, lambda: fp.Law.from_scores([])),
    "NaN": (fp.ScoreError, lambda: fp.Law.from_scores([SECRET, math.nan])),
    "infinite": (fp.ScoreError, lambda: fp.Law.from_scores([SECRET, -math.inf])),
    "missing": (fp.ScoreError, lambda: fp.Law.from_scores([SECRET, None])),
    "strings": (fp.ScoreError, lambda: fp.Law.from_scores(["0.5", "high"])),
    "numbers as strings": (fp.ScoreError, lambda: fp.Law.from_scores(["0.5", "0.6"])),
    "mixed with strings": (fp.ScoreError, lambda: fp.Law.from_scores([SECRET, "0.6", None])),
    "complex": (fp.ScoreError, lambda: fp.Law.from_scores([1j])),
    "dates": (fp.ScoreError, lambda: fp.Law.from_scores(np.array(["2026-01-01"], "M8[D]"))),
    "a table": (fp.ScoreError, lambda: fp.Law.from_scores([[0.1], [0.2]])),
    "a number": (fp.ScoreError, lambda: fp.Law.from_scores(3.0)),
    "atoms without masses": (fp.ScoreError, lambda: fp.Law([1.0, 2.0], [1.0])),
    "negative mass": (fp.MassError, lambda: fp.Law([1.0, 2.0], [1, -1])),
    "NaN mass": (fp.MassError, lambda: fp.Law([1.0, 2.0], [1.0, math.nan])),
    "no mass": (fp.MassError, lambda: fp.Law([1.0, 2.0], [0, 0])),
    "level 0": (fp.OptionError, lambda: LAWS["a"].quantile(0.0)),
    "level above 1": (fp.OptionError, lambda: LAWS["a"].quantile([0.5, 1.1])),
    "level NaN": (fp.OptionError, lambda: LAWS["a"].quantile(math.nan)),
    "negative share": (fp.MassError, lambda: fp.Weights({"a": 2, "b": -1})),
    "infinite share": (fp.MassError, lambda: fp.Weights({"a": math.inf})),
    "no share": (fp.MassError, lambda: fp.Weights({})),
    "order 3": (fp.OptionError, lambda: fp.wasserstein([1.0], [2.0], order=3)),
    "order 0": (fp.OptionError, lambda: fp.cramer(*LAWS.values(), order=0)),
    "order True": (fp.OptionError, lambda: fp.disparity(LAWS, EQUAL, order=True)),
    "trim of a half": (fp.OptionError, lambda: fp.disparity(LAWS, EQUAL, trim=0.5)),
    "negative trim": (fp.OptionError, lambda: fp.wasserstein([1.0], [2.0], trim=-0.1)),
    "NaN trim": (fp.OptionError, lambda: fp.Method(trim=math.nan)),
    "unknown estimator": (fp.OptionError, lambda: fp.Method(estimator="magic")),
    "zero levels": (fp.OptionError, lambda: fp.Method(levels=0)),
    "fractional levels": (fp.OptionError, lambda: fp.midpoints(2.5)),
    "unknown kind": (fp.OptionError, lambda: cell(kind="median")),
    "laws without weights": (fp.GroupError, lambda: fp.disparity(LAWS)),
    "scores without groups": (fp.GroupError, lambda: fp.disparity([0.1, 0.2])),
    "other groups": (
        fp.GroupMismatchError,
        lambda: fp.heterogeneity(LAWS, fp.Weights({"a": 1, "c": 1})),
    ),
    "mixture of other groups": (
        fp.GroupMismatchError,
        lambda: fp.mixture(LAWS, fp.Weights({"a": 1})),
    ),
    "one law": (fp.GroupError, lambda: fp.disparity({"a": LAWS["a"]}, fp.Weights({"a": 1}))),
    "one group": (
        fp.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=["a", "a"]),
    ),
    "missing group": (
        fp.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=["a", None]),
    ),
    "NaN group": (
        fp.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features=[1.0, math.nan]),
    ),
    "fewer labels": (
        fp.ScoreError,
        lambda: fp.disparity([0.1, 0.2, 0.3], sensitive_features=["a", "b"]),
    ),
    "more sample weights": (
        fp.ScoreError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features="ab", sample_weight=[1, 1, 1]),
    ),
    "one group of weight": (
        fp.GroupError,
        lambda: fp.disparity([0.1, 0.2], sensitive_features="ab", sample_weight=[1, 0]),
    ),
    "overflow": (fp.MagnitudeError, lambda: fp.wasserstein_power([-1e200], [1e200])),
    "overflow of a distance": (fp.MagnitudeError, lambda: fp.wasserstein([-1e308], [1e308])),
    "underflow": (fp.MagnitudeError, lambda: fp.wasserstein_power([0.0], [1e-200])),
    "overflow of a disparity": (
        fp.MagnitudeError,
        lambda: fp.disparity([-1e300, 1e300], sensitive_features="ab"),
    ),
    "values of two lengths": (
        fp.ScoreError,
        lambda: fp.riemann_disparity({"a": [1.0], "b": [1.0, 2.0]}, EQUAL),
    ),
    "no group of values": (fp.GroupError, lambda: fp.linear_disparity({}, EQUAL)),
    "count 0": (fp.CellError, lambda: cell(count=0)),
    "negative count": (fp.CellError, lambda: cell(count=-5)),
    "NaN count": (fp.CellError, lambda: cell(count=math.nan)),
    "count as text": (fp.CellError, lambda: cell(count="12")),
    "count True": (fp.CellError, lambda: cell(count=True)),
    "enormous count": (fp.CellError, lambda: cell(count=2**70)),
    "no value": (fp.ScoreError, lambda: cell(values=[])),
    "NaN value": (fp.ScoreError, lambda: cell(values=[0.1, math.nan])),
    "decreasing values": (fp.CellError, lambda: cell(values=[SECRET, 0.1])),
    "rank error of 1": (fp.CellError, lambda: cell(rank_error=1.0)),
    "no cell": (fp.FederationError, lambda: federation({})),
    "one group of cells": (fp.GroupError, lambda: federation({("north", "a"): cell()})),
    "an empty listed group": (
        fp.GroupError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "b", "c"]),
    ),
    "an unlisted group": (
        fp.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "c"]),
    ),
    "a group listed twice": (
        fp.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}, groups=["a", "b", "a"]),
    ),
    "mixed kinds": (
        fp.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell(kind="mean")}),
    ),
    "an unknown silo": (
        fp.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}).without("s"),
    ),
    "the last silo": (
        fp.FederationError,
        lambda: federation({("n", "a"): cell(), ("n", "b"): cell()}).without("n"),
    ),
    "fewer silo labels": (
        fp.ScoreError,
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
    error = fp.ScoreError.empty("scores")

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert type(copy) is fp.ScoreError
    assert str(copy) == str(error)


def test_every_error_class_is_public_and_drawn_in_the_tree():
    for name in errors.__all__:
        assert getattr(fp, name) is getattr(errors, name)
        assert name in errors.__doc__

"""A verdict is a word with a shape."""

from typing import get_args

import pytest
from tests.report_results import changed, judged, plain_result

from fedparity.documents.result_parts import Verdict
from fedparity.report.sentences.naming import (
    VERDICTS,
    level_words,
    mark_of,
    verdict_line,
    verdict_words,
)


def test_every_verdict_has_a_word_and_a_shape_of_its_own():
    marks = VERDICTS.values()

    assert set(VERDICTS) == set(get_args(Verdict))
    assert len({mark.word for mark in marks}) == len({mark.shape for mark in marks}) == 4
    assert all(len(mark.shape) == 1 for mark in marks)


@pytest.mark.parametrize("verdict", ["above", "below", "inconclusive"])
def test_the_level_is_named_with_the_word(verdict):
    result = changed(judged(plain_result(), verdict), "disparity", review_level=0.0123456)

    assert verdict in verdict_words(result).lower()
    assert verdict_words(result).endswith("the review level of 0.0123456 points")
    assert verdict_line(result).startswith(mark_of(result).shape)


def test_without_a_level_there_is_none_to_name():
    assert verdict_line(plain_result(review_level=None)) == "– No review level"


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("points", "1 point"),
        ("share", "100 % of the scale"),
        ("sd", "1 standard deviation"),
        ("squared", "1 for G₂"),
    ],
)
def test_the_level_is_written_in_its_unit(unit, words):
    result = changed(plain_result(), "disparity", review_level=1.0, review_unit=unit)

    assert level_words(result) == words


def test_where_the_verdict_for_all_is_another_it_says_among_whom_it_holds():
    assert "among" not in verdict_words(judged(plain_result(), "above"))
    assert verdict_words(judged(plain_result(), "above", "inconclusive")).endswith(
        "of 0.01 points among the silos that answered"
    )

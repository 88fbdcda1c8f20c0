"""A verdict is a word with a shape."""

from typing import get_args

import pytest
from tests.report_results import changed, plain_result

from fedparity.diagnostics.assessment import Verdict
from fedparity.report.verdicts import VERDICTS, mark_of, verdict_line, verdict_words


def test_every_verdict_has_a_word_and_a_shape_of_its_own():
    marks = VERDICTS.values()

    assert set(VERDICTS) == set(get_args(Verdict))
    assert len({mark.word for mark in marks}) == len({mark.shape for mark in marks}) == 4
    assert all(len(mark.shape) == 1 for mark in marks)


@pytest.mark.parametrize("verdict", ["above", "below", "inconclusive"])
def test_the_level_is_named_with_the_word(verdict):
    result = changed(plain_result(), "disparity", verdict=verdict, review_level=0.0123456)

    assert verdict in verdict_words(result).lower()
    assert verdict_words(result).endswith("the review level 0.0123456")
    assert verdict_line(result).startswith(mark_of(result).shape)


def test_without_a_level_there_is_none_to_name():
    assert verdict_line(plain_result(review_level=None)) == "– No review level"

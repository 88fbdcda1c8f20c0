"""No sentence of a report says something else than the numbers do."""

import re

import pytest
from hypothesis import given
from tests.report_results import results

from fedparity.report import sentences
from fedparity.report.numbers import amount, number, percent, stated, told_apart
from fedparity.report.sentences.alone import above_alone, comparable
from fedparity.report.sentences.answers import noise_could_explain
from fedparity.report.verdicts import verdict_words

OF_ONE_RESULT = (
    *("headline", "size", "how_large", "how_certain", "seen_alone", "why", "chance"),
    *("explain_decomposition", "explain_attribution", "explain_laws", "explain_accuracy"),
    *("explain_alone", "explain_influence", "explain_privacy", "levels_words"),
)
NUMBER = re.compile(r"−?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
CONSTANTS = ("Algorithm 1", "0 means", "For order 1", "at most 2√", "k midpoints")
"""Words with a digit that is no number of the result."""


def all_sentences(result):
    yield from (getattr(sentences, name)(result) for name in OF_ONE_RESULT)
    yield from sentences.what_is_missing(result)


def numbers_of(document):
    """Every number that the JSON of a result holds, at any depth."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for held in document:
            yield from numbers_of(held)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield document


def derived(result):
    """Numbers that follow from the result: shares, differences, and counts of what it lists."""
    low, high = result.plan.score_range
    whole = result.disparity.value
    yield from (pair.wasserstein / (high - low) for pair in result.pairs)
    if whole > 0:
        yield from (
            part / whole for part in (result.attribution.selection, result.attribution.within)
        )
    yield result.guarantee["rounding"] * (high - low)
    yield len(result.groups) * (result.plan.levels + 1)
    yield sum(silo.rows_dropped for silo in result.silos)
    yield len(result.silos_received) + len(result.silos_missing)
    yield from range(1 + max(len(result.silos) * len(result.groups), 100))


def forms_of(value, level):
    """All ways in which a report may write a number."""
    forms = {number(value), stated(value), percent(value).removesuffix(" %"), amount(value)}
    forms.add(number(abs(value)))
    return forms if level is None else forms | {told_apart(value, level)}


@given(results())
def test_the_headline_says_the_verdict_and_no_other(result):
    """The words above, below, inconclusive stand there if and only if the verdict is that."""
    text = sentences.headline(result)
    said = {
        "above": "above the review level" in text,
        "below": "below the review level" in text,
        "inconclusive": "inconclusive at the review level" in text,
        "none": "names no review level" in text,
    }

    assert [word for word, is_there in said.items() if is_there] == [result.disparity.verdict]
    assert number(result.disparity.value)[:4] in text or result.disparity.value == 0


@given(results())
def test_a_headline_above_never_shows_the_number_of_the_level(result):
    """A value that is not the level never looks like it."""
    level = result.disparity.review_level
    shown = NUMBER.findall(sentences.headline(result).partition("disparity of ")[2])

    assert level is None or (shown[0] == shown[1]) == (result.disparity.value == level)


@given(results())
def test_every_number_of_a_sentence_is_one_of_the_result(result):
    """A sentence computes nothing: its numbers are written forms of the JSON's."""
    level = result.disparity.review_level
    held = {*numbers_of(result.to_dict()), *derived(result)}
    allowed = set().union(*(forms_of(value, level) for value in held))

    for text in all_sentences(result):
        words = text
        for constant in CONSTANTS:
            words = words.replace(constant, "")
        words = re.sub(r"silo \d{4}|\bs\d\b", "", words)  # names
        assert set(NUMBER.findall(words.replace("V_", ""))) <= allowed, text


@given(results())
def test_the_part_that_is_named_is_the_larger_one(result):
    """Most of it is selection only if selection is larger, and the same for within."""
    parts, text = result.attribution, sentences.why(result)
    selection = "which group is in which silo" in text
    within = "how scores differ between groups inside silos" in text

    assert not (selection and within)
    assert not selection or parts.selection > parts.within
    assert not within or parts.within > parts.selection
    if "Most of it" in text:
        assert min(parts.selection, parts.within) >= 0
    if "oppose" in text:
        assert min(parts.selection, parts.within) < 0 < max(parts.selection, parts.within)


@given(results())
def test_overlapping_intervals_leave_open_which_part_is_larger(result):
    """If one number lies in both intervals, the order of the parts is not certain."""
    first, second = result.attribution.intervals.selection, result.attribution.intervals.within
    text = sentences.why(result)
    overlap = max(first.lower, second.lower) <= min(first.upper, second.upper)

    assert ("not certain" in text) == (overlap and ("Most of it" in text or "oppose" in text))


@given(results())
def test_parts_are_never_called_causes(result):
    """Whatever is attributed, the limits of the attribution are said with it."""
    text = sentences.why(result)

    assert text == "There is nothing to attribute." or text.endswith("not causes.")
    assert "because" not in " ".join(all_sentences(result))


@given(results())
def test_noise_is_named_exactly_where_it_could_explain_the_result(result):
    """The p-value above the error of the intervals, and only then."""
    could = result.disparity.p_value > 1 - result.confidence

    assert noise_could_explain(result) == could
    assert ("could explain what was found" in sentences.how_certain(result)) == could


@given(results())
def test_what_silos_see_alone_is_counted_right(result):
    """No silo is said to be above the level unless its value is, and none is left out."""
    level, text = result.disparity.review_level, sentences.seen_alone(result)
    alone = [silo.disparity for silo in comparable(result)]
    clear, seeming = above_alone(result)

    if len(result.silos_received) > 1:
        assert number(max(alone))[:4] in text
    if level is not None:
        assert len(clear) + len(seeming) >= sum(value > level for value in alone)
        assert all(silo.interval.lower > level for silo in clear)
        none_is = "No silo alone is above" in text
        assert none_is == (not clear and not seeming) or len(result.silos_received) == 1


@given(results())
def test_words_of_judgement_are_not_used(result):
    """A report measures; it does not judge."""
    text = " ".join((*all_sentences(result), *sentences.does_not_prove())).lower()

    for word in ("pass", "fail", "fair", "bias", "discriminat", "proves", "guilty"):
        assert word not in text


@given(results())
def test_sentences_end_and_start_as_sentences_do(result):
    """Each starts with a capital or a number, ends with a period, and holds no double space."""
    for text in (*all_sentences(result), verdict_words(result) + "."):
        if text == sentences.size(result):
            continue
        assert text.endswith(".")
        assert text[0].isupper() or text[0].isdigit() or text.startswith("k = ")
        assert "  " not in text
        assert ".." not in text
        assert " ." not in text


@given(results())
def test_order_1_knows_no_square_and_no_remainder(result):
    """G1 is in score points; the triangle has no R."""
    text = " ".join(all_sentences(result))
    first = result.plan.order == 1

    assert ("squared score points" in text) != first
    assert ("R is the interaction" in text) != first
    assert ("triangle inequality" in text) == first
    assert ("G₂" in text) != first


@pytest.mark.parametrize("name", sentences.__all__)
def test_what_the_package_offers_is_there(name):
    assert callable(getattr(sentences, name))
